"""Random views with patterns, and rows that arrive for them out of order and late."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from random import Random

from headwater.analyze.definitions import Catalog
from headwater.errors import ErrorGroup, SqlError
from headwater.plan.program import ClosedTimeProgram
from headwater.plan.view_plan import ViewPlan
from tests.algebra.world import planned
from tests.patterns.random_clauses import random_case

SECOND = 1_000_000
TABLE = (
    "CREATE TABLE t (k VARCHAR, ts TIMESTAMP(6) WITH TIME ZONE, v VARCHAR, x BIGINT, WATERMARK FOR"
    " ts AS ts) WITH (connector = 'datagen');\n"
)
_LATE = ("", " LATE ROWS ACCEPT FOR INTERVAL '2' SECOND")
_LATE_CORRECTED = (*_LATE, " LATE ROWS DROP", " LATE ROWS ACCEPT")
_EMIT = {True: "ON WINDOW CLOSE", False: "CHANGES"}
_REFUSED = {"INVALID_PATTERN", "UNBOUNDED_STATE", "NOT_YET", "TOO_COMPLEX", "DUPLICATE_COLUMN"}

Row = tuple[str | None, int, str, int | None, int | None]
"""The columns of the table and ``_watermark``; times in microseconds."""


@dataclass(frozen=True, slots=True)
class View:
    """A view over the table."""

    catalog: Catalog
    plan: ViewPlan

    @property
    def recent(self) -> bool:
        """Whether a tick reads recent rows first."""
        program = self.plan.program
        assert isinstance(program, ClosedTimeProgram)
        return any(step.recent for step in program.patterns)


def random_view(random: Random, seed: str, *, final: bool = True) -> View | None:
    """Return a view; None if its clause is refused, as it may never be final or skip nowhere.

    Args:
        final: whether its rows appear once they are final; they are corrected otherwise.
    """
    text = random_case(seed).text
    if "WITHIN" not in text and random.random() < 0.5:
        text = text.replace(" SUBSET", f" WITHIN INTERVAL '{random.randint(1, 4)}' SECOND SUBSET")
    late = random.choice(_LATE if final else _LATE_CORRECTED)
    where = random.choice(("", "", " WHERE m0 IS NOT NULL"))
    source = random.choice(("t", "t", "(SELECT k, ts, v, x FROM t WHERE x IS NULL OR x <> 8) AS t"))
    return view_of(
        f"CREATE STREAMING VIEW v{late} WITH (allow_unbounded_state = 'true') AS SELECT * FROM"
        f" {source} MATCH_RECOGNIZE ({text}) AS m{where} EMIT {_EMIT[final]};"
    )


def view_of(sql: str) -> View | None:
    """Return the view of a statement, None if it is refused."""
    try:
        catalog, plans = planned(TABLE + sql, as_written=True)
    except SqlError as error:
        assert error.condition in _REFUSED, (sql, error)
        return None
    except ErrorGroup as group:
        assert {each.condition for each in group.errors} <= _REFUSED, (sql, group)
        return None
    return View(catalog, plans["v"])


def arrivals(random: Random) -> Iterator[tuple[list[Row], int]]:
    """Yield rows that land together and the watermark after them; none in the end."""
    last = random.choice((12, 40))
    rows = [
        (random.choice("pqr"), random.randint(0, last), random.choice("abc"), random.randint(0, 9))
        for _ in range(random.randint(last // 2, 3 * last))
    ]
    rows.sort(key=lambda row: row[1] + random.randint(-2, 2))
    watermark: int | None = None
    while rows:
        count = random.randint(1, 8)
        epoch, rows = rows[:count], rows[count:]
        landed: list[Row] = []
        for key, second, v, x in epoch:
            value = None if random.random() < 0.1 else x
            landed.append((None if key == "r" else key, second * SECOND, v, value, watermark))
        newest = max(row[1] for row in epoch) * SECOND - random.randint(0, 2) * SECOND
        watermark = max(watermark or 0, newest)
        yield landed, watermark
    yield [], 100 * SECOND
