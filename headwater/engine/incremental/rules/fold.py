"""Fold: the aggregated change goes into the state, which lives in the view's own table."""

from __future__ import annotations

from contextlib import AbstractContextManager

from headwater.engine.incremental.contract import RuleWriter, Tick
from headwater.engine.incremental.merged import merged
from headwater.engine.view_commit import Change
from headwater.lake.iceberg.merge import Upsert
from headwater.plan.program import FoldProgram

SOURCE = "__aggregated"


def _change(tick: Tick, program: FoldProgram) -> AbstractContextManager[Change]:
    return merged(tick, program.change_sql, _upsert(program))


def _whole_sql(program: FoldProgram) -> str:
    """All rows of the table, if the change is all rows of the inputs."""
    return _upsert(program).insert_sql(f"({program.whole_sql or program.change_sql})")


def _upsert(program: FoldProgram) -> Upsert:
    return Upsert(
        SOURCE,
        program.keys,
        {
            column.name: column.update
            for column in program.columns
            if column.name not in program.keys
        },
        {column.name: column.insert for column in program.columns},
        delete_when=program.delete_when,
        insert_when=program.insert_when,
    )


WRITER: RuleWriter[FoldProgram] = RuleWriter(_whole_sql, _change)
