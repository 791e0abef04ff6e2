"""Append: filters, projections, UNNEST, UNION ALL and inner joins of what only gains rows."""

from __future__ import annotations

import pytest

from headwater.algebra import change
from headwater.plan.rules import append
from tests.algebra.query import QueryTrial, trials
from tests.algebra.rule import Rule
from tests.fuzz import queries
from tests.fuzz.queries import Query
from tests.fuzz.schemas import Draw


def _joined(rnd: Draw) -> Query:
    """A query with a join."""
    while " JOIN " not in (query := queries.linear(rnd)).text:
        pass
    return query


_TICKS = trials("linear", _joined)
_ALONE = trials("linear", lambda rnd: queries.linear(rnd, 1))
_WAYS = (_TICKS, _TICKS, _ALONE)


def _trial(seed: str, ticks: int) -> QueryTrial:
    return _WAYS[sum(map(ord, seed)) % len(_WAYS)](seed, ticks)


def _both_as_they_are(patch: pytest.MonkeyPatch) -> None:
    """A joined row both parts of which came in one tick counts twice."""
    patch.setattr(change, "read", lambda node, _: node)


RULE = Rule(
    "append",
    (append.LINEAR, append.JOINED),
    _trial,
    _both_as_they_are,
    cases=12,
)
