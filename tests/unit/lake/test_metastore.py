"""What is written down for readers that ask a metastore where a Delta table is."""

from __future__ import annotations

import json
from pathlib import Path

from headwater.lake.delta.metastore import enter_table, remove_table


def files(warehouse: Path) -> dict[str, dict[str, object]]:
    found = sorted(path for path in warehouse.rglob("*") if path.is_file())
    return {str(path.relative_to(warehouse)): json.loads(path.read_text()) for path in found}


def test_a_table_is_entered_once_and_forgotten(tmp_path: Path) -> None:
    table = tmp_path / "shop" / "sold per day"
    enter_table(table)
    before = files(tmp_path)
    assert list(before) == [
        ".metastore/.shop.trinoSchema",
        ".metastore/shop/sold per day/.trinoSchema",
    ]
    entry = before[".metastore/shop/sold per day/.trinoSchema"]
    assert entry["externalLocation"] == f"file://{table}"
    changed = {path: path.stat().st_mtime_ns for path in tmp_path.rglob("*")}
    enter_table(table)
    assert {path: path.stat().st_mtime_ns for path in tmp_path.rglob("*")} == changed
    remove_table(table)
    remove_table(table)
    assert list(files(tmp_path)) == [".metastore/.shop.trinoSchema"]


def test_an_entry_that_is_wrong_is_written_anew(tmp_path: Path) -> None:
    table = tmp_path / "shop" / "sold"
    enter_table(table)
    right = files(tmp_path)
    (tmp_path / ".metastore/shop/sold/.trinoSchema").write_text("{}")
    enter_table(table)
    assert files(tmp_path) == right
