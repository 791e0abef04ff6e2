"""Rows that show ``watermark()`` itself: each commit computes the view anew.

In: a view with ``watermark()`` in a place that :mod:`headwater.analyze.time.dated` cannot date.
Out: its :class:`~headwater.plan.full_program.FullProgram`, which gets the watermark of the commit.
"""

from __future__ import annotations

from headwater.plan.rules.contract import Engine, Facts, Rule
from headwater.plan.rules.recompute import full_program


def _applies(facts: Facts) -> str | None:
    if not facts.clocked or not facts.corrects:
        return None
    return "its rows show watermark(), which moves with each commit"


RULE = Rule("recompute", Engine.FULL, _applies, full_program)
