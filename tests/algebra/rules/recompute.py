"""Recompute: any query, or one beside constant rows, run again over its whole inputs."""

from __future__ import annotations

import pytest

from headwater.plan.rules import constant_rows, recompute
from tests.algebra.query import trials
from tests.algebra.rule import Rule
from tests.fuzz import queries


def _only_the_change(patch: pytest.MonkeyPatch) -> None:
    """Only what came is read."""
    read = recompute.batch_read
    patch.setattr(
        recompute,
        "batch_read",
        lambda relation, name, allowed: read(relation, f"{name}__change", allowed),
    )


RULE = Rule(
    "recompute",
    (recompute.RULE,),
    trials("full", lambda rnd: queries.query(rnd, 1), "WITH (engine = 'full')"),
    _only_the_change,
    cases=4,
)

CONSTANT = Rule(
    "constant rows",
    (constant_rows.RULE,),
    trials("constant rows", queries.with_constants, ""),
    _only_the_change,
    cases=4,
)
