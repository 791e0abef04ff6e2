"""The log of a Delta table on a file system: versions and what their commits say of themselves.

In: the folder of a table. Out: version numbers, and per version a summary with the names that
Iceberg's snapshot summaries have, the commit marker among them. Knows neither Spark nor Delta's own
libraries: writers and readers without a JVM see the same history, at the price of one small file
per version looked at.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any, TypeGuard

from headwater.lake.protocol.history import Snapshot

FOLDER = "_delta_log"
_COMMIT = re.compile(r"(\d{20})\.json")
_OPERATIONS = {"WRITE": "append", "MERGE": "overwrite", "OPTIMIZE": "replace", "DELETE": "delete"}
ICEBERG_WORDS = frozenset(_OPERATIONS.values())
"""The operations that Iceberg has a word for."""


def is_delta(table: Path | None) -> TypeGuard[Path]:
    """Return whether a folder holds a Delta table.

    Args:
        table: the folder; None where there are no folders.
    """
    return table is not None and (table / FOLDER).is_dir() and newest_version(table) is not None


def newest_version(table: Path, known: int | None = None) -> int | None:
    """Return the number of a table's newest version, or None if it has none.

    Args:
        table: folder of the table.
        known: a version that is there; the search goes on from it instead of listing the log.
    """
    if known is not None and _path(table, known).exists():
        while _path(table, known + 1).exists():
            known += 1
        return known
    try:
        names = [entry.name for entry in (table / FOLDER).iterdir()]
    except FileNotFoundError:
        return None
    return max((int(m[1]) for name in names if (m := _COMMIT.fullmatch(name))), default=None)


def read_snapshot(table: Path, version: int) -> Snapshot | None:
    """Return one version, or None if it is not there or not kept any more.

    Its operation is Delta's own word in lower case if Iceberg has none for it. Its summary holds
    the properties of the commit marker, and ``added-records`` and ``deleted-records`` if Delta
    counted them.
    """
    info: Mapping[str, Any] = {}
    try:
        with _path(table, version).open(encoding="utf-8") as lines:
            for line in lines:
                if line.startswith('{"commitInfo"'):  # the first, before thousands of files
                    info = json.loads(line)["commitInfo"]
                    break
    except FileNotFoundError:
        return None
    parent, at = version - 1 if version else None, int(info.get("timestamp", 0))
    return Snapshot(version, parent, _operation(info), _summary(info), at, version)


def actions(table: Path, version: int) -> list[Mapping[str, Any]]:
    """Return what a commit says, action by action; nothing if it is not kept any more.

    Args:
        table: folder of the table.
    """
    try:
        with _path(table, version).open(encoding="utf-8") as lines:
            return [json.loads(line) for line in lines]
    except FileNotFoundError:
        return []


def is_kept(table: Path, version: int) -> bool:
    """Return whether the log holds the commit of a version.

    Args:
        table: folder of the table.
    """
    return _path(table, version).exists()


def _path(table: Path, version: int) -> Path:
    return table / FOLDER / f"{version:020}.json"


def _operation(info: Mapping[str, Any]) -> str:
    name = str(info.get("operation", ""))
    if name == "WRITE" and info.get("operationParameters", {}).get("mode") == "Overwrite":
        return "overwrite"
    return _OPERATIONS.get(name, name.lower())


def _summary(info: Mapping[str, Any]) -> dict[str, str]:
    counts = _counts(info.get("operation", ""), info.get("operationMetrics") or {})
    return _marked(info.get("userMetadata")) | {name: str(n) for name, n in counts.items()}


def _marked(metadata: object) -> dict[str, str]:
    """The properties in the user metadata of a commit; empty if somebody else wrote it."""
    try:
        found = json.loads(metadata) if isinstance(metadata, str) else None
    except ValueError:
        return {}
    if not isinstance(found, dict):
        return {}
    return {key: value for key, value in found.items() if isinstance(value, str)}


def _counts(operation: str, metrics: Mapping[str, str]) -> dict[str, int]:
    def of(name: str) -> int:
        return int(metrics.get(name, 0))

    if operation == "MERGE":
        updated = of("numTargetRowsUpdated")
        return {
            "added-records": of("numTargetRowsInserted") + updated,
            "deleted-records": of("numTargetRowsDeleted") + updated,
        }
    if operation == "WRITE" and metrics:
        return {"added-records": of("numOutputRows")}
    return {}
