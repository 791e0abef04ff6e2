"""Landing of files: what is in the table after which epochs, crashes and restarts."""

from __future__ import annotations

import logging
from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest
from conftest import column

from headwater.analyze.definitions import Source, Watermark
from headwater.connectors.contract import Limits
from headwater.connectors.ledger import ledger_spec
from headwater.errors import ServiceError
from headwater.intake import land as land_module
from headwater.intake.land import Landing
from headwater.lake.protocol.marker import Marker
from headwater.lake.watermark import watermark_after
from tests.spark.crash import Crash, before_publishing


def micros(text: str) -> int:
    return int(datetime.fromisoformat(text).replace(tzinfo=UTC).timestamp() * 1_000_000)


def ids(lake, table="t"):
    return sorted(row.id for row in lake.table(table).read().collect())


@pytest.fixture
def crash_before_publishing(monkeypatch):
    return before_publishing(monkeypatch)


def test_an_epoch_without_a_ledger_is_read_again_as_it_was_begun(
    lake, landing, crash_before_publishing, monkeypatch
):
    # a row a second from the arrival on: those more than three seconds ahead of it are bad
    options = {
        "rows_per_second": "1",
        "number_of_rows": "8",
        "fields.id.kind": "sequence",
        "fields.ts.start": "2026-01-01 12:00:00",
        "max_future": "3 seconds",
    }
    columns = (column("id", "bigint"), column("ts", "timestamp with time zone"))
    watermark = Watermark("ts", timedelta(seconds=1))
    source = Source("t", True, columns, "datagen", options=options, watermark=watermark)
    monkeypatch.setattr(land_module, "now_micros", lambda: micros("2026-01-01 12:00:00"))
    land = landing(source)
    crash_before_publishing()
    with pytest.raises(Crash):
        land.step(Limits(rows=6))
    assert lake.table("t__quarantine").read().count() == 2
    monkeypatch.setattr(land_module, "now_micros", lambda: micros("2026-01-01 13:00:00"))
    result = landing(source).step()
    assert (result.rows_in, result.quarantined) == (6, 2)
    assert ids(lake) == [0, 1, 2, 3]


def test_rows_of_json_lines_land_with_their_coordinates(lake, drop, landing, files_source):
    drop("a.json", '{"id":1,"s":"x"}\n\n{"id":2,"s":"y"}\nnot json\n')
    drop("b.json", '{"id":3}\n')
    land = landing(files_source("id integer !; s varchar"))
    result = land.step()
    assert (result.units, result.rows_in, result.rows_out, result.quarantined) == (2, 4, 3, 1)
    rows = sorted((r.id, r.s, r._path, r._row) for r in lake.table("t").read().collect())
    assert rows == [(1, "x", "a.json", 0), (2, "y", "a.json", 2), (3, None, "b.json", 0)]
    bad = lake.table("t__quarantine").read().collect()
    assert [(r.reason, bytes(r.raw), r._path, r._row) for r in bad] == [
        ("not valid JSON: not json", b"not json", "a.json", 3)
    ]
    assert land.step() is None


def test_names_are_literal_and_hidden_names_are_not_read(lake, drop, landing, files_source):
    odd = ["a b.json", "p%20q.json", "[x].json", "é+.json", "w*.json", "sub/{1}.json", "it's.json"]
    hidden = [".h.json", "_h.json", "h.json.tmp", "h.json.crc", "_sub/x.json", ".sub/x.json"]
    for number, name in enumerate(odd):
        drop(name, f'{{"id":{number}}}\n')
    for name in hidden:
        drop(name, '{"id":-1}\n')
    landing(files_source("id integer", options={"recursive": "true"})).step()
    assert {row._path: row.id for row in lake.table("t").read().collect()} == {
        name: number for number, name in enumerate(odd)
    }


def test_an_epoch_takes_files_in_order_within_its_limits(lake, drop, landing, files_source):
    drop("c.json", '{"id":3}\n', modified=1000.9)
    drop("a.json", '{"id":1}\n', modified=2000)
    drop("b.json", '{"id":2}\n', modified=1000.1)
    by_name = landing(files_source("id integer"))
    assert by_name.backlog() == 3
    assert by_name.step(Limits(files=1)).units == 1
    assert ids(lake) == [1]
    assert by_name.step(Limits(bytes=1)).units == 1
    assert ids(lake) == [1, 2]
    assert by_name.backlog() == 1
    by_time = landing(files_source("id integer", "u", options={"order": "modified"}))
    by_time.step(Limits(files=2))
    # b and c have one time, in whole seconds: their names decide
    assert ids(lake, "u") == [2, 3]


