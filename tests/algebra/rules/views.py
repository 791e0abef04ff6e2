"""Views on views: the change of one is an input of the next, each kept by its own rule."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import duckdb
import pytest

from headwater.analyze.definitions import DELETED, UPSERTED
from tests.algebra.rule import Rule
from tests.algebra.world import Given, Kept, World, planned
from tests.fuzz import queries
from tests.fuzz.oracle import for_duckdb
from tests.fuzz.schemas import CHANGES, CORRECTED, FED, KEYED, STANDARD, Draw, Row, Schema, elements

_OVER = (
    "SELECT {c} AS g, count(*) AS n FROM v GROUP BY {c}",
    "SELECT count(*) AS n, count({c}) AS g FROM v",
    "SELECT v.{c} AS g, count(*) AS n FROM v JOIN u ON u.id < 3 GROUP BY v.{c}",
    "SELECT DISTINCT {c} AS g FROM v WHERE {c} IS NOT NULL",
    "SELECT {c} AS g, max({c}) AS m FROM v GROUP BY {c}",
    "SELECT l.{c} AS g, r.k AS k FROM v l LEFT JOIN p r ON r.id = 1",
    "SELECT l.{c} AS g, r.{c} AS h FROM v l JOIN v r ON l.{c} = r.{c}",
)
"""What a view over another one asks of a column."""


@dataclass(frozen=True, slots=True)
class _Trial:
    """A project of views over views: ``u`` and ``p``, ``v`` over them, ``w`` over ``v``."""

    seed: str
    ticks: int

    def wrong(self) -> str:
        """Return what is wrong with it after some tick, empty if nothing is."""
        rnd = Draw(f"views-{self.seed}", STANDARD)
        text, column = queries.folded(rnd).text, "c0"
        if rnd.random() < 0.3:
            drawn = queries.query(rnd, 1)
            plain = [n for n, kind in enumerate(drawn.kinds) if not elements(kind)]
            text, column = drawn.text, f"c{rnd.choice(plain)}"
        over = rnd.choice(_OVER).format(c=column)
        options = "WITH (engine = 'incremental')"
        _, plans = planned(
            f"{STANDARD.definitions}CREATE STREAMING VIEW v {options} AS {text};"
            f"CREATE STREAMING VIEW w {options} AS {over};"
        )
        given = [Given(name, _columns(STANDARD, name)) for name in (*STANDARD.logs, CHANGES)]
        world = World(given, [Kept.of(plan) for plan in plans.values()], seed=len(text))
        right = {CORRECTED: STANDARD.corrected, "v": for_duckdb(text), "w": over}
        try:
            changes = list[Row]()
            for number in range(self.ticks):
                tick = self._tick(rnd, number)
                changes += tick[CHANGES]
                world.tick(tick)
                for view, asked in right.items():
                    if view in plans and (found := world.wrong(view, asked)):
                        return f"{text}; {over}: {view} after tick {number}: {found}"
                held = [row[:4] for row in world.rows(f"FROM {KEYED}")]
                expected = _newest(changes)
                if sorted(map(_text, held)) != sorted(map(_text, expected)):
                    return f"{KEYED} after tick {number}: {held}, not {expected}"
        except (duckdb.Error, AssertionError) as error:
            return f"{text}; {over}: {error}"
        finally:
            world.close()
        return ""

    def _tick(self, rnd: Draw, number: int) -> Mapping[str, Sequence[Row]]:
        schema = rnd.schema
        new = {name: schema.rows(rnd, name, range(6), 2) for name in schema.logs}
        file = f"{rnd.randrange(100):03}-{number}.json"
        changes = list[Row]()
        for at, (key, *rest) in enumerate(schema.rows(rnd, KEYED, range(4), 3)):
            deleted = rnd.random() < 0.4
            values = [None] * len(rest) if deleted else rest
            changes.append((key, *values, DELETED if deleted else UPSERTED, file, at))
        return {**new, CHANGES: changes}


def _columns(schema: Schema, name: str) -> str:
    if name == CHANGES:
        change = "_change_type VARCHAR, _path VARCHAR, _row BIGINT"
        return f"{schema.in_duckdb(KEYED)}, {change}"
    return schema.in_duckdb(CORRECTED if name == FED else name)


def _text(row: Row) -> str:
    """A row in which both zeros of floating-point numbers are one value, as they are in SQL."""
    return repr([value + 0.0 if isinstance(value, float) else value for value in row])


def _newest(changes: Sequence[Row]) -> list[Row]:
    """What changes leave when they are applied in the order of the input."""
    held: dict[object, Row] = {}
    for key, *rest, change, _, _ in sorted(changes, key=lambda row: row[-2:]):
        held.pop(key, None)
        if change == UPSERTED:
            held[key] = (key, *rest)
    return [*held.values()]


def _nothing_goes(patch: pytest.MonkeyPatch) -> None:
    """A row that another view loses is added, not subtracted."""
    patch.setattr("headwater.plan.rules.folds.SIGN", "1")


RULE = Rule("views", (), _Trial, _nothing_goes, cases=9)
