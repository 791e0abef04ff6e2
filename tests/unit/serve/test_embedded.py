from __future__ import annotations

import sqlite3
from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path

import duckdb
import pytest
from fake_lake import CLICKS, FakeLake, make_lake
from pyiceberg.types import LongType

from headwater.errors import HeadwaterError
from headwater.lake.protocol.marker import Marker
from headwater.serve import iceberg_files
from headwater.serve.embedded import Embedded

AT = datetime(2024, 1, 1, 10, tzinfo=UTC)


def click(user: int, minute: int = 0, score: float = 1.0) -> dict[str, object]:
    return {"user_id": user, "ts": AT.replace(minute=minute), "score": score, "_watermark": None}


def ask(lake: FakeLake, sql: str) -> list[tuple[object, ...]]:
    with Embedded(lake.project).query(sql) as result:
        return list(result.rows)


def condition(lake: FakeLake, sql: str) -> str:
    with pytest.raises(HeadwaterError) as caught:
        ask(lake, sql)
    return caught.value.condition


@pytest.fixture
def clicks(lake: FakeLake) -> FakeLake:
    lake.create("clicks", CLICKS)
    marker = Marker("clicks", 1, 0, {}, {"clicks": "a"}, watermark=1_704_103_200_000_000)
    lake.append("clicks", [click(1), click(2, 5, 0.5)], marker)
    return lake


def test_a_select_returns_its_rows_with_times_in_utc(clicks: FakeLake) -> None:
    assert ask(clicks, "SELECT user_id, ts FROM clicks ORDER BY user_id") == [
        (1, AT),
        (2, AT.replace(minute=5)),
    ]


def test_columns_that_begin_with_an_underscore_are_not_in_a_star(clicks: FakeLake) -> None:
    with Embedded(clicks.project).query("SELECT * FROM clicks") as result:
        assert result.columns == ("user_id", "ts", "score")


@pytest.mark.parametrize(
    ("sql", "columns"),
    [
        ("SELECT _watermark FROM clicks", ("_watermark",)),
        ("SELECT *, _arrived_at FROM clicks", ("user_id", "ts", "score", "_arrived_at")),
        ("SELECT c.*, c._arrived_at FROM clicks c", ("user_id", "ts", "score", "_arrived_at")),
        ("SELECT * FROM clicks WHERE _watermark IS NULL", ("user_id", "ts", "score")),
        ("SELECT * FROM (SELECT _watermark FROM clicks)", ("_watermark",)),
    ],
)
def test_hidden_columns_are_there_for_who_names_them(
    clicks: FakeLake, sql: str, columns: tuple[str, ...]
) -> None:
    with Embedded(clicks.project).query(sql) as result:
        assert result.columns == columns


def test_the_sql_is_ours_not_duckdbs(clicks: FakeLake) -> None:
    sql = "SELECT 7 / 2, approx_distinct(user_id), date_trunc('hour', max(ts)) FROM clicks"
    assert ask(clicks, sql) == [(3, 2, AT)]


def test_a_sum_of_integers_is_an_integer(clicks: FakeLake) -> None:
    ((total,),) = ask(clicks, "SELECT sum(user_id) FROM clicks")
    assert (total, type(total)) == (3, int)


def test_nan_is_found_that_the_statistics_of_a_file_leave_out(clicks: FakeLake) -> None:
    """As in files that others write: Spark writes no statistics then."""
    clicks.append("clicks", [{"user_id": 9, "score": float("nan")}, {"user_id": 9, "score": 0.5}])
    for term in ("score > 1000", "is_nan(score)", "score <> 0.5"):
        where = f"user_id = 9 AND {term}"
        assert ask(clicks, f"SELECT count(*) AS n FROM clicks WHERE {where}") == [(1,)]


@pytest.mark.parametrize("fault", [duckdb.FatalException, duckdb.InternalException])
def test_a_fault_of_duckdb_names_the_query_and_ends_no_other(
    clicks: FakeLake, monkeypatch: pytest.MonkeyPatch, fault: type[duckdb.Error]
) -> None:
    said = "INTERNAL Error: Attempted to access index 1 within vector of size 1\nStack Trace:\n0x1"
    text = "SELECT user_id + 40 AS odd FROM clicks"
    ask(clicks, text)

    def failing(batches: object) -> None:
        raise fault(said)

    with monkeypatch.context() as patched:
        patched.setattr("headwater.serve.embedded.rows_of", failing)
        with pytest.raises(HeadwaterError) as caught:
            ask(clicks, text)
    assert caught.value.condition == "ENGINE_FAULT"
    assert text in caught.value.message and "Stack Trace" not in caught.value.message
    assert ask(clicks, text)


def test_one_table_can_be_read_several_times_in_a_query(clicks: FakeLake) -> None:
    sql = "SELECT count(*) FROM clicks a JOIN clicks b ON a.user_id = b.user_id WHERE a.score > 0"
    assert ask(clicks, sql) == [(2,)]


