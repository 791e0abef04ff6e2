"""Rule 1: rows of the change are appended as they come."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from headwater.engine.incremental.contract import RuleWriter, Tick
from headwater.engine.view_commit import Change
from headwater.plan.program import LinearProgram


@contextmanager
def _change(tick: Tick, program: LinearProgram) -> Iterator[Change]:
    yield Change(lambda target: target.append(tick.session.sql(program.sql)))


WRITER: RuleWriter[LinearProgram] = RuleWriter(lambda program: program.sql, _change)
