"""The 22 queries of TPC-H over tables that change: after each tick a view equals DuckDB's answer.

In: a seed. Out: a line per query, by which rule it is kept or why it is refused; at the end one
line ``queries=22 kept=N refused=N wrong=N``; exit code 1 if one is wrong. Orders and their lines
are views over their versions, so that updates and deletes reach every query.

    python -m tests.tpch.run --seed 1
"""

from __future__ import annotations

import math
import re
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from random import Random

import click
import duckdb
from pyspark.sql import SparkSession

from headwater.analyze.typing.types import spark_type
from headwater.lake.catalog import Lake
from tests.spark.law import Landed
from tests.spark.running import Running, local_session, planned, refused
from tests.tpch import data

HERE = Path(__file__).parent
TABLES = (HERE / "tables.sql").read_text()
QUERIES = {
    name: text.strip()
    for name, text in re.findall(
        r"^-- (q\d+)\n(.*?)(?=^-- q|\Z)", (HERE / "queries.sql").read_text(), re.S | re.M
    )
}
VERSIONED = {"orders": "o_orderkey", "lineitem": "l_orderkey, l_linenumber"}
TICKS = 4


def definitions(queries: Mapping[str, str]) -> str:
    """Return the definitions of the tables and some queries."""
    views = (f"CREATE STREAMING VIEW {name} AS\n{text};" for name, text in queries.items())
    return "\n".join([TABLES, *views])


class Tpch:
    """The queries that are kept, over tables that change.

    Args:
        spark: the session.
        queries: the queries by name.
        seed: of the rows.
    """

    def __init__(self, spark: SparkSession, queries: dict[str, str], seed: int) -> None:
        self.queries, self.rnd = queries, Random(seed)
        lake, text = Lake(spark, f"tpch_{seed}"), definitions(queries)
        self.landed = {
            name: Landed(lake, name, {f.name: spark_type(f.type) for f in source.fields})
            for name, source in planned(text)[0].sources.items()
        }
        self.running = Running(spark, lake, text)
        self.buyers, self.orders = 0, 0
        for name, rows in data.fixed(self.rnd).items():
            self.landed[name].land(*rows)

    def change(self, number: int) -> None:
        """New customers and orders, other versions of some orders, some deleted."""
        count = data.CUSTOMERS if number == 0 else 2
        self.landed["customer"].land(*data.customers(self.rnd, self.buyers, count))
        self.buyers += count
        old = list(range(self.orders))
        self.orders += 60 if number == 0 else 6
        batches = [(list(range(len(old), self.orders)), False)]
        if old:
            batches += [(self.rnd.sample(old, 4), False), (self.rnd.sample(old, 3), True)]
        for at, (keys, deleted) in enumerate(batches):
            version = number * 10 + at
            heads, lines = data.orders(self.rnd, version, keys, self.buyers, deleted)
            self.landed["orders_log"].land(*heads)
            self.landed["lineitem_log"].land(*lines)

    def tick(self) -> None:
        """Bring every view up to date once."""
        for name, error in self.running.tick().items():
            click.echo(f"FAILED {name}: {str(error)[:2000]}")
            raise error

    def wrong(self) -> dict[str, str]:
        """Return the views that differ from DuckDB's answer, and how."""
        with duckdb.connect() as duck:
            for name, table in self.landed.items():
                table.create_in(duck)
                rows = f"SELECT * EXCLUDE (_epoch) FROM all_{name}"
                duck.execute(f"CREATE TABLE {name} AS {rows}")
            for name, key in VERSIONED.items():
                newest = f"row_number() OVER (PARTITION BY {key} ORDER BY version DESC) = 1"
                rows = f"SELECT * FROM {name}_log QUALIFY {newest}"
                duck.execute(f"CREATE TABLE {name} AS SELECT * FROM ({rows}) WHERE NOT deleted")
            return {
                name: why
                for name, text in self.queries.items()
                if (why := self._difference(name, duck.sql(text).fetchall()))
            }

    def _difference(self, name: str, expected: Sequence[tuple[object, ...]]) -> str:
        held = self.running.held(name)
        left, right = sorted(held, key=_rounded), sorted(expected, key=_rounded)
        same = len(left) == len(right) and all(map(_is_close, left, right))
        return "" if same else f"holds {left[:5]}, not {right[:5]}"


def _rounded(row: Sequence[object]) -> str:
    return repr([f"{v:.6g}" if isinstance(v, float) else v for v in row])


def _is_close(one: Sequence[object], other: Sequence[object]) -> bool:
    return all(
        math.isclose(a, b, rel_tol=1e-9)
        if isinstance(a, float) and isinstance(b, (int, float))
        else a == b
        for a, b in zip(one, other, strict=True)
    )


@click.command()
@click.option("--seed", default=1, show_default=True)
def main(seed: int) -> None:
    """Keep the queries of TPC-H."""
    out = refused(definitions, QUERIES)
    for name, why in out.items():
        click.echo(f"{name}: refused: {why}")
    bad: dict[str, str] = {}
    with local_session("tpch") as spark:
        kept = Tpch(spark, {n: text for n, text in QUERIES.items() if n not in out}, seed)
        for number in range(TICKS):
            kept.change(number)
            kept.tick()
            found = kept.wrong()
            bad |= found
            click.echo(f"tick {number}: {len(found)} wrong")
        for name in kept.queries:
            rows = len(kept.running.held(name))
            if not rows:
                bad.setdefault(name, "holds no rows, which proves little")
            rule = kept.running.plans[name].decision.rule.name
            click.echo(f"{name}: {rule}, {rows} rows {bad.get(name, '')}")
    counts = f"kept={len(QUERIES) - len(out)} refused={len(out)} wrong={len(bad)}"
    click.echo(f"queries={len(QUERIES)} {counts} ticks={TICKS} seed={seed}")
    sys.exit(1 if bad else 0)


if __name__ == "__main__":
    main()
