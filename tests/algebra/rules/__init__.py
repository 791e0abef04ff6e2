"""The rules that the algebra tries: one module each, one line each."""

from __future__ import annotations

from tests.algebra.rule import Rule
from tests.algebra.rules import (
    first_rows,
    fold,
    full,
    keys,
    linear,
    units,
)

RULES: dict[str, Rule] = {
    rule.name: rule
    for rule in (
        linear.RULE,
        fold.RULE,
        keys.RULE,
        first_rows.RULE,
        units.RULE,
        full.RULE,
    )
}
"""By name."""