def test_restart_goes_on_after_the_last_epoch(lake, drop, landing, files_source):
    source = files_source("id integer")
    drop("a.json", '{"id":1}\n')
    landing(source).step()
    drop("b.json", '{"id":2}\n')
    restarted = landing(source)
    assert restarted.step().epoch == 1
    assert restarted.step() is None
    assert ids(lake) == [1, 2]
    assert landing(source).step() is None


def test_crash_before_the_target_is_published_replays_exactly_the_planned_files(
    lake, drop, landing, files_source, crash_before_publishing
):
    source = files_source("id integer")
    drop("b.json", '{"id":2}\nbad\n')
    crash_before_publishing()
    with pytest.raises(Crash):
        landing(source).step()
    assert ids(lake) == []
    drop("a.json", '{"id":1}\n')  # sorts before the planned file
    restarted = landing(source)
    first = restarted.step()
    assert (first.epoch, first.units) == (0, 1)
    assert ids(lake) == [2]
    restarted.step()
    assert ids(lake) == [1, 2]
    assert lake.table("t__quarantine").read().count() == 1
    assert lake.table("t__files").read().count() == 2
    assert restarted.step() is None


def test_planned_file_that_is_gone_or_changed_is_a_clear_error(
    lake, drop, landing, files_source, crash_before_publishing
):
    source = files_source("id integer")
    path = drop("a.json", '{"id":1}\n')
    crash_before_publishing()
    with pytest.raises(Crash):
        landing(source).step()
    content = path.read_bytes()
    path.write_bytes(content * 2)
    with pytest.raises(ServiceError) as changed:
        landing(source).step()
    assert changed.value.condition == "FILE_CHANGED"
    path.unlink()
    with pytest.raises(ServiceError) as gone:
        landing(source).step()
    assert gone.value.condition == "FILE_GONE"


def test_processed_file_that_changes_is_reported_once_and_not_read_again(
    lake, drop, landing, files_source, caplog
):
    source = files_source("id integer")
    drop("a.json", '{"id":1}\n')
    land = landing(source)
    land.step()
    drop("a.json", '{"id":1}\n{"id":2}\n')
    with caplog.at_level(logging.WARNING):
        assert land.step() is None
        assert land.step() is None
    assert land.connector.changed == 1
    assert len([r for r in caplog.records if "a.json" in r.getMessage()]) == 1
    assert ids(lake) == [1]


def test_once_ends_with_what_is_there_at_the_first_look(lake, drop, landing, files_source):
    drop("a.json", '{"id":1}\n')
    drop("b.json", '{"id":2}\n')
    land = landing(files_source("id integer"), once=True)
    land.step(Limits(files=1))
    drop("c.json", '{"id":3}\n')
    assert land.step().units == 1
    assert land.step() is None
    assert ids(lake) == [1, 2]


def test_line_numbers_do_not_depend_on_cores_or_on_which_files_share_an_epoch(
    lake, drop, landing, files_source
):
    for number in range(7):
        drop(f"f{number}.json", "".join(f'{{"id":{line}}}\n' for line in range(50 * number + 1)))
    landing(files_source("id integer", "together")).step()
    apart = landing(files_source("id integer", "apart"))
    while apart.step(Limits(files=1)):
        pass
    for table in ("together", "apart"):
        rows = lake.table(table).read()
        assert rows.count() == 7 + 50 * 21
        assert rows.where("id <> _row").count() == 0


def test_a_large_file_is_read_in_parts_without_repeating_a_row_number(
    lake, drop, landing, files_source, monkeypatch
):
    from headwater.connectors.files import read as raw

    size = {key: "4096" for key in raw.SETTINGS if "Bytes" in key}
    monkeypatch.setattr(raw, "SETTINGS", {**raw.SETTINGS, **size})
    drop("a.json", "".join(f'{{"id":{line}}}\n' for line in range(3000)))
    landing(files_source("id integer")).step()
    rows = lake.table("t").read().orderBy("_row").collect()
    assert [row.id for row in rows] == list(range(3000))
    assert len({row._row for row in rows}) == 3000


