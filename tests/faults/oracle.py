"""What must hold after a fault, at every snapshot: DuckDB over the raw files, and the markers.

In: a world whose processes are dead. Out: violations in words. Tables are read by PyIceberg or
delta-rs, the expected rows are made from the files of the input by queries written by hand; only
the names of the marker's properties are Headwater's.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import duckdb
import pyarrow as pa
from pyiceberg.catalog.sql import SqlCatalog
from pyiceberg.exceptions import NoSuchTableError

from tests.faults.shapes import BAD, LATE, Shape
from tests.faults.world import World

NAMESPACE = "faults"
_TIME = pa.timestamp("us", tz="UTC")
_RAW = {
    "events": {"id": pa.int64(), "key": pa.string(), "amount": pa.int64(), "ts": _TIME},
    "replies": {"id": pa.int64(), "ts": _TIME},
}
_RAW["feed"] = _RAW["events"]
_PLACE = {"_path": pa.string(), "_row": pa.int64()}


@dataclass(frozen=True, slots=True)
class Commit:
    """One commit of a table, as a reader sees it.

    Attributes:
        snapshot: snapshot id, or version of a Delta table.
        marker: the properties under ``headwater.``, without the prefix.
    """

    snapshot: int
    marker: Mapping[str, Any]


@dataclass(slots=True)
class Oracle:
    """Judges one world; remembers what it has judged.

    Attributes:
        world: the world.
        checked: snapshots compared so far.
    """

    world: World
    checked: int = 0
    _seen: dict[str, int] = field(default_factory=dict)
    _landed: dict[tuple[str, int], pa.Table] = field(default_factory=dict)

    def violations(self, *, finished: bool) -> list[str]:
        """Return what does not hold.

        Args:
            finished: whether the last run ended by itself, so that nothing may be missing.
        """
        found: list[str] = []
        for name in self.world.raw:
            if name != "feed":
                found += self._input(name, finished=finished)
        for shape in self.world.shapes:
            found += self._view(shape, finished=finished)
        return found

    # -- landed tables

    def _input(self, name: str, *, finished: bool) -> Iterator[str]:
        commits = self._commits(name)
        yield from _broken_chain(name, commits)
        for commit in self._new(name, commits):
            rows = self._rows(name, commit.snapshot)
            yield from self._against_raw(f"{name} at {commit.snapshot}", name, rows)
        if finished and commits:
            rows = self._rows(name, commits[-1].snapshot)
            missing = set(self.world.raw[name]) - set(rows.column("_path").to_pylist())
            if missing:
                yield f"{name}: files {sorted(missing)} were never landed"
            yield from self._quarantine(name)

    def _against_raw(self, what: str, name: str, rows: pa.Table) -> Iterator[str]:
        """Landed rows are the good lines of whole files, each once."""
        files = sorted(set(rows.column("_path").to_pylist()))
        expected = self._raw(name, files)
        columns = ", ".join([*_PLACE, *_RAW[name]])
        yield from _differences(
            what, {"rows": rows, "raw": expected}, f"SELECT {columns} FROM rows", "FROM raw"
        )

    def _quarantine(self, name: str) -> Iterator[str]:
        """Every bad line is kept, each once."""
        table = f"{name}__quarantine"
        bad = [
            (file, row)
            for file, lines in self.world.raw[name].items()
            for row, line in enumerate(lines)
            if line is None
        ]
        commits = self._commits(table)
        kept = self._rows(table, commits[-1].snapshot) if commits else None
        places = [tuple(row.values()) for row in kept.select([*_PLACE]).to_pylist()] if kept else []
        if sorted(places) != sorted(bad):
            yield f"{table}: {len(places)} rows kept, {len(bad)} lines are bad"

    # -- views

    def _view(self, shape: Shape, *, finished: bool) -> Iterator[str]:
        commits = self._commits(shape.name, shape.format)
        yield from _broken_chain(shape.name, commits)
        for commit in self._new(shape.name, commits):
            what = f"{shape.name} at {commit.snapshot} (epoch {commit.marker['epoch']})"
            yield from self._at(what, shape, commit, commits)
        if finished and commits:
            for name in shape.inputs:
                if name == "feed":
                    if _files_read(commits[-1]) != len(self.world.raw[name]):
                        yield f"{shape.name}: not at the end of {name}"
                    continue
                written = self._commits(name, self._format(name))
                newest = [c for c in written if c.marker["cut_to"]][-1]
                if commits[-1].marker["cut_to"].get(name) != str(newest.snapshot):
                    yield f"{shape.name}: not at the end of {name}"
        if finished and shape.name in LATE and commits:
            yield from self._late(shape, commits)
        if finished and shape.name in BAD and commits:
            yield from self._bad(shape, commits)

    def _at(
        self, what: str, shape: Shape, commit: Commit, commits: Sequence[Commit]
    ) -> Iterator[str]:
        rows = self._rows(shape.name, commit.snapshot, shape.format)
        tables = {"rows": rows}
        if "feed" in shape.inputs:
            upto = commits[: commits.index(commit) + 1]
            tables["raw_feed"] = self._fed(upto)
        for name in shape.inputs:
            if name == "feed":
                continue
            cut = commit.marker["cut_to"].get(name)
            format_ = self._format(name)
            tables[name] = self._rows(name, int(cut), format_) if cut else self._nothing(name)
        watermark = commit.marker.get("watermark")
        at = "NULL" if watermark is None else f"make_timestamptz({watermark})"
        shown = "SELECT COLUMNS('^[^_]') FROM rows"  # what a view keeps for itself begins with _
        yield from _differences(what, tables, shown, shape.expected.replace("$watermark", at))

    def _fed(self, commits: Sequence[Commit]) -> pa.Table:
        """The rows of ``feed`` that the epochs have read, with the watermark of the one before."""
        files = sorted(self.world.raw["feed"])  # Spark takes the oldest file first
        found, read, watermark = [self._nothing("feed")], 0, None
        for commit in commits:
            rows = self._raw("feed", files[read : _files_read(commit)])
            stamps = pa.repeat(pa.scalar(watermark, _TIME), len(rows))
            found.append(rows.append_column("_watermark", stamps))
            read, watermark = _files_read(commit), commit.marker.get("watermark")
        return pa.concat_tables(found)

    def _late(self, shape: Shape, commits: Sequence[Commit]) -> Iterator[str]:
        """Input = rows of the windows + late rows, and no late row is kept twice."""
        (name,) = shape.inputs
        kept = self._commits(LATE[shape.name])
        late = self._rows(LATE[shape.name], kept[-1].snapshot) if kept else self._nothing(name)
        events = self._rows(name, int(commits[-1].marker["cut_to"][name]))
        found = "SELECT _path, _row FROM late"
        expected = (
            "SELECT _path, _row FROM events WHERE _watermark IS NOT NULL"
            " AND date_trunc('minute', ts) + INTERVAL 1 MINUTE <= _watermark"
        )
        yield from _differences(LATE[shape.name], {"late": late, "events": events}, found, expected)

    def _bad(self, shape: Shape, commits: Sequence[Commit]) -> Iterator[str]:
        """Input = rows of the view + its quarantine, and no bad row is kept twice."""
        (name,) = shape.inputs
        kept = self._commits(f"{shape.name}__quarantine")
        bad = self._rows(f"{shape.name}__quarantine", kept[-1].snapshot) if kept else None
        events = self._rows(name, int(commits[-1].marker["cut_to"][name]))
        tables = {"bad": self._nothing(name) if bad is None else bad, "events": events}
        place = "SELECT _path, _row FROM"
        expected = f"{place} events WHERE {BAD[shape.name]}"
        yield from _differences(f"{shape.name}__quarantine", tables, f"{place} bad", expected)

    # -- reading

    def _new(self, name: str, commits: Sequence[Commit]) -> list[Commit]:
        """The commits that were not judged before."""
        seen = self._seen.get(name, -1)
        fresh = [commit for commit in commits if commit.marker["epoch"] > seen]
        if commits:
            self._seen[name] = max(seen, commits[-1].marker["epoch"])
        self.checked += len(fresh)
        return fresh

    @property
    def _warehouse(self) -> Path:
        return self.world.folder / ".headwater" / "warehouse"

    def _catalog(self) -> SqlCatalog:
        database = self._warehouse / "catalog.db"
        return SqlCatalog("lake", uri=f"sqlite:///{database}", warehouse=self._warehouse.as_uri())

    def _format(self, name: str) -> str:
        """The format of the table of an input: a landed table, or a view."""
        return next((each.format for each in self.world.shapes if each.name == name), "iceberg")

    def _commits(self, name: str, format_: str = "iceberg") -> list[Commit]:
        """The commits of a table, oldest first; of several writes of one, what became visible."""
        if format_ == "delta":
            return self._delta_commits(name)
        try:
            table = self._catalog().load_table((NAMESPACE, name))
        except NoSuchTableError:
            return []
        found = []
        visible = {entry.snapshot_id for entry in table.history()}
        snapshot = table.current_snapshot()
        while snapshot is not None:
            properties = snapshot.summary.additional_properties if snapshot.summary else {}
            if "headwater.epoch" in properties and snapshot.snapshot_id in visible:
                found.append(Commit(snapshot.snapshot_id, _marker(properties)))
            parent = snapshot.parent_snapshot_id
            snapshot = table.snapshot_by_id(parent) if parent is not None else None
        return found[::-1]

    def _delta_commits(self, name: str) -> list[Commit]:
        from deltalake import DeltaTable

        folder = self._warehouse / NAMESPACE / name
        if not (folder / "_delta_log").exists():
            return []
        found = []
        for entry in DeltaTable(folder).history():
            metadata = entry.get("userMetadata")
            properties = json.loads(metadata) if metadata else {}
            if "headwater.epoch" in properties:
                found.append(Commit(entry["version"], _marker(properties)))
        return sorted(found, key=lambda commit: commit.snapshot)

    def _rows(self, name: str, snapshot: int, format_: str = "iceberg") -> pa.Table:
        if format_ == "delta":
            from deltalake import DeltaTable

            rows = DeltaTable(self._warehouse / NAMESPACE / name, version=snapshot)
            return pa.table(rows.to_pyarrow_table())
        if (name, snapshot) not in self._landed:
            table = self._catalog().load_table((NAMESPACE, name))
            rows = table.scan(snapshot_id=snapshot).to_arrow()
            if name not in self.world.raw:
                return rows
            self._landed[name, snapshot] = rows
        return self._landed[name, snapshot]

    def _raw(self, name: str, files: Sequence[str]) -> pa.Table:
        """The good lines of some files, with their place."""
        rows = [
            {"_path": file, "_row": row, **line}
            for file in files
            for row, line in enumerate(self.world.raw[name][file])
            if line is not None
        ]
        return pa.Table.from_pylist(rows, pa.schema({**_PLACE, **_RAW[name]}))

    def _nothing(self, name: str) -> pa.Table:
        return pa.schema({**_PLACE, **_RAW[name], "_watermark": _TIME}).empty_table()


def _marker(properties: Mapping[str, str]) -> dict[str, Any]:
    texts = ("view", "fingerprint", "attempt", "release", "rule")
    marker = {}
    for key, value in properties.items():
        name = key.removeprefix("headwater.")
        if name != key:
            marker[name] = value if name in texts else json.loads(value)
    return marker


def _files_read(commit: Commit) -> int:
    """How many files of ``feed`` have been read by the end of an epoch."""
    cut = commit.marker["cut_to"].get("feed")
    return int(json.loads(cut)["files"]) if cut else 0


def _broken_chain(name: str, commits: Sequence[Commit]) -> Iterator[str]:
    """One snapshot per epoch, each beginning where the last one ended, tokens never falling."""
    for before, after in zip(commits, commits[1:], strict=False):
        old, new = before.marker, after.marker
        if new["epoch"] != old["epoch"] + 1:
            yield f"{name}: epoch {new['epoch']} follows epoch {old['epoch']}"
        if new["cut_from"] != old["cut_to"]:
            yield f"{name}: epoch {new['epoch']} does not begin where the last one ended"
        if new["token"] < old["token"]:
            yield f"{name}: epoch {new['epoch']} was committed by an older owner"


def _differences(
    what: str, tables: Mapping[str, pa.Table], found: str, expected: str
) -> Iterator[str]:
    """Compare two queries as multisets."""
    with duckdb.connect() as connection:
        connection.execute("SET TimeZone = 'UTC'")
        for name, table in tables.items():
            connection.register(name, table)
        surplus = connection.sql(f"({found}) EXCEPT ALL ({expected})").to_arrow_table()
        missing = connection.sql(f"({expected}) EXCEPT ALL ({found})").to_arrow_table()
    if surplus.num_rows or missing.num_rows:
        example = (surplus if surplus.num_rows else missing).slice(0, 1).to_pylist()[0]
        counts = f"{surplus.num_rows} rows too many, {missing.num_rows} missing"
        yield f"{what}: {counts}, such as {example}"
