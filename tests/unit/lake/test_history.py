"""Every walk over the history of a table, tried on made-up snapshots; the adapters only feed it."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from headwater.errors import TerminalError
from headwater.lake.protocol.history import Commit, History, Snapshot
from headwater.lake.protocol.marker import Marker


class Made(History):
    """A table whose snapshots are numbered, each built on the one before it."""

    name = "t"

    def __init__(self, *snapshots: Snapshot, kept: Commit | None = None) -> None:
        self.found = {each.id: each for each in snapshots}
        self.kept = kept
        self.forgets = False

    def snapshot_id(self) -> int | None:
        return max(self.found, default=None)

    def snapshot(self, snapshot_id: int) -> Snapshot | None:
        return self.found.get(snapshot_id)

    def kept_commit(self) -> Commit | None:
        return self.kept

    def may_hold_marker(self, view: str | None) -> bool:
        return not self.forgets


def made(number: int, epoch: int | None = None, view: str = "t", **summary: object) -> Snapshot:
    """One snapshot; a commit if it has an epoch, otherwise a compaction."""
    marker = Marker(view, 1, epoch, {}, {}).to_summary() if epoch is not None else {}
    said = {name.replace("_", "-"): str(value) for name, value in summary.items()}
    operation = "replace" if epoch is None else "append"
    return Snapshot(number, number - 1 or None, operation, marker | said, number * 1000, number)


def ids(found: Sequence[Snapshot]) -> list[int]:
    return [each.id for each in found]


def test_snapshots_are_walked_newest_first_as_far_as_they_are_kept() -> None:
    table = Made(made(3, 0), made(4), made(5, 1))
    assert ids([*table.ancestors()]) == [5, 4, 3]
    assert ids([*table.ancestors(4)]) == [4, 3]
    assert ids([*table.since(3)]) == [5, 4]
    assert ids([*table.since(3, 4)]) == [4]
    assert table.current() == table.found[5]
    assert [*Made().ancestors()] == [] and Made().current() is None


def test_a_piece_of_history_is_whole_only_back_to_its_beginning() -> None:
    table = Made(made(3, 0), made(4, 1), made(5, 2))
    assert table.reaches(3, 5) and table.reaches(5, 5)
    assert not table.reaches(2, 5), "it was expired"
    assert not table.reaches(5, 4), "it came later"
    assert not table.reaches(None, 5), "its beginning was expired"
    assert not table.reaches(None, 7), "there is no such snapshot"
    assert Made(made(1), made(2, 0)).reaches(None, 2)


def test_the_parts_of_a_commit_are_one_and_maintenance_is_none() -> None:
    table = Made(
        made(1, 0, added_records=5, total_records=5),
        made(2),
        made(3, 1, deleted_records=2, added_position_deletes=1),
        made(4, 1, added_records=3, total_records=6, total_position_deletes=1),
        made(5),
    )
    newest, oldest = table.commits()
    assert (newest.snapshot_id, newest.marker.epoch, newest.at) == (4, 1, 4000)
    assert (newest.added, newest.removed, newest.total) == (3, 3, 5)
    assert (oldest.snapshot_id, oldest.added, oldest.total) == (1, 5, 5)
    assert [each.snapshot_id for each in table.commits(start=3)] == [3, 1]


def test_a_side_table_has_the_commits_of_several_views() -> None:
    table = Made(made(1, 0, "a"), made(2, 0, "b"), made(3, 1, "a"))
    assert [each.snapshot_id for each in table.commits("a")] == [3, 1]
    assert [*table.commits()] == []
    newest = table.newest("b")
    assert newest is not None and newest.snapshot_id == 2
    assert (table.marker(), table.committed_at()) == (table.found[3].marker, 3000)
    before = table.newest("a", before=2)
    assert before is not None and before.snapshot_id == 1


def test_changes_of_others_are_numbered_as_the_table_numbers_them() -> None:
    table = Made(Snapshot(1, None, "append", {"added-records": "2"}, 1000, 7), made(2))
    (only,) = table.commits_of_others("theirs")
    assert (only.marker.view, only.marker.epoch, only.added) == ("theirs", 7, 2)


def test_a_marker_that_was_expired_is_lost_unless_it_is_kept_elsewhere() -> None:
    assert Made(made(1), made(2)).newest() is None, "nothing was committed yet"
    for table in (Made(made(5)), Made()):
        with pytest.raises(TerminalError) as caught:
            table.newest()
        assert caught.value.condition == "MARKER_LOST"
        table.forgets = True
        assert table.newest() is None
    kept = Commit.of(made(2, 4), Marker("t", 1, 4, {}, {}))
    table = Made(made(5), kept=kept)
    assert table.newest() == table.newest("t") == kept
    for view, before in (("u", None), ("t", 5)):
        with pytest.raises(TerminalError):
            table.newest(view, before=before)


def test_a_snapshot_is_read_as_iceberg_writes_it() -> None:
    summary = {"operation": "append", "added-records": "3"}
    fields = {"snapshot-id": 8, "timestamp-ms": 9, "sequence-number": 2, "summary": summary}
    assert Snapshot.from_json(fields) == Snapshot(8, None, "append", {"added-records": "3"}, 9, 2)
    bare = Snapshot.from_json({"snapshot-id": 8, "parent-snapshot-id": 7, "timestamp-ms": 9})
    assert (bare.parent, bare.operation, bare.summary, bare.added) == (7, "", {}, 0)
