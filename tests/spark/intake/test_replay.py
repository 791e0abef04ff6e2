"""Quarantined rows after a fix: landed once with their coordinates, whatever is killed when."""

from __future__ import annotations

import gzip
from dataclasses import replace

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from headwater.analyze.definitions import OnError
from headwater.errors import ConfigError, TerminalError
from headwater.intake.replay import replay
from headwater.lake.protocol import commit as protocol

COLUMNS = "id integer; ts timestamp with time zone"
GERMAN = {"timestamp_format": "dd.MM.yyyy HH:mm"}
LINES = (
    '{"id":1,"ts":"2013-01-01T05:00:00Z"}\n'
    '{"id":2,"ts":"01.02.2013 06:00"}\n'
    "bad\n"
    '{"id":4,"ts":"02.02.2013 06:00"}\n'
)


class Killed(BaseException):
    """Stands for the end of the process."""


@pytest.fixture
def kill_at(monkeypatch):
    """Make the nth passage of a crash point the end; returns where the end can be seen."""

    def arm(point, nth=1):
        fired = []

        def crash_point(name, table):
            fired.extend([name] if name == point else [])
            if name == point and len(fired) == nth:
                raise Killed(name)

        monkeypatch.setattr(protocol, "crash_point", crash_point)
        return fired

    return arm


def landed(lake):
    rows = lake.table("t").read().select("id", "_path", "_row").collect()
    return sorted(tuple(row) for row in rows)


def waiting(lake):
    rows = lake.table("t__quarantine").read().collect()
    return sorted((row._path, -1 if row._row is None else row._row, row.reason) for row in rows)


def in_german(source):
    return replace(source, encode_options=GERMAN)


def test_rows_that_the_corrected_definition_reads_are_landed_once(
    lake, drop, landing, files_source
):
    source = files_source(COLUMNS, delay=0)
    drop("a.json", LINES)
    landing(source).step()
    assert landed(lake) == [(1, "a.json", 0)]
    before = lake.table("t__quarantine").read().where("_row = 2").first()

    dry = replay(landing(in_german(source)), dry_run=True)
    assert (dry.waiting, dry.landed, dry.refused) == (3, 2, 1)
    assert len(waiting(lake)) == 3 and lake.table("t").marker().epoch == 0

    done = replay(landing(in_german(source)))
    assert (done.waiting, done.landed, done.refused, done.untouched) == (3, 2, 1, 0)
    assert landed(lake) == [(1, "a.json", 0), (2, "a.json", 1), (4, "a.json", 3)]
    assert [(path, row) for path, row, _ in waiting(lake)] == [("a.json", 2)]
    assert lake.table("t__quarantine").marker().counts["quarantined"] == 1
    kept = lake.table("t__quarantine").read().first()
    assert (kept._arrived_at, bytes(kept.raw)) == (before._arrived_at, b"bad")

    first, again = (lake.table("t").read().where(f"id = {n}").first() for n in (1, 2))
    assert again._arrived_at > first._arrived_at
    # late is what comes after the watermark of earlier epochs, whenever it happened
    assert first._watermark is None and again._watermark == first.ts
    # nothing new: no commit
    assert replay(landing(in_german(source))).landed == 0
    assert lake.table("t").marker().epoch == 1
    drop("b.json", '{"id":9,"ts":"03.02.2013 06:00"}\nbad\n')
    landing(in_german(source)).step()
    assert len(landed(lake)) == 4 and len(waiting(lake)) == 2
    assert lake.table("t__quarantine").marker().counts["quarantined"] == 2


def test_reasons_are_those_of_the_definition_as_it_is_now(lake, drop, landing, files_source):
    source = files_source("id integer; s varchar !")
    drop("a.json", '{"id":"x"}\n{"id":1}\n')
    landing(source).step()
    assert [reason for *_, reason in waiting(lake)] == [
        "column \"id\": 'x' is not a valid INTEGER",
        'column "s": NULL in NOT NULL column',
    ]
    only_id = files_source("id integer; s varchar", options={"max_record_bytes": "9"})
    done = replay(landing(only_id))
    assert (done.landed, done.refused) == (1, 1)
    assert waiting(lake) == [("a.json", 0, "record of 10 bytes, more than 9")]


