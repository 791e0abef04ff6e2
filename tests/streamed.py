"""Plans of views over tables as Structured Streaming runs them, for tests of that engine.

The planner gives such views to ticks and streams only what comes straight from a SOURCE. Rows of a
SOURCE cannot be read again, so a test of the engine reads tables: there it can hold the view
against its SELECT at every commit.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from unittest.mock import patch

from headwater.plan.rules import registry
from headwater.plan.rules.contract import Engine, Facts, InputKind, Rule


@contextmanager
def streams_first() -> Iterator[None]:
    """Plan every view that Structured Streaming can maintain for it, whatever the view reads."""
    rules = [_of_any_input(rule) for rule in registry.RULES if rule.engine is Engine.STREAMING]
    with patch.object(registry, "RULES", (*rules, *registry.RULES)):
        yield


def _of_any_input(rule: Rule) -> Rule:
    def applies(facts: Facts) -> str | None:
        sources = tuple(replace(each, kind=InputKind.SOURCE) for each in facts.inputs)
        return rule.applies(replace(facts, inputs=sources))

    return replace(rule, applies=applies)
