"""Maintenance of one table: fewer files and snapshots, the same rows, and readers that go on."""

from __future__ import annotations

import os
import time
from collections import Counter
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from law import EPOCH, MICROSECOND, Landed
from plans import planned

from headwater.config import Maintenance
from headwater.errors import TerminalError
from headwater.incremental.changes import InputTable, Range
from headwater.lake import maintenance
from headwater.lake.commit import Outcome, commit
from headwater.lake.iceberg import MARKER_TAG
from headwater.lake.maintenance import Job, maintain
from headwater.lake.marker import Marker
from headwater.runtime.closing import since_closing
from headwater.runtime.session import session_for_thread
from headwater.streaming.query import StreamingView

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
    monkeypatch.setattr(maintenance, "MIN_MANIFESTS", 2)
    monkeypatch.setattr(maintenance, "_LEVELS", ((3 / 4, 2),))


@pytest.fixture
def landed(lake):
    """Six epochs of one row each, an hour apart, the fourth row before the others."""
    table = Landed(lake, "d", {"id": "INT", "ts": "TIMESTAMP"}, "ts")
    for number, hour in enumerate((1, 2, 3, -5, 4, 5)):
        table.land((number, NOON + timedelta(hours=hour)))
    return table


def snapshots(table):
    """The commits, oldest first."""
    found = [s.id for s in table.ancestors(table.snapshot_id()) if s.marker]
    return found[::-1]


def ids(frame):
    return sorted(row.id for row in frame.collect())


def job(landed, needed=(), **options):
    return Job(landed.lake.table(landed.name), HARD, needed, **{"orphans": False} | options)


def by_another_tool(landed, *, tag=True):
    """Compaction and the hardest expiry there is, without us (F3)."""
    table, sql = landed.lake.table(landed.name), landed.lake.spark.sql
    if not tag:
        sql(f"ALTER TABLE {table.identifier} DROP TAG `{MARKER_TAG}`")
        branch = landed.table.staging_branch(landed.name)
        sql(f"ALTER TABLE {table.identifier} DROP BRANCH {branch}")
    sql(
        f"CALL lake.system.rewrite_data_files(table => '{table.identifier}',"
        " options => map('rewrite-all', 'true'))"
    ).collect()
    sql(
        f"CALL lake.system.expire_snapshots(table => '{table.identifier}',"
        " older_than => TIMESTAMP '2100-01-01', retain_last => 1)"
    ).collect()
    landed.table.refresh()


def test_rows_marker_bounds_and_changes_survive(landed):
    table, before = landed.table, landed.table.newest()
    commits = snapshots(table)
    result = maintain(job(landed, needed={commits[2]}))
    assert list(result.done) == ["compaction", "manifests", "expiry"]
    assert (result.before.data_files, result.after.data_files) == (6, 1)
    table.refresh()
    assert ids(table.read()) == [0, 1, 2, 3, 4, 5]
    assert table.newest() == before
    assert snapshots(table) == commits[2:]
    # what a reader at the third commit asks next
    item = InputTable("d", table, landed.source)
    assert item.pin() == commits[-1]
    assert item.rows_added(Range(commits[2], commits[-1])) == 3
    assert ids(table.changes(commits[2], commits[-1])) == [3, 4, 5]
    assert item.watermark_after(commits[-1]) == landed.watermark_after
    assert item.rows_added(Range(None, commits[-1])) == 6
    # and after the compaction a new commit
    landed.land((6, NOON))
    assert ids(table.changes(commits[4], table.snapshot_id())) == [5, 6]
    assert ids(table.changes(table.snapshot_id(), table.snapshot_id())) == []


def test_without_work_nothing_is_written(landed):
    maintain(job(landed))
    landed.table.refresh()
    at, versions = landed.table.snapshot_id(), landed.table.metadata()["metadata-log"]
    assert maintain(job(landed)).done == {}
    landed.table.refresh()
    assert landed.table.snapshot_id() == at
    assert landed.table.metadata()["metadata-log"] == versions


def test_a_dry_run_says_it_all_and_changes_nothing(landed):
    before = landed.table.metadata()
    result = maintain(job(landed, dry_run=True, orphans=True))
    assert result.done == {
        "compaction": "6 new files to compact",
        "manifests": "6 manifests to rewrite",
        "expiry": "5 snapshots to expire",
    }
    landed.table.refresh()
    assert landed.table.metadata() == before


