"""The arithmetic of watermarks."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from headwater.lake.watermark import Lane, floor_to_ms, watermark

times = st.integers(-(2**55), 2**55)


def advanced(before, newest, delay):
    """The watermark of an input with one lane."""
    return watermark([Lane(newest, waiting=False)], before, delay)


@given(st.none() | times, st.lists(st.none() | times), st.integers(0, 10**12))
def test_watermark_never_goes_back(before, newest, delay):
    stamp = None if before is None else floor_to_ms(before)
    for time in newest:
        after = advanced(stamp, time, delay)
        if stamp is not None:
            assert after is not None and after >= stamp
        stamp = after


@given(times, st.integers(0, 10**12))
def test_watermark_is_whole_milliseconds_at_most_delay_behind(newest, delay):
    after = advanced(None, newest, delay)
    assert after % 1000 == 0
    assert newest - delay - 1000 < after <= newest - delay


def test_no_rows_leave_the_watermark_as_it_is():
    assert advanced(None, None, 5) is None
    assert advanced(7000, None, 5) == 7000
