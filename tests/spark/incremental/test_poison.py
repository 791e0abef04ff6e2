"""Views with one poison row: good rows are shown, the row is quarantined, and the view goes on."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import SparkSession

from headwater.analyze.project import bind
from headwater.dialect import parse
from headwater.plan.at_rest import at_rest
from headwater.plan.planner import plan_project
from headwater.testing import slt
from headwater.testing.harness import World, run_record
from tests.support import poison

TABLES = (
    poison.TABLE
    + """
CREATE TABLE u (k INTEGER, n BIGINT)
WITH (connector = 'files', path = 'u') FORMAT PLAIN ENCODE JSON;
CREATE TABLE held (id INTEGER PRIMARY KEY, g INTEGER, v DECIMAL(38, 0), w DECIMAL(38, 10), b BIGINT)
WITH (connector = 'files', path = 'held') FORMAT UPSERT ENCODE JSON (delete_field = 'gone');
"""
)
BIG = 9 * 10**37
VIEWS: dict[str, tuple[str, list[tuple[Any, ...]], int]] = {
    "projection": ("SELECT id, b / m AS x FROM t", [(1, 7), (2, 7), (4, 7), (5, 7)], 1),
    "filter": ("SELECT id FROM t WHERE 10 / z > 1", [(1,), (2,), (4,), (5,)], 1),
    "argument": (
        "SELECT g, sum(abs(i)) AS x, count(*) AS n FROM t GROUP BY g",
        [(0, 10, 2), (1, 10, 2)],
        1,
    ),
    "filter of an aggregate": (
        "SELECT g, count(*) FILTER (WHERE c + 1 > 0) AS n FROM t GROUP BY g",
        [(0, 2), (1, 2)],
        1,
    ),
    "group key": ("SELECT 10 / z AS k, count(*) AS n FROM t GROUP BY 1", [(5, 4)], 1),
    "joined": (
        "SELECT t.id, t.c * u.n AS x FROM t JOIN u ON u.k = t.g",
        [(1, 18), (2, 27), (4, 18), (5, 27)],
        1,
    ),
    "on": ("SELECT t.id, u.n FROM t JOIN u ON u.k = t.g AND u.n < t.c + 1",
           [(1, 2), (2, 3), (4, 2), (5, 3)], 1),
    "optional side": (
        "SELECT t.id, u.n * t.c AS x FROM t LEFT JOIN u ON u.k = t.g",
        [(1, 18), (2, 27), (4, 18), (5, 27)],
        1,
    ),
    "element": (
        "SELECT t.id, CAST(e.tag AS INTEGER) AS x FROM t CROSS JOIN UNNEST(t.tags) AS e (tag)",
        [(i, x) for i in (1, 2, 3, 4, 5) for x in (1, 2) if (i, x) != (3, 2)],
        1,
    ),
    "window": (
        "SELECT id, row_number() OVER (PARTITION BY 10 / z ORDER BY id) AS x FROM t",
        [(1, 1), (2, 2), (4, 3), (5, 4)],
        1,
    ),
    "first rows": ("SELECT id, b / m AS x FROM t ORDER BY x, id LIMIT 2", [(1, 7), (2, 7)], 1),
    "order": ("SELECT id FROM t ORDER BY b / m, id LIMIT 2", [(1,), (2,)], 1),
    "distinct": ("SELECT DISTINCT b / m AS x FROM t", [(7,)], 1),
    "union": (
        "SELECT id, round(b, -1) AS x FROM t UNION ALL SELECT k, n FROM u",
        [(0, 2), (1, 3), (1, 10), (2, 10), (4, 10), (5, 10)],
        1,
    ),
    "subquery": (
        "SELECT k FROM u WHERE k IN (SELECT CAST(t.b / t.m AS INTEGER) - 6 FROM t)", [(1,)], 1
    ),
    "over groups": (
        "SELECT g, min(c) + max(c) AS x FROM t GROUP BY g", [(0, 18), (1, None)], 1
    ),
    "over groups of safe rows": (
        "SELECT g, sum(abs(b)) + max(c) AS x FROM t GROUP BY g HAVING max(c) + 1 > 0",
        [(0, 23), (1, 23)],
        1,
    ),
    "sum": ("SELECT g, sum(c) AS x, count(*) AS n FROM t GROUP BY g",
            [(0, 18, 2), (1, None, 3)], 1),
    "wide sum": ("SELECT g, sum(v) AS x FROM t GROUP BY g", [(0, 24), (1, None)], 1),
}  # fmt: skip
HELD: dict[str, str] = {
    "held sum": "SELECT g, sum(v) AS x, count(*) AS n FROM held GROUP BY g",
    "held fraction": "SELECT g, sum(w) AS x FROM held GROUP BY g",
    "held long": "SELECT g, sum(b) AS x FROM held GROUP BY g",
    "held row": "SELECT id, b + 1 AS x FROM held",
}


@pytest.fixture
def world(spark: SparkSession, tmp_path: Path) -> Iterator[World]:
    made = World(spark, tmp_path)
    try:
        yield made
    finally:
        made.stop()


def ingest(world: World, table: str, *rows: dict[str, object]) -> None:
    text = "\n".join(json.dumps(row) for row in rows)
    for record in slt.parse(f"ingest {table} raw\n{text}\n"):
        run_record(world, record)


def table(world: World, name: str, columns: str = "*") -> list[tuple[Any, ...]]:
    return sorted(world.query(f'SELECT {columns} FROM "{name}"')[1], key=repr)


def quarantined(world: World, name: str) -> list[Any]:
    try:
        return [json.loads(raw) for (raw,) in table(world, f"{name}__quarantine", "raw")]
    except Exception:  # noqa: BLE001 - there is no such table
        return []


def _named(name: str) -> str:
    return "v_" + name.replace(" ", "_")


def _lives(world: World, names: list[str]) -> None:
    made = [f"CREATE STREAMING VIEW {_named(name)} AS {VIEWS[name][0]};" for name in names]
    world.statement(TABLES + "\n".join(made))
    ingest(world, "u", {"k": 0, "n": 2}, {"k": 1, "n": 3})
    ingest(world, "t", poison.row(1, 0), poison.row(2, 1))
    world.tick()
    ingest(world, "t", poison.poison(), poison.row(4, 0))
    world.tick()
    world.verify([_named(name) for name in names])
    world.stop()  # another process goes on
    ingest(world, "t", poison.row(5, 1))
    world.tick()
    world.verify([_named(name) for name in names])
    wrong = {}
    for name in names:
        _, rows, bad = VIEWS[name]
        found, put_aside = table(world, _named(name)), quarantined(world, _named(name))
        if found != sorted(rows, key=repr) or len(put_aside) != bad:
            wrong[name] = (found, put_aside)
    assert wrong == {}


def test_a_poison_row_leaves_and_the_views_go_on(world: World) -> None:
    _lives(world, ["projection", "joined", "sum"])


_OTHERS = [name for name in VIEWS if name not in ("projection", "joined", "sum")]


@pytest.mark.parametrize("names", [_OTHERS[:7], _OTHERS[7:]], ids=["rows", "others"])
def test_whatever_the_node(world: World, names: list[str]) -> None:
    _lives(world, names)


def test_sums_with_deletes_near_38_digits(world: World) -> None:
    views = [f"CREATE STREAMING VIEW {_named(name)} AS {text};" for name, text in HELD.items()]
    world.statement(TABLES + "\n".join(views))

    def row(id_: int, group: int, value: int, *, gone: bool = False, long: int = 1) -> Any:
        fraction = f"{value // 10**10}.{value % 10**10:010}"
        return {"id": id_, "g": group, "v": str(value), "w": fraction, "b": long, "gone": gone}

    def put(*rows: Any) -> None:
        ingest(world, "held", *rows)
        world.tick()

    def sums(name: str) -> dict[int, Any]:
        return {row[0]: row[1] for row in table(world, _named(name))}

    put(row(1, 1, BIG + 7), row(2, 1, 5))
    world.verify()
    assert sums("held sum") == {1: BIG + 12}
    assert str(sums("held fraction")[1]).replace(".", "") == str(BIG + 12)
    put(row(1, 1, BIG + 8))  # an update
    world.verify()
    assert sums("held sum") == {1: BIG + 13}
    long = poison.MOST
    put(row(1, 1, 0, gone=True), row(3, 2, BIG, long=long), row(4, 2, BIG, long=long))
    world.verify()
    assert sums("held sum") == {1: 5, 2: None}  # beyond 38 digits
    assert sums("held long") == {1: 1, 2: None}
    assert [row[0] for row in table(world, _named("held row"))] == [2]
    assert quarantined(world, _named("held sum")) == [{"g": 2}]
    assert len(quarantined(world, _named("held row"))) == 2
    world.stop()
    put(row(3, 2, 3, long=3), row(4, 2, 4, long=4))
    world.verify()
    assert sums("held sum") == {1: 5, 2: 7}
    assert sums("held long") == {1: 1, 2: 7}
    assert [row[0] for row in table(world, _named("held row"))] == [2, 3, 4]


def _at_rest(selects: list[str]) -> list[str]:
    catalog = bind({"p.sql": parse(poison.views(selects))})
    plans = plan_project(catalog)
    return [
        at_rest(plans[f"v{n}"], catalog, "spark", final=False).text() for n in range(len(selects))
    ]


def test_spark_computes_every_function_beside_a_poison_row(spark: SparkSession) -> None:
    rows = [tuple(row.values()) for row in poison.ROWS]
    strings = ", ".join(f"_{n} {'array<string>' if isinstance(v, list) else 'string'}"
                        for n, v in enumerate(rows[0]))  # fmt: skip
    kinds = poison.COLUMNS.format(text="STRING", texts="ARRAY<STRING>", time="TIMESTAMP")
    names = [part.strip().partition(" ")[::2] for part in kinds.replace("(38, ", "(38;").split(",")]
    frame = spark.createDataFrame(
        [tuple(v if isinstance(v, list) else str(v) for v in row) for row in rows], strings
    )
    cast = [
        f"CAST(_{n} AS {kind.replace(';', ',')}) AS {name}" for n, (name, kind) in enumerate(names)
    ]
    frame.selectExpr(*cast).coalesce(1).createOrReplaceTempView("t")
    scalars = [f"SELECT id, {text} AS x FROM t" for text in poison.scalars()]
    passing = [f"SELECT id, {text} AS x FROM t" for text in poison.listed(poison.NOT_TAKEN)]
    groups = [f"SELECT count(*) AS n, {text} AS x FROM t" for text in poison.aggregates()]
    wanted = {
        **dict.fromkeys(scalars, [1, 2, 4]),
        **dict.fromkeys(passing, [1, 2, 3, 4]),
        **dict.fromkeys(groups, [3]),
    }
    wrong = {}
    texts = list(wanted)
    for text, sql in zip(texts, _at_rest(texts), strict=True):
        try:
            found: object = sorted(row[0] for row in spark.sql(sql).collect())
        except Exception as error:  # noqa: BLE001 - all of them are reported
            found = str(error)[:300]
        if found != wanted[text]:
            wrong[text] = found
    assert wrong == {}
