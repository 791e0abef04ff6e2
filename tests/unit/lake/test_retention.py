"""What expiry keeps: decided from metadata alone, so tried on made-up histories."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

from headwater.config.settings import Maintenance
from headwater.lake.iceberg.retention import MAINTENANCE, SnapshotHistory, expirable
from headwater.lake.protocol.marker import Marker

NOW = datetime(2024, 1, 1, tzinfo=UTC)
DAY = 86_400_000


class Made:
    """Metadata of a table, snapshot by snapshot; one a minute, the newest made at NOW."""

    def __init__(self):
        self.snapshots, self.refs = [], {}

    def add(self, number, *, view="t", operation="append", parent=None, age=None, **summary):
        if view:
            summary |= Marker(view, 1, number, {}, {}).to_summary()
        before = self.snapshots[-1]["snapshot-id"] if self.snapshots else None
        self.snapshots.append(
            {
                "snapshot-id": number,
                "parent-snapshot-id": parent if parent is not None else before,
                "timestamp-ms": age,
                "summary": {"operation": operation, **summary},
            }
        )
        self.refs["main"] = {"snapshot-id": number}
        return self

    def history(self):
        newest = len(self.snapshots) - 1
        for number, fields in enumerate(self.snapshots):
            age = fields["timestamp-ms"] or (newest - number) * 60_000
            fields["timestamp-ms"] = int(NOW.timestamp() * 1000) - age
        return SnapshotHistory({"snapshots": self.snapshots, "refs": self.refs})


def commits(count):
    made = Made()
    for number in range(1, count + 1):
        made.add(number)
    return made


def gone(made, needed=(), *, retain=timedelta(0), keep=2, most=100):
    settings = Maintenance.model_construct(retain=retain, keep_snapshots=keep, max_snapshots=most)
    return sorted(expirable(made.history(), set(needed), settings, NOW))


def test_the_newest_are_kept_whatever_their_age():
    assert gone(commits(10), keep=3) == [1, 2, 3, 4, 5, 6, 7]


def test_everything_younger_than_retain_is_kept():
    assert gone(commits(10), retain=timedelta(minutes=5)) == [1, 2, 3, 4]


def test_however_young_only_so_many_are_kept():
    hour = timedelta(hours=1)
    assert gone(commits(10), retain=hour, most=4) == [1, 2, 3, 4, 5, 6]
    assert gone(commits(10), {3}, retain=hour, most=4) == [1, 2]
    assert gone(commits(10), retain=hour, keep=8, most=4) == [1, 2]


def test_what_a_reader_needs_is_kept_with_everything_after_it():
    assert gone(commits(10), needed={4}) == [1, 2, 3]


def test_the_marker_survives_any_number_of_compactions():
    made = commits(3)
    for number in range(4, 12):
        made.add(number, view=None, operation="replace")
    assert gone(made) == [1, 2]


def test_what_is_kept_begins_at_a_commit_and_not_at_a_compaction():
    # a stream that begins at a `replace` leaves out its rows; and the cut's own marker is needed
    made = commits(4).add(5, view=None, operation="replace").add(6).add(7)
    assert gone(made, needed={5}) == [1, 2, 3]
    assert gone(made, keep=3) == [1, 2, 3]


def test_the_newest_marker_of_each_view_of_a_side_table_is_kept():
    made = Made().add(1, view="a").add(2, view="a")
    for number in range(3, 10):
        made.add(number, view="b")
    assert gone(made) == [1]


def test_heads_of_branches_and_tags_are_kept_and_what_leads_to_main():
    made = commits(8)
    made.snapshots += [
        {"snapshot-id": n, "parent-snapshot-id": p, "timestamp-ms": DAY, "summary": {}}
        for n, p in ((20, 3), (21, 20), (30, 3))
    ]
    made.refs |= {"mine": {"snapshot-id": 21}, "tag": {"snapshot-id": 2}}
    assert gone(made) == [1, 3, 4, 5, 6, 30]


def test_snapshots_that_were_staged_and_given_up_go_at_once():
    made = commits(8)
    made.snapshots.append(
        {"snapshot-id": 30, "parent-snapshot-id": 7, "timestamp-ms": 1000, "summary": {}}
    )
    assert gone(made, retain=timedelta(days=1)) == [30]
    assert 30 not in made.history().reachable()


def test_a_table_without_any_commit_keeps_its_first_snapshot():
    assert gone(Made().add(1, view=None)) == []
    assert gone(Made()) == []


def test_files_are_counted_since_the_last_run_of_a_step():
    made = Made()
    for number in range(1, 4):
        made.add(number, **{"added-data-files": "2"})
    made.add(4, view=None, operation="replace", **{MAINTENANCE: "compaction"})
    made.add(5, **{"added-data-files": "3"})
    made.add(6, view=None, operation="replace", **{MAINTENANCE: "manifests"})
    history = made.history()
    assert history.added_since("compaction", "data-files") == 3
    assert history.added_since("manifests", "data-files") == 0
    assert history.added_since("deletes", "data-files") == 9


def test_files_from_before_the_kept_history_count_too():
    made = Made()
    made.add(7, parent=6, **{"added-data-files": "1", "total-data-files": "20"})
    made.add(8, **{"added-data-files": "1", "total-data-files": "21"})
    assert made.history().added_since("compaction", "data-files") == 21