def test_the_namespace_can_be_written(clicks: FakeLake) -> None:
    assert ask(clicks, "SELECT count(*) FROM shop.clicks") == [(2,)]
    assert condition(clicks, "SELECT count(*) FROM other.clicks") == "UNKNOWN_NAMESPACE"


def test_a_cte_may_have_the_name_of_a_table(clicks: FakeLake) -> None:
    assert ask(clicks, "WITH x AS (SELECT 1 AS a) SELECT * FROM x") == [(1,)]


def test_snapshots_show_what_the_markers_say(clicks: FakeLake) -> None:
    sql = 'SELECT epoch, watermark, cut_to, view, operation FROM "clicks$snapshots"'
    assert ask(clicks, sql) == [(0, AT, {"clicks": "a"}, "clicks", "append")]


def test_an_older_snapshot_can_be_read(clicks: FakeLake) -> None:
    first = clicks.snapshot("clicks")
    clicks.append("clicks", [click(3)])
    assert ask(clicks, "SELECT count(*) FROM clicks") == [(3,)]
    assert ask(clicks, f"SELECT count(*) FROM clicks FOR VERSION AS OF {first}") == [(2,)]
    assert condition(clicks, "SELECT 1 FROM clicks FOR VERSION AS OF 1") == "UNKNOWN_SNAPSHOT"


@pytest.mark.parametrize("native", [True, False])
def test_an_older_snapshot_has_no_values_in_a_column_that_was_added_since(
    clicks: FakeLake, monkeypatch: pytest.MonkeyPatch, native: bool
) -> None:
    if not native:
        monkeypatch.setattr(iceberg_files, "is_native", lambda task: False)
    first = clicks.snapshot("clicks")
    table = clicks.catalog.load_table((clicks.project.config.namespace, "clicks"))
    table.update_schema().add_column("price", LongType()).commit()
    marker = Marker("clicks", 1, 1, {}, {}, evolved={"price": "added as BIGINT"})
    clicks.append("clicks", [{**click(3), "price": 7}], marker)
    found = "SELECT user_id, price FROM clicks"
    assert sorted(ask(clicks, found), key=str) == [(1, None), (2, None), (3, 7)]
    assert sorted(ask(clicks, f"{found} FOR VERSION AS OF {first}")) == [(1, None), (2, None)]
    changed = 'SELECT epoch, evolved FROM "clicks$snapshots" WHERE epoch = 1'
    assert ask(clicks, changed) == [(1, {"price": "added as BIGINT"})]


def test_a_table_without_rows_is_empty(lake: FakeLake) -> None:
    lake.create("clicks", CLICKS)
    assert ask(lake, "SELECT * FROM clicks") == []


@pytest.mark.parametrize(
    ("sql", "expected"),
    [
        ("SELECT * FROM click", "UNKNOWN_TABLE"),
        ("SELECT * FROM per_user", "NO_DATA_YET"),
        ("SELECT nothing FROM clicks", "UNKNOWN_COLUMN"),
        ("DROP TABLE clicks", "NOT_A_QUERY"),
        ("SELECT 1; SELECT 2", "NOT_A_QUERY"),
        ("SELECT FROM WHERE", "SYNTAX_ERROR"),
        ("SELECT cast('x' AS BIGINT)", "QUERY_REFUSED"),
        ("SELECT cast('10:00Z' AS TIME WITH TIME ZONE)", "UNSUPPORTED_TYPE"),
        ("SELECT TIME '10:00Z'", "UNSUPPORTED_TYPE"),
    ],
)
def test_what_cannot_be_answered_is_refused(clicks: FakeLake, sql: str, expected: str) -> None:
    assert condition(clicks, sql) == expected


def test_before_the_first_run_there_is_a_hint(lake: FakeLake) -> None:
    with pytest.raises(HeadwaterError) as caught:
        ask(lake, "SELECT * FROM per_user")
    assert "headwater run --once" in caught.value.hint


def test_a_path_may_hold_blanks_and_signs(tmp_path: Path) -> None:
    folder = tmp_path / "my shop é 50%20"
    folder.mkdir()
    lake = make_lake(folder)
    lake.create("clicks", CLICKS)
    lake.append("clicks", [click(1)])
    assert ask(lake, "SELECT user_id FROM clicks") == [(1,)]
    assert list(lake.project.config.warehouse.rglob("*.parquet"))


def test_a_database_that_only_holds_a_lease_yet_has_no_tables(tmp_path: Path) -> None:
    lake = make_lake(tmp_path)
    database = lake.project.config.warehouse / "catalog.db"
    database.unlink()
    with closing(sqlite3.connect(database)) as connection:
        connection.execute("CREATE TABLE headwater_lease (token INTEGER)")
    assert condition(lake, "SELECT * FROM clicks") == "NO_DATA_YET"


def test_a_damaged_catalog_is_one_line(tmp_path: Path) -> None:
    lake = make_lake(tmp_path)
    (lake.project.config.warehouse / "catalog.db").write_text("no database at all" * 100)
    with pytest.raises(HeadwaterError) as caught:
        ask(lake, "SELECT * FROM clicks")
    assert (caught.value.condition, caught.value.exit_code) == ("CATALOG_DAMAGED", 3)
