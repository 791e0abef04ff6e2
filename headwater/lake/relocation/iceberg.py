"""Metadata of an Iceberg table or view, written anew for the place where its files lie now.

In: a metadata file of the catalog, and how addresses have changed. Out: a new metadata file with
all snapshots, references and properties, whose manifests name the files at their new addresses.
Data files stay as they are. Files of position deletes hold addresses, so they are written anew.
Nothing that was there is changed: a process that dies leaves files that nobody knows, and the next
one writes them again under the same names.
"""

from __future__ import annotations

import gzip
import json
import re
import uuid
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from io import BytesIO
from typing import Any

from headwater.errors import ServiceError, TerminalError
from headwater.lake.relocation.avro import AvroFile
from headwater.lake.storage.places import moved, plain_address
from headwater.lake.storage.warehouse import Warehouse

_FILE_PATH = 2147483546
"""Id of the column of a position delete that holds the address of a data file."""
_POSITION_DELETES, _DELETED = 1, 2
_DATA = (".parquet", ".orc", ".avro")
_NAMES = uuid.UUID("5e2c7d0c-6a57-4b6f-9f0a-3f1f2b2c8a11")


@dataclass
class MovedFiles:
    """How addresses of a lake have changed.

    Attributes:
        warehouse: the warehouse as it is now.
        before: how its address was spelled when the lake was written.
        files: the files in the warehouse, with their sizes, by path below it.
    """

    warehouse: Warehouse
    before: Iterable[str]
    files: Mapping[str, int]

    def now(self, address: str) -> str:
        """Return an address as it is now; one that was elsewhere stays."""
        found = moved(address, self.before, self.warehouse.uri)
        if found is None:
            return address
        is_here = self._below(address) in self.files and self._below(found) not in self.files
        return address if is_here else found

    def read(self, address: str) -> bytes:
        """Return what a file holds, by its address of before or of now.

        Raises:
            TerminalError: ``COPY_INCOMPLETE``.
        """
        path = self._below(self.now(address))
        content = None if path is None else self.warehouse.read(path)
        if content is None:
            raise self.missing(address)
        return content

    def avro(self, address: str) -> AvroFile:
        """Return what a file of manifests or of data files holds, likewise."""
        try:
            return AvroFile.parse(self.read(address))
        except ValueError as error:
            raise self.missing(address, str(error).removeprefix("it ")) from error

    def write(self, address: str, content: bytes) -> None:
        """Write a file of the warehouse."""
        path = self._below(address)
        if path is None:
            raise self.missing(address)
        self.warehouse.write(path, content)

    def check(self, address: str) -> None:
        """Make sure that a file of the warehouse is there; one elsewhere is not looked for.

        Raises:
            TerminalError: ``COPY_INCOMPLETE``.
        """
        path = self._below(address)
        if path is not None and path not in self.files:
            raise self.missing(address)

    def missing(self, address: str, what: str = "is missing") -> TerminalError:
        """Return the error that a file is missing, or what else is wrong with it."""
        return TerminalError(
            "COPY_INCOMPLETE",
            f'"{plain_address(self.now(address))}" {what}',
            hint="copy the warehouse again while nothing writes to it, then: headwater relocate",
        )

    def _below(self, address: str) -> str | None:
        plain, root = plain_address(address), plain_address(self.warehouse.uri).rstrip("/") + "/"
        return plain.removeprefix(root) if plain.startswith(root) else None


