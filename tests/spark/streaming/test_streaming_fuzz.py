"""Some random streaming views, as ``make fuzz-streams`` tries many."""

from __future__ import annotations

from random import Random

import pytest

from tests.fuzz.run_streams import Batch
from tests.fuzz.streams import random_logs, random_query


@pytest.mark.parametrize("numbers", [(60, 63), (65, 61)])
def test_random_views_equal_their_select_at_every_commit(spark, tmp_path, numbers):
    logs = random_logs(Random("2-60-logs"))
    queries = {f"v{number}": random_query(Random(f"2-{number}"), logs) for number in numbers}
    batch = Batch(spark, f"streams_{numbers[0]}", logs, queries, tmp_path)
    commits = batch.run(Random("2-60-rows"))
    assert not batch.wrong
    assert commits > len(numbers)
