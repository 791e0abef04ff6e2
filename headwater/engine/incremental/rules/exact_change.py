"""Exact change: the rows of keys that change take the place of those before, or go."""

from __future__ import annotations

from contextlib import AbstractContextManager

from headwater.algebra.change import SIGN
from headwater.engine.incremental.contract import RuleWriter, Tick
from headwater.engine.incremental.merged import merged
from headwater.engine.view_commit import Change
from headwater.lake.iceberg.merge import Upsert
from headwater.plan.program import ExactChangeProgram


def _change(tick: Tick, program: ExactChangeProgram) -> AbstractContextManager[Change]:
    rows = {column.name: f"s.`{column.name}`" for column in tick.plan.columns}
    change = Upsert(
        "__exact",
        program.keys,
        {name: value for name, value in rows.items() if name not in program.keys},
        rows,
        delete_when=f"s.{SIGN} < 0",
        insert_when=f"s.{SIGN} > 0",
    )
    return merged(tick, program.change_sql, change)


WRITER: RuleWriter[ExactChangeProgram] = RuleWriter(lambda program: program.all_sql, _change)
