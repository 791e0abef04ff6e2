"""The commit protocol against a real catalog; the names of the tests are its specification."""

from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor

import pytest
from py4j.protocol import Py4JError

from headwater.errors import ServiceError, TerminalError
from headwater.lake.catalog import Lake
from headwater.lake.iceberg.staging import SNAPSHOT_PROPERTY
from headwater.lake.iceberg.table import LakeTable
from headwater.lake.protocol.commit import Outcome, SideWrite, commit
from headwater.lake.protocol.marker import Marker
from headwater.lake.protocol.table import ATTEMPT, Target, Write
from headwater.lake.reserved_names import MARKER_TAG
from headwater.lake.spec import TableSpec
from headwater.runtime.session import session_for_thread

COMMITTED, ALREADY = Outcome.COMMITTED, Outcome.ALREADY_COMMITTED


def table_of(lake: Lake, name: str = "t") -> LakeTable:
    return lake.ensure(TableSpec(name, (("k", "INT", True),)))


def epoch(number: int, begin: int | None, end: int, view: str = "t", **more) -> Marker:
    cut_from = {} if begin is None else {"in": str(begin)}
    return Marker(view, more.pop("version", 1), number, cut_from, {"in": str(end)}, **more)


def rows(lake: Lake, *keys: int):
    def write(target: Target) -> None:
        values = ", ".join(f"({k})" for k in keys)
        target.append(lake.spark.sql(f"SELECT k FROM VALUES {values} AS t (k)"))

    return write


def keys(table: LakeTable) -> list[int]:
    return sorted(row.k for row in table.read().collect())


def committed(lake: Lake, table: LakeTable, epochs: int) -> None:
    """Commit epochs 0, 1, … with one row each, whose key is the epoch."""
    for number in range(epochs):
        marker = epoch(number, number or None, number + 1)
        assert commit(table, marker, rows(lake, number), session=lake.spark) is COMMITTED


def commit_elsewhere(lake: Lake, table: LakeTable, marker: Marker) -> None:
    """What another runner does: commit the row 2 from its own thread and session."""

    def run() -> Outcome:
        own = lake.using(session_for_thread(lake.spark))
        return commit(table, marker, rows(own, 2), session=own.spark)

    with ThreadPoolExecutor(1) as pool:
        assert pool.submit(run).result() is COMMITTED


def maintain(lake: Lake, table: LakeTable) -> None:
    """What another tool does to a table: a snapshot without a marker."""
    lake.spark.sql(f"CALL lake.system.rewrite_manifests('{table.identifier}')").collect()


def refused(condition: str, table: LakeTable, lake: Lake, marker: Marker, **more) -> None:
    before = table.snapshot_id()
    with pytest.raises(TerminalError) as error:
        commit(table, marker, rows(lake, 99), session=lake.spark, **more)
    assert error.value.condition == condition
    assert error.value.hint
    table.refresh()
    assert table.snapshot_id() == before, "a refused commit changes nothing"


# -- step 2: what is committed, what comes next


def test_committed_rows_and_marker_are_in_one_snapshot(lake):
    table = table_of(lake)
    marker = epoch(0, None, 5, watermark=7_000, token=3, fingerprint="f", counts={"rows": 2})
    assert commit(table, marker, rows(lake, 1, 2), session=lake.spark) is COMMITTED
    table.refresh()
    assert table.newest().marker == marker
    assert table.newest().snapshot_id == table.snapshot_id()
    assert keys(table) == [1, 2]


def test_replayed_epoch_is_not_committed_twice(lake):
    table = table_of(lake)
    committed(lake, table, 2)
    assert commit(table, epoch(1, 1, 2), rows(lake, 1), session=lake.spark) is ALREADY
    assert keys(table) == [0, 1]


def test_replay_by_a_new_process_is_not_committed_twice(lake):
    committed(lake, table_of(lake), 2)
    table = lake.table("t")
    assert commit(table, epoch(1, 1, 2), rows(lake, 1), session=lake.spark) is ALREADY


