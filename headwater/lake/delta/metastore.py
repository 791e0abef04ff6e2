"""Where readers that ask a Hive metastore find the Delta tables of a warehouse: Trino, for one.

In: the folder of a Delta table. Out: two small files in the form of Trino's metastore of files,
that say where the table is and no more; its columns, comments and versions are in its own log. They
lie in a folder of their own, since who looks for namespaces lists all that is below it.
"""

from __future__ import annotations

import json
import os
import shutil
from pathlib import Path

from headwater.lake.storage.warehouse import folder_uri

FOLDER = ".metastore"
"""Of a warehouse."""

_FILE = ".trinoSchema"
_OWNER = "headwater"


def enter_table(table: Path) -> None:
    """Say where a Delta table is; nothing is written if that is known.

    Args:
        table: its folder, ``<warehouse>/<namespace>/<name>``.

    Raises:
        OSError: the warehouse cannot be written.
    """
    place = folder_uri(table)
    namespace = {"ownerName": _OWNER, "ownerType": "USER", "parameters": {}}
    entry = {
        "owner": _OWNER,
        "tableType": "EXTERNAL_TABLE",
        # a reader of Delta takes the columns from the table's log; without one here it takes none
        "dataColumns": [{"name": "col", "type": "array<string>", "properties": {}}],
        "partitionColumns": [],
        "parameters": {"spark.sql.sources.provider": "DELTA", "EXTERNAL": "TRUE"},
        "serdeParameters": {"path": place},
        "externalLocation": place,
        "columnStatistics": {},
    }
    folder = _entry(table)
    _write(folder.parent.with_name(f".{table.parent.name}{_FILE}"), namespace)
    _write(folder / _FILE, entry)


def remove_table(table: Path) -> None:
    """Forget where a Delta table was.

    Args:
        table: its folder; it may never have been entered.
    """
    shutil.rmtree(_entry(table), ignore_errors=True)


def is_entered(table: Path) -> bool:
    """Return whether a folder is known as that of a Delta table of a warehouse.

    Args:
        table: the folder, wherever it is.
    """
    return (_entry(table) / _FILE).exists()


def _entry(table: Path) -> Path:
    return table.parents[1] / FOLDER / table.parent.name / table.name


def _write(file: Path, content: object) -> None:
    """Replace a file as a whole: somebody may be reading it."""
    text = json.dumps(content, indent=2) + "\n"
    if file.exists() and file.read_text(encoding="utf-8") == text:
        return
    file.parent.mkdir(parents=True, exist_ok=True)
    hidden = file.with_name(f"{file.name}.{os.getpid()}")
    hidden.write_text(text, encoding="utf-8")
    os.replace(hidden, file)
