"""Views with patterns in Trino: its clause finds the rows that ours finds, all or final ones."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from random import Random

import pytest

from headwater.plan.view_plan import ViewPlan
from headwater.project import Project
from headwater.serve.verify import Verdict, VerifyResult, verify
from headwater.servers.trino import TrinoServer
from headwater.testing.harness import run_file, shared_session
from tests.patterns.at_rest import differences, untold
from tests.patterns.judge import Trino
from tests.patterns.views import random_view
from tests.serving.judge import trino_over

pytestmark = pytest.mark.services

ROWS_AND_RESTARTS = Path(__file__).parents[1] / "slt" / "pattern" / "late_rows_and_restarts.slt"


@pytest.fixture(scope="module")
def trino(stack: Path) -> Iterator[Trino]:
    """A Trino that has no tables."""
    with TrinoServer(stack / "patterns", {}) as running:
        yield Trino(running.address)


@pytest.mark.parametrize("final", [True, False], ids=["final", "corrected"])
def test_random_views_have_the_same_final_rows(trino: Trino, *, final: bool) -> None:
    counts, number = Counter[str](), 0
    while counts["views"] < 20:
        number += 1
        random = Random(f"serving/{number}")
        view = random_view(random, f"serving/{number}", final=final)
        if view is None or untold(view):
            continue
        counts["views"] += 1
        for rows, wrong in differences(view, trino, random):
            assert not wrong, wrong
            counts["rows"] += rows
    assert counts["rows"] > 100


def test_views_are_verified_at_every_commit(stack: Path) -> None:
    found: dict[str, set[Verdict]] = {}
    with shared_session() as spark, trino_over(spark, stack / "verified") as judge:

        def judged(
            project: Project, plans: Mapping[str, ViewPlan], views: Sequence[str]
        ) -> list[VerifyResult]:
            results = judge(project, plans, views)
            for each in results:
                found.setdefault(each.view, set()).add(each.verdict)
            return results

        failures = run_file(ROWS_AND_RESTARTS, spark, judges=(verify, judged))
    assert failures == []
    assert found["falls"] == found["steps"] == {Verdict.EQUAL}
