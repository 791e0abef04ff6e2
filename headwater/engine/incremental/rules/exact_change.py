"""Exact change: the rows of keys that change take the place of those before, or go."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from headwater.engine.incremental.contract import RuleWriter, Tick
from headwater.engine.view_commit import Change
from headwater.lake.iceberg.merge import Upsert, upsert
from headwater.plan.program import SIGN, ExactChangeProgram

SOURCE = "__exact"


@contextmanager
def _change(tick: Tick, program: ExactChangeProgram) -> Iterator[Change]:
    """Compute the rows that change once, and give what merges them."""
    names = [column.name for column in tick.plan.columns]
    rows_by_name = {name: f"s.`{name}`" for name in names}
    change = Upsert(
        SOURCE,
        program.keys,
        {name: value for name, value in rows_by_name.items() if name not in program.keys},
        rows_by_name,
        delete_when=f"s.{SIGN} < 0",
        insert_when=f"s.{SIGN} > 0",
    )
    rows = tick.session.sql(program.change_sql).persist()
    try:
        rows.createOrReplaceTempView(SOURCE)
        yield Change(lambda target: upsert(tick.session, target, change, tick.before))
    finally:
        rows.unpersist()


WRITER: RuleWriter[ExactChangeProgram] = RuleWriter(lambda program: program.all_sql, _change)
