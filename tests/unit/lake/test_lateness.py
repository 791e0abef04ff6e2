"""The delay of an adaptive watermark: what it is read from, and how it follows the rows."""

from __future__ import annotations

import math
import random
from dataclasses import replace
from datetime import timedelta

from hypothesis import given, settings
from hypothesis import strategies as st

from headwater.analyze.definitions import AdaptiveDelay, Watermark
from headwater.lake.lateness import (
    EPOCHS,
    HALF,
    MILLISECOND,
    PER_DOUBLING,
    TAIL,
    buckets,
    delay,
    edge,
    with_epoch,
)
from headwater.lake.protocol.marker import Marker
from headwater.lake.watermark import REST, Reached, reached_with

SECOND = 1_000_000
RULE = AdaptiveDelay(0.9, timedelta(seconds=1), timedelta(minutes=10))
FULL = round(TAIL / (1 - RULE.percentile))


def histogram(rows: list[int], rule: AdaptiveDelay = RULE) -> dict[int, float]:
    """Count lateness as the pass over an epoch does."""
    first, last = buckets(rule)
    found: dict[int, float] = {}
    for late in rows:
        if late > rule.least / timedelta(microseconds=1):
            step = math.ceil(PER_DOUBLING * math.log2(late / MILLISECOND))
            bucket = min(max(step, first + 1), last)
        else:
            bucket = first
        found[bucket] = found.get(bucket, 0) + 1
    return found


def after(*epochs: list[int], rule: AdaptiveDelay = RULE) -> dict[int, float]:
    recent: dict[int, float] = {}
    for rows in epochs:
        recent = with_epoch(recent, histogram(rows, rule), rule)
    return recent


def test_the_longest_delay_holds_until_enough_rows_have_come():
    assert delay({}, RULE) == 600 * SECOND
    early = [[0] * FULL] * (EPOCHS - 1)
    assert delay(after(*early), RULE) == 600 * SECOND
    assert delay(after(*early, [0] * FULL), RULE) == SECOND
    few = [[0]] * (EPOCHS * FULL)  # epochs of a row each are not forgotten before they are enough
    assert delay(after(*few[:-1]), RULE) == 600 * SECOND
    assert delay(after(*few), RULE) == SECOND


@settings(max_examples=300)
@given(st.integers(0, 2**32), st.sampled_from([0.5, 0.9, 0.99]))
def test_the_delay_is_the_percentile_or_a_little_longer(seed, share):
    rnd = random.Random(seed)
    rule = AdaptiveDelay(share, timedelta(seconds=1), timedelta(minutes=10))
    scale = rnd.choice([1, 30, 900]) * SECOND
    rows = [int(rnd.expovariate(1) * scale) for _ in range(round(TAIL / (1 - share)))]
    at = math.ceil(share * len(rows)) - 1
    exact, beyond = (min(max(late, SECOND), 600 * SECOND) for late in sorted(rows)[at : at + 2])
    found = delay(after(*[rows] * (EPOCHS + 2), rule=rule), rule)
    assert exact <= found <= min(600 * SECOND, beyond * 1.2)


def test_the_delay_follows_what_has_changed():
    calm, rough = [0] * FULL, [100 * SECOND] * FULL
    before = after(*[calm] * 50)
    assert delay(before, RULE) == SECOND
    later, epochs = before, 0
    while delay(later, RULE) == SECOND:
        later, epochs = with_epoch(later, histogram(rough), RULE), epochs + 1
    assert epochs <= 5  # it grows at once
    back = 0
    while delay(later, RULE) > SECOND:
        later, back = with_epoch(later, histogram(calm), RULE), back + 1
    assert epochs < back <= 3 * HALF  # and shrinks slowly


def test_large_epochs_of_a_backlog_do_not_outweigh_what_comes_after_them():
    backlog = after(*[[0] * FULL * 1000] * 10)
    live = backlog
    for _ in range(5):
        live = with_epoch(live, histogram([60 * SECOND] * FULL), RULE)
    assert delay(backlog, RULE) == SECOND
    assert delay(live, RULE) >= 60 * SECOND


def test_an_epoch_without_rows_changes_nothing():
    recent = after([5 * SECOND] * FULL)
    assert with_epoch(recent, {}, RULE) == recent


@settings(max_examples=200)
@given(st.lists(st.lists(st.integers(0, 10**10), max_size=60), max_size=60))
def test_it_fits_into_a_marker_and_a_restart_goes_on_from_there(epochs):
    straight: dict[int, float] = {}
    restarted: dict[int, float] = {}
    for rows in epochs:
        straight = with_epoch(straight, histogram(rows), RULE)
        kept = {str(bucket): count for bucket, count in restarted.items()}
        summary = Marker("t", 1, 0, {}, {}, lateness=kept).to_summary()
        read = Marker.from_summary(summary).lateness
        restarted = with_epoch({int(b): n for b, n in read.items()}, histogram(rows), RULE)
        assert len(summary.get("headwater.lateness", "")) < 1_000
    assert straight == restarted
    assert SECOND <= delay(straight, RULE) <= 600 * SECOND


@settings(max_examples=200)
@given(st.integers(0, 2**32))
def test_the_watermark_never_goes_back_and_stays_between_the_least_and_the_longest_delay(seed):
    rnd = random.Random(seed)
    rule = Watermark("ts", RULE.most, RULE)
    come, recent, epoch, time = Reached(None, {}), dict[int, float](), dict[int, float](), 0
    for number in range(60):
        time += rnd.randrange(300) * SECOND
        spread = rnd.choice([1, 10, 700]) * SECOND
        rows = [time - rnd.randrange(spread) for _ in range(rnd.choice([1, FULL]))]
        recent = with_epoch(recent, epoch, RULE)
        if come.newest is not None:
            epoch = histogram([max(0, come.newest - row) for row in rows])
        marker = Marker("t", 1, number, {}, {}, come.watermark)
        kept = {str(bucket): count for bucket, count in recent.items()}
        marker = replace(marker, newest=come.newest, delay=delay(recent, RULE), lateness=kept)
        summary = Marker.from_summary(marker.to_summary())
        after = reached_with(summary, rule, {REST: max(rows)})
        assert come.watermark is None or after.watermark >= come.watermark
        assert SECOND <= after.newest - after.watermark <= 600 * SECOND + MILLISECOND
        assert after.newest >= max(rows)
        come = after


def test_edges_rise_and_the_buckets_of_a_rule_reach_from_the_least_to_the_longest_delay():
    first, last = buckets(RULE)
    assert edge(first) <= SECOND < edge(first + 1)
    assert edge(last) >= 600 * SECOND > edge(last - 1)
    assert all(edge(n) <= edge(n + 1) for n in range(100))
    assert buckets(AdaptiveDelay(0.5, timedelta(0), timedelta(milliseconds=1))) == (0, 1)
