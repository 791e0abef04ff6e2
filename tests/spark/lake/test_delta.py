"""The commit protocol on Delta tables: the same promise, by one transaction per epoch."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import threading
import time
import uuid
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from datetime import timedelta

import pytest
from py4j.protocol import Py4JError

from headwater.config.settings import Maintenance
from headwater.errors import ServiceError, TerminalError
from headwater.lake.catalog import Lake
from headwater.lake.delta import table as delta
from headwater.lake.delta.log import FOLDER
from headwater.lake.delta.maintenance import maintain_delta
from headwater.lake.delta.table import (
    APP_ID,
    USER_METADATA,
    DeltaStaging,
    DeltaTable,
    only_writer,
)
from headwater.lake.iceberg.maintenance import MIN_FILES
from headwater.lake.protocol import commit as protocol
from headwater.lake.protocol.commit import Outcome, commit
from headwater.lake.protocol.marker import Marker
from headwater.lake.protocol.table import Target
from headwater.lake.spec import TableSpec
from headwater.runtime.session import session_for_thread
from headwater.serve.delta import StoredDeltaTable

COMMITTED, ALREADY = Outcome.COMMITTED, Outcome.ALREADY_COMMITTED
SPEC = TableSpec("t", (("k", "INT", True), ("v", "BIGINT", True)))


def epoch(number: int, begin: int | None, end: int, **more) -> Marker:
    cut_from = {} if begin is None else {"in": str(begin)}
    return Marker("t", more.pop("version", 1), number, cut_from, {"in": str(end)}, **more)


def next_epoch(number: int, **more) -> Marker:
    return epoch(number, number or None, number + 1, **more)


def append(lake: Lake, *keys: int):
    rows = ", ".join(f"({k}, {k}L)" for k in keys)
    query = f"SELECT k, v FROM VALUES {rows} AS t (k, v)"
    return lambda target: target.append(lake.spark.sql(query))


def overwrite(lake: Lake, key: int):

    query = f"SELECT {key} AS k, {key}L AS v"
    return lambda target: target.replace(lake.spark.sql(query))


def merge(lake: Lake, key: int):
    def write(target: Target) -> None:
        lake.spark.sql(
            f"MERGE INTO {target.identifier} t USING (SELECT {key} AS k, {key}L AS v) s"
            " ON t.k <=> s.k"
            " WHEN MATCHED THEN UPDATE SET t.v = s.v"
            " WHEN NOT MATCHED THEN INSERT (k, v) VALUES (s.k, s.v)"
        )

    return write


WRITES = {"append": append, "overwrite": overwrite, "merge": merge}


def keys(table: DeltaTable) -> list[int]:
    return sorted(row.k for row in table.read().collect())


def epochs(table: DeltaTable) -> list[int]:
    table.refresh()
    found = [s.marker.epoch for s in table.ancestors(table.snapshot_id()) if s.marker]
    return found[::-1]


def committed(lake: Lake, table: DeltaTable, count: int) -> None:
    """Commit epochs 0, 1, … with one row each, whose key is the epoch."""
    for number in range(count):
        assert commit(table, next_epoch(number), append(lake, number), session=lake.spark)


def elsewhere(lake: Lake, marker: Marker, write) -> Outcome:
    """What another runner does: commit from its own thread and session."""

    def run() -> Outcome:
        own = lake.using(session_for_thread(lake.spark))
        return commit(own.ensure_delta(SPEC), marker, write(own, 2), session=own.spark)

    with ThreadPoolExecutor(1) as pool:
        return pool.submit(run).result()


def refused(condition: str, lake: Lake, table: DeltaTable, marker: Marker) -> None:
    before = table.snapshot_id()
    with pytest.raises(TerminalError) as error:
        commit(table, marker, append(lake, 99), session=lake.spark)
    assert error.value.condition == condition
    assert error.value.hint
    table.refresh()
    assert table.snapshot_id() == before, "a refused commit changes nothing"


def test_rows_marker_and_transaction_are_in_one_version(lake):
    table = lake.ensure_delta(SPEC)
    marker = epoch(0, None, 5, watermark=7_000, token=3, fingerprint="f", counts={"late": 2})
    assert commit(table, marker, append(lake, 1, 2), session=lake.spark) is COMMITTED
    table.refresh()
    assert table.snapshot_id() == 1
    newest = table.snapshot(1)
    assert newest.marker == marker
    assert newest.summary["added-records"] == "2"
    log = (table.location / FOLDER / f"{1:020}.json").read_text()
    transactions = [json.loads(line)["txn"] for line in log.splitlines() if '"txn"' in line]
    assert [(t["appId"], t["version"]) for t in transactions] == [("headwater.t", 1 << 40)]
    assert lake.spark.conf.get(USER_METADATA, None) is None
    assert lake.spark.conf.get(APP_ID, None) is None


def test_replay_gap_overlap_and_changed_range(lake):
    table = lake.ensure_delta(SPEC)
    refused("CUT_GAP", lake, table, epoch(1, 1, 2))
    committed(lake, table, 2)
    assert commit(table, epoch(1, 1, 2), append(lake, 9), session=lake.spark) is ALREADY
    assert commit(table, epoch(0, None, 1), append(lake, 9), session=lake.spark) is ALREADY
    refused("EPOCH_RANGE_CHANGED", lake, table, epoch(1, 1, 9))
    refused("CUT_GAP", lake, table, epoch(3, 3, 4))
    refused("CUT_GAP", lake, table, epoch(2, 3, 4))
    refused("CUT_OVERLAP", lake, table, epoch(2, 1, 3))
    refused("VERSION_CHANGED", lake, table, epoch(2, 2, 3, version=2))
    assert commit(table, epoch(2, 2, 3, token=5), append(lake, 2), session=lake.spark) is COMMITTED
    refused("FENCED", lake, table, epoch(3, 3, 4, token=4))
    # another process, and after it the table as it was found
    assert keys(lake.ensure_delta(SPEC)) == [0, 1, 2]
    assert epochs(table) == [0, 1, 2]


@pytest.mark.parametrize("kind", WRITES)
def test_late_writer_cannot_commit_an_epoch_a_second_time(lake, monkeypatch, kind):
    """Stopped after all checks, continued after another's commit: Delta skips its statement."""
    table = lake.ensure_delta(SPEC)
    committed(lake, table, 2)
    stopped: list[Outcome] = []

    def crash_point(name: str, of: str) -> None:
        if name == "5-staged" and not stopped:
            stopped.append(COMMITTED)
            assert elsewhere(lake, epoch(2, 2, 7, token=2), WRITES[kind]) is COMMITTED

    monkeypatch.setattr(protocol, "crash_point", crash_point)
    refused_marker = epoch(2, 2, 3, token=1)
    with pytest.raises(TerminalError) as error:
        commit(table, refused_marker, WRITES[kind](lake, 9), session=lake.spark)
    assert error.value.condition == "LOST_RACE"
    assert stopped
    assert 9 not in keys(table)
    assert epochs(table) == [0, 1, 2]
    assert table.marker().cut_to == {"in": "7"}
    assert table.marker().token == 2


