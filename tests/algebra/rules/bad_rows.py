"""Rows on which expressions fail, under every rule: good rows and quarantined ones are all rows."""

from __future__ import annotations

from dataclasses import dataclass
from random import Random

import duckdb
import pytest
from sqlglot import exp

from headwater.plan.guards import bad_rows
from tests.algebra.rule import Rule
from tests.algebra.world import Given, Kept, World, planned

_TABLES = "".join(
    f"CREATE TABLE {name} (id INTEGER, k VARCHAR, b INTEGER, s VARCHAR)"
    f" WITH (connector = 'files', path = '{name}') FORMAT PLAIN ENCODE JSON;\n"
    for name in "tu"
)
_FAIL = {
    "1 / t.b": ("1 // nullif(t.b, 0)", "t.b = 0"),
    "10 % t.b": ("10 % nullif(t.b, 0)", "t.b = 0"),
    "CAST(t.s AS INTEGER)": (
        "TRY_CAST(t.s AS INTEGER)",
        r"t.s IS NOT NULL AND NOT regexp_full_match(t.s, '\s*[+-]?[0-9]+\s*')",
    ),
    "coalesce(t.b, 5)": ("coalesce(t.b, 5)", "false"),
}
"""What can fail: what DuckDB computes instead, and on which rows it fails."""
_QUERIES = (
    "SELECT t.id, {0} AS x FROM t{1}",
    "SELECT t.k, sum({0}) AS x, count(*) AS n FROM t{1} GROUP BY t.k",
    "SELECT t.k, count(DISTINCT {0}) AS x FROM t{1} GROUP BY t.k",
    "SELECT {0} AS x, count(*) AS n FROM t{1} GROUP BY {0}",
    "SELECT DISTINCT {0} AS x FROM t{1}",
    "SELECT t.id, {0} AS x FROM t{1} ORDER BY x, t.id LIMIT 2",
    "SELECT t.id, {0} AS x, u.b FROM t LEFT JOIN u ON u.k = t.k{1}",
    "SELECT t.id, {0} AS x, u.b FROM t JOIN u ON u.k = t.k{1}",
    "SELECT t.id, {0} AS x FROM t{1} UNION ALL SELECT u.id, u.b FROM u",
    "SELECT t.id, row_number() OVER (PARTITION BY {0} ORDER BY t.id) AS x FROM t{1}",
)


@dataclass(frozen=True, slots=True)
class _Trial:
    """A view that fails on some of its rows."""

    seed: str
    ticks: int

    def wrong(self) -> str:
        """Return what is wrong with it after some tick, empty if nothing is."""
        rnd = Random(self.seed)
        query, call = rnd.choice(_QUERIES), rnd.choice([*_FAIL])
        asked = rnd.choice([None, None, *_FAIL])
        text = query.format(call, f" WHERE {asked} > 0" if asked else "")
        safe, fails = _FAIL[call]
        passes, failed = _FAIL[asked] if asked else ("1", "false")
        # bad is a row on which WHERE fails, or that passes and fails in what is computed of it
        bad = f"coalesce({failed} OR ({passes} > 0 AND ({fails})), false)"
        right = query.format(safe, f" WHERE {passes} > 0" if asked else "")
        view = f"CREATE STREAMING VIEW v WITH (engine = 'incremental') AS {text};"
        _, plans = planned(_TABLES + view)
        guard = plans["v"].guard
        columns = "id INTEGER, k VARCHAR, b INTEGER, s VARCHAR"
        given = [Given(name, columns) for name in "tu"]
        world = World(given, [Kept.of(plans["v"], guarded=True)], seed=len(text))
        rows = f"{world.schema}.t"
        good = f"WITH t AS (FROM {rows} t WHERE NOT {bad}) {right}"
        causes = [each for one in guard.bad for each, _ in one.causes] if guard else []
        quarantined = world.sql(
            f"SELECT id FROM t__change WHERE {' OR '.join(causes or ['false'])}"
        )
        try:
            world.run("CREATE TABLE quarantine (id INTEGER)")
            count = 0
            for number in range(self.ticks):
                new = {
                    name: [self._row(rnd, count + n) for n in range(rnd.randint(0, 4))]
                    for name in "tu"
                }
                count += 10
                world.tick(new)
                world.once(f"INSERT INTO quarantine {quarantined}")
                if found := world.wrong("v", good):
                    return f"{text} after tick {number}: {found}"
                lost = f"SELECT id FROM {rows} t WHERE {bad}"
                both = (
                    f"{lost} EXCEPT ALL FROM quarantine",
                    f"FROM quarantine EXCEPT ALL {lost}",
                )
                if different := [row for each in both for row in world.rows(each)]:
                    return f"{text} after tick {number}: quarantined or not: {different}"
        except duckdb.Error as error:
            return f"{text}: {error}"
        finally:
            world.close()
        return ""

    def _row(self, rnd: Random, id_: int) -> tuple[object, ...]:
        texts = (None, "1", "-7", " 12 ", "x", "", "1x")
        return id_, rnd.choice((None, "u", "v")), rnd.choice((None, 0, 1, 2)), rnd.choice(texts)


def _nothing_fails(patch: pytest.MonkeyPatch) -> None:
    """A division never fails."""
    fails = bad_rows.fails
    patch.setattr(
        bad_rows, "fails", lambda node: None if node.find(exp.Div, exp.IntDiv) else fails(node)
    )


RULE = Rule("bad rows", (), _Trial, _nothing_fails, cases=14)
