"""The log of a Structured Streaming file source: which file was read in which entry.

In: the folder of the log in a checkpoint. Out: a position that names, by a hash, every file up to
an entry. It goes into the cut of a marker, so that the table itself tells whether the log is still
the one its rows were read by; the number of an entry alone says nothing of the files in it.
"""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from urllib.parse import unquote, urlsplit

from headwater.checkpoints.durable import put
from headwater.checkpoints.moves import Places

COMPACT = ".compact"
_TRIMMED = 50
"""How many of the newest entries :meth:`FileLog.trim` leaves."""


class FileLog:
    """One log.

    Args:
        folder: its folder; it may be missing.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._known = -1
        self._hash, self._files = "", 0

    def last(self) -> int:
        """Return the number of the newest entry, -1 if there is none."""
        return max(self._entries(), default=-1)

    def files(self) -> list[Path]:
        """Return every file in the log, empty if the log is damaged; only for local files."""
        known = FileLog(self.folder)
        try:
            paths = known._paths(self.last())  # noqa: SLF001 - of its own class
        except (OSError, ValueError, KeyError):
            return []
        return [Path(_path(path)) for of in paths.values() for path in of]

    def trim(self, below: Path) -> None:
        """Forget the files of old entries, so that compaction does not carry them on for ever.

        For files whose names are never used again. Only the thread of the query may call it: Spark
        compacts in that thread too.

        Args:
            below: the folder of the files; a log that holds any other file is left as it is.
        """
        compact = {n: file for n, file in self._entries().items() if file.suffix == COMPACT}
        if not compact:
            return
        newest = max(compact)
        version, *lines = compact[newest].read_text(encoding="utf-8").splitlines()
        entries = [json.loads(line) for line in lines]
        inside = f"{below}/"
        if len(entries) > _TRIMMED and all(_path(e["path"]).startswith(inside) for e in entries):
            kept = [
                line
                for line, entry in zip(lines, entries, strict=True)
                if entry["batchId"] > newest - _TRIMMED
            ]
            put(compact[newest], "\n".join([version, *kept]))

    def position(self, upto: int) -> str | None:
        """Return what names every file up to an entry, None if the log does not hold them all.

        Args:
            upto: number of the entry.
        """
        if upto < self._known:
            self._known, self._hash, self._files = -1, "", 0
        try:
            self._read(upto)
        except (OSError, ValueError, KeyError):
            return None
        fields = {"files": self._files, "hash": self._hash, "logOffset": upto}
        return json.dumps(fields, separators=(",", ":"))

    def _read(self, upto: int) -> None:
        if upto <= self._known:
            return
        places = Places.read(self.folder.parents[1])
        first = places.at_first if places else str
        for number, paths in sorted(self._paths(upto).items()):
            if number != self._known + 1:
                raise ValueError(number)
            digest = hashlib.sha256(f"{self._hash}\0{number}".encode())
            for path in sorted(map(first, paths)):
                digest.update(f"\0{path}".encode())
            self._known, self._hash = number, digest.hexdigest()[:16]
            self._files += len(paths)
        if self._known != upto:
            raise ValueError(upto)

    def _paths(self, upto: int) -> dict[int, list[str]]:
        """The files of the entries after the known ones, as far as an entry."""
        entries = self._entries()
        compact = [n for n, file in entries.items() if file.suffix == COMPACT]
        base = max((n for n in compact if self._known < n <= upto), default=None)
        # an entry may hold what was compacted into it: everything up to it
        first = self._known + 1 if base is None else base
        found: dict[int, list[str]] = {}
        for number in range(first, upto + 1):
            found.setdefault(number, [])
            version, *lines = entries[number].read_text(encoding="utf-8").splitlines()
            if version != "v1":
                raise ValueError(version)
            for fields in map(json.loads, lines):
                if fields["batchId"] > self._known:
                    found.setdefault(fields["batchId"], []).append(fields["path"])
        return found

    def _entries(self) -> dict[int, Path]:
        if not self.folder.is_dir():
            return {}
        names = {path.name.removesuffix(COMPACT): path for path in self.folder.iterdir()}
        return {int(name): path for name, path in names.items() if name.isdigit()}


def _path(address: str) -> str:
    return unquote(urlsplit(address).path)