@pytest.mark.parametrize("kind", WRITES)
def test_delta_itself_refuses_the_second_of_two_transactions(lake, monkeypatch, kind):
    """Without the lock too: the one that began before the other's commit fails, and has lost."""
    table = lake.ensure_delta(SPEC)
    committed(lake, table, 2)
    outcomes: list[str] = []
    together = threading.Barrier(2)

    def meet(name: str, of: str) -> None:
        if name == "5-staged":
            together.wait(300)

    class Free:
        def __init__(self, table):
            pass

        __enter__ = __exit__ = lambda *_: None

    monkeypatch.setattr(protocol, "crash_point", meet)
    monkeypatch.setattr(delta, "only_writer", Free)

    def run(number: int) -> str:
        own = lake.using(session_for_thread(lake.spark))
        try:
            marker = epoch(2, 2, 3, fingerprint=str(number))
            write = WRITES[kind](own, 10 + number)
            return commit(own.ensure_delta(SPEC), marker, write, session=own.spark).value
        except TerminalError as error:
            return error.condition

    with ThreadPoolExecutor(2) as pool:
        outcomes = sorted(pool.map(run, range(2)))
    assert outcomes == ["LOST_RACE", "committed"]
    assert epochs(table) == [0, 1, 2]
    assert len({10, 11} & set(keys(table))) == 1


