"""Append: the rows of the change are added as they come."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from headwater.engine.incremental.contract import RuleWriter, Tick
from headwater.engine.view_commit import Change
from headwater.plan.program import AppendProgram


@contextmanager
def _change(tick: Tick, program: AppendProgram) -> Iterator[Change]:
    yield Change(lambda target: target.append(tick.session.sql(program.sql)))


WRITER: RuleWriter[AppendProgram] = RuleWriter(lambda program: program.sql, _change)
