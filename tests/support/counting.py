"""A rule of the planner from outside the package: ``SELECT count(*)`` over a table.

Tests put it into the registry to show that a rule is one object and one line.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta

from sqlglot import exp

from headwater.analyze.definitions import Catalog, View
from headwater.plan.program import READS_CHANGE, Program, Reads
from headwater.plan.query_shape import Shape, ShapeKind
from headwater.plan.rules.contract import Engine, Facts, Rule


@dataclass(frozen=True, slots=True)
class CountProgram(Program):
    """The rows that the change brings, to be added to the one row of the table."""

    sql: str

    @property
    def reads(self) -> frozenset[Reads]:
        """What the inputs gained, and nothing else."""
        return READS_CHANGE

    @property
    def whole_reads(self) -> frozenset[Reads]:
        """Of an empty table the change is the whole input."""
        return READS_CHANGE

    def texts(self) -> dict[str, str]:
        """Return its only query."""
        return {"rows gained": self.sql}


def _applies(facts: Facts) -> str | None:
    first, *others = (item.unalias() for item in facts.shape.select.selects)
    aggregate = facts.shape.kind is ShapeKind.AGGREGATE and not others
    counts = aggregate and isinstance(first, exp.Count) and isinstance(first.this, exp.Star)
    clauses = (facts.shape.select.args.get(key) for key in ("where", "group", "having"))
    if counts and facts.append_only and facts.corrects and not any(clauses):
        return "one number is enough"
    return None


def _program(view: View, shape: Shape, catalog: Catalog, allowed: timedelta | None) -> CountProgram:
    (name,) = view.inputs
    return CountProgram(f"SELECT count(*) AS {view.fields[0].name} FROM {name}__change")


RULE = Rule("count rows", Engine.INCREMENTAL, _applies, _program)
