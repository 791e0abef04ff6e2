"""What an engine needs to compute a whole view anew, and tables of recursive rows that it reads.

The SQL is Spark's, over ``<input>``: see :mod:`headwater.plan.program`.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar

from headwater.plan.program import NOW, Program


@dataclass(frozen=True, slots=True)
class RecursiveStep:
    """A table with the rows of one recursive query, which an engine fills round by round.

    Attributes:
        alias: what the query calls it.
        name: its name.
        working: name of the table that the step reads: the rows that the round before added.
        anchor_sql: the rows of the first round.
        step_sql: the rows of every other round.
        distinct: whether a round adds only rows that are not there yet, each once (UNION).
        depth: how many rounds may follow that of the anchor.
    """

    alias: str
    name: str
    working: str
    anchor_sql: str
    step_sql: str
    distinct: bool
    depth: int


@dataclass(frozen=True, slots=True)
class FullProgram(Program):
    """Recompute: the query over the pinned inputs replaces the whole table.

    Attributes:
        sql: the query.
        recursions: the tables of recursive rows that it reads, innermost first.
    """

    sql: str
    recursions: tuple[RecursiveStep, ...] = ()
    recomputes: ClassVar[bool] = True

    def between(self, after: int | None, upto: int | None) -> FullProgram:
        """Return the query with the watermark of a tick; NULL before the first one."""
        now = "NULL" if upto is None else f"timestamp_micros({upto})"
        return replace(self, sql=self.sql.replace(NOW, now))

    def texts(self) -> dict[str, str]:
        """Return the queries of the rounds, and that of all rows."""
        found: dict[str, str] = {}
        for each in self.recursions:
            found |= {f"anchor of {each.alias}": each.anchor_sql}
            found |= {f"round of {each.alias}": each.step_sql}
        return found | {"query": self.sql}
