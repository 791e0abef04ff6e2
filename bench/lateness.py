"""``make bench-lateness``: completeness against delay, a fixed watermark against an adaptive one.

In: the departures of 2013 from New York, in the order in which the planes left. Out: for each
watermark, the share of flights that come before their scheduled hour is closed, and how long after
its end the hour closes.

The event time of a departure is when the plane should have left, so every delay is real lateness.
Arrival is simulated: each epoch has the departures of some minutes. The rules are the product's
own (``headwater.lake``), without Spark.

    python -m bench.lateness --minutes 10
"""

from __future__ import annotations

import argparse
import math
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import timedelta
from itertools import groupby
from pathlib import Path
from tempfile import TemporaryDirectory

import duckdb

from bench.drawing import lines
from headwater.analyze.definitions import AdaptiveDelay, Watermark
from headwater.lake.lateness import MILLISECOND, PER_DOUBLING, buckets, delay, with_epoch
from headwater.lake.protocol.marker import Marker
from headwater.lake.watermark import REST, Reached, reached_with
from headwater.plan.sql.spark_text import micros
from jobs.demos.seed import seed

MINUTE, HOUR = 60_000_000, 3_600_000_000
FIXED = (15, 30, 60, 120, 180, 240, 360)
"""Delays in minutes."""
_UP = "flights in time, %"
PERCENTILES = (0.9, 0.95, 0.98, 0.99, 0.995)
LEAST, MOST = timedelta(minutes=5), timedelta(hours=12)

Epoch = tuple[int, list[int]]
"""When an epoch is landed, and the event times of its rows, in microseconds since 1970 UTC."""


@dataclass(frozen=True)
class Outcome:
    """What a watermark does to windows of an hour.

    Attributes:
        in_time: the share of the rows that come before their window is closed.
        waits: how long after its end each window is closed, in microseconds.
    """

    in_time: float
    waits: Sequence[int]


def departures(minutes: int, folder: Path) -> list[Epoch]:
    """Return the epochs of the departures.

    Args:
        minutes: how long an epoch collects rows.
        folder: where the input files are made.
    """
    seed(folder)
    with duckdb.connect() as db:
        found = db.execute(
            "SELECT epoch_us(CAST(departed AS TIMESTAMP)), epoch_us(CAST(scheduled AS TIMESTAMP))"
            f" FROM read_json('{folder}/data/departures/*.json') ORDER BY 1"
        ).fetchall()
    span = minutes * MINUTE
    return [
        (number * span + span, [scheduled for _, scheduled in rows])
        for number, rows in groupby(found, key=lambda row: row[0] // span)
    ]


def histogram(rows: Sequence[int], newest: int | None, rule: AdaptiveDelay) -> dict[int, float]:
    """Count the lateness of an epoch's rows, as the landing does."""
    first, last = buckets(rule)
    found: dict[int, float] = {}
    for late in (newest - row for row in rows) if newest is not None else ():
        step = math.ceil(PER_DOUBLING * math.log2(late / MILLISECOND)) if late > 0 else first
        bucket = first if late <= micros(rule.least) else min(max(step, first + 1), last)
        found[bucket] = found.get(bucket, 0) + 1
    return found


def watermarks(epochs: Sequence[Epoch], rule: Watermark) -> Iterator[int | None]:
    """Yield the watermark before each epoch and, at last, the one after all of them."""
    come, adaptive = Reached(None, {}), rule.adaptive
    recent: dict[int, float] = {}
    epoch: dict[int, float] = {}
    for number, (_, rows) in enumerate(epochs):
        yield come.watermark
        waited = None
        if adaptive:
            recent = with_epoch(recent, epoch, adaptive)
            epoch, waited = histogram(rows, come.newest, adaptive), delay(recent, adaptive)
        newest = come.newest if adaptive else None
        marker = Marker("t", 1, number, {}, {}, come.watermark, newest=newest, delay=waited)
        come = reached_with(marker, rule, {REST: max(rows)})
    yield come.watermark


def outcome(epochs: Sequence[Epoch], rule: Watermark) -> Outcome:
    """Let a rule close the hours."""
    in_time = rows = 0
    waits: list[int] = []
    open_: set[int] = set()
    stamps = list(watermarks(epochs, rule))
    for (at, times), stamp, after in zip(epochs, stamps, stamps[1:], strict=False):
        for time in times:
            end = time // HOUR * HOUR + HOUR
            rows += 1
            if stamp is None or end > stamp:
                in_time += 1
                open_.add(end)
        closed = {end for end in open_ if after is not None and end <= after}
        waits += [at - end for end in closed]
        open_ -= closed
    return Outcome(in_time / rows, sorted(waits))


def rules() -> Iterator[tuple[str, Watermark]]:
    """Yield what is compared, with its name."""
    for minutes in FIXED:
        yield f"fixed, {minutes} min", Watermark("ts", timedelta(minutes=minutes))
    for share in PERCENTILES:
        adaptive = AdaptiveDelay(share, LEAST, MOST)
        yield f"adaptive, percentile {share:g}", Watermark("ts", MOST, adaptive)


def main(arguments: Sequence[str] | None = None) -> None:
    """Print a line per watermark."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--minutes", type=int, default=10)
    parser.add_argument("--svg", type=Path, help="write a chart to this file, as SVG")
    options = parser.parse_args(arguments)
    minutes = options.minutes
    with TemporaryDirectory() as folder:
        epochs = departures(minutes, Path(folder))
    points: dict[str, list[tuple[float, float]]] = {}
    rows = sum(len(times) for _, times in epochs)
    sys.stdout.write(f"{rows:,} departures in {len(epochs):,} epochs of {minutes} minutes\n")
    sys.stdout.write(f"{'watermark':28}{'in time':>10}{'late':>8}{'wait, mean':>12}{'95 %':>8}\n")
    for name, rule in rules():
        found = outcome(epochs, rule)
        mean = sum(found.waits) / len(found.waits) / MINUTE
        most = found.waits[int(0.95 * len(found.waits))] / MINUTE
        late = round(rows * (1 - found.in_time))
        line = f"{name:28}{found.in_time:>10.3%}{late:>8,}{mean:>8.0f} min{most:>4.0f} min\n"
        sys.stdout.write(line)
        points.setdefault(name.partition(",")[0], []).append((mean, 100 * found.in_time))
    if options.svg:
        marks = (88, 90, 92, 94, 96, 98, 100)
        chart = lines(points, "minutes from the end of an hour to its close, mean", _UP, marks)
        options.svg.write_text(chart, encoding="utf-8")


if __name__ == "__main__":
    main()
