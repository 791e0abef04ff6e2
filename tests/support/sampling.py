"""Which of many like questions a run asks: others with every commit, and all of them at length.

``HEADWATER_SEED`` chooses: the targets of the Makefile give it the number of commits. Without it,
as when somebody runs a file, and with ``HEADWATER_EVERY``, as in the lane ``test-every``, all are.
"""

from __future__ import annotations

import os
from collections import defaultdict
from collections.abc import Sequence
from typing import TypeVar

T = TypeVar("T")
TABLE, PARTS = 24, 3
"""A test with more cases than this asks a part of them."""


def seed() -> int | None:
    """Return the number that chooses; None if everything is asked."""
    given = os.environ.get("HEADWATER_SEED")
    return None if given is None or os.environ.get("HEADWATER_EVERY") else int(given)


def some(questions: Sequence[T], parts: int) -> list[T]:
    """Return every so-manieth question, another part for each seed.

    Args:
        questions: in an order of their own.
        parts: how many seeds ask all of them.
    """
    found = seed()
    return list(questions if found is None else questions[found % parts :: parts])


def some_cases(nodes: Sequence[str]) -> list[str]:
    """Return the tests that are asked: of long tables of cases, some.

    Args:
        nodes: their ids for pytest, ``path::test_name[case]``.
    """
    tables: dict[str, list[str]] = defaultdict(list)
    for node in nodes:
        tables[node.partition("[")[0]].append(node)
    return [
        node
        for cases in tables.values()
        for node in (some(cases, PARTS) if len(cases) > TABLE else cases)
    ]
