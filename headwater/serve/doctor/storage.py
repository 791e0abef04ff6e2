"""Which files of a table are missing.

In: a table. Out: the paths that its current snapshot names and that are not there. No data is
read, only the manifests.
"""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING

from headwater.serve.delta import StoredDeltaTable

if TYPE_CHECKING:
    from pyiceberg.table import Table

    from headwater.serve.lake_reader import StoredTable

_LOOKING = 8


def lost_files(table: StoredTable) -> list[str]:
    """Return the files that the current snapshot names and that do not exist.

    Args:
        table: the table.
    """
    if isinstance(table, StoredDeltaTable):
        return []  # of Delta, whose log names the files, the reader itself says what is missing
    with ThreadPoolExecutor(_LOOKING) as looking:
        exists = looking.map(lambda path: (path, table.io.new_input(path).exists()), _named(table))
        return [path for path, there in exists if not there]


def _named(table: Table) -> Iterator[str]:
    """Yield the files of the current snapshot; those below a missing one cannot be known."""
    snapshot = table.current_snapshot()
    if snapshot is None:
        return
    yield snapshot.manifest_list
    if not table.io.new_input(snapshot.manifest_list).exists():
        return
    for manifest in snapshot.manifests(table.io):
        yield manifest.manifest_path
        if table.io.new_input(manifest.manifest_path).exists():
            for entry in manifest.fetch_manifest_entry(table.io, discard_deleted=True):
                yield entry.data_file.file_path
