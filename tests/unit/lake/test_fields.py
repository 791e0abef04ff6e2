"""Counts of unknown fields in a marker: bounded, and nothing is lost of the sum."""

from __future__ import annotations

from headwater.lake.protocol.unknown_field_counts import (
    MOST_FIELDS,
    OTHERS,
    fields_in,
    in_words,
    with_fields,
)


def test_counts_of_epochs_add_up_beside_other_counts():
    counts = with_fields({"quarantined": 2}, {"b": 1, "a": 2})
    counts = with_fields(counts, {"b": 4})
    assert counts["quarantined"] == 2
    assert list(fields_in(counts).items()) == [("b", 5), ("a", 2)]


def test_the_rarest_fields_are_counted_together():
    counts = with_fields({}, {f"f{n}": n + 1 for n in range(MOST_FIELDS + 2)})
    assert (len(fields_in(counts)), fields_in(counts)[OTHERS]) == (MOST_FIELDS + 1, 3)
    counts = with_fields(counts, {"f0": 100})
    assert next(iter(fields_in(counts).items())) == ("f0", 100)
    assert list(fields_in(counts).items())[-1] == (OTHERS, 3 + 3)
    assert sum(fields_in(counts).values()) == sum(range(MOST_FIELDS + 3)) + 100


def test_words_name_each_field():
    assert in_words({"a": 1, "b": 2}) == '"b" (2 records), "a" (1 record)'
