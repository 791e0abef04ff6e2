"""Tables of the lake: creation, pinned reads, changes, bounds."""

from __future__ import annotations

import datetime as dt
from concurrent.futures import ThreadPoolExecutor

import pytest

from headwater.errors import TerminalError
from headwater.lake.catalog import Lake
from headwater.lake.iceberg.file_bounds import ensure_exact
from headwater.lake.protocol.commit import commit
from headwater.lake.protocol.marker import Marker
from headwater.lake.spec import TableSpec
from headwater.runtime.session import session_for_thread

SPEC = TableSpec(
    "events",
    (
        ("id", "BIGINT", False),
        ("ts", "TIMESTAMP", True),
        ("local", "TIMESTAMP_NTZ", True),
        ("price", "DECIMAL(10,2)", True),
        ("tags", "ARRAY<STRUCT<a:INT,b:STRING>>", True),
        ("small", "TINYINT", True),
    ),
    partitioned_by=("days(ts)", "bucket(4, id)"),
    comment="it's \\ here",
    event_times=("ts", "local"),
)


def append(lake: Lake, *times: str | None) -> int:
    values = ", ".join(f"({i}, {f'{t!r}' if t else 'NULL'})" for i, t in enumerate(times))
    lake.spark.sql(
        f"INSERT INTO {lake.identifier('events')} SELECT CAST(i AS BIGINT), CAST(t AS TIMESTAMP),"
        f" CAST(t AS TIMESTAMP_NTZ), 1.5, NULL, 1Y FROM VALUES {values} AS v (i, t)"
    )
    return lake.table("events").snapshot_id()


def micros(text: str) -> int:
    moment = dt.datetime.fromisoformat(text).replace(tzinfo=dt.UTC)
    return (moment - dt.datetime.fromtimestamp(0, dt.UTC)) // dt.timedelta(microseconds=1)


def test_new_table_has_an_empty_first_snapshot_and_no_marker(lake):
    table = lake.ensure(SPEC)
    assert table.read().count() == 0
    assert table.marker() is None
    assert table.snapshot(table.snapshot_id()).parent is None


def test_ensure_again_finds_the_same_table(lake):
    first = lake.ensure(SPEC)
    again = lake.ensure(SPEC)
    assert again.snapshot_id() == first.snapshot_id()
    assert list(again.columns()) == [name for name, _, _ in SPEC.columns]


def test_ensure_repairs_a_table_whose_first_snapshot_is_missing(lake):
    lake.spark.sql(f"CREATE NAMESPACE {lake.catalog}.{lake.namespace}")
    lake.spark.sql(f"CREATE TABLE {lake.identifier('t')} (k INT) USING iceberg")
    assert lake.ensure(TableSpec("t", (("k", "INT", True),))).snapshot_id()


@pytest.mark.parametrize(
    ("columns", "named"),
    [
        ((("k", "BIGINT", True),), '"k" is INT, defined as BIGINT'),
        ((("k", "INT", False),), '"k" is INT, defined as INT NOT NULL'),
        ((("k", "INT", True), ("n", "INT", True)), '"n" is missing'),
        ((("n", "INT", True),), '"k" is no longer defined'),
    ],
)
def test_table_with_other_columns_is_refused_by_their_names(lake, columns, named):
    lake.ensure(TableSpec("t", (("k", "INT", True),)))
    lake.spark.sql(f"INSERT INTO {lake.identifier('t')} VALUES (1)")
    with pytest.raises(TerminalError) as error:
        lake.ensure(TableSpec("t", columns))
    assert error.value.condition == "SCHEMA_CHANGED"
    assert named in error.value.message


def test_a_view_that_nobody_has_committed_to_gets_other_columns(lake):
    lake.ensure(TableSpec("t", (("k", "INT", True),), definition="SELECT k"))
    other = TableSpec("t", (("k", "BIGINT", True), ("n", "INT", True)), definition="SELECT k, n")
    again = lake.ensure(other)
    assert again.columns() == {"k": "BIGINT", "n": "INT"} and again.is_new()
    lake.spark.sql(f"INSERT INTO {lake.identifier('t')} VALUES (1, 2)")
    lake.spark.sql(f"DELETE FROM {lake.identifier('t')}")  # its rows were there
    with pytest.raises(TerminalError, match="defined as INT"):
        lake.ensure(TableSpec("t", (("k", "INT", True), ("n", "INT", True))))


def test_order_of_columns_matters(lake):
    a, b = ("a", "INT", True), ("b", "INT", True)
    lake.ensure(TableSpec("t", (a, b)))
    lake.spark.sql(f"INSERT INTO {lake.identifier('t')} VALUES (1, 2)")
    with pytest.raises(TerminalError, match="order"):
        lake.ensure(TableSpec("t", (b, a)))


