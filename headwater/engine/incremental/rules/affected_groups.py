"""Affected groups: the units of rows that the change touches become what the query says now.

When most units are touched, the whole view is written instead.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager

from pyspark.sql import SparkSession

from headwater.engine.incremental.contract import RuleWriter, Tick
from headwater.engine.incremental.recompute_policy import RECOMPUTED, TOUCHED
from headwater.engine.incremental.whole import whole_writer
from headwater.engine.inputs import register_cached
from headwater.engine.view_commit import Change
from headwater.lake.protocol.table import Target
from headwater.plan.program import CURRENT, UNIT, UNITS, AffectedGroupsProgram
from headwater.plan.view_plan import ViewPlan

_SOURCE, _OLD, _IS_NEW = "__replaced", "__old", "__is_new"


@contextmanager
def _change(tick: Tick, program: AffectedGroupsProgram) -> Iterator[Change]:
    """Find the units that the change touches, and give what replaces their rows."""
    session, before = tick.session, tick.before
    if program.reads_current:
        before.table.read(before.table.snapshot_id()).createOrReplaceTempView(CURRENT)
    with ExitStack() as opened:
        for step in program.steps:
            register_cached(session.sql(step.sql), step.name, opened)
        touched = register_cached(session.sql(program.units_sql), UNITS, opened)
        counts = {TOUCHED: touched}
        if touched == 0:
            yield Change(lambda target: None, counts)
        elif program.one_unit:
            yield Change(whole_writer(session, program.rows_sql, before), counts)
        elif tick.limits.by_touched(touched, before.rows if program.complete else None):
            whole = whole_writer(session, program.all_sql, before)
            yield Change(whole, {**counts, RECOMPUTED: 1})
        elif before.table.one_statement:
            register_cached(session.sql(_both_sql(tick.plan, program)), _SOURCE, opened)
            yield Change(lambda target: _merge(session, tick.plan, target), counts)
        else:
            yield Change(lambda target: _replace(session, program, target), counts)


def _replace(session: SparkSession, program: AffectedGroupsProgram, target: Target) -> None:
    session.sql(
        f"MERGE INTO {target.identifier} t USING {UNITS} s ON t.{UNIT} = s.unit"
        " WHEN MATCHED THEN DELETE"
    )
    target.append(session.sql(program.rows_sql))


def _both_sql(plan: ViewPlan, program: AffectedGroupsProgram) -> str:
    """The units to remove and the rows to add, as the source of one MERGE."""
    nothing = ", ".join(f"CAST(NULL AS {c.spark_type}) AS `{c.name}`" for c in plan.columns)
    return (
        f"SELECT unit AS {_OLD}, false AS {_IS_NEW}, {nothing} FROM {UNITS}"
        f" UNION ALL SELECT CAST(NULL AS BIGINT), true, * FROM ({program.rows_sql})"
    )


def _merge(session: SparkSession, plan: ViewPlan, target: Target) -> None:
    names = ", ".join(f"`{column.name}`" for column in plan.columns)
    values = ", ".join(f"s.`{column.name}`" for column in plan.columns)
    session.sql(
        f"MERGE INTO {target.identifier} t USING {_SOURCE} s ON t.{UNIT} = s.{_OLD}"
        f" WHEN MATCHED THEN DELETE"
        f" WHEN NOT MATCHED AND s.{_IS_NEW} THEN INSERT ({names}) VALUES ({values})"
    )


WRITER: RuleWriter[AffectedGroupsProgram] = RuleWriter(lambda program: program.all_sql, _change)
