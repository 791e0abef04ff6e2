"""Rows have numbers by which they are found again, whatever files they are in."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path
from types import SimpleNamespace

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from deltalake import write_deltalake
from fake_lake import CLICKS, FakeLake

from headwater.serve import iceberg, iceberg_files
from headwater.serve.connection import duckdb_connection
from headwater.serve.delta import StoredDeltaTable
from headwater.serve.lake_reader import LakeReader
from headwater.serve.stored_table import AT, NUMBER, ROWS_OF_FILE, StoredTable

FIRST = 3 << 57
NOON = datetime(2026, 1, 1, 12, tzinfo=UTC)


@pytest.fixture
def table(lake: FakeLake) -> StoredTable:
    lake.create("clicks", CLICKS)
    for users in ((1, 2, 3), (4, 5)):
        lake.append("clicks", [{"user_id": user, "ts": NOON} for user in users])
    found = LakeReader(lake.project.config).table("clicks")
    assert found is not None
    return found


def numbers(table: StoredTable) -> dict[int, tuple[int, int]]:
    """Return number and place of each user's row."""
    with duckdb_connection() as connection:
        table.create_view(connection, "rows", table.snapshot_id(), ["user_id"], FIRST)
        found = connection.sql(f'SELECT user_id, {NUMBER}, {AT} FROM "rows"').fetchall()
    return {user: (number, at) for user, number, at in found}


def test_a_number_says_the_file_and_the_place(table: StoredTable) -> None:
    found = numbers(table)
    assert sorted(found) == [1, 2, 3, 4, 5]
    assert len({number for number, _ in found.values()}) == 5
    assert all(number >= FIRST for number, _ in found.values())
    assert [found[user][1] for user in (1, 2, 3, 4, 5)] == [0, 1, 2, 0, 1]
    assert all((number - FIRST) % (1 << ROWS_OF_FILE) == at for number, at in found.values())


def test_rows_that_delete_files_remove_have_no_number(
    table: StoredTable, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    scan = iceberg.StoredIcebergTable._scan

    def with_deletes(self: iceberg.StoredIcebergTable, *arguments: object) -> object:
        schema, scanned, tasks = scan(self, *arguments)  # type: ignore[arg-type]
        first, second = sorted(tasks, key=lambda task: -task.file.record_count)
        deletes = tmp_path / "deletes.parquet"
        pq.write_table(pa.table({"file_path": [first.file.file_path], "pos": [1]}), deletes)
        removed = SimpleNamespace(file_path=f"file://{deletes}")
        touched = SimpleNamespace(file=first.file, delete_files=[removed])
        return schema, scanned, [second, touched]

    monkeypatch.setattr(iceberg.StoredIcebergTable, "_scan", with_deletes)
    monkeypatch.setattr(iceberg_files, "is_native", lambda _: True)
    found = numbers(table)
    assert sorted(found) == [1, 3, 4, 5]
    assert len({number for number, _ in found.values()}) == 4


def test_rows_that_are_streamed_are_numbered(
    table: StoredTable, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(iceberg_files, "is_native", lambda _: False)
    assert sorted(number - FIRST for number, _ in numbers(table).values()) == [0, 1, 2, 3, 4]


def test_rows_of_delta_are_numbered(tmp_path: Path) -> None:
    for users in ((1, 2), (3,)):
        write_deltalake(tmp_path / "clicks", pa.table({"user_id": users}), mode="append")
    found = numbers(StoredDeltaTable("clicks", tmp_path / "clicks"))
    assert sorted(number - FIRST for number, _ in found.values()) == [0, 1, 2]