@pytest.mark.parametrize("header", ["true", "false"])
def test_csv_lines_are_read_with_the_header_of_their_file(
    lake, drop, landing, files_source, header
):
    first = "ts,id\n" if header == "true" else ""
    columns = "ts timestamp with time zone; id integer"
    drop("a.csv", first + "01.02.2013 06:00,2\n2013-01-01 00:00:00,1\n")
    drop("b.csv", first.replace("ts,id", "id,ts,x") + "02.02.2013 06:00,3\n")
    if header == "true":
        drop("b.csv", "id,ts,x\n3,02.02.2013 06:00,y\n")
    source = files_source(columns, encode="csv", encode_options={"header": header})
    landing(source).step()
    assert [row[0] for row in landed(lake)] == [1]
    german = replace(source, encode_options={"header": header, **GERMAN})
    drop("gone.csv", first + "03.02.2013 06:00,4\n").unlink()
    assert replay(landing(german)).landed == 2
    assert sorted(row[0] for row in landed(lake)) == [1, 2, 3]
    assert waiting(lake) == []


def test_csv_without_its_file_cannot_be_read_again(lake, drop, landing, files_source):
    drop("a.csv", "ts,id\n01.02.2013 06:00,2\n").touch()
    source = files_source("ts timestamp with time zone; id integer", encode="csv")
    landing(source).step()
    drop("a.csv", "id,ts\n2,01.02.2013 06:00\n")
    done = replay(landing(in_german(source)))
    assert (done.landed, done.untouched) == (0, 1)
    assert len(waiting(lake)) == 1 and landed(lake) == []


def test_of_a_long_record_only_the_beginning_is_kept_and_not_taken_for_the_whole(
    lake, drop, landing, files_source
):
    columns, limit = "id integer; s varchar", {"max_record_bytes": "70000"}
    drop("a.csv", "1," + "y" * 80_000 + "\n")
    source = files_source(columns, encode="csv", encode_options={"header": "false"}, options=limit)
    landing(source).step()
    wider = replace(source, options={"path": "in"})
    done = replay(landing(wider))
    assert (done.landed, done.untouched) == (0, 1)
    assert landed(lake) == [] and len(waiting(lake)) == 1


def test_files_that_could_not_be_read_are_read_again(lake, drop, landing, files_source):
    source = files_source("id integer")
    drop("cut.json.gz", gzip.compress(b'{"id":2}\n' * 1000)[:-12])
    drop("gone.json.gz", b"no gzip")
    drop("still.json.gz", b"no gzip either")
    landing(source).step()
    assert [row for _, row, _ in waiting(lake)] == [-1, -1, -1]
    drop("cut.json.gz", gzip.compress(b'{"id":2}\nbad\n{"id":3}\n'))
    land = landing(source)
    (land.connector.place.folder / "gone.json.gz").unlink()
    done = replay(land)
    assert (done.landed, done.refused, done.files, done.gone) == (2, 2, 2, ("gone.json.gz",))
    assert landed(lake) == [(2, "cut.json.gz", 0), (3, "cut.json.gz", 2)]
    assert [(path, row) for path, row, _ in waiting(lake)] == [
        ("cut.json.gz", 1),
        ("gone.json.gz", -1),
        ("still.json.gz", -1),
    ]
    assert lake.table("t__quarantine").marker().counts["quarantined"] == 3
    assert landing(source).step() is None


