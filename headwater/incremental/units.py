"""Rule 4: replace the units of rows that the change touches by what the query says of them now.

In: a :class:`~headwater.plan.program.UnitsProgram`, its registered inputs, changes and states.
Out: a function that writes to a staging branch.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager

from pyspark.sql import DataFrame, SparkSession

from headwater.incremental.merge import Before
from headwater.plan.nodes import ViewPlan
from headwater.plan.program import UNIT, UNITS, UnitsProgram

_SOURCE, _OLD, _IS_NEW = "__replaced", "__old", "__is_new"


@contextmanager
def units_writer(
    session: SparkSession, plan: ViewPlan, program: UnitsProgram, before: Before
) -> Iterator[Callable[[str], None]]:
    """Find the units that the change touches, and give the function that replaces their rows.

    Args:
        session: where inputs, changes and states are registered.
        plan: the view's plan, for its columns.
        program: the units and the query.
        before: the view's table before.
    """
    with ExitStack() as cached:
        if before.rows == 0:
            yield lambda target: session.sql(program.all_sql).writeTo(target).append()
            return
        for step in program.steps:
            # without its lineage: Spark would plan every step before it again, several times each
            rows = session.sql(step.sql).localCheckpoint(eager=False)
            _register(rows, step.name, cached)
        if _register(session.sql(program.units_sql), UNITS, cached) == 0:
            yield lambda target: None
        elif before.one_statement:
            _register(session.sql(_both_sql(plan, program)), _SOURCE, cached)
            yield lambda target: _merge(session, plan, target)
        else:
            yield lambda target: _replace(session, program, target)


def _register(rows: DataFrame, name: str, cached: ExitStack) -> int:
    """Compute rows at once, so that Spark knows how few they are; return their number."""
    rows.persist()
    cached.callback(rows.unpersist)
    rows.createOrReplaceTempView(name)
    return rows.count()


def _replace(session: SparkSession, program: UnitsProgram, target: str) -> None:
    session.sql(
        f"MERGE INTO {target} t USING {UNITS} s ON t.{UNIT} = s.unit WHEN MATCHED THEN DELETE"
    )
    session.sql(program.rows_sql).writeTo(target).append()


def _both_sql(plan: ViewPlan, program: UnitsProgram) -> str:
    """The units to remove and the rows to add, as the source of one MERGE."""
    nothing = ", ".join(f"CAST(NULL AS {c.spark_type}) AS `{c.name}`" for c in plan.columns)
    return (
        f"SELECT unit AS {_OLD}, false AS {_IS_NEW}, {nothing} FROM {UNITS}"
        f" UNION ALL SELECT CAST(NULL AS BIGINT), true, * FROM ({program.rows_sql})"
    )


def _merge(session: SparkSession, plan: ViewPlan, target: str) -> None:
    names = ", ".join(f"`{column.name}`" for column in plan.columns)
    values = ", ".join(f"s.`{column.name}`" for column in plan.columns)
    session.sql(
        f"MERGE INTO {target} t USING {_SOURCE} s ON t.{UNIT} = s.{_OLD}"
        f" WHEN MATCHED THEN DELETE"
        f" WHEN NOT MATCHED AND s.{_IS_NEW} THEN INSERT ({names}) VALUES ({values})"
    )
