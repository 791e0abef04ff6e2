"""Some random changes of views, applied as ``make fuzz-changes`` applies many."""

from __future__ import annotations

import pytest

from tests.fuzz.applied import apply_batch
from tests.fuzz.changes import Tried


@pytest.mark.parametrize("seed", ["of a", "of d"])
def test_what_was_predicted_is_what_became_of_the_rows(spark, seed):
    tried = Tried()
    apply_batch(spark, seed, 8, tried)
    assert not tried.wrong and tried.moved > 1