def test_rows_of_parquet_files_are_refused_and_the_file_is_not(
    lake, project, landing, files_source
):
    folder = project.directory / "in"
    pq.write_table(pa.table({"id": pa.array([None, 1], pa.int32())}), folder / "a.parquet")
    source = files_source("id integer !", encode="parquet")
    landing(source).step()
    with pytest.raises(ConfigError) as refused:
        replay(landing(source))
    assert refused.value.condition == "REPLAY_NOT_EXACT"
    (folder / "b.parquet").write_bytes(b"PAR1 damaged PAR1")
    landing(source).step()
    pq.write_table(pa.table({"id": pa.array([5], pa.int32())}), folder / "b.parquet")
    done = replay(landing(source))
    assert (done.landed, done.untouched) == (1, 1)
    assert [row[0] for row in landed(lake)] == [1, 5]


def test_with_on_error_fail_a_bad_row_stays_where_it_is(lake, drop, landing, files_source):
    source = files_source(COLUMNS)
    drop("a.json", LINES)
    landing(source).step()
    done = replay(landing(replace(in_german(source), on_error=OnError.FAIL)))
    assert (done.landed, done.refused) == (2, 1)
    assert len(waiting(lake)) == 1


def test_generated_rows_have_no_bytes(lake, landing, files_source):
    source = replace(files_source("id integer"), connector="datagen", options={"rows": "1"})
    with pytest.raises(ConfigError) as refused:
        replay(landing(source))
    assert refused.value.condition == "REPLAY_NOT_POSSIBLE"


# a replay passes the points of step 5 for the table, then those of step 4 for the quarantine
KILLS = (
    ("5-staged", "run"),
    ("5-published", "run"),
    ("4-staged", "replay"),
    ("4-published", "run"),
)


@pytest.mark.parametrize(("point", "then"), KILLS)
def test_a_replay_killed_anywhere_is_done_once(
    lake, drop, landing, files_source, kill_at, point, then
):
    source = files_source(COLUMNS)
    drop("a.json", LINES)
    landing(source).step()
    begun = landing(in_german(source))
    fired = kill_at(point)
    with pytest.raises(Killed):
        replay(begun)
    assert fired == [point]
    kill_at("nowhere")
    drop("b.json", '{"id":5,"ts":"05.02.2013 06:00"}\nbad\n')
    after = landing(in_german(source))
    # the quarantine agrees with the table before anything else happens
    table = {(path, row) for _, path, row in landed(lake)}
    assert not table & {(path, row) for path, row, _ in waiting(lake)}
    if then == "run":
        after.step()
        replay(landing(in_german(source)))
    else:
        replay(after)
        landing(in_german(source)).step()
    assert [row[0] for row in landed(lake)] == [1, 2, 4, 5]
    assert [(path, row) for path, row, _ in waiting(lake)] == [("a.json", 2), ("b.json", 1)]
    assert lake.table("t__quarantine").marker().counts["quarantined"] == 2


# the ledger, then the quarantine, then the table
FILE_KILLS = (("4-published", 1), ("4-published", 2), ("5-published", 1))


@pytest.mark.parametrize(("point", "nth"), FILE_KILLS)
def test_a_file_read_again_and_killed_anywhere_is_landed_once(
    lake, drop, landing, files_source, kill_at, point, nth
):
    source = files_source("id integer")
    drop("a.json.gz", b"no gzip")
    landing(source).step()
    drop("a.json.gz", gzip.compress(b'{"id":2}\nbad\n'))
    begun = landing(source)
    fired = kill_at(point, nth)
    with pytest.raises(Killed):
        replay(begun)
    assert len(fired) == nth
    kill_at("nowhere")
    after = landing(source)
    after.step()
    replay(landing(source))
    assert landed(lake) == [(2, "a.json.gz", 0)]
    assert [(path, row) for path, row, _ in waiting(lake)] == [("a.json.gz", 1)]
    assert lake.table("t__quarantine").marker().counts["quarantined"] == 1


def test_stored_columns_stay_as_they_are(lake, drop, landing, files_source):
    drop("a.json", '{"id":"x"}\n')
    landing(files_source("id integer")).step()
    with pytest.raises(TerminalError) as refused:
        landing(files_source("id varchar"))
    assert refused.value.condition == "SCHEMA_CHANGED"
