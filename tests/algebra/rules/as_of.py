"""As-of joins that are corrected: a version that comes late changes the rows that should see it.

The versions are the rows of a log, or the changes of a keyed table.

Two things hold after every tick. The view's rows are those of DuckDB's own ``ASOF JOIN`` over all
rows so far, which come in any order. No row holds a version that is newer than the row itself.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial
from random import Random

import duckdb
import pytest
from sqlglot import exp

from headwater.plan.sql import as_of
from tests.algebra.rule import Rule
from tests.algebra.rules.streams import STAMPS, arrivals, columns_of, drawn
from tests.algebra.world import Given, Kept, World, planned
from tests.fuzz.as_of import as_of_query
from tests.fuzz.streams import TIME


@dataclass(frozen=True, slots=True)
class _Trial:
    """A view of as-of joins over logs whose rows come out of order."""

    seed: str
    ticks: int

    def wrong(self) -> str:
        """Return what is wrong with it after some tick, empty if nothing is."""
        keyed = Random(f"{self.seed}-keyed").random() < 0.5
        view = drawn(self.seed, partial(as_of_query, closes=False), keyed=keyed)
        query, used = view.query, view.used
        _, plans = planned(view.definitions)
        given = [Given(log.table, f"{columns_of(log)}, {STAMPS}") for log in used]
        world = World(given, [Kept.of(plans["v"])], seed=len(query.select))
        try:
            for number, rows in enumerate(arrivals(view.rnd, used, self.ticks)):
                world.tick(rows)
                if found := world.wrong("v", query.answer) or _newer(world, query.columns):
                    return f"{query.select} after tick {number}: {found}"
        except duckdb.Error as error:
            return f"{query.select}: {error}"
        finally:
            world.close()
        return ""


def _newer(world: World, columns: tuple[str, ...]) -> str:
    """The rows that see what came to be after them."""
    times = [name for name in columns if name.endswith(f"_{TIME}")]
    terms = [f"{name} > t_{TIME}" for name in times]
    found = world.rows(f"SELECT * FROM v WHERE {' OR '.join(terms)}")
    return f"of the future: {found[:2]}" if found else ""


def _of_the_same_instant(patch: pytest.MonkeyPatch) -> None:
    """A version of the time of the row is seen where it must be before."""
    read = as_of._read

    def inclusive(number: int, join: exp.Join) -> as_of._AsOf | None:
        found = read(number, join)
        return found and replace(found, strict=False)

    patch.setattr(as_of, "_read", inclusive)


RULE = Rule("as of", (), _Trial, _of_the_same_instant, cases=15)
