"""What maintenance has done to a table of any format, and from when on it joins files."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

MIN_FILES = 16
"""New files from which compaction looks at a table."""

LEVELS = ((1 / 16, 5), (3 / 4, MIN_FILES))
"""Per level the share of the target size below which a file is small, and how many are needed."""


@dataclass(frozen=True, slots=True)
class Size:
    """What a table consists of.

    Attributes:
        snapshots: snapshots in the metadata.
        data_files: data files of the newest snapshot.
        delete_files: delete files of the newest snapshot.
        manifests: manifests of the newest snapshot.
        bytes: bytes of data files and delete files of the newest snapshot.
    """

    snapshots: int
    data_files: int
    delete_files: int
    manifests: int
    bytes: int


@dataclass(frozen=True, slots=True)
class MaintenanceResult:
    """What maintenance did to a table.

    Attributes:
        table: its name.
        done: per step that had something to do, what was or (dry run) would be done.
        before: what the table consisted of.
        after: what it consists of now.
    """

    table: str
    done: Mapping[str, str]
    before: Size
    after: Size
