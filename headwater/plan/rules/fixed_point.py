"""Recursion: each change of the inputs computes the fixed point anew, round by round.

In: a view with ``WITH RECURSIVE``.
Out: its :class:`~headwater.plan.full_program.FullProgram`, with the queries of the rounds.
"""

from __future__ import annotations

from headwater.plan.rules.contract import Engine, Facts, Rule
from headwater.plan.rules.recompute import full_program


def _applies(facts: Facts) -> str | None:
    if not facts.recursive:
        return None
    return "a changed row can change any row of WITH RECURSIVE: it is computed round by round"


RULE = Rule("fixed point", Engine.FULL, _applies, full_program)
