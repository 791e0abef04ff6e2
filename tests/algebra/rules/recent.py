"""Views of the newest rows: what leaves their inputs leaves them, whichever rule keeps them."""

from __future__ import annotations

import re
from dataclasses import dataclass

import duckdb
import pytest

from headwater.analyze.time.recent import Age
from headwater.plan.sql.at_rest import at_rest
from tests.algebra.rule import Rule
from tests.algebra.rules.streams import columns_of, create, drawn, landed
from tests.algebra.world import Given, Kept, World, planned
from tests.fuzz.recent import recent_query
from tests.fuzz.schemas import Row
from tests.fuzz.streams import Log


@dataclass(frozen=True, slots=True)
class _Trial:
    """A view of newest rows, over logs whose rows come out of order."""

    seed: str
    ticks: int

    def wrong(self) -> str:
        """Return what is wrong with it after some tick, empty if nothing is."""
        view = drawn(self.seed, recent_query)
        query, used = view.query, view.used
        catalog, plans = planned(view.definitions, as_written=True)
        recent = {item.name: item.recent for item in plans["v"].inputs if item.recent}
        given = [Given(log.name, columns_of(log), moves=True) for log in used]
        world = World(given, [Kept.of(planned(view.definitions)[1]["v"])], seed=len(query.select))
        every = [Log(f"{log.name}_all", log.kinds, log.delay) for log in used]
        try:
            create(world.duck, every)
            for number, watermark in enumerate(landed(view.rnd, world.duck, every, self.ticks)):
                w = "NULL" if watermark is None else f"make_timestamptz({watermark})"
                world.duck.execute(f"SET VARIABLE w = {w}")
                rows = dict[str, list[Row]]()
                for log in used:
                    text = (
                        f"SELECT * EXCLUDE (_arrived_at, _watermark) FROM {log.name}_all"
                        f" WHERE {_bound(recent[log.name], watermark)}"
                    )
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


def _bound(recent: Age, watermark: int | None) -> str:
    """The condition by which the engine reads an input, for DuckDB."""
    if watermark is None:
        return "false"
    return f"{recent.column} >= make_timestamptz({watermark - recent.length})"


def _everything_at_rest(patch: pytest.MonkeyPatch) -> None:
    """The SELECT at rest reads rows of any age."""
    patch.setattr("headwater.plan.sql.at_rest._recent", lambda *_, **__: None)


RULE = Rule("recent", (), _Trial, _everything_at_rest, cases=16)
