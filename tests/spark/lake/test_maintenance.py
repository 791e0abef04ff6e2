"""Maintenance of one table: fewer files and snapshots, the same rows, and readers that go on."""

from __future__ import annotations

import os
import time
import uuid
from collections import Counter
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from law import EPOCH, MICROSECOND, Landed
from plans import planned

from headwater.config.settings import Maintenance
from headwater.engine.inputs import InputTable, SnapshotRange
from headwater.engine.streaming.query import StreamingView
from headwater.errors import TerminalError
from headwater.lake.iceberg import maintenance
from headwater.lake.iceberg.files import update_of
from headwater.lake.iceberg.maintenance import STEPS, Job, maintain
from headwater.lake.java import java_class
from headwater.lake.protocol.commit import Outcome, commit
from headwater.lake.protocol.marker import Marker
from headwater.lake.reserved_names import MARKER_TAG
from headwater.runtime.end_of_input import since_closing
from headwater.runtime.session import session_for_thread

NOON = datetime(2013, 1, 1, 12, tzinfo=UTC)
HARD = Maintenance.model_construct(
    every=None,
    retain=timedelta(0),
    keep_snapshots=2,
    target_file_size=128 * 10**6,
    orphan_age=timedelta(days=3),
)


@pytest.fixture(autouse=True)
def few_files_are_many(monkeypatch):
    monkeypatch.setattr(maintenance, "MIN_FILES", 2)
    monkeypatch.setattr(maintenance, "LEVELS", ((3 / 4, 2),))


def landed_at(lake, *hours):
    """A log table with an epoch of one row for each hour."""
    table = Landed(lake, "d", {"id": "INT", "ts": "TIMESTAMP"}, "ts")
    for number, hour in enumerate(hours):
        table.land((number, NOON + timedelta(hours=hour)))
    return table


def snapshots(table):
    """The commits, oldest first."""
    found = [s.id for s in table.ancestors(table.snapshot_id()) if s.marker]
    return found[::-1]


def ids(frame):
    return sorted(row.id for row in frame.collect())


def job(landed, needed=(), **options):
    return Job(landed.lake.table(landed.name), HARD, needed, **{"steps": STEPS[:-1]} | options)


def by_another_tool(landed, *, tag=True):
    """Compaction and the hardest expiry there is, without us (F3)."""
    table, sql = landed.lake.table(landed.name), landed.lake.spark.sql
    if not tag:
        sql(f"ALTER TABLE {table.identifier} DROP TAG `{MARKER_TAG}`")
    sql(
        f"CALL lake.system.rewrite_data_files(table => '{table.identifier}',"
        " options => map('rewrite-all', 'true'))"
    ).collect()
    sql(
        f"CALL lake.system.expire_snapshots(table => '{table.identifier}',"
        " older_than => TIMESTAMP '2100-01-01', retain_last => 1)"
    ).collect()
    landed.table.refresh()


def test_a_log_table_gets_small_and_its_readers_go_on(lake, monkeypatch):
    monkeypatch.setattr(maintenance, "MIN_MANIFESTS", 2)
    landed = landed_at(lake, 1, 5, 2, 3)
    table, before, unchanged = landed.table, landed.table.newest(), landed.table.metadata()
    commits = snapshots(table)
    cut = commits[1]
    # a dry run says it all and changes nothing
    assert maintain(job(landed, needed={cut}, dry_run=True)).done == {
        "compaction": "4 new files to compact",
        "manifests": "4 manifests to rewrite",
        "expiry": "2 snapshots to expire",
    }
    table.refresh()
    assert table.metadata() == unchanged
    # the rows, the marker and everything from the reader's cut on survive
    result = maintain(job(landed, needed={cut}))
    assert list(result.done) == ["compaction", "manifests", "expiry"]
    assert (result.before.data_files, result.after.data_files) == (4, 1)
    table.refresh()
    assert ids(table.read()) == [0, 1, 2, 3]
    assert table.newest() == before
    assert snapshots(table) == commits[1:]
    # what a reader at the cut asks next
    item = InputTable("d", table, landed.source)
    assert item.pin() == commits[-1] != table.snapshot_id()
    assert item.rows_added(SnapshotRange(cut, commits[-1])) == 2
    assert item.rows_added(SnapshotRange(None, commits[-1])) == 4
    assert ids(table.changes(cut, commits[-1])) == [2, 3]
    assert item.watermark_after(commits[-1]) == landed.watermark_after
    # without work nothing is written
    versions = table.metadata()["metadata-log"]
    assert maintain(job(landed, needed={cut})).done == {}
    table.refresh()
    assert table.metadata()["metadata-log"] == versions
    # the next commit is a change after the compaction
    landed.land((4, NOON))
    assert ids(table.changes(commits[-1], item.pin())) == [4]


