"""The writers of the incremental engine: one line per kind of program."""

from __future__ import annotations

from typing import Any

from headwater.engine.incremental.contract import RuleWriter
from headwater.engine.incremental.rules import (
    affected_groups,
    affected_keys,
    append,
    exact_change,
    fold,
    recompute,
)
from headwater.errors import TerminalError
from headwater.plan import program as programs
from headwater.plan.full_program import FullProgram

WRITERS: dict[type[programs.Program], RuleWriter[Any]] = {
    programs.AppendProgram: append.WRITER,
    programs.ExactChangeProgram: exact_change.WRITER,
    programs.FoldProgram: fold.WRITER,
    programs.AffectedKeysProgram: affected_keys.WRITER,
    programs.AffectedGroupsProgram: affected_groups.WRITER,
    FullProgram: recompute.WRITER,
}


def writer_of(program: programs.Program) -> RuleWriter[Any]:
    """Return what writes a program.

    Raises:
        TerminalError: ``WRONG_ENGINE`` for a streaming program.
    """
    writer = WRITERS.get(type(program))
    if writer is None:
        raise TerminalError(
            "WRONG_ENGINE", "the incremental engine does not maintain streaming views"
        )
    return writer
