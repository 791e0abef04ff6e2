"""Late rows, under every rule: those that count and those that are late are all that landed."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from random import Random

import duckdb
import pytest

from tests.algebra.query import LATE, in_time
from tests.algebra.rule import Rule
from tests.algebra.world import Given, Kept, World, planned
from tests.fuzz.schemas import Row

_TABLE = """
CREATE TABLE e (id BIGINT, k VARCHAR, ts TIMESTAMP WITH TIME ZONE,
  WATERMARK FOR ts AS ts - INTERVAL '1' MINUTE)
WITH (connector = 'files', path = 'e') FORMAT PLAIN ENCODE JSON;
"""
_WINDOWS = {"": 0, "TUMBLE(e, ts, INTERVAL '2' MINUTE)": 1,
            "HOP(e, ts, INTERVAL '1' MINUTE, INTERVAL '2' MINUTE)": 2}  # fmt: skip
"""What a query reads, and how many windows an event time is in."""
_QUERIES = (
    "SELECT k, count(*) AS n, max(ts) AS m FROM {0} GROUP BY k",
    "SELECT count(*) AS n FROM {0}",
    "SELECT k, count(DISTINCT id) AS n FROM {0} GROUP BY k",
    "SELECT id, k FROM {0} QUALIFY row_number() OVER (PARTITION BY k ORDER BY ts DESC, id) <= 2",
    "SELECT l.id, r.id AS other FROM {0} l LEFT JOIN e r ON r.k = l.k AND r.id < l.id",
)
_OF_WINDOWS = (
    "SELECT k, window_start, count(*) AS n FROM {0} GROUP BY k, window_start",
    "SELECT window_end, count(DISTINCT k) AS n FROM {0} GROUP BY window_end",
    "SELECT window_start, window_end, max(id) AS m FROM {0} GROUP BY 1, 2 HAVING count(*) > 1",
)
_NOON = datetime(2026, 1, 1, 12, tzinfo=UTC)


@dataclass(frozen=True, slots=True)
class _Trial:
    """A view over rows that come out of order."""

    seed: str
    ticks: int

    def wrong(self) -> str:
        """Return what is wrong with it after some tick, empty if nothing is."""
        rnd = Random(self.seed)
        late = rnd.choice([each for each in LATE if LATE[each] is not None])
        read = rnd.choice([*_WINDOWS])
        query = rnd.choice(_OF_WINDOWS if read else _QUERIES)
        linear = not read and rnd.random() < 0.2
        query = "SELECT id, k, ts FROM {0}" if linear else query
        text = query.format(read or "e")
        view = f"CREATE STREAMING VIEW v {late} WITH (engine = 'incremental') AS {text};"
        _, plans = planned(_TABLE + view)
        columns = "id BIGINT, k VARCHAR, ts TIMESTAMPTZ, _watermark TIMESTAMPTZ"
        world = World([Given("e", columns)], [Kept.of(plans["v"])], seed=len(text))
        try:
            return self._wrong(rnd, world, plans["v"].program.late["e"], text, late, read)  # type: ignore[union-attr]
        except duckdb.Error as error:
            return str(error)
        finally:
            world.close()

    def _wrong(
        self, rnd: Random, world: World, late_sql: str, text: str, late: str, read: str
    ) -> str:
        allowed, count = LATE[late] or 0, _WINDOWS[read]
        rows = f"{world.schema}.e"
        # the ends of the windows of a row, the first one first
        first = "time_bucket(INTERVAL 1 MINUTE, ts) + INTERVAL 1 MINUTE"
        ends = [f"({first} + INTERVAL {n} MINUTE)" for n in range(count)]
        if count == 1:
            ends = ["(time_bucket(INTERVAL 2 MINUTE, ts) + INTERVAL 2 MINUTE)"]
        of_windows = (
            f"SELECT *, window_end - INTERVAL 2 MINUTE AS window_start FROM"
            f" (SELECT *, unnest([{', '.join(ends)}]) AS window_end FROM {rows})"
        )
        close = "window_end" if read else "ts"
        counts = in_time(close, allowed, ends=bool(read))
        given = f"SELECT * FROM ({of_windows if read else rows}) WHERE {counts}"
        right = f"WITH e AS ({given}) {text.replace(read, 'e') if read else text}"
        # late is what at least one window, its first, is closed for
        gone = f"NOT {in_time(ends[0] if read else 'ts', allowed, ends=bool(read))}"
        world.run("CREATE TABLE late AS FROM e LIMIT 0")
        for number, new in enumerate(self._landed(rnd)):
            world.tick({"e": new})
            world.once(f"INSERT INTO late {world.sql(late_sql)}")
            if found := world.wrong("v", right):
                return f"{text} {late} after tick {number}: {found}"
            told = f"SELECT id FROM {rows} WHERE {gone}"
            both = (
                f"{told} EXCEPT ALL SELECT id FROM late",
                f"SELECT id FROM late EXCEPT ALL {told}",
            )
            if found_ := [row for each in both for row in world.rows(each)]:
                return f"{text} {late} after tick {number}: late or not: {found_}"
            counted = f"SELECT id FROM late UNION ALL SELECT id FROM {rows} WHERE NOT ({gone})"
            if world.rows(f"SELECT id FROM {rows} EXCEPT ALL ({counted})"):
                return f"{text} {late} after tick {number}: a row neither counts nor is late"
        return ""

    def _landed(self, rnd: Random) -> list[list[Row]]:
        """Rows tick by tick, some late, with the watermark that they met."""
        ticks, clock, newest, count = list[list[Row]](), _NOON, None, 0
        for _ in range(self.ticks):
            clock += timedelta(seconds=rnd.choice((0, 20, 90)))
            mark = newest and newest - timedelta(minutes=1)
            rows = list[Row]()
            for _ in range(rnd.randint(0, 4)):
                behind = rnd.choice((0, 0, 30, 60, 61, 90, 150, 300))
                rows.append((count, rnd.choice("uv"), clock - timedelta(seconds=behind), mark))
                count += 1
            times = [row[2] for row in rows]
            newest = max([*times, *([newest] if newest else [])], default=None)  # type: ignore[type-var]
            ticks.append(rows)
        return ticks


def _all_count(patch: pytest.MonkeyPatch) -> None:
    """Rows that are too late count as others do."""
    patch.setattr("headwater.plan.sql.render.in_time", lambda *given, **how: "true")


RULE = Rule("late", (), _Trial, _all_count, cases=10)