def test_missing_table_is_named(lake):
    lake.ensure(TableSpec("t", (("k", "INT", True),)))
    with pytest.raises(TerminalError) as error:
        lake.table("nothing")
    assert error.value.condition == "TABLE_NOT_FOUND"


def test_tables_ensured_by_many_threads_at_once(lake):
    def ensure(number: int) -> int:
        own = lake.using(session_for_thread(lake.spark))
        return own.ensure(TableSpec(f"t{number % 2}", (("k", "INT", True),))).snapshot_id()

    with ThreadPoolExecutor(6) as pool:
        ids = list(pool.map(ensure, range(6)))
    assert all(ids)


def test_pinned_read_does_not_see_later_rows(lake):
    lake.ensure(SPEC)
    first = append(lake, "2013-01-01 10:00:00")
    append(lake, "2013-01-01 11:00:00")
    table = lake.table("events")
    assert table.read(first).count() == 1
    assert table.read().count() == 2


def test_changes_are_the_rows_between_two_snapshots(lake):
    lake.ensure(SPEC)
    first = append(lake, "2013-01-01 10:00:00")
    second = append(lake, "2013-01-01 11:00:00", "2013-01-01 12:00:00")
    third = append(lake, None)
    table = lake.table("events")
    assert table.changes(None, second).count() == 3
    assert table.changes(first, second).count() == 2
    assert table.changes(first, third).count() == 3
    assert table.changes(third, third).count() == 0


def test_changes_after_a_snapshot_out_of_history_are_refused(lake):
    lake.ensure(SPEC)
    first = append(lake, "2013-01-01 10:00:00")
    second = append(lake, "2013-01-01 11:00:00")
    with pytest.raises(TerminalError) as error:
        lake.table("events").changes(second, first)
    assert error.value.condition == "SNAPSHOT_NOT_IN_HISTORY"


def test_bounds_are_the_oldest_and_newest_event_time_of_one_snapshot(lake):
    lake.ensure(SPEC)
    times = ("2013-01-01 10:00:00", "2013-01-02 11:30:00.123456", "2013-01-01 12:00:00", None)
    first = append(lake, *times)
    second = append(lake, "2013-01-01 09:00:00")
    third = append(lake, None)
    table = lake.table("events")
    assert table.upper_bound("ts", first) == micros("2013-01-02T11:30:00.123456")
    assert table.upper_bound("local", first) == micros("2013-01-02T11:30:00.123456")
    assert table.upper_bound("ts", second) == micros("2013-01-01T09:00:00")
    assert table.upper_bound("ts", third) is None
    assert table.lower_bound("ts", first) == micros("2013-01-01T10:00:00")
    assert table.lower_bound("ts", second) == micros("2013-01-01T09:00:00")
    assert table.lower_bound("ts", third) is None


def test_each_file_of_one_lane_tells_how_far_that_lane_has_come(lake):
    columns = (("ts", "TIMESTAMP", True), ("_path", "STRING", True))
    # the names are longer than what Iceberg keeps of a text by default
    lanes = [f"a-topic-with-a-long-name/{number}" for number in range(2)]
    table = lake.ensure(TableSpec("laned", columns))
    ensure_exact(table.java, ("ts", "_path"))
    rows = [("10:00", lanes[0]), ("11:00", lanes[1]), ("09:00", lanes[0])]
    values = ", ".join(f"(TIMESTAMP '2013-01-01 {at}', '{lane}')" for at, lane in rows)
    frame = lake.spark.sql(f"SELECT * FROM VALUES {values} AS t(ts, _path)")
    expected = {lanes[0]: micros("2013-01-01T10:00:00"), lanes[1]: micros("2013-01-01T11:00:00")}
    for lane in lanes:
        frame.where(f"_path = '{lane}'").coalesce(1).writeTo(table.identifier).append()
        table.refresh()
        found = list(table.bounds.by_part("_path", "ts", table.snapshot_id()))
        assert found == [(lane, expected[lane])]
    frame.coalesce(1).writeTo(table.identifier).append()
    table.refresh()
    assert list(table.bounds.by_part("_path", "ts", table.snapshot_id())) == [
        (None, expected[lanes[1]])
    ]


def test_upper_bound_before_1970(lake):
    lake.ensure(SPEC)
    assert lake.table("events").upper_bound("ts", append(lake, "1955-11-05 06:15:00")) == micros(
        "1955-11-05T06:15:00"
    )


def test_newest_commit_at_an_older_snapshot(lake):
    table = lake.ensure(TableSpec("t", (("k", "INT", True),)))
    empty, ids = table.snapshot_id(), []
    for number in range(3):
        cut = {"in": str(number)} if number else {}
        marker = Marker("t", 1, number, cut, {"in": str(number + 1)})
        commit(table, marker, lambda _: None, session=lake.spark)
        table.refresh()
        ids.append(table.snapshot_id())
    assert [table.newest(before=id_).marker.epoch for id_ in ids] == [0, 1, 2]
    assert table.newest(before=empty) is None
