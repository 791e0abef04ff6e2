"""The SELECT at rest of random views: Trino's own clause against ours, at the marks of commits."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from random import Random
from typing import Any

import duckdb

from headwater.dialect.syntax import PatternRows
from headwater.plan.at_rest import AtRest, at_rest
from headwater.plan.sql.native_patterns import inexpressible, not_told
from headwater.serve.pattern_rows import create_matches
from tests.algebra.world import in_schema
from tests.patterns.judge import Trino, plain, same
from tests.patterns.views import Row, View, arrivals

_COLUMNS = "k VARCHAR, ts TIMESTAMPTZ, v VARCHAR, x BIGINT, _watermark TIMESTAMPTZ"


def untold(view: View) -> str:
    """Return why Trino cannot tell which rows of a view are final; empty if it can."""
    (rows,) = view.plan.view.query.find_all(PatternRows)
    refused = not_told if view.plan.final else inexpressible
    return refused(rows.args["clause"])


def differences(
    view: View, trino: Trino, random: Random, cuts: int = 4
) -> Iterator[tuple[int, str]]:
    """Yield for some commits the number of rows, and what Trino finds otherwise than DuckDB.

    Args:
        cuts: at how many commits they are asked, the last one and one without a bound included.
    """
    epochs = list(arrivals(random))
    chosen = sorted(random.sample(range(len(epochs) - 1), min(cuts, len(epochs)) - 2))
    ends = [*((at, False) for at in chosen), (len(epochs) - 1, False), (len(epochs) - 1, True)]
    for at, everything in ends:
        rows = [row for landed, _ in epochs[: at + 1] for row in landed]
        texts = [
            at_rest(view.plan, view.catalog, dialect, watermark=epochs[at][1], final=not everything)
            for dialect in ("trino", "duckdb")
        ]
        theirs, found = trino.rows(_with_rows(texts[0], rows)), _in_duckdb(texts[1], rows)
        wrong = ""
        if not same(theirs, found):
            both = f"Trino: {theirs}\n  ours:  {found}"
            wrong = f"{view.plan.view.text}\n  at {epochs[at][1]} of {rows}\n  {both}"
        yield len(found), wrong


def _with_rows(select: AtRest, rows: Sequence[Row]) -> str:
    values = ", ".join(
        f"({_text(k)}, {_time(ts)}, {_text(v)}, CAST({'NULL' if x is None else x} AS BIGINT),"
        f" {_time(mark)})"
        for k, ts, v, x, mark in rows
    )
    return f"WITH t (k, ts, v, x, _watermark) AS (VALUES {values}) SELECT * FROM ({select.text()})"


def _text(value: str | None) -> str:
    return f"CAST({'NULL' if value is None else repr(value)} AS VARCHAR)"


def _time(micros: int | None) -> str:
    kind = "TIMESTAMP(6) WITH TIME ZONE"
    if micros is None:
        return f"CAST(NULL AS {kind})"
    return f"CAST(from_unixtime({micros // 1_000_000}, 'UTC') AS {kind})"


def _in_duckdb(select: AtRest, rows: Sequence[Row]) -> list[Any]:
    with in_schema() as (duck, _):
        duck.execute(f"CREATE TABLE t ({_COLUMNS})")
        land(duck, rows)
        create_matches(duck, select.patterns)
        return plain(duck.sql(select.sql).to_arrow_table().to_pylist())


def land(duck: duckdb.DuckDBPyConnection, rows: Sequence[Row]) -> None:
    """Insert rows into the table."""
    for key, ts, v, x, watermark in rows:
        duck.execute(
            "INSERT INTO t VALUES (?, make_timestamptz(?), ?, ?, make_timestamptz(?))",
            [key, ts, v, x, watermark],
        )
