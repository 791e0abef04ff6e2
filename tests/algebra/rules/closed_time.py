"""Closed time: what the watermark has made final is appended, once, and stays as it is.

Three things hold at every commit. The view's rows are DuckDB's answer. They are the SELECT at rest
as the product writes it. What is appended was not there before.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta
from random import Random

import duckdb
import pytest

from headwater.plan.at_rest import at_rest
from headwater.plan.program import AppendProgram, ClosedTimeProgram
from headwater.plan.rules import closed_time
from tests.algebra.rule import Rule
from tests.algebra.rules.streams import create, drawn, landed
from tests.algebra.translate import duckdb_sql, duckdb_type
from tests.algebra.world import in_schema, planned
from tests.fuzz.as_of import as_of_query
from tests.fuzz.closing import closing_query


@dataclass(frozen=True, slots=True)
class _Trial:
    """A view whose rows are final, over logs whose rows come out of order."""

    seed: str
    ticks: int

    def wrong(self) -> str:
        """Return what is wrong with it after some tick, empty if nothing is."""
        keyed = Random(f"{self.seed}-keyed").random() < 0.1
        view = drawn(self.seed, as_of_query if keyed else closing_query, keyed=keyed)
        query = view.query
        catalog, plans = planned(view.definitions, as_written=True)
        plan, program = plans["v"], planned(view.definitions)[1]["v"].program
        assert isinstance(program, ClosedTimeProgram), program
        columns = ", ".join(query.columns)
        kinds = ", ".join(f'"{c.name}" {duckdb_type(c.spark_type)}' for c in plan.columns)
        with in_schema() as (duck, _):
            create(duck, view.used)
            duck.execute(f"CREATE TABLE v ({kinds})")
            last: int | None = None
            try:
                for number, watermark in enumerate(landed(view.rnd, duck, view.used, self.ticks)):
                    tick = program.between(last, watermark)
                    if isinstance(tick, AppendProgram):
                        duck.execute(f"INSERT INTO v {duckdb_sql(tick.sql)}")
                    last = watermark
                    w = "NULL" if watermark is None else f"make_timestamptz({watermark})"
                    duck.execute(f"SET VARIABLE w = {w}")
                    rest = at_rest(plan, catalog, "duckdb", watermark=watermark).text()
                    for name, right in (("answer", query.answer), ("at rest", rest)):
                        asked = f"SELECT {columns} FROM ({right})"
                        held = f"SELECT {columns} FROM v"
                        wrong = duck.execute(
                            f"(SELECT 'missing', * FROM (({asked}) EXCEPT ALL ({held})))"
                            f" UNION ALL (SELECT 'surplus', * FROM (({held}) EXCEPT ALL"
                            f" ({asked}))) LIMIT 3"
                        ).fetchall()
                        if wrong:
                            return f"{query} after tick {number}, {name}: {wrong}"
            except duckdb.Error as error:
                return f"{query}: {error}"
        return ""


def _reaches_no_further(patch: pytest.MonkeyPatch) -> None:
    """A tick reads the event times between the two watermarks only."""
    moment = closed_time._Writer._moment
    patch.setattr(
        closed_time._Writer,
        "_moment",
        lambda self, name, less, relation: moment(self, name, timedelta(0), relation),
    )


RULE = Rule("closed time", (closed_time.RULE,), _Trial, _reaches_no_further, cases=20)
