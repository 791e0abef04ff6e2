"""Where the time goes between a record and the answer that shows it.

In: when each record was produced, the commits of the table and of the view, the answers of a
reader. Out: for each record how long each step took (:class:`Steps`).
"""

from __future__ import annotations

import statistics
from bisect import bisect_left
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, fields

from headwater.connectors.kafka.topics import KafkaPosition
from headwater.lake.protocol.history import Commit


@dataclass(frozen=True, slots=True)
class Shown:
    """From when on records are shown.

    Attributes:
        upto: how many of the first records are.
        at: when the commit was made or the answer came, seconds since 1970.
        began: when the work on the commit began.
    """

    upto: int
    at: float
    began: float


@dataclass(frozen=True, slots=True)
class Steps:
    """Seconds that a record spent in each step.

    Attributes:
        lands: from the producer until the commit of the table that has it.
        waits: until the tick begins that shows it in the view; for its window to end, too.
        tick: from the start of that tick to its commit.
        query: until the answer of the reader that has it.
    """

    lands: float
    waits: float
    tick: float
    query: float

    @property
    def total(self) -> float:
        """From the producer to the reader."""
        return self.lands + self.waits + self.tick + self.query


STEPS = tuple(each.name for each in fields(Steps))


def landed(commits: Iterable[Commit]) -> list[Shown]:
    """Say from when on records are in what reads the topic, oldest commit first."""
    found = []
    for commit in commits:
        (text,) = commit.marker.cut_to.values()
        upto = sum(KafkaPosition.of(text).offsets.values())
        began = commit.marker.began or commit.at
        found.append(Shown(upto, commit.at / 1000, began / 1000))
    return found[::-1]


def viewed(
    commits: Iterable[Commit],
    by_snapshot: Mapping[str, int],
    produced: Sequence[float],
    closes: int = 0,
) -> list[Shown]:
    """Say from when on records are in a view of the landed table, oldest commit first.

    Args:
        by_snapshot: how many records the table has at each snapshot.
        produced: when each was.
        closes: seconds of its windows, if rows wait until those are over.
    """
    found = []
    for commit in commits:
        (snapshot,) = commit.marker.cut_to.values()
        upto = by_snapshot.get(snapshot, 0)
        if closes:
            over = (commit.marker.watermark or 0) / 1_000_000 // closes * closes
            upto = min(upto, bisect_left(produced, over))
        began = (commit.marker.began or commit.at) / 1000
        found.append(Shown(upto, commit.at / 1000, began))
    return found[::-1]


def steps(
    produced: Sequence[float],
    table: Sequence[Shown],
    view: Sequence[Shown] | None,
    answers: Sequence[Shown],
    records: range,
) -> list[Steps]:
    """Return the steps of the records that were seen.

    Args:
        produced: when each record was.
        table: when records landed.
        view: when the view had them; None if the reader looks at what reads the topic.
        answers: when the reader had them.
        records: which ones.
    """
    found = []
    for number in records:
        lands, sees = _first(table, number), _first(answers, number)
        shows = _first(view, number) if view is not None else lands
        if lands is None or sees is None or shows is None:
            continue
        begins = max(shows.began, lands.at) if view is not None else lands.at
        tick = shows.at - begins
        found.append(
            Steps(lands.at - produced[number], begins - lands.at, tick, sees.at - shows.at)
        )
    return found


def _first(shown: Sequence[Shown], number: int) -> Shown | None:
    """What shows a record first."""
    at = bisect_left(shown, number + 1, key=lambda each: each.upto)
    return shown[at] if at < len(shown) else None


def summary(found: Sequence[Steps]) -> dict[str, float]:
    """Return p50, p95 and p99 of the whole, and the median of each step."""
    parts = statistics.quantiles([each.total for each in found], n=100)
    result = {"p50": parts[49], "p95": parts[94], "p99": parts[98]}
    return result | {
        name: statistics.median(getattr(each, name) for each in found) for name in STEPS
    }