def test_epoch_without_rows_has_its_marker(lake):
    table = lake.ensure_delta(SPEC)
    assert commit(table, next_epoch(0), lambda target: None, session=lake.spark) is COMMITTED
    assert commit(table, next_epoch(1), append(lake, 1), session=lake.spark) is COMMITTED
    assert commit(table, next_epoch(2), lambda target: None, session=lake.spark) is COMMITTED
    assert table.marker() == next_epoch(2)
    assert keys(table) == [1]


def test_small_files_become_few_and_files_that_no_version_needs_go(lake):
    table = lake.ensure_delta(SPEC)
    settings = Maintenance.model_construct(
        retain=timedelta(0), target_file_size=2**20, orphan_age=timedelta(days=1)
    )
    rows = lake.spark.range(MIN_FILES).selectExpr("CAST(id AS INT) AS k", "id AS v")
    many = rows.repartitionByRange(MIN_FILES, "k")
    done = commit(table, next_epoch(0), lambda target: target.append(many), session=lake.spark)
    assert done is COMMITTED
    stray, young = (
        table.location / f"part-{n:05}-{uuid.uuid4()}-c000.snappy.parquet" for n in (1, 2)
    )
    others = [table.location / name for name in ("notes.txt", "part-of-somebody.parquet")]
    for file in (stray, young, *others):
        file.write_bytes(b"x")
    old = time.time() - timedelta(days=8).total_seconds()
    for file in (stray, *others):
        os.utime(file, (old, old))
    for_a_reader = table.location / FOLDER / f"{1:020}.json"
    said = for_a_reader.read_text()
    for_a_reader.with_name(f".{for_a_reader.name}.crc").unlink()  # Hadoop's checksum
    for_a_reader.write_text(re.sub(r'"timestamp":\d+', '"timestamp":1700000000000', said))
    assert commit(table, next_epoch(1), append(lake, 99), session=lake.spark) is COMMITTED
    planned = maintain_delta(table, settings, needed={1}, dry_run=True)
    assert list(planned.done) == ["compaction"], "who has read version 1 needs its files"
    planned = maintain_delta(table, settings, dry_run=True)
    assert (planned.before, list(planned.done)) == (planned.after, ["compaction", "orphans"])
    result = maintain_delta(table, settings)
    assert result.done == {"compaction": "17 data files into 1", "orphans": "1 files"}
    assert (result.before.data_files, result.after.data_files) == (MIN_FILES + 1, 1)
    assert (stray.exists(), young.exists()) == (False, True)
    assert all(file.exists() for file in others)
    assert keys(table) == [*range(MIN_FILES), 99]
    assert table.read(1).count() == MIN_FILES, "time travel"
    assert commit(table, next_epoch(2), append(lake, 16), session=lake.spark) is COMMITTED
    assert epochs(table) == [0, 1, 2]
    assert not maintain_delta(table, settings).done


def test_readers_of_what_it_reads_know_its_marker(lake):
    assert lake.written("t") is None
    committed(lake, lake.ensure_delta(SPEC), 2)
    found = lake.written("t")
    assert isinstance(found, DeltaTable), "maintenance of its inputs asks for its cut"
    assert found.marker() == next_epoch(1)


def test_marker_survives_maintenance_by_others_and_such_commits_are_not_stamped(lake):
    table = lake.ensure_delta(SPEC)
    committed(lake, table, 2)
    lake.spark.sql(f"OPTIMIZE {table.identifier}")
    table.refresh()
    assert table.snapshot(table.snapshot_id()).operation == "replace"
    assert table.snapshot(table.snapshot_id()).marker is None
    assert table.marker() == next_epoch(1)
    assert commit(table, next_epoch(1), append(lake, 9), session=lake.spark) is ALREADY
    assert commit(table, next_epoch(2), append(lake, 2), session=lake.spark) is COMMITTED
    assert keys(table) == [0, 1, 2]