def test_replay_of_older_epochs_with_their_ranges_is_not_committed_twice(lake):
    table = table_of(lake)
    committed(lake, table, 4)
    for number in (1, 2, 3):
        marker = epoch(number, number, number + 1)
        assert commit(table, marker, rows(lake, 9), session=lake.spark) is ALREADY
    assert keys(table) == [0, 1, 2, 3]


def test_same_epoch_with_another_range_is_refused(lake):
    table = table_of(lake)
    committed(lake, table, 2)
    refused("EPOCH_RANGE_CHANGED", table, lake, epoch(1, 1, 3))
    refused("EPOCH_RANGE_CHANGED", table, lake, epoch(0, None, 2))


def test_gap_in_the_cut_is_refused(lake):
    table = table_of(lake)
    refused("CUT_GAP", table, lake, epoch(1, 1, 2))
    committed(lake, table, 2)
    refused("CUT_GAP", table, lake, epoch(3, 3, 4))
    refused("CUT_GAP", table, lake, epoch(2, 3, 4))


def test_overlap_in_the_cut_is_refused(lake):
    table = table_of(lake)
    committed(lake, table, 2)
    refused("CUT_OVERLAP", table, lake, epoch(2, 1, 3))
    refused("CUT_OVERLAP", table, lake, epoch(2, None, 3))


def test_another_version_of_the_view_is_refused(lake):
    table = table_of(lake)
    committed(lake, table, 1)
    refused("VERSION_CHANGED", table, lake, epoch(1, 1, 2, version=2))


def test_epoch_without_rows_moves_the_marker(lake):
    table = table_of(lake)
    committed(lake, table, 1)
    assert commit(table, epoch(1, 1, 2), lambda _: None, session=lake.spark) is COMMITTED
    table.refresh()
    assert table.marker() == epoch(1, 1, 2)
    assert keys(table) == [0]


def test_epoch_written_in_two_steps_is_published_in_one_move(lake):
    table = table_of(lake)
    committed(lake, table, 1)

    def write(target: Target) -> None:
        rows(lake, 5)(target)
        assert keys(table) == [0], "readers see nothing before the publish"
        lake.spark.sql(f"DELETE FROM {target.identifier} WHERE k = 0")

    commit(table, epoch(1, 1, 2), write, session=lake.spark)
    assert keys(table) == [5]
    table.refresh()
    assert table.marker() == epoch(1, 1, 2)


def test_delete_of_whole_files_is_followed_by_the_marker(lake):
    table = table_of(lake)
    committed(lake, table, 2)

    def write(target: Target) -> None:
        lake.spark.sql(f"DELETE FROM {target.identifier} WHERE k = 0")

    assert commit(table, epoch(2, 2, 3), write, session=lake.spark) is COMMITTED
    assert keys(table) == [1]
    table.refresh()
    assert table.newest().snapshot_id == table.snapshot_id()


# -- step 3: fencing


def test_older_fence_token_is_refused(lake):
    table = table_of(lake)
    commit(table, epoch(0, None, 1, token=5), rows(lake, 0), session=lake.spark)
    refused("FENCED", table, lake, epoch(1, 1, 2, token=4))
    assert commit(table, epoch(1, 1, 2, token=6), rows(lake, 1), session=lake.spark) is COMMITTED


def test_lost_lease_is_refused(lake):
    class Gone:
        def check(self) -> None:
            raise TerminalError("FENCED", "taken over", hint="stop")

    refused("FENCED", table_of(lake), lake, epoch(0, None, 1), fence=Gone())


# -- step 4: side tables


def test_crash_between_side_table_and_target_is_repaired_by_replay(lake):
    table, side = table_of(lake), table_of(lake, "t__late")
    marker = epoch(0, None, 1)
    sides = [SideWrite(side, rows(lake, 70))]

    def crash(target: Target) -> None:
        raise RuntimeError("crash")

    with pytest.raises(RuntimeError, match="crash"):
        commit(table, marker, crash, session=lake.spark, sides=sides)
    assert (keys(side), keys(table)) == ([70], [])
    assert commit(table, marker, rows(lake, 1), session=lake.spark, sides=sides) is COMMITTED
    assert (keys(side), keys(table)) == ([70], [1])


