"""Views that the watermark alone can change: of the newest rows, of times beside ``watermark()``.

What leaves or changes in their inputs does so in them, whichever rule keeps them.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from random import Random

import duckdb
import pytest
from sqlglot import exp

from headwater.algebra.ages import Age
from headwater.analyze.time.dated import GATHERED
from headwater.plan.at_rest import at_rest
from headwater.plan.rules import clock
from headwater.plan.rules.contract import Input
from tests.algebra.rule import Rule
from tests.algebra.rules.streams import columns_of, create, drawn, landed
from tests.algebra.world import Given, Kept, World, planned
from tests.fuzz.dated import clock_query, dated_query
from tests.fuzz.recent import recent_query
from tests.fuzz.schemas import Row
from tests.fuzz.streams import Log, StreamingQuery


@dataclass(frozen=True, slots=True)
class _Trial:
    """A view over logs whose rows come out of order."""

    make: Callable[[Random, Sequence[Log]], StreamingQuery]
    seed: str
    ticks: int

    def wrong(self) -> str:
        """Return what is wrong with it after some tick, empty if nothing is."""
        view = drawn(self.seed, self.make)
        query, used = view.query, view.used
        catalog, plans = planned(view.definitions, as_written=True)
        inputs = {item.name: item for item in plans["v"].inputs}
        given = [
            Given(log.name, f"{columns_of(log)}{_flags(inputs[log.name])}", moves=True)
            for log in used
        ]
        kept = [Kept.of(planned(view.definitions)[1]["v"])]
        world = World(given, kept, seed=len(query.select))
        every = [Log(f"{log.name}_all", log.kinds, log.delay) for log in used]
        try:
            create(world.duck, every)
            for number, watermark in enumerate(landed(view.rnd, world.duck, every, self.ticks)):
                w = "NULL" if watermark is None else f"make_timestamptz({watermark})"
                world.duck.execute(f"SET VARIABLE w = {w}")
                rows = dict[str, list[Row]]()
                for log in used:
                    text = _read(inputs[log.name], watermark)
                    rows[log.name] = world.duck.execute(text).fetchall()
                world.tick(rows)
                rest = at_rest(
                    plans["v"],
                    catalog,
                    "duckdb",
                    watermark=watermark,
                    relation=lambda name: f"{name}_all",
                ).text()
                answer = re.sub(r"\bFROM ([dl])\b", r"FROM \1_all", query.answer)
                for name, right in (("answer", answer), ("at rest", rest)):
                    if found := world.wrong("v", right):
                        return f"{query} after tick {number}, {name}: {found}"
        except (duckdb.Error, AssertionError) as error:
            return f"{query}: {error}"
        finally:
            world.close()
        return ""


def _flags(item: Input) -> str:
    return "".join(f', "{age.flag}" BOOLEAN' for age in item.ages.dated)


def _read(item: Input, watermark: int | None) -> str:
    """What the engine reads of an input, for DuckDB."""
    flags = "".join(f", {_bound(age, watermark)}" for age in item.ages.dated)
    where = f" WHERE {_bound(item.ages.recent, watermark)}" if item.ages.recent else ""
    return f"SELECT * EXCLUDE (_arrived_at, _watermark){flags} FROM {item.name}_all{where}"


def _bound(age: Age, watermark: int | None) -> str:
    if watermark is None:
        return "CAST(NULL AS BOOLEAN)"
    return f"{age.column} >= make_timestamptz({watermark - age.length})"


def _everything_at_rest(patch: pytest.MonkeyPatch) -> None:
    """The SELECT at rest reads rows of any age."""
    patch.setattr("headwater.plan.at_rest._within", lambda *_, **__: None)


def _least_for_greatest(patch: pytest.MonkeyPatch) -> None:
    """``max(ts)`` is compared as ``min(ts)`` is."""
    patch.setitem(GATHERED, exp.Max, exp.LogicalAnd)


def _no_clock(patch: pytest.MonkeyPatch) -> None:
    """The watermark stays what it was before the first one."""
    patch.setattr("headwater.plan.at_rest._ago", lambda *_, **__: exp.null())


RULE = Rule("recent", (), partial(_Trial, recent_query), _everything_at_rest, cases=16)
DATED = Rule("dated", (), partial(_Trial, dated_query), _least_for_greatest, cases=24)
CLOCK = Rule("clock", (clock.RULE,), partial(_Trial, clock_query), _no_clock, cases=8)