# -- watermark


TIMES = "id integer; ts timestamp with time zone"


def row(number: int, time: str) -> str:
    return f'{{"id":{number},"ts":"{time}"}}\n'


def test_stamp_follows_from_earlier_epochs_and_never_goes_back(lake, drop, landing, files_source):
    source = files_source(TIMES, delay=10, options={"ordering": "name"})
    drop("a.json", row(1, "2013-01-01T00:01:00.123456Z") + row(2, "2013-01-01T00:00:00Z"))
    drop("b.json", row(3, "2012-01-01T00:00:00Z"))
    drop("c.json", row(4, "2013-01-01T01:00:00Z"))
    drop("d.json", row(5, "2013-01-01T01:00:00Z"))
    land = landing(source)
    stamps = [land.step(Limits(files=1)).watermark for _ in range(4)]
    first, second = micros("2013-01-01T00:00:50.123"), micros("2013-01-01T00:59:50")
    assert stamps == [None, first, first, second]
    assert land.table.marker().watermark == second
    marked = {row.id: row._watermark for row in lake.table("t").read().collect()}
    assert marked[1] is None
    assert marked[3] == datetime.fromisoformat("2013-01-01 00:00:50.123")
    assert watermark_after(landing(source).table, source) == second


def test_files_of_one_look_are_one_arrival_whoever_reads_them(lake, drop, landing, files_source):
    source = files_source(TIMES, delay=0)
    for number, name in enumerate("abcd"):
        drop(f"{name}.json", row(number, f"2013-01-01T0{9 - number}:00:00Z"))
    land = landing(source)
    assert land.step(Limits(files=1)).watermark is None
    assert land.step(Limits(files=1)).watermark is None
    drop("aa.json", row(9, "2013-01-01T00:00:00Z"))  # it waits with what is left of the look
    restarted = landing(source)
    assert restarted.marker.waiting
    stamps = [restarted.step(Limits(files=1)).watermark for _ in range(3)]
    assert stamps == [None, None, None]
    assert restarted.marker.waiting == ()
    assert watermark_after(restarted.table, source) == micros("2013-01-01T09:00:00")
    drop("e.json", row(10, "2013-01-01T08:00:00Z"))
    assert landing(source).step().watermark == micros("2013-01-01T09:00:00")


def test_a_look_whose_files_are_gone_ends_with_an_epoch_of_no_rows(
    drop, landing, files_source, tmp_path
):
    source = files_source(TIMES, delay=0)
    for number, name in enumerate("ab"):
        drop(f"{name}.json", row(number, "2013-01-01T09:00:00Z"))
    land = landing(source)
    land.step(Limits(files=1))
    (tmp_path / "in" / "b.json").unlink()
    restarted = landing(source)
    assert watermark_after(restarted.table, source) is None
    assert restarted.step().units == 0
    assert watermark_after(restarted.table, source) == micros("2013-01-01T09:00:00")
    assert restarted.step() is None


def test_future_dated_row_is_quarantined_and_does_not_move_the_watermark(
    lake, drop, landing, files_source
):
    source = files_source(TIMES, delay=0)
    ahead = datetime.now(UTC)
    drop(
        "a.json",
        row(1, "2013-01-01T00:00:00Z")
        + row(2, (ahead + timedelta(hours=2)).isoformat())
        + row(3, (ahead - timedelta(days=1)).isoformat()),
    )
    land = landing(source)
    land.step()
    assert ids(lake) == [1, 3]
    reason = lake.table("t__quarantine").read().first().reason
    assert reason.startswith('future-dated: column "ts" is ')
    assert watermark_after(land.table, source) <= micros(
        (ahead - timedelta(days=1)).replace(tzinfo=None).isoformat()
    )


def test_closing_the_input_stamps_whatever_comes_later(lake, drop, landing, files_source):
    source = files_source(TIMES, delay=0)
    drop("a.json", row(1, "2013-01-01T00:00:00Z"))
    land = landing(source)
    land.step()
    assert land.close(micros("2013-01-02T00:00:00"))
    assert not land.close(micros("2013-01-01T12:00:00"))
    assert land.table.marker() == Marker(
        "t",
        1,
        1,
        {"t": land.position},
        {"t": land.position},
        watermark=micros("2013-01-02T00:00:00"),
        closed=True,
    )
    drop("b.json", row(2, "2013-01-01T00:00:01Z"))
    restarted = landing(source)
    assert restarted.step().watermark == micros("2013-01-02T00:00:00")
    assert not restarted.close(micros("2013-01-02T00:00:00"))


