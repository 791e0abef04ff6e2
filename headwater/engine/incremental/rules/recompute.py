"""Recomputation: every tick writes the whole view."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from headwater.engine.incremental.contract import RuleWriter, Tick
from headwater.engine.incremental.whole import whole_writer
from headwater.engine.view_commit import Change
from headwater.plan.full_program import FullProgram


@contextmanager
def _change(tick: Tick, program: FullProgram) -> Iterator[Change]:
    yield Change(whole_writer(tick.session, program.sql, tick.before))


WRITER: RuleWriter[FullProgram] = RuleWriter(lambda program: program.sql, _change)