def test_side_table_of_another_range_is_refused(lake):
    table, side = table_of(lake), table_of(lake, "t__late")
    commit(side, epoch(0, None, 1), rows(lake, 70), session=lake.spark)
    refused(
        "EPOCH_RANGE_CHANGED",
        table,
        lake,
        epoch(0, None, 2),
        sides=[SideWrite(side, rows(lake, 71))],
    )
    assert keys(side) == [70]


def test_side_table_shared_by_two_views_keeps_both_markers(lake):
    a, b, late = table_of(lake, "a"), table_of(lake, "b"), table_of(lake, "late")
    for number in (0, 1):
        for view, table in (("a", a), ("b", b)):
            side = SideWrite(late, rows(lake, number))
            marker = epoch(number, number or None, number + 1, view)
            commit(table, marker, rows(lake, number), session=lake.spark, sides=[side])
    late.refresh()
    assert keys(late) == [0, 0, 1, 1]
    assert late.newest("a").marker.view == "a"
    assert late.newest("b").marker.view == "b"


# -- step 5: one writer publishes


def test_failed_write_leaves_nothing_and_the_next_attempt_commits(lake):
    table = table_of(lake)
    committed(lake, table, 1)

    def fails_late(target: Target) -> None:
        rows(lake, 50)(target)
        raise RuntimeError("after the first half")

    with pytest.raises(RuntimeError):
        commit(table, epoch(1, 1, 2), fails_late, session=lake.spark)
    assert keys(table) == [0]
    commit(table, epoch(1, 1, 2), rows(lake, 1), session=lake.spark)
    assert keys(table) == [0, 1]


def test_two_writers_on_one_base_only_one_publishes(lake):
    table_of(lake)
    first, second = lake.table("t"), lake.table("t")

    def overtaken(target: Target) -> None:
        rows(lake, 1)(target)
        commit_elsewhere(lake, second, epoch(0, None, 1, token=2))

    with pytest.raises(TerminalError) as error:
        commit(first, epoch(0, None, 1, token=1), overtaken, session=lake.spark)
    assert error.value.condition == "LOST_RACE"
    assert keys(first) == [2]


def test_writer_stopped_before_its_write_and_continued_does_not_publish(lake):
    table_of(lake)
    stopped, successor = lake.table("t"), lake.table("t")

    def overtaken(target: Target) -> None:
        # the successor drops the branch; Iceberg would make it again, on the newest main
        assert target.identifier
        commit_elsewhere(lake, successor, epoch(0, None, 1, token=2))
        append = stopped.java.newFastAppend().toBranch(stopped.staging_branch("t"))
        for key in (ATTEMPT, "headwater.epoch"):
            append = append.set(key, lake.spark.conf.get(SNAPSHOT_PROPERTY + key))
        append.commit()

    with pytest.raises(TerminalError) as error:
        commit(stopped, epoch(0, None, 1, token=1), overtaken, session=lake.spark)
    assert error.value.condition == "LOST_RACE"
    assert keys(stopped) == [2]


def test_two_live_writers_commit_every_epoch_once(lake):
    table_of(lake)
    gate = threading.Barrier(2)

    def run(token: int) -> list[str]:
        own = lake.using(session_for_thread(lake.spark))
        table, ends = own.table("t"), []
        for number in range(6):
            gate.wait()
            marker = epoch(number, number or None, number + 1, token=token)
            try:
                ends.append(commit(table, marker, rows(own, number), session=own.spark).value)
            except TerminalError as error:
                ends.append(error.condition)
            except Exception as error:  # what a dropped branch does to a write in flight
                ends.append(type(error).__name__)
        return ends

    with ThreadPoolExecutor(2) as pool:
        ends = list(pool.map(run, (1, 1)))
    table = lake.table("t")
    found = keys(table)
    assert found == list(range(len(found))), ends
    assert sum(end.count("committed") for end in ends) == len(found), ends


def test_branches_of_dead_writers_are_dropped(lake):
    dead = table_of(lake)

    def fails(target: Target) -> None:
        assert target.identifier
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        commit(dead, epoch(0, None, 1), fails, session=lake.spark)
    table = lake.table("t")
    assert table.ref(dead.staging_branch("t")) is not None
    commit(table, epoch(0, None, 1), rows(lake, 1), session=lake.spark)
    table.refresh()
    assert table.staging_branches("t") == []


