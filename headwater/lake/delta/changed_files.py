"""The data files by which versions of a Delta table differ, from the log alone.

In: the folder of a table, two versions. Out: files, as Delta's own actions say them, and how many
rows they hold. Only the commits between the versions are read, whatever the size of the table. What
a commit calls no change of data (compaction, statistics) is passed over: as rows, the others sum up
to the difference. See the Delta transaction log protocol, "Add File and Remove File".
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit

from headwater.lake.delta.log import actions

_OF_BOTH = ("path", "partitionValues", "size", "stats", "deletionVector")
"""What an action that adds a file and one that removes it say of the file."""


@dataclass(frozen=True, slots=True)
class DataFile:
    """A data file, less the rows that its deletion vector marks.

    Attributes:
        key: tells it from others; the same file with another deletion vector is another one.
        action: the action that adds it, as JSON.
        rows: how many rows it holds; 1 if its writer did not count them.
    """

    key: str
    action: str
    rows: int


@dataclass(frozen=True, slots=True)
class Differing:
    """How two versions differ: the rows of ``come`` less those of ``gone``.

    Attributes:
        gone: files whose rows went.
        come: files whose rows came.
    """

    gone: Sequence[DataFile]
    come: Sequence[DataFile]

    @property
    def rows(self) -> int:
        """How many rows they hold together."""
        return sum(file.rows for file in (*self.gone, *self.come))


def differing(table: Path, after: int, upto: int) -> Differing:
    """Return how two versions differ.

    Args:
        table: folder of the table.
        after: the earlier version; -1 for the empty table before the first.
        upto: the later one; the log keeps all commits between them.
    """
    gone: dict[str, DataFile] = {}
    come: dict[str, DataFile] = {}
    for version in range(after + 1, upto + 1):
        found = actions(table, version)
        for file in _changed(found, "remove"):
            if come.pop(file.key, None) is None:
                gone[file.key] = file
        for file in _changed(found, "add"):
            if gone.pop(file.key, None) is None:
                come[file.key] = file
    return Differing([*gone.values()], [*come.values()])


def are_there(table: Path, after: int, upto: int) -> bool:
    """Return whether everything that was removed between two versions can still be read.

    Who vacuums a table deletes files, not the commits that tell of them.

    Args:
        table: folder of the table.
        after: the earlier version.
        upto: the later one; the log keeps all commits between them.
    """
    removed = (
        action["remove"]["path"]
        for version in range(after + 1, upto + 1)
        for action in actions(table, version)
        if "remove" in action
    )
    return all(_place(table, path).exists() for path in removed)


def _place(table: Path, path: str) -> Path:
    """A path in the log is a URI, relative to the table or not."""
    return table / unquote(urlsplit(path).path)


def _changed(found: Sequence[Mapping[str, Any]], kind: str) -> Iterator[DataFile]:
    for action in found:
        file = action.get(kind)
        if file is not None and file.get("dataChange", True):
            yield _data_file(file)


def _data_file(file: Mapping[str, Any]) -> DataFile:
    deletes = file.get("deletionVector") or {}
    key = json.dumps([file["path"], deletes.get("pathOrInlineDv"), deletes.get("offset")])
    add = {name: file[name] for name in _OF_BOTH if file.get(name) is not None}
    action = {"add": {**add, "modificationTime": 0, "dataChange": True}}
    counted = json.loads(file.get("stats") or "{}").get("numRecords")
    rows = 1 if counted is None else int(counted) - int(deletes.get("cardinality", 0))
    return DataFile(key, json.dumps(action), rows)
