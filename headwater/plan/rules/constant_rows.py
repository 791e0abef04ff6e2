"""Rows that no table brings: each change of the other inputs computes the view anew.

In: a view with a SELECT that reads no table.
Out: its :class:`~headwater.plan.full_program.FullProgram`, which runs once if nothing is read.
"""

from __future__ import annotations

from headwater.plan.rules.contract import Engine, Facts, Rule
from headwater.plan.rules.recompute import full_program


def _applies(facts: Facts) -> str | None:
    if not facts.constant:
        return None
    if not facts.inputs:
        return "it reads no table: its rows are computed once"
    return "a part of it reads no table: incremental where that part is a view of its own"


RULE = Rule("recompute", Engine.FULL, _applies, full_program)