def test_merge_overtaken_by_maintenance_starts_again_and_commits(lake):
    table = lake.ensure_delta(SPEC)
    committed(lake, table, 2)
    calls = []

    def conflicting(target: str) -> None:
        calls.append(target)
        if len(calls) == 1:
            with ThreadPoolExecutor(1) as pool:
                own = lake.using(session_for_thread(lake.spark))
                pool.submit(own.spark.sql, f"OPTIMIZE {table.identifier}").result()
            raise Py4JError("ConcurrentDeleteReadException")
        merge(lake, 1)(target)

    assert commit(table, next_epoch(2), conflicting, session=lake.spark) is COMMITTED
    assert len(calls) == 2
    assert keys(table) == [0, 1]


def test_history_that_was_cleaned_up_is_refused_not_restarted(lake):
    table = lake.ensure_delta(SPEC)
    committed(lake, table, 2)
    lake.spark.sql(f"OPTIMIZE {table.identifier}")
    log = java_log(lake, table)
    log.checkpoint()
    for version in range(3):  # what clean-up of the log does after the retention
        (table.location / FOLDER / f"{version:020}.json").unlink()
        (table.location / FOLDER / f"{version:020}.crc").unlink(missing_ok=True)
    again = lake.ensure_delta(SPEC)
    with pytest.raises(TerminalError) as error:
        commit(again, next_epoch(0), append(lake, 9), session=lake.spark)
    assert error.value.condition == "MARKER_LOST"


def java_log(lake: Lake, table: DeltaTable):
    logs = lake.spark._jvm.org.apache.spark.sql.delta.DeltaLog
    return logs.forTable(lake.spark._jsparkSession, str(table.location))


def test_foreach_batch_commits_with_the_session_of_its_batch(lake, tmp_path):
    source, table = lake.ensure(TableSpec("s", SPEC.columns)), lake.ensure_delta(SPEC)
    for number in range(3):
        marker = replace(next_epoch(number), view="s")
        assert commit(source, marker, append(lake, number), session=lake.spark) is COMMITTED

    def each(batch, number: int) -> None:
        write = lambda target: target.append(batch)  # noqa: E731
        commit(table, next_epoch(number), write, session=batch.sparkSession)

    stream = lake.spark.readStream.format("iceberg").load(source.identifier)
    query = (
        stream.writeStream.foreachBatch(each)
        .option("checkpointLocation", str(tmp_path / "checkpoint"))
        .trigger(availableNow=True)
        .start()
    )
    query.awaitTermination()
    assert keys(table) == [0, 1, 2]
    assert table.marker() is not None


# -- step 6: outcome unknown


def test_commit_that_landed_but_was_reported_failed_is_not_committed_twice(lake, monkeypatch):
    table = lake.ensure_delta(SPEC)
    committed(lake, table, 1)
    publish = DeltaStaging.publish

    def loses_reply(self) -> None:
        publish(self)
        raise Py4JError("connection lost after commit")

    monkeypatch.setattr(DeltaStaging, "publish", loses_reply)
    assert commit(table, next_epoch(1), append(lake, 1), session=lake.spark) is COMMITTED
    assert commit(table, next_epoch(1), append(lake, 1), session=lake.spark) is ALREADY
    assert keys(table) == [0, 1]


def test_commit_that_never_arrived_fails_and_can_be_replayed(lake, monkeypatch):
    table = lake.ensure_delta(SPEC)
    committed(lake, table, 1)

    def loses_request(self) -> None:
        raise Py4JError("connection lost before commit")

    with monkeypatch.context() as patch:
        patch.setattr(DeltaStaging, "publish", loses_request)
        with pytest.raises(Py4JError):
            commit(table, next_epoch(1), append(lake, 1), session=lake.spark)
    assert keys(table) == [0]
    assert commit(table, next_epoch(1), append(lake, 1), session=lake.spark) is COMMITTED
    assert keys(table) == [0, 1]


