"""Affected keys: run the query again for the keys that the change touches, and replace those keys.

A key that has no row any more is deleted. The query returns at most one row per key. When most keys
are touched, the whole view is written instead.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager

from headwater.engine.incremental.contract import RuleWriter, Tick
from headwater.engine.incremental.recompute_policy import RECOMPUTED, TOUCHED
from headwater.engine.incremental.whole import whole_writer
from headwater.engine.inputs import register_cached
from headwater.engine.view_commit import Change
from headwater.lake.iceberg.merge import Upsert, same_keys, upsert
from headwater.lake.java import cached
from headwater.plan.program import AffectedKeysProgram
from headwater.plan.rules.affected_keys import KEYS

SOURCE, PRESENT = "__replaced", "__present"


@contextmanager
def _change(tick: Tick, program: AffectedKeysProgram) -> Iterator[Change]:
    """Compute the new rows of the touched keys once, and give what replaces them."""
    session, before = tick.session, tick.before
    names = [column.name for column in tick.plan.columns]
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
    with ExitStack() as opened:
        touched = register_cached(session.sql(program.keys_sql), KEYS, opened)
        counts = {TOUCHED: touched}
        if tick.limits.by_touched(touched, before.rows if program.complete else None):
            whole = whole_writer(session, program.all_sql, before)
            yield Change(whole, {**counts, RECOMPUTED: 1})
            return
        rows = session.sql(
            f"SELECT {', '.join(columns)}, r.{PRESENT} FROM {KEYS} k"
            f" LEFT JOIN (SELECT *, true AS {PRESENT} FROM ({program.query_sql})) r"
            f" ON {same_keys(program.keys, 'k', 'r')}"
        )
        cached(rows, opened).createOrReplaceTempView(SOURCE)
        yield Change(lambda target: upsert(session, target, change, before), counts)


WRITER: RuleWriter[AffectedKeysProgram] = RuleWriter(lambda program: program.all_sql, _change)
