"""The rules that the algebra tries: one module each, one line each."""

from __future__ import annotations

from tests.algebra.rule import Rule
from tests.algebra.rules import (
    affected_groups,
    affected_keys,
    append,
    as_of,
    bad_rows,
    closed_time,
    exact_change,
    fold,
    late,
    newest,
    recent,
    recompute,
    streams,
    top,
    views,
)

RULES: dict[str, Rule] = {
    rule.name: rule
    for rule in (
        append.RULE,
        streams.RULE,
        closed_time.RULE,
        as_of.RULE,
        newest.RULE,
        fold.RULE,
        exact_change.RULE,
        affected_keys.RULE,
        top.RULE,
        affected_groups.RULE,
        recompute.RULE,
        recompute.CONSTANT,
        late.RULE,
        recent.RULE,
        recent.DATED,
        recent.CLOCK,
        bad_rows.RULE,
        views.RULE,
    )
}
"""By name."""