def test_the_end_of_input_is_not_underestimated_when_its_history_is_gone(landed):
    item = InputTable("d", landed.table, landed.source)
    highest = (NOON + timedelta(hours=5) - EPOCH) // MICROSECOND
    assert since_closing(item) == (highest, None)
    landed.land((6, NOON))
    landed.land((7, NOON + timedelta(hours=1)))
    maintain(job(landed))
    landed.table.refresh()
    # the newest commits alone would say one o'clock
    assert since_closing(item) == (highest, None)


def test_deletes_of_an_upsert_table_do_not_pile_up(lake):
    landed = Landed(lake, "u", {"id": "INT", "n": "INT"})
    spark, table = lake.spark, landed.table

    def write(target, n):
        spark.sql(
            f"MERGE INTO {target} t USING (SELECT explode(array({n % 3}, 7)) AS id) s"
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


def test_only_old_files_are_orphans_and_a_younger_age_is_refused(landed):
    folder = Path(landed.table.java.location().removeprefix("file:")) / "data"
    old, young = folder / "old.parquet", folder / "young.parquet"
    for path, days in ((old, 4), (young, 1)):
        path.write_bytes(b"of a write that died")
        at = time.time() - timedelta(days=days).total_seconds()
        os.utime(path, (at, at))
    assert maintain(job(landed, orphans=True, dry_run=True)).done["orphans"] == "1 files to delete"
    assert old.exists()
    assert maintain(job(landed, orphans=True)).done["orphans"] == "1 files"
    assert (old.exists(), young.exists()) == (False, True)
    assert ids(landed.table.read()) == [0, 1, 2, 3, 4, 5]
    with pytest.raises(TerminalError) as caught:
        maintain(job(landed, orphans=True, longest_batch=timedelta(hours=8)))
    assert caught.value.condition == "ORPHAN_AGE_TOO_SHORT"
    assert '"80 hours"' in caught.value.hint


def test_a_dead_staging_branch_goes_when_it_is_old(landed):
    table = landed.lake.table("d")
    table.stage("d", table.snapshot_id())
    branch = table.staging_branch("d")
    table.append_nothing(branch, {})
    assert "expiry" in maintain(job(landed)).done
    table.refresh()
    assert table.ref(branch) is not None
    later = datetime.now(UTC) + timedelta(days=4)
    assert "1 dead staging branches" in maintain(job(landed, now=later)).done["expiry"]
    table.refresh()
    assert table.ref(branch) is None


def test_after_the_hardest_expiry_by_another_tool_readers_refuse(landed, spark, tmp_path):
    cut = snapshots(landed.table)[2]
    by_another_tool(landed)
    item = InputTable("d", landed.table, landed.source)
    # the marker survives on its tag, and so does the watermark that it leads to
    assert item.watermark_after(item.pin()) == landed.watermark_after
    landed.land((6, NOON + timedelta(hours=6)))
    for read in (lambda: item.rows_added(Range(cut, item.pin())),
                 lambda: landed.table.changes(cut, item.pin())):  # fmt: skip
        with pytest.raises(TerminalError) as caught:
            read()
        assert caught.value.condition == "SNAPSHOT_NOT_IN_HISTORY"


def test_without_tag_and_history_nothing_is_maintained_or_begun(landed, spark, tmp_path):
    by_another_tool(landed, tag=False)
    with pytest.raises(TerminalError) as caught:
        maintain(job(landed))
    assert caught.value.condition == "MARKER_LOST"
    catalog, plans = planned(
        "CREATE TABLE d (id INTEGER, ts TIMESTAMP WITH TIME ZONE, WATERMARK FOR ts AS ts)"
        " WITH (connector = 'files', path = 'd') FORMAT PLAIN ENCODE JSON;"
        " CREATE STREAMING VIEW v AS SELECT id, ts FROM d"
    )
    own = landed.lake.using(session_for_thread(spark))
    with pytest.raises(TerminalError) as caught:
        StreamingView(own, plans["v"], catalog, tmp_path / "v1").start()
    assert caught.value.condition == "HISTORY_EXPIRED"
