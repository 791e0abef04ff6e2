"""Variances and covariances at the edges of DOUBLE: by exact fractions, in any order of rows."""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction
from random import Random

import duckdb

from headwater.analyze.project import bind
from headwater.dialect import parse
from headwater.plan.at_rest import at_rest
from headwater.plan.planner import plan_project

COLUMNS = "id INTEGER, g INTEGER, x DOUBLE, y DOUBLE"
TABLE = (
    f"CREATE TABLE t ({COLUMNS}) WITH (connector = 'files', path = 't') FORMAT PLAIN ENCODE JSON;\n"
)
SPREADS = ("stddev", "stddev_samp", "stddev_pop", "variance", "var_pop")
COVARIANCES = ("covar_pop", "covar_samp")
LINES = ("corr", "regr_slope", "regr_intercept")
EDGES: tuple[tuple[float | None, ...], ...] = (
    (1e308, 1.1e308, 1.5e308),
    (1e308, -1e308),
    (1e308, -1e308, 0.0, 5e307),
    (1e308, 1e308),
    (1e160, 1e160, 1e160),
    (1e200, 3e200),
    (1e155, 1.0, 2.0),
    (1e71, 1e70, 3e69),
    (1e308,),
    (math.inf,),
    (math.nan,),
    (math.inf, 1.0),
    (-math.inf, math.inf),
    (math.nan, 1.0, 2.0),
    (1e-308, 2e-308),
    (1e-160, 2e-160, 5e-160),
    (5e-324, 1e-320),
    (1.0, 2.0, 4.0),
    (None, 1e308),
    (None,),
)
SIZES = (1e308, 1e200, 1e150, 1e80, 1.0, 1e-100, 1e-160, 1e-300)
_LEAST = 1e-322
"""A difference that is a rounding of the least numbers."""

Pair = tuple[float | None, float | None]


def _groups(rnd: Random) -> list[list[Pair]]:
    groups: list[list[Pair]] = [[(x, rnd.choice(group)) for x in group] for group in EDGES]
    for _ in range(60):
        one, two = rnd.choice(SIZES), rnd.choice(SIZES)
        count = rnd.randint(1, 6)
        groups.append([(one * rnd.uniform(-1, 1), two * rnd.uniform(-1, 1)) for _ in range(count)])
    return groups


def _printed(query: str) -> str:
    text = f"{TABLE}CREATE STREAMING VIEW v AS {query};"
    catalog = bind({"v.sql": parse(text, file="v.sql")})
    return at_rest(plan_project(catalog)["v"], catalog, "duckdb").text()


def _calls(over: str = "") -> str:
    spreads = [f"{name}(x){over} AS {name}" for name in SPREADS]
    return ", ".join(spreads + [f"{n}(x, y){over} AS {n}" for n in (*COVARIANCES, *LINES)])


def _as_double(value: Fraction) -> float:
    try:
        return float(value)
    except OverflowError:
        return math.inf if value > 0 else -math.inf


def _covariance(pairs: Sequence[tuple[float, float]], less: int) -> float | None:
    if len(pairs) <= less:
        return None
    if not all(math.isfinite(value) for pair in pairs for value in pair):
        return math.nan
    exact = [(Fraction(x), Fraction(y)) for x, y in pairs]
    means = [sum(side) / len(pairs) for side in zip(*exact, strict=True)]
    products = ((x - means[0]) * (y - means[1]) for x, y in exact)
    return _as_double(sum(products, Fraction(0)) / (len(pairs) - less))


def _expected(group: Sequence[Pair]) -> list[float | None]:
    given = [(x, x) for x, _ in group if x is not None]
    sample, population = _covariance(given, 1), _covariance(given, 0)
    roots = [None if each is None else math.sqrt(each) for each in (sample, population)]
    pairs = [(x, y) for x, y in group if x is not None and y is not None]
    return [
        *(roots[0], roots[0], roots[1], sample, population),
        *(_covariance(pairs, 0), _covariance(pairs, 1)),
    ]


def _is_same(found: float | None, expected: float | None) -> bool:
    if found is None or expected is None:
        return found is expected
    if not (math.isfinite(found) and math.isfinite(expected)):
        return found == expected or (math.isnan(found) and math.isnan(expected))
    return math.isclose(found, expected, rel_tol=1e-9, abs_tol=_LEAST)


def test_they_are_those_of_exact_numbers_in_any_order() -> None:
    rnd = Random(7)
    groups = _groups(rnd)
    rows = [(g, x, y) for g, group in enumerate(groups) for x, y in group]
    lines: list[list[tuple[object, ...]]] = []
    for _ in range(3):
        rnd.shuffle(rows)
        database = duckdb.connect()
        database.execute(f"CREATE TABLE t ({COLUMNS})")
        numbered = [(n, *row) for n, row in enumerate(rows)]
        database.executemany("INSERT INTO t VALUES (?, ?, ?, ?)", numbered)
        grouped = _printed(f"SELECT g, {_calls()} FROM t GROUP BY g")
        found = database.execute(f"FROM ({grouped}) ORDER BY g").fetchall()
        for g, *values in found:
            count = len(SPREADS) + len(COVARIANCES)
            compared = zip(values[:count], _expected(groups[g]), strict=True)
            assert all(_is_same(*each) for each in compared), (groups[g], values)
        lines.append([tuple(row[-len(LINES) :]) for row in found])
        over = _printed(f"SELECT g, {_calls(' OVER (PARTITION BY g)')} FROM t")
        windowed = database.execute(f"SELECT DISTINCT * FROM ({over}) ORDER BY g").fetchall()
        assert len(windowed) == len(found)
    for first, *others in zip(*lines, strict=True):
        assert all(_is_same(*each) for other in others for each in zip(first, other, strict=True))
        assert all(value is None or math.isfinite(value) for value in first)
