"""Fold: the aggregated change goes into the state, which lives in the view's own table."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from headwater.engine.incremental.contract import RuleWriter, Tick
from headwater.engine.view_commit import Change
from headwater.lake.iceberg.merge import Upsert, upsert
from headwater.plan.program import FoldProgram

SOURCE = "__aggregated"


@contextmanager
def _change(tick: Tick, program: FoldProgram) -> Iterator[Change]:
    """Aggregate the change once, and give what merges it."""
    change = _upsert(program)
    rows = tick.session.sql(program.change_sql).persist()
    try:
        rows.createOrReplaceTempView(SOURCE)
        yield Change(lambda target: upsert(tick.session, target, change, tick.before))
    finally:
        rows.unpersist()


def _whole_sql(program: FoldProgram) -> str:
    """All rows of the table, if the change is all rows of the inputs."""
    return _upsert(program).insert_sql(f"({program.change_sql})")


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