@dataclass
class Rewriting:
    """What was written for one table.

    Attributes:
        manifests: by old address, the new address of a manifest and its size.
        deletes: likewise of files of position deletes.
    """

    place: MovedFiles
    manifests: dict[str, tuple[str, int]] = field(default_factory=dict)
    deletes: dict[str, tuple[str, int]] = field(default_factory=dict)

    def table(self, location: str) -> str:
        """Write the metadata of a table or view anew.

        Args:
            location: address of its metadata file, as the catalog has it.

        Returns:
            The address of the new metadata file.

        Raises:
            TerminalError: ``COPY_INCOMPLETE``.
        """
        place = self.place
        written = place.read(location)
        packed = written.startswith(b"\x1f\x8b")
        metadata = json.loads(gzip.decompress(written) if packed else written)
        metadata["location"] = place.now(metadata["location"])
        properties = metadata.get("properties", {})
        for key in filter(_holds_address, properties):
            properties[key] = place.now(properties[key])
        reachable = _reachable(metadata)
        for snapshot in metadata.get("snapshots", ()):
            self._snapshot(snapshot, needed=snapshot["snapshot-id"] in reachable)
        for kind in ("statistics", "partition-statistics"):
            for each in metadata.get(kind, ()):
                each["statistics-path"] = place.now(each["statistics-path"])
        log = metadata.get("metadata-log", [])
        for each in log:
            each["metadata-file"] = place.now(each["metadata-file"])
        if "metadata-log" in metadata:
            entry = {"timestamp-ms": metadata["last-updated-ms"]}
            log.append({**entry, "metadata-file": place.now(location)})
        text = json.dumps(metadata, separators=(",", ":")).encode()
        found = self._named(location, r"/(\d+)-[^/]+?((?:\.gz)?\.metadata\.json)$", _next_metadata)
        place.write(found, gzip.compress(text, mtime=0) if packed else text)
        return found

    def _snapshot(self, snapshot: dict[str, Any], *, needed: bool) -> None:
        if "manifests" in snapshot:  # of the first version of the format
            snapshot["manifests"] = [self._manifest(each)[0] for each in snapshot["manifests"]]
            return
        listed = snapshot["manifest-list"]
        try:
            found = self.place.avro(listed)
        except TerminalError:
            if needed:
                raise
            # a write that failed has left its snapshot, and Iceberg has deleted its files
            snapshot["manifest-list"] = self.place.now(listed)
            return
        for entry in found.records:
            entry["manifest_path"], entry["manifest_length"] = self._manifest(
                entry["manifest_path"]
            )
        snapshot["manifest-list"] = self._named(listed, rf"({_ANY_UUID})\.avro$", _another_uuid)
        self.place.write(snapshot["manifest-list"], found.content())

    def _manifest(self, address: str) -> tuple[str, int]:
        if address not in self.manifests:
            found = self.place.avro(address)
            for entry in found.records:
                self._data_file(entry["data_file"], is_there=entry["status"] != _DELETED)
            name = self._named(address, rf"({_ANY_UUID})(-m\d+)?\.avro$", _another_uuid)
            content = found.content()
            self.place.write(name, content)
            self.manifests[address] = name, len(content)
        return self.manifests[address]

    def _data_file(self, file: dict[str, Any], *, is_there: bool) -> None:
        before = file["file_path"]
        file["file_path"] = self.place.now(before)
        if is_there:
            self.place.check(file["file_path"])
        if _given(file.get("referenced_data_file")):
            branch, address = file["referenced_data_file"]
            file["referenced_data_file"] = branch, self.place.now(address)
        if file.get("content", 0) != _POSITION_DELETES:
            return
        for bounds in ("lower_bounds", "upper_bounds"):
            self._bounds(file, bounds)
        if str(file["file_format"]).upper() == "PUFFIN":
            return  # what it deletes is addressed by the manifest
        if is_there:
            found = self._position_deletes(before, str(file["file_format"]))
            file["file_path"], file["file_size_in_bytes"] = found
        else:
            file["file_path"] = self._deletes_named(before)
        if _given(file.get("split_offsets")):
            file["split_offsets"] = 0, None  # null is the first branch, as Iceberg writes it

    def _bounds(self, file: dict[str, Any], name: str) -> None:
        """Change the smallest or largest address that a file of position deletes names."""
        if not _given(file.get(name)):
            return
        branch, entries = file[name]
        kept = []
        for entry in entries:
            if entry["key"] == _FILE_PATH:
                address = entry["value"].decode()
                now = self.place.now(address)
                if now == address and not address.endswith(_DATA):
                    continue  # it is cut off: readers go without it
                entry = {**entry, "value": now.encode()}
            kept.append(entry)
        file[name] = branch, kept

    def _position_deletes(self, address: str, form: str) -> tuple[str, int]:
        if address not in self.deletes:
            if form.upper() != "PARQUET":
                raise ServiceError(
                    "NOT_YET",
                    f'"{address}" holds position deletes as {form}, which cannot be relocated',
                    hint="compact the table where it was, then copy it again",
                )
            content = self._changed_parquet(self.place.read(address))
            name = self._deletes_named(address)
            self.place.write(name, content)
            self.deletes[address] = name, len(content)
        return self.deletes[address]

    def _deletes_named(self, address: str) -> str:
        return self._named(address, rf"({_ANY_UUID})([^/]*)$", _another_uuid)

    def _changed_parquet(self, content: bytes) -> bytes:
        import pyarrow as pa
        from pyarrow import parquet

        rows = parquet.read_table(BytesIO(content))
        index = rows.schema.get_field_index("file_path")
        known: dict[str, str] = {}
        addresses = [
            known.setdefault(each, self.place.now(each)) for each in rows.column(index).to_pylist()
        ]
        column = rows.schema.field(index)
        rows = rows.set_column(index, column, pa.array(addresses, column.type))
        out = BytesIO()
        parquet.write_table(rows, out, compression="zstd", store_schema=False)
        return out.getvalue()

    def _named(self, address: str, pattern: str, name: Callable[[re.Match[str], str], str]) -> str:
        """The address of the file that takes the place of another, always the same."""
        now = self.place.now(address)
        unique = str(uuid.uuid5(_NAMES, f"{plain_address(address)} {plain_address(now)}"))
        found, count = re.subn(pattern, lambda match: name(match, unique), now)
        if count:
            return found
        folder, _, last = now.rpartition("/")
        return f"{folder}/{unique}-{last}"


_ANY_UUID = r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}"


def _next_metadata(match: re.Match[str], unique: str) -> str:
    return f"/{int(match[1]) + 1:05}-{unique}{match[2]}"


def _another_uuid(match: re.Match[str], unique: str) -> str:
    return match[0].replace(match[1], unique)


def _holds_address(key: str) -> bool:
    return key.startswith("write.") and key.endswith((".path", "-path", ".location"))


def _given(value: object) -> bool:
    """Whether an optional field has a value."""
    return isinstance(value, tuple) and value[1] is not None


def _reachable(metadata: Mapping[str, Any]) -> set[int]:
    """The snapshots that a branch or tag leads to."""
    parents = {
        each["snapshot-id"]: each.get("parent-snapshot-id")
        for each in metadata.get("snapshots", ())
    }
    heads = {ref["snapshot-id"] for ref in metadata.get("refs", {}).values()}
    return set(_ancestors(heads | {metadata.get("current-snapshot-id")}, parents))


def _ancestors(heads: Iterable[int | None], parents: Mapping[int, int | None]) -> Iterator[int]:
    seen: set[int] = set()
    for head in heads:
        at = head
        while at in parents and at is not None and at not in seen:
            seen.add(at)
            yield at
            at = parents[at]
