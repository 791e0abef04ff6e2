"""Positions in topics of Kafka, as Spark and as commits write them."""

from __future__ import annotations

import pytest

from headwater.checkpoints.offsets import NOTHING, records_at

SPARK = '{"b":{"2":5,"10":0},"a":{"0":7}}'
CUT = '{"a":{"id":"x","0":7},"b":{"id":"y","2":5,"10":0}}'


def test_a_cut_has_the_ids_of_topics_and_sparks_offset_has_not() -> None:
    assert records_at(SPARK, {"a": "x", "b": "y"}) == CUT
    assert records_at(CUT, {"a": "x", "b": "y"}) == CUT
    assert records_at(SPARK) == records_at(CUT) == '{"a":{"0":7},"b":{"2":5,"10":0}}'


@pytest.mark.parametrize(
    "other",
    [NOTHING, "8504815267635183816", "17", '{"logOffset":3}', '{"version":1,"snapshot_id":5}'],
)
def test_what_is_no_position_in_topics_is_not_taken_for_one(other: str) -> None:
    assert records_at(other) is None
