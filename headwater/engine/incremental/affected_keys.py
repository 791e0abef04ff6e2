"""Rule 3: run the query again for the keys that the change touches, and replace those keys.

In: an :class:`~headwater.plan.program.AffectedKeysProgram`, its registered inputs and changes.
Out: a function that writes the new rows of the touched keys to a staging branch; a key that has
none any more is deleted. The query returns at most one row per key. Where most keys are touched,
the whole view is written instead.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager

from pyspark.sql import SparkSession

from headwater.engine.incremental.append import whole_writer
from headwater.engine.incremental.recompute_policy import (
    RECOMPUTED,
    TOUCHED,
    Change,
    RecomputeLimits,
)
from headwater.engine.inputs import register_cached
from headwater.lake.iceberg.merge import Before, Upsert, same_keys, upsert
from headwater.plan.program import AffectedKeysProgram
from headwater.plan.view_plan import ViewPlan

KEYS, SOURCE = "__keys", "__replaced"
PRESENT = "__present"


@contextmanager
def affected_writer(
    session: SparkSession,
    plan: ViewPlan,
    program: AffectedKeysProgram,
    before: Before,
    limits: RecomputeLimits,
) -> Iterator[Change]:
    """Compute the new rows of the touched keys once, and give what replaces them.

    Args:
        session: where inputs and changes are registered.
        plan: the view's plan, for its columns.
        program: the touched keys and the query.
        before: the view's table before.
        limits: from when on the whole view is computed.
    """
    names = [column.name for column in plan.columns]
    others = [name for name in names if name not in program.keys]
    change = Upsert(
        SOURCE,
        program.keys,
        {name: f"s.`{name}`" for name in others},
        {name: f"s.`{name}`" for name in names},
        delete_when=f"s.{PRESENT} IS NULL",
        insert_when=f"s.{PRESENT}",
    )
    columns = [f"k.`{key}`" for key in program.keys] + [f"r.`{name}`" for name in others]
    with ExitStack() as cached:
        touched = register_cached(session.sql(program.keys_sql), KEYS, cached)
        counts = {TOUCHED: touched}
        if limits.by_touched(touched, before.rows if program.complete else None):
            whole = whole_writer(session, program.all_sql, before)
            yield Change(whole, {**counts, RECOMPUTED: 1})
            return
        rows = session.sql(
            f"SELECT {', '.join(columns)}, r.{PRESENT} FROM {KEYS} k"
            f" LEFT JOIN (SELECT *, true AS {PRESENT} FROM ({program.query_sql})) r"
            f" ON {same_keys(program.keys, 'k', 'r')}"
        ).persist()
        cached.callback(rows.unpersist)
        rows.createOrReplaceTempView(SOURCE)
        yield Change(lambda target: upsert(session, target, change, before), counts)
