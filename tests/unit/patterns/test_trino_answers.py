"""Every case gives what Trino gave: ``python -m tests.patterns record`` asked it."""

from __future__ import annotations

import pytest

from tests.patterns import record
from tests.patterns.cases import CASES, REFUSED, Case
from tests.patterns.judge import ERROR, ours, same

ANSWERS = record.read()


def test_there_are_enough_cases() -> None:
    answered = [case for case in CASES if isinstance(ANSWERS[str(case)], list)]
    assert len(answered) >= 200
    assert sum(bool(ANSWERS[str(case)]) for case in answered) >= 200


@pytest.mark.parametrize("case", CASES, ids=str)
def test_answers_are_trinos(case: Case) -> None:
    assert same(ANSWERS[str(case)], ours(case))


@pytest.mark.parametrize("case", REFUSED, ids=str)
def test_what_trino_refuses_is_refused(case: Case) -> None:
    found = ours(case)
    assert ERROR in ANSWERS[str(case)]
    assert isinstance(found, dict)
    assert found[ERROR] in ("INVALID_PATTERN", "SYNTAX_ERROR", "NOT_YET")