def test_wall_clock_event_time_has_a_wall_clock_watermark(lake, drop, landing, files_source):
    source = files_source("id integer; ts timestamp", delay=0, options={"ordering": "name"})
    drop("a.json", row(1, "2013-01-01 00:00:00"))
    drop("b.json", row(2, "2013-01-01 01:00:00"))
    land = landing(source)
    land.step(Limits(files=1))
    land.step()
    table = lake.table("t").read()
    assert dict(table.dtypes)["_watermark"] == "timestamp_ntz"
    assert table.where("id = 2").first()._watermark == datetime.fromisoformat("2013-01-01")


def test_a_ledger_of_an_earlier_release_gets_the_column_it_lacks_in_the_middle_of_an_epoch(
    lake, drop, landing, files_source, crash_before_publishing
):
    earlier = ledger_spec("t")
    lake.ensure(replace(earlier, columns=earlier.columns[:-1]))
    assert "version" not in lake.table("t__files").columns()
    source = files_source("id integer")
    drop("a.json", '{"id":1}\n')
    crash_before_publishing()
    land = landing(source)
    with pytest.raises(Crash):
        land.step()
    drop("b.json", '{"id":2}\n')
    again = landing(source)
    assert (again.step().epoch, ids(lake)) == (0, [1])
    assert (again.step().epoch, ids(lake)) == (1, [1, 2])
    ledger = lake.table("t__files").read().orderBy("epoch").collect()
    assert [(row.file, row.version) for row in ledger] == [("a.json", None), ("b.json", None)]


def test_markers_chain_and_the_ledger_counts(lake, drop, landing, files_source):
    drop("a.json", '{"id":1}\nbad\n')
    drop("b.json", '{"id":2}\n')
    land = landing(files_source("id integer"))
    land.step(Limits(files=1))
    first = land.marker
    land.step()
    assert land.marker.cut_from == first.cut_to
    assert '"files": 2' in land.position and len(land.position) < 100
    ledger = lake.table("t__files")
    assert ledger.marker().counts == {"in": 1, "out": 1, "quarantined": 0, "dropped": 0}


def test_a_later_epoch_runs_the_code_that_was_compiled_for_an_earlier_one(
    spark, lake, drop, landing, files_source
):
    package = spark._jvm.org.apache.spark.metrics.source
    compiled = package.CodegenMetrics.METRIC_COMPILATION_TIME()
    for number in range(5):
        drop(f"{number}.json", row(number, f"2013-01-01T00:0{number}:00Z"))
    land = landing(files_source(TIMES, delay=0))
    for _ in range(3):  # before the first watermark, with it, and once to settle
        land.step(Limits(files=1))
    before = compiled.getCount()
    land.step(Limits(files=1))
    land.step(Limits(files=1))
    assert compiled.getCount() - before == 0
    assert lake.table("t").read().where("_arrived_at IS NULL").count() == 0


def test_a_file_that_changes_while_it_is_read_is_read_anew(
    lake, drop, landing, files_source, monkeypatch
):
    source = files_source("id integer")
    drop("a.json", '{"id":1}\n')
    drop("b.json", '{"id":2}\nba')
    append = Landing.append

    def append_while_the_producer_writes(self, *rows):
        found = append(self, *rows)
        with (self.connector.place.folder / "b.json").open("a") as file:
            file.write('d\n{"id":3}\n')
        return found

    land = landing(source)
    with monkeypatch.context() as patched:
        patched.setattr(Landing, "append", append_while_the_producer_writes)
        with pytest.raises(ServiceError) as changed:
            land.step()
    assert (changed.value.condition, "b.json" in changed.value.message) == ("FILE_CHANGED", True)
    assert ids(lake) == []
    assert land.step().units == 2
    assert ids(lake) == [1, 2, 3]
    assert [row._row for row in lake.table("t__quarantine").read().collect()] == [1]
    assert land.step() is None and land.connector.changed == 0
