"""Some random views whose rows are final, as ``make fuzz-streams`` tries many."""

from __future__ import annotations

from random import Random

import pytest

from tests.fuzz.closing import closing_query
from tests.fuzz.run_streams import Batch
from tests.fuzz.streams import random_logs


@pytest.mark.parametrize("numbers", [range(60, 64), range(64, 68)])
def test_random_views_equal_their_select_at_every_commit(spark, numbers):
    logs = random_logs(Random("2-60-logs"))
    queries = {f"v{number}": closing_query(Random(f"2-{number}"), logs) for number in numbers}
    batch = Batch(spark, f"streams_{numbers[0]}", logs, queries)
    commits = batch.run(Random("2-60-rows"))
    assert not batch.wrong
    assert commits > len(numbers)