def test_rows_written_by_another_session_are_refused(lake):
    table = table_of(lake)
    other = lake.spark.newSession()

    def write(target: Target) -> None:
        lake.spark.sql(f"INSERT INTO {target.identifier} VALUES (1)")

    with pytest.raises(TerminalError) as error:
        commit(table, epoch(0, None, 1), write, session=other)
    assert error.value.condition == "MARKER_MISSING"
    assert keys(table) == []


# -- maintenance


def test_marker_survives_a_maintenance_snapshot(lake):
    table = table_of(lake)
    committed(lake, table, 2)
    maintain(lake, table)
    table.refresh()
    assert table.snapshot(table.snapshot_id()).marker is None
    assert table.marker() == epoch(1, 1, 2)
    assert commit(table, epoch(1, 1, 2), rows(lake, 1), session=lake.spark) is ALREADY
    assert commit(table, epoch(2, 2, 3), rows(lake, 2), session=lake.spark) is COMMITTED


def test_marker_survives_compaction_and_expiry(lake):
    table = table_of(lake)
    committed(lake, table, 3)
    lake.spark.sql(
        f"CALL lake.system.rewrite_data_files(table => '{table.identifier}',"
        " options => map('rewrite-all', 'true'))"
    ).collect()
    lake.spark.sql(
        f"CALL lake.system.expire_snapshots(table => '{table.identifier}',"
        " older_than => TIMESTAMP '2100-01-01', retain_last => 1)"
    ).collect()
    again = lake.table("t")
    assert again.newest().snapshot_id == again.ref(MARKER_TAG)
    assert commit(again, epoch(2, 2, 3), rows(lake, 2), session=lake.spark) is ALREADY
    assert commit(again, epoch(3, 3, 4), rows(lake, 3), session=lake.spark) is COMMITTED
    assert keys(again) == [0, 1, 2, 3]


def test_history_without_any_marker_is_refused_not_restarted(lake):
    table = table_of(lake)
    committed(lake, table, 2)
    maintain(lake, table)
    lake.spark.sql(f"ALTER TABLE {table.identifier} DROP TAG `{MARKER_TAG}`")
    lake.spark.sql(
        f"CALL lake.system.expire_snapshots(table => '{table.identifier}',"
        " older_than => TIMESTAMP '2100-01-01', retain_last => 1)"
    ).collect()
    refused("MARKER_LOST", lake.table("t"), lake, epoch(0, None, 1))


def test_commit_overtaken_by_maintenance_starts_again_and_commits(lake):
    table = table_of(lake)
    committed(lake, table, 2)
    calls = []

    def write(target: Target) -> None:
        if not calls:
            maintain(lake, lake.table("t"))
        calls.append(target)
        rows(lake, 2)(target)

    assert commit(table, epoch(2, 2, 3), write, session=lake.spark) is COMMITTED
    assert len(calls) == 2
    assert keys(table) == [0, 1, 2]


def test_table_that_is_changed_all_the_time_is_given_up(lake):
    table = table_of(lake)
    committed(lake, table, 1)

    def write(target: Target) -> None:
        lake.table("t").java.newFastAppend().commit()
        rows(lake, 1)(target)

    with pytest.raises(ServiceError) as error:
        commit(table, epoch(1, 1, 2), write, session=lake.spark)
    assert error.value.condition == "TABLE_CONTENDED"
    assert keys(table) == [0]


def test_maintenance_after_a_commit_is_not_stamped(lake):
    table = table_of(lake)
    committed(lake, table, 2)
    maintain(lake, table)
    table.refresh()
    summary = table.snapshot(table.snapshot_id()).summary
    assert not any(key.startswith("headwater.") for key in summary)


def test_failed_write_leaves_the_session_unstamped(lake):
    with pytest.raises(ZeroDivisionError):
        commit(table_of(lake), epoch(0, None, 1), lambda _: 1 / 0, session=lake.spark)
    assert lake.spark.conf.get(SNAPSHOT_PROPERTY + "headwater.epoch", None) is None


# -- step 6: outcome unknown


