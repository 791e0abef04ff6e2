"""Rule 3: run the query again for the keys that the change touches, and replace those keys.

In: an :class:`~headwater.plan.program.AffectedKeysProgram`, its registered inputs and changes.
Out: a function that writes the new rows of the touched keys to a staging branch; a key that has
none any more is deleted. The query returns at most one row per key.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager

from pyspark.sql import SparkSession

from headwater.incremental.merge import Before, Upsert, same_keys, upsert
from headwater.plan.nodes import ViewPlan
from headwater.plan.program import AffectedKeysProgram

KEYS, SOURCE = "__keys", "__replaced"
PRESENT = "__present"


@contextmanager
def affected_writer(
    session: SparkSession, plan: ViewPlan, program: AffectedKeysProgram, before: Before
) -> Iterator[Callable[[str], None]]:
    """Compute the new rows of the touched keys once, and give the function that replaces them.

    Args:
        session: where inputs and changes are registered.
        plan: the view's plan, for its columns.
        program: the touched keys and the query.
        before: the view's table before.
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
    keys = session.sql(program.keys_sql).persist()
    keys.createOrReplaceTempView(KEYS)
    columns = [f"k.`{key}`" for key in program.keys] + [f"r.`{name}`" for name in others]
    rows = session.sql(
        f"SELECT {', '.join(columns)}, r.{PRESENT} FROM {KEYS} k"
        f" LEFT JOIN (SELECT *, true AS {PRESENT} FROM ({program.query_sql})) r"
        f" ON {same_keys(program.keys, 'k', 'r')}"
    ).persist()
    try:
        rows.createOrReplaceTempView(SOURCE)
        yield lambda target: upsert(session, target, change, before)
    finally:
        rows.unpersist()
        keys.unpersist()