def test_the_end_of_input_is_not_underestimated_when_its_history_is_gone(lake):
    landed = landed_at(lake, 5, 1, 2, 3)
    item = InputTable("d", landed.table, landed.source)
    highest = (NOON + timedelta(hours=5) - EPOCH) // MICROSECOND
    assert since_closing(item, item.pin()) == highest
    maintain(job(landed))
    landed.table.refresh()
    # the commits that are kept would say three o'clock
    assert len(snapshots(landed.table)) < 4
    assert since_closing(item, item.pin()) == highest


def test_deletes_of_an_upsert_table_do_not_pile_up(lake):
    landed = Landed(lake, "u", {"id": "INT", "n": "INT"})
    spark, table = lake.spark, landed.table

    def write(target, n):
        spark.sql(
            f"MERGE INTO {target.identifier} t USING (SELECT explode(array({n % 3}, 7)) AS id) s"
            f" ON t.id = s.id WHEN MATCHED THEN UPDATE SET n = {n}"
            f" WHEN NOT MATCHED THEN INSERT (id, n) VALUES (s.id, {n})"
        )

    for n in range(5):
        cut = {"x": str(n)} if n else {}
        marker = Marker("u", 1, n, cut, {"x": str(n + 1)})
        commit(table, marker, lambda target, n=n: write(target, n), session=spark)
    before = maintenance.size_of(table)
    assert before.delete_files > 2
    rows = Counter(table.read().collect())
    result = maintain(job(landed))
    table.refresh()
    assert Counter(table.read().collect()) == rows
    assert result.after.data_files == 1
    assert result.after.delete_files <= 1
    marker = Marker("u", 1, 4, {"x": "4"}, {"x": "5"})
    again = commit(table, marker, lambda target: write(target, 9), session=spark)
    assert again is Outcome.ALREADY_COMMITTED


def test_only_old_files_and_branches_are_orphans(lake):
    landed = landed_at(lake, 1)
    table = landed.table
    folder = Path(table.java.location().removeprefix("file:")) / "data"
    old, young = (folder / f"00000-{n}-{uuid.uuid4()}-0-00001.parquet" for n in (1, 2))
    # of a person, of PyIceberg and of Trino
    others = [
        folder / "notes.txt",
        folder.parent / "notes.txt",
        folder / f"00000-0-{uuid.uuid4()}.parquet",
        folder / f"20130101_101010_00001_abcde-{uuid.uuid4()}.parquet",
    ]
    for path, days in ((old, 4), (young, 1), *((other, 40) for other in others)):
        path.write_bytes(b"of a write that died")
        at = time.time() - timedelta(days=days).total_seconds()
        os.utime(path, (at, at))
    dead = lake.table("d")
    dead.stage("d", dead.snapshot_id())
    branch = dead.staging_branch("d")
    update_of(dead, (), {}).toBranch(branch).commit()
    assert maintain(job(landed, steps=STEPS)).done["orphans"] == "1 files"
    assert (old.exists(), young.exists()) == (False, True)
    assert all(path.exists() for path in others)
    assert ids(table.read()) == [0]
    table.refresh()
    assert table.ref(branch) is not None
    later = datetime.now(UTC) + timedelta(days=4)
    assert "1 dead staging branches" in maintain(job(landed, now=later)).done["expiry"]
    table.refresh()
    assert table.ref(branch) is None
    with pytest.raises(TerminalError) as caught:
        maintain(job(landed, steps=STEPS, longest_batch=timedelta(hours=8)))
    assert caught.value.condition == "ORPHAN_AGE_TOO_SHORT"
    assert '"80 hours"' in caught.value.hint


