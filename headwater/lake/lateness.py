"""How late rows come, as a histogram that a marker carries, and the delay that follows from it.

In: counts of rows by lateness, epoch by epoch. Out: the sum over recent epochs, and the delay of an
adaptive watermark. Knows neither Spark nor Iceberg.

The lateness of a row is the newest event time before its epoch minus its own, at least 0: the delay
that would have been needed for the row to come in time. A bucket holds lateness up to its edge; the
edges are :data:`PER_DOUBLING` to a doubling, from a millisecond on. So a delay read from them is at
most 19 % longer than the percentile itself, and never shorter.
"""

from __future__ import annotations

import math
from collections.abc import Mapping

from headwater.analyze.definitions import AdaptiveDelay
from headwater.plan.sql.spark_text import micros

Histogram = Mapping[int, float]
"""Rows by the number of their bucket."""

PER_DOUBLING = 4
MILLISECOND = 1_000
TAIL = 10
"""Rows beyond the percentile that make one epoch say something of it."""
EPOCHS = 3
"""Epochs of that size that must have been seen before the delay follows them."""
HALF = 20
"""Epochs with rows after which a row counts half."""
_FAINT = 0.01


def edge(bucket: int) -> int:
    """Return the greatest lateness in a bucket, a whole number of milliseconds as microseconds."""
    return math.ceil(2 ** (bucket / PER_DOUBLING)) * MILLISECOND


def buckets(rule: AdaptiveDelay) -> tuple[int, int]:
    """Return the first and the last bucket of a rule.

    The first has all rows that are late by no more than the least delay, the last those that are
    later than the longest one, too.
    """
    first = math.floor(_step(micros(rule.least)))
    return first, max(first + 1, math.ceil(_step(micros(rule.most))))


def _step(late: int) -> float:
    return PER_DOUBLING * math.log2(max(late, MILLISECOND) / MILLISECOND)


def with_epoch(recent: Histogram, epoch: Histogram, rule: AdaptiveDelay) -> dict[int, float]:
    """Return the histogram of recent epochs with one more.

    Large epochs count alike, however many rows they have: those of a backlog would otherwise
    outweigh what comes after it. Earlier epochs fade, but not below what a percentile needs.
    """
    rows = sum(epoch.values())
    if not rows:
        return dict(recent)
    full = _full(rule)
    weight = min(1.0, full / rows)
    held = sum(recent.values())
    needed = max(0.0, EPOCHS * full - rows * weight)
    fade = max(0.5 ** (1 / HALF), min(1.0, needed / held)) if held else 1.0
    total = {bucket: count * fade for bucket, count in recent.items()}
    for bucket, count in epoch.items():
        total[bucket] = total.get(bucket, 0) + count * weight
    return {bucket: round(n, 3) for bucket, n in sorted(total.items()) if n >= _FAINT}


def delay(recent: Histogram, rule: AdaptiveDelay) -> int:
    """Return the delay that would have let the wanted share of recent rows come in time.

    Returns:
        Microseconds; the longest delay as long as too few rows were seen.
    """
    least, most = micros(rule.least), micros(rule.most)
    rows = sum(recent.values())
    if rows < EPOCHS * _full(rule) * (1 - 1e-6):
        return most
    first, _ = buckets(rule)
    wanted, seen = rule.percentile * rows, 0.0
    for bucket, count in sorted(recent.items()):
        seen += count
        if seen >= wanted:
            return least if bucket <= first else min(most, max(least, edge(bucket)))
    return most


def _full(rule: AdaptiveDelay) -> float:
    """The rows that make an epoch count in full."""
    return TAIL / (1 - rule.percentile)