class LosesReply(LakeTable):
    """A table whose publish lands, but is reported as failed."""

    def publish(self, branch: str, head: int) -> None:
        super().publish(branch, head)
        raise Py4JError("connection lost after commit")

    def publish_files(self, view: str, base: int, update: object) -> None:
        super().publish_files(view, base, update)
        raise Py4JError("connection lost after commit")


class LosesRequest(LakeTable):
    """A table whose publish never arrives."""

    def publish(self, branch: str, head: int) -> None:
        raise Py4JError("connection lost before commit")

    def publish_files(self, view: str, base: int, update: object) -> None:
        raise Py4JError("connection lost before commit")


def on_branch(write: Write) -> Write:
    """What a MERGE does: the rows go to a branch."""

    def written(target: Target) -> None:
        assert target.identifier
        write(target)

    return written


WAYS = pytest.mark.parametrize("way", [lambda write: write, on_branch], ids=["files", "branch"])


@WAYS
def test_commit_that_landed_but_was_reported_failed_is_not_committed_twice(lake, way):
    committed(lake, table_of(lake), 1)
    table = LosesReply(lake.spark, "t", lake.identifier("t"))
    assert commit(table, epoch(1, 1, 2), way(rows(lake, 1)), session=lake.spark) is COMMITTED
    assert commit(table, epoch(1, 1, 2), rows(lake, 1), session=lake.spark) is ALREADY
    assert keys(table) == [0, 1]


@WAYS
def test_commit_that_never_arrived_fails_and_can_be_replayed(lake, way):
    committed(lake, table_of(lake), 1)
    table = LosesRequest(lake.spark, "t", lake.identifier("t"))
    with pytest.raises(Py4JError):
        commit(table, epoch(1, 1, 2), way(rows(lake, 1)), session=lake.spark)
    assert keys(table) == [0]
    assert commit(lake.table("t"), epoch(1, 1, 2), rows(lake, 1), session=lake.spark) is COMMITTED
    assert keys(table) == [0, 1]


def test_unknown_outcome_with_a_dead_catalog_says_so(lake):
    class Dead(LosesRequest):
        def refresh(self) -> None:
            if self.asked:
                raise Py4JError("no catalog")
            super().refresh()

        def publish_files(self, view: str, base: int, update: object) -> None:
            self.asked = True
            super().publish_files(view, base, update)

    table_of(lake)
    table = Dead(lake.spark, "t", lake.identifier("t"))
    table.asked = False
    with pytest.raises(ServiceError) as error:
        commit(table, epoch(0, None, 1), rows(lake, 1), session=lake.spark)
    assert error.value.condition == "OUTCOME_UNKNOWN"


# -- threads


def test_markers_of_concurrent_threads_do_not_mix(lake):
    names = [f"v{i}" for i in range(6)]
    for name in names:
        table_of(lake, name)

    def run(name: str) -> None:
        own = lake.using(session_for_thread(lake.spark))
        table = own.table(name)
        for number in range(3):
            marker = epoch(number, number or None, number + 1, name, fingerprint=name)
            commit(table, marker, rows(own, number), session=own.spark)

    with ThreadPoolExecutor(len(names)) as pool:
        list(pool.map(run, names))
    for name in names:
        table = lake.table(name)
        assert keys(table) == [0, 1, 2]
        markers = [s.marker for s in table.ancestors(table.snapshot_id()) if s.marker]
        assert {(m.view, m.fingerprint) for m in markers} == {(name, name)}
        assert [m.epoch for m in markers] == [2, 1, 0]


def test_foreach_batch_commits_with_the_session_of_its_batch(lake, tmp_path):
    source, table = table_of(lake, "source"), table_of(lake)
    committed(lake, source, 3)

    def each(batch, number: int) -> None:
        marker = epoch(number, number or None, number + 1)
        commit(table, marker, lambda target: target.append(batch), session=batch.sparkSession)

    stream = lake.spark.readStream.format("iceberg").load(source.identifier)
    query = (
        stream.writeStream.foreachBatch(each)
        .option("checkpointLocation", str(tmp_path / "checkpoint"))
        .trigger(availableNow=True)
        .start()
    )
    query.awaitTermination()
    assert keys(table) == [0, 1, 2]
    table.refresh()
    assert table.marker().view == "t"