def test_files_outside_the_warehouse_are_not_deleted(lake, tmp_path):
    """Another tool has entered them into the table; expiry would delete what they were."""
    landed = landed_at(lake, 1, 2)
    table = landed.table
    rows = lake.spark.sql("SELECT 7 AS id, TIMESTAMP '2013-01-01 12:00:00' AS ts")
    rows.coalesce(1).write.parquet(str(tmp_path / "other"))
    (other,) = (tmp_path / "other").glob("*.parquet")
    inside = [path for path in files_of(table) if path != other]
    files = java_class(lake.spark, "org.apache.iceberg.DataFiles")
    entered = files.builder(table.java.spec()).withPath(f"file:{other}")
    entered = entered.withFileSizeInBytes(other.stat().st_size).withRecordCount(1).build()
    table.java.newAppend().appendFile(entered).commit()
    table.refresh()
    every = java_class(lake.spark, "org.apache.iceberg.expressions.Expressions").alwaysTrue()
    table.java.newDelete().deleteFromRowFilter(every).commit()
    landed.land((8, NOON + timedelta(hours=3)))
    landed.land((9, NOON + timedelta(hours=4)))
    assert "snapshots" in maintain(job(landed)).done["expiry"]
    assert other.exists() and not any(path.exists() for path in inside)


def test_a_table_that_lies_elsewhere_is_neither_written_nor_maintained(lake, tmp_path):
    landed = landed_at(lake, 1)
    identifier = landed.table.identifier
    lake.spark.sql(
        f"ALTER TABLE {identifier} SET TBLPROPERTIES ('write.data.path' = 'file:{tmp_path}/d')"
    )
    for write in (lambda: maintain(job(landed)), lambda: landed_again(landed)):
        with pytest.raises(TerminalError) as caught:
            write()
        assert caught.value.condition == "OUTSIDE_WAREHOUSE"
    assert not (tmp_path / "d").exists()


def landed_again(landed):
    table = landed.lake.table(landed.name)
    last = table.newest().marker
    marker = Marker(last.view, 1, last.epoch + 1, last.cut_to, {"x": "later"})
    return commit(table, marker, lambda target: None, session=landed.lake.spark)


def files_of(table):
    rows = table.spark.sql(f"SELECT file_path FROM {table.identifier}.files").collect()
    return [Path(row.file_path.removeprefix("file:")) for row in rows]


def test_after_the_hardest_expiry_by_another_tool_nothing_is_doubled_or_lost(lake):
    landed = landed_at(lake, 1, 2, 3)
    table, cut, last = landed.table, snapshots(landed.table)[0], landed.table.newest()
    by_another_tool(landed)
    # the marker survives on its tag: the last epoch is known, and the watermark it leads to
    again = commit(table, last.marker, lambda target: None, session=lake.spark)
    assert again is Outcome.ALREADY_COMMITTED
    item = InputTable("d", table, landed.source)
    assert item.watermark_after(item.pin()) == landed.watermark_after
    # a reader that has not read it all is refused: there is no telling what it lacks
    for read in (item.rows_added, lambda span: table.changes(span.after, span.upto)):
        with pytest.raises(TerminalError) as caught:
            read(SnapshotRange(cut, item.pin()))
        assert caught.value.condition == "SNAPSHOT_NOT_IN_HISTORY"


def test_without_the_tag_too_nothing_goes_on_or_begins(lake, spark, tmp_path):
    landed = landed_at(lake, 1, 2)
    marker = landed.table.newest().marker
    by_another_tool(landed, tag=False)
    for act in (
        lambda: commit(landed.table, marker, lambda target: None, session=lake.spark),
        lambda: maintain(job(landed)),
    ):
        with pytest.raises(TerminalError) as caught:
            act()
        assert caught.value.condition == "MARKER_LOST"
    # Iceberg's streaming source would leave out the rows of the compaction, and say nothing
    catalog, plans = planned(
        "CREATE TABLE d (id INTEGER, ts TIMESTAMP WITH TIME ZONE, WATERMARK FOR ts AS ts)"
        " WITH (connector = 'files', path = 'd') FORMAT PLAIN ENCODE JSON;"
        " CREATE STREAMING VIEW v WITH (engine = 'streaming') AS SELECT id, ts FROM d"
    )
    own = lake.using(session_for_thread(spark))
    with pytest.raises(TerminalError) as caught:
        StreamingView(own, plans["v"], catalog, tmp_path / "v1").start()
    assert caught.value.condition == "HISTORY_EXPIRED"
