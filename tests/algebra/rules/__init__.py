"""The rules that the algebra tries: one module each, one line each."""

from __future__ import annotations

from tests.algebra.rule import Rule
from tests.algebra.rules import (
    as_of,
    bad_rows,
    closed,
    first_rows,
    fold,
    full,
    keys,
    late,
    linear,
    newest,
    recent,
    streams,
    units,
    views,
)

RULES: dict[str, Rule] = {
    rule.name: rule
    for rule in (
        linear.RULE,
        streams.RULE,
        closed.RULE,
        as_of.RULE,
        newest.RULE,
        fold.RULE,
        keys.RULE,
        first_rows.RULE,
        units.RULE,
        full.RULE,
        full.CONSTANT,
        late.RULE,
        recent.RULE,
        recent.DATED,
        recent.CLOCK,
        bad_rows.RULE,
        views.RULE,
    )
}
"""By name."""
