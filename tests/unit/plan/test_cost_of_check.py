"""What `check` costs grows with what is written, and not with its square.

Calls of Python functions are counted, no time: the count is the same on every machine.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Callable
from pathlib import Path
from types import FrameType

import pytest

from headwater.plan.planner import read_sound

TIMES = 4
SIZES = (4, 4 * TIMES, 4 * TIMES * TIMES)
STEEPEST = 1.1
"""The exponent of the curve: 1 is a cost for each column, 2 one for each pair of columns."""
TYPES = ("BIGINT", "DOUBLE", "VARCHAR", "DECIMAL(10,2)")


def table(columns: int, name: str = "t", *, keyed: bool = False, timed: bool = False) -> str:
    names = "".join(f", c{i} {TYPES[i % 4]}" for i in range(columns))
    key = ", PRIMARY KEY (id)" if keyed else ""
    watermark = ", WATERMARK FOR at AS at - INTERVAL '1' MINUTE" if timed else ""
    kind = "UPSERT ENCODE JSON (delete_field = 'op')" if keyed else "PLAIN ENCODE JSON"
    return (
        f"CREATE TABLE {name} (id BIGINT, g VARCHAR, at TIMESTAMP(6){names}{key}{watermark})"
        f" WITH (connector = 'files', path = '{name}') FORMAT {kind};\n"
    )


def view(query: str, name: str = "v") -> str:
    return f"CREATE STREAMING VIEW {name} AS {query};\n"


def each(count: int, item: Callable[[int], str], between: str = ", ") -> str:
    return between.join(item(i) for i in range(count))


def aggregate(i: int) -> str:
    calls = (
        f"sum(c0 * {i})",
        f"avg(c1 + {i})",
        "count(DISTINCT c2)",
        f"stddev(c1 + {i})",
        f"min(c3 / {i + 1})",
        f"sum(CASE WHEN c0 = {i} THEN c0 END)",
        f"count(*) FILTER (WHERE c0 > {i})",
    )
    return f"{calls[i % 7]} AS s{i}"


def column(i: int) -> str:
    return f"c{i}"


def extreme(i: int) -> str:
    return f"max(c{i}) AS s{i}"


SHAPES: dict[str, Callable[[int], str]] = {
    "columns": lambda n: table(n) + view(f"SELECT id, {each(n, column)} FROM t"),
    "a star": lambda n: table(n) + view("SELECT * FROM t"),
    "expressions": lambda n: table(n)
    + view(
        "SELECT id, "
        + each(n, lambda i: f"c{i} || 'x' AS e{i}" if i % 4 == 2 else f"c{i} + 1 AS e{i}")
        + " FROM t WHERE id > 3"
    ),
    "casts": lambda n: table(n)
    + view(f"SELECT id, {each(n, lambda i: f'CAST(c{i // 4 * 4 + 2} AS BIGINT) AS e{i}')} FROM t"),
    "a CASE": lambda n: table(4)
    + view(f"SELECT id, CASE {each(n, lambda i: f'WHEN c0 = {i} THEN {i}', ' ')} END AS k FROM t"),
    "WHERE": lambda n: table(n)
    + view(f"SELECT id FROM t WHERE {each(n, lambda i: f'c{i // 4 * 4} > {i}', ' AND ')}"),
    "OR": lambda n: table(4)
    + view(f"SELECT id FROM t WHERE {each(n, lambda i: f'(c0 = {i} AND id > {i})', ' OR ')}"),
    "aggregates": lambda n: table(4)
    + view(f"SELECT g, {each(n, aggregate)} FROM t GROUP BY g"),
    "aggregates of a keyed table": lambda n: table(n, keyed=True)
    + view(f"SELECT g, {each(n, extreme)} FROM t GROUP BY g"),
    "aggregates of aggregates": lambda n: table(n)
    + view(
        f"SELECT {each(n, lambda i: f'max(s{i}) AS m{i}')} FROM"
        f" (SELECT g, {each(n, lambda i: f'count(c{i}) AS s{i}')} FROM t GROUP BY g) AS q"
    ),
    "HAVING": lambda n: table(4)
    + view(
        "SELECT g, count(*) AS n FROM t GROUP BY g HAVING "
        + each(n, lambda i: f"sum(c0) > {i}", " AND ")
    ),
    "group keys": lambda n: table(n)
    + view(f"SELECT {each(n, column)}, count(*) AS n FROM t GROUP BY {each(n, column)}"),
    "grouping sets": lambda n: table(n)
    + view(f"SELECT c0, c2, {each(n, extreme)} FROM t GROUP BY GROUPING SETS ((c0), (c2), ())"),
    "windows": lambda n: table(n)
    + view(
        f"SELECT id, {each(n, lambda i: f'max(c{i}) OVER (PARTITION BY g ORDER BY id) AS w{i}')}"
        " FROM t"
    ),
    "windows of time": lambda n: table(n, timed=True)
    + view(
        f"SELECT window_start, {each(n, extreme)} FROM TUMBLE(t, at, INTERVAL '1' HOUR)"
        " GROUP BY window_start EMIT ON WINDOW CLOSE"
    ),
    "DISTINCT": lambda n: table(n) + view(f"SELECT DISTINCT {each(n, column)} FROM t"),
    "a join": lambda n: table(n, "a", keyed=True)
    + table(n, "b", keyed=True)
    + view(
        f"SELECT a.id, {each(n, lambda i: f'a.c{i} AS x{i}, b.c{i} AS y{i}')}"
        " FROM a LEFT JOIN b ON a.id = b.id"
    ),
    "UNION ALL": lambda n: table(n)
    + view(each(2, lambda _: f"SELECT id, {each(n, column)} FROM t", " UNION ALL ")),
    "many branches": lambda n: table(4)
    + view(each(n // 4, lambda i: f"SELECT id, c0 + {i} AS z FROM t", " UNION ALL ")),
    "EXCEPT": lambda n: table(n, "a")
    + table(n, "b")
    + view(f"SELECT {each(n, column)} FROM a EXCEPT SELECT {each(n, column)} FROM b"),
    "a subquery": lambda n: table(n)
    + view(f"SELECT id, {each(n, column)} FROM (SELECT * FROM t WHERE id > 1) AS q"),
    "the first rows": lambda n: table(n, keyed=True)
    + view(f"SELECT id, {each(n, column)} FROM t ORDER BY c0 DESC, id LIMIT 10"),
    "views": lambda n: table(4)
    + each(n // 2, lambda i: view(f"SELECT g, sum(c{i % 2}) AS s FROM t GROUP BY g", f"v{i}"), ""),
    "tables": lambda n: each(
        n // 2, lambda i: table(4, f"t{i}") + view(f"SELECT id, c0 FROM t{i}", f"v{i}"), ""
    ),
}  # fmt: skip


def calls(folder: Path, sql: str) -> int:
    """Return how many Python functions are called to read and plan a project."""
    folder.mkdir()
    (folder / "headwater.toml").write_text("")
    (folder / "all.sql").write_text(sql)
    count = 0

    def counted(frame: FrameType, event: str, argument: object) -> None:
        nonlocal count
        count += event == "call"

    before = sys.getprofile()
    sys.setprofile(counted)
    try:
        project, plans = read_sound(folder)
    finally:
        sys.setprofile(before)
    assert not project.errors and plans
    return count


@pytest.mark.parametrize("shape", SHAPES)
def test_the_cost_is_linear(shape: str, tmp_path: Path) -> None:
    write = SHAPES[shape]
    calls(tmp_path / "first", write(SIZES[0]))  # what is made once, when it is first asked for
    few, more, many = (calls(tmp_path / f"n{size}", write(size)) for size in SIZES)
    # of the differences: what a file costs whatever is in it counts against none of them
    exponent = math.log((many - more) / (more - few), TIMES)
    assert exponent <= STEEPEST, f"{few:,}, {more:,}, then {many:,} calls"
