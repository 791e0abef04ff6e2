"""What a run says of rows that it leaves out, and when it says nothing."""

from __future__ import annotations

import io
from datetime import timedelta

import pytest

from headwater.cli.progress import Lines
from headwater.runtime.events import (
    EpochLanded,
    InputClosed,
    InputIdle,
    ResultsOpen,
    SourceRowsRefused,
    ViewCommitted,
    Warned,
)
from headwater.runtime.losses import Losses


def landed(rows, quarantined=0, dropped=0):
    return EpochLanded("t", 0, rows, quarantined, dropped, 0, 1, 0, None, 1, 0.1)


def maintained(late, read):
    return ViewCommitted("v", 0, 0, {"late": late}, None, {}, 1, 0.1, read)


def warnings(*events):
    told = []
    losses = Losses(told.append)
    for event in events:
        losses(event)
    losses.finish()
    assert [each for each in told if not isinstance(each, Warned)] == list(events)
    return [each.message for each in told if isinstance(each, Warned)]


@pytest.mark.parametrize(
    "event",
    [
        landed(10),
        landed(5, 5),
        landed(0),
        maintained(0, 0),
        maintained(1, 100),
        maintained(10, 1000),
    ],
)
def test_a_few_rows_are_no_warning(event):
    assert warnings(event) == []


@pytest.mark.parametrize(
    ("event", "said"),
    [
        (landed(1, 3), 'table "t" refuses 3 of 4 rows (75.0%); see t__quarantine'),
        (landed(0, 0, 2), 'table "t" refuses 2 of 2 rows (100.0%); see t__quarantine'),
        (
            SourceRowsRefused("s", "v", 3_680_000, 3_680_000),
            'source "s" refuses 3,680,000 of 3,680,000 rows (100.0%); see s__quarantine',
        ),
        (
            maintained(2, 100),
            'view "v" left out 2 of 100 rows (2.0%) as late: the watermark had passed their time'
            " before they arrived",
        ),
    ],
)
def test_most_rows_refused_or_some_late_is_told(event, said):
    assert warnings(event) == [said]


def test_a_source_that_two_views_read_is_told_once():
    events = [SourceRowsRefused("s", view, 9, 9) for view in ("v", "w")]
    assert warnings(*events) == ['source "s" refuses 9 of 9 rows (100.0%); see s__quarantine']


def test_it_is_told_at_once_and_in_the_end_if_it_has_grown():
    events = [maintained(5, 100)] * 3
    first, last = warnings(*events)
    assert "5 of 100 rows" in first
    assert "15 of 300 rows" in last


def test_the_clauses_that_would_take_late_rows_are_named():
    told = []
    Losses(told.append)(maintained(5, 100))
    for clause in ("LATE ROWS ACCEPT FOR", "WATERMARK FOR", "LATE ROWS DROP INTO"):
        assert clause in told[-1].hint


def test_what_stays_open_and_what_is_closed_is_written_after_the_lines_held_back():
    hour = 3_600_000_000
    stream = io.StringIO()
    show = Lines(stream)
    show(maintained(0, 0))
    show(maintained(0, 0))
    show(ResultsOpen("v", 3, 23 * hour, "t", 20 * hour + hour // 4))
    show(ResultsOpen("v", 1, 23 * hour, "t", 22 * hour))
    show(ResultsOpen("j", None, 23 * hour, "t", None))
    show(InputClosed("t", 23 * hour))
    show(InputIdle("t", timedelta(minutes=2), 23 * hour))
    show(Warned("t", "it is so", "do this"))
    assert stream.getvalue().splitlines()[2:] == [
        "open v: up to 3 windows are open until 1970-01-01 23:00:00; t is at 1970-01-01 20:15:00",
        "open v: 1 window is open until 1970-01-01 23:00:00; t is at 1970-01-01 22:00:00",
        "open j: results are open until 1970-01-01 23:00:00; t has no watermark yet",
        "closed t: rows before 1970-01-01 23:00:00 are late from now on",
        "idle t: no rows for 2 min, so rows before 1970-01-01 23:00:00 are late from now on",
        "warning: it is so",
        "  hint: do this",
    ]
