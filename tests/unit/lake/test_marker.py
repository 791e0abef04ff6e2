"""The commit marker as snapshot summary properties."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from headwater.lake.protocol.marker import Marker

END_OF_TIME = 253402300799999999  # 9999-12-31T23:59:59.999999Z in microseconds

texts = st.text(max_size=30)
cuts = st.dictionaries(texts, texts, max_size=5)
markers = st.builds(
    Marker,
    view=texts,
    version=st.integers(1, 10**6),
    epoch=st.integers(0, 2**63),
    cut_from=cuts,
    cut_to=cuts,
    watermark=st.none() | st.integers(-(2**63), END_OF_TIME),
    token=st.integers(0, 2**63),
    fingerprint=texts,
    counts=st.dictionaries(texts, st.integers(0, 2**63), max_size=5),
    evolved=st.dictionaries(texts, texts, max_size=5),
    since=st.dictionaries(texts, st.integers(0, 2**63), max_size=5),
    waiting=st.lists(texts, max_size=3).map(tuple),
    reached=st.dictionaries(texts, st.integers(0, END_OF_TIME), max_size=3),
    closed=st.booleans(),
    idle=st.booleans(),
    newest=st.none() | st.integers(0, END_OF_TIME),
    delay=st.none() | st.integers(0, 10**9),
    lateness=st.dictionaries(st.integers(0, 150).map(str), st.floats(0, 10**6), max_size=5),
)


@given(markers)
def test_marker_survives_the_snapshot_summary(marker):
    assert Marker.from_summary(marker.to_summary()) == marker


@given(markers)
def test_summary_holds_text_under_our_prefix_only(marker):
    summary = marker.to_summary()
    assert all(
        key.startswith("headwater.") and type(value) is str for key, value in summary.items()
    )


@given(markers, st.dictionaries(texts, texts, max_size=5))
def test_other_properties_of_a_summary_are_ignored(marker, others):
    foreign = {f"spark.{key}": value for key, value in others.items()}
    assert Marker.from_summary(foreign) is None
    assert Marker.from_summary({**foreign, **marker.to_summary()}) == marker