# -- processes


def test_only_one_process_and_one_thread_writes_at_a_time(lake, monkeypatch):
    table = lake.ensure_delta(SPEC)
    monkeypatch.setattr(delta, "LOCK_TIMEOUT", 0.2)
    with only_writer(table), pytest.raises(ServiceError) as error:
        commit(table, next_epoch(0), append(lake, 0), session=lake.spark)
    assert error.value.condition == "TABLE_LOCKED"
    program = (
        "import fcntl, sys\n"
        f"f = open({str(delta.lock_file(table))!r}, 'r+')\n"
        "fcntl.lockf(f, fcntl.LOCK_EX); print('locked', flush=True); sys.stdin.read()"
    )
    with subprocess.Popen(
        [sys.executable, "-c", program], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as other:
        assert other.stdout.readline() == "locked\n"
        with pytest.raises(ServiceError) as error:
            commit(table, next_epoch(0), append(lake, 0), session=lake.spark)
        assert error.value.condition == "TABLE_LOCKED"
        other.communicate("")
    assert commit(table, next_epoch(0), append(lake, 0), session=lake.spark) is COMMITTED


# -- the table


def test_table_of_another_shape_or_format_is_refused(lake):
    table = lake.ensure_delta(SPEC)
    assert lake.ensure_delta(SPEC).snapshot_id() == table.snapshot_id() == 0
    view = TableSpec("v", (("k", "BIGINT", True),), definition="SELECT k")
    lake.ensure_delta(view)
    assert lake.ensure_delta(replace(view, columns=SPEC.columns)).columns()["k"] == "INT"
    commit(lake.ensure_delta(SPEC), next_epoch(0), append(lake, 0), session=lake.spark)
    for spec, condition in (
        (TableSpec("t", (("k", "BIGINT", True), ("v", "BIGINT", True))), "SCHEMA_CHANGED"),
        (TableSpec("t", (("k", "INT", True),)), "SCHEMA_CHANGED"),
    ):
        with pytest.raises(TerminalError) as error:
            lake.ensure_delta(spec)
        assert error.value.condition == condition
    with pytest.raises(TerminalError) as error:
        lake.ensure(SPEC)
    assert error.value.condition == "FORMAT_CHANGED"
    unborn = replace(SPEC, name="u")
    (lake.folder("u") / FOLDER).mkdir(parents=True)  # what a creation leaves that was killed
    assert lake.ensure_delta(unborn).snapshot_id() == 0
    used = replace(SPEC, name="w")
    (lake.folder("w") / "data").mkdir(parents=True)
    with pytest.raises(TerminalError) as error:
        lake.ensure_delta(used)
    assert error.value.condition == "TARGET_NOT_EMPTY"
    lake.ensure(TableSpec("i", SPEC.columns))
    with pytest.raises(TerminalError) as error:
        lake.ensure_delta(TableSpec("i", SPEC.columns))
    assert error.value.condition == "FORMAT_CHANGED"


def test_readers_without_a_jvm_see_every_version(lake):
    import duckdb

    table = lake.ensure_delta(SPEC)
    committed(lake, table, 2)
    commit(table, next_epoch(2), merge(lake, 1), session=lake.spark)
    stored = StoredDeltaTable("t", table.location)
    assert list(stored.columns()) == ["k", "v"]
    found = list(stored.commits())
    assert [(c.marker.epoch, c.added, c.removed) for c in found] == [
        (2, 1, 1),
        (1, 1, 0),
        (0, 1, 0),
    ]
    assert found[0].total == 2
    with duckdb.connect() as connection:
        for commit_ in found:
            stored.create_view(connection, "t", commit_.snapshot_id, ["k"])
            rows = connection.sql("SELECT k FROM t ORDER BY k").fetchall()
            assert [k for (k,) in rows] == sorted({min(commit_.marker.epoch, 1), 0})
