"""As-of joins in Trino: the SELECT at rest has the rows of DuckDB's own ``ASOF JOIN``.

Of a keyed table both read its log; what DuckDB does with deletions there is written by hand.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from random import Random
from urllib.parse import urlsplit

import duckdb
import pytest
import trino.dbapi

from headwater.plan.at_rest import at_rest
from headwater.servers.trino import TrinoServer
from tests.algebra.world import planned

pytestmark = pytest.mark.services

_PLACE = "WITH (connector = 'files', path = 'x') FORMAT PLAIN ENCODE JSON;"
_TABLES = f"""
CREATE TABLE trades (id BIGINT, symbol VARCHAR, ts TIMESTAMP WITH TIME ZONE,
  WATERMARK FOR ts AS ts) {_PLACE}
CREATE TABLE quotes (bid BIGINT, symbol VARCHAR, ts TIMESTAMP WITH TIME ZONE,
  WATERMARK FOR ts AS ts) {_PLACE}
CREATE TABLE firms (symbol VARCHAR PRIMARY KEY, city VARCHAR,
  since TIMESTAMP WITH TIME ZONE NOT NULL, WATERMARK FOR since AS since)
WITH (connector = 'files', path = 'x') FORMAT UPSERT ENCODE JSON;
"""
_LAST = (
    "(SELECT * FROM quotes WHERE ts IS NOT NULL QUALIFY row_number() OVER (PARTITION BY symbol, ts"
    " ORDER BY _arrived_at DESC, bid DESC NULLS FIRST) = 1)"
)
_SHOWN = "SELECT t.id, q.bid, q.ts FROM trades t"
_KEY = "t.symbol = q.symbol"
JOINS = {
    f"JOIN quotes FOR SYSTEM_TIME AS OF t.ts AS q ON {_KEY}": (
        f"ASOF JOIN {_LAST} q ON {_KEY} AND t.ts >= q.ts"
    ),
    f"ASOF JOIN quotes q MATCH_CONDITION (t.ts > q.ts) ON {_KEY}": (
        f"ASOF LEFT JOIN {_LAST} q ON {_KEY} AND t.ts > q.ts"
    ),
    f"ASOF LEFT JOIN quotes q ON {_KEY} AND t.ts - INTERVAL '2' MINUTE >= q.ts": (
        f"ASOF LEFT JOIN {_LAST} q ON {_KEY} AND t.ts - INTERVAL '2' MINUTE >= q.ts"
    ),
}
_HELD = (
    "(SELECT * FROM firms__changes QUALIFY row_number() OVER (PARTITION BY symbol, since"
    " ORDER BY _path DESC, _row DESC) = 1)"
)
_CITY = "CASE WHEN _change_type = 'UPSERT' THEN"
_KEYED = f"SELECT t.id, {_CITY} city END AS city, {_CITY} since END AS since FROM trades t"
KEYED_JOINS = {
    f"JOIN firms FOR SYSTEM_TIME AS OF t.ts AS q ON {_KEY}": (
        f"ASOF JOIN {_HELD} q ON {_KEY} AND t.ts >= q.since WHERE _change_type = 'UPSERT'"
    ),
    f"LEFT JOIN firms FOR SYSTEM_TIME AS OF t.ts AS q ON {_KEY}": (
        f"ASOF LEFT JOIN {_HELD} q ON {_KEY} AND t.ts >= q.since"
    ),
    f"ASOF JOIN firms q MATCH_CONDITION (t.ts > q.since) ON {_KEY}": (
        f"ASOF LEFT JOIN {_HELD} q ON {_KEY} AND t.ts > q.since"
    ),
}


@pytest.fixture(scope="module")
def cursor(stack: Path) -> Iterator[trino.dbapi.Cursor]:
    """A cursor of a Trino that has no tables."""
    with TrinoServer(stack / "as_of", {}) as running:
        at = urlsplit(running.address)
        yield trino.dbapi.connect(host=at.hostname, port=at.port, user="tests").cursor()


def _rows(rnd: Random) -> str:
    """Rows as text: many of one key and time, some without."""

    def time(*, some: bool) -> str:
        if not some and rnd.random() < 0.1:
            return "CAST(NULL AS TIMESTAMP WITH TIME ZONE)"
        return f"TIMESTAMP '2026-01-01 12:{rnd.randint(0, 9):02}:00 UTC'"

    keys = ("CAST(NULL AS VARCHAR)", *("'a'", "'b'", "'c'") * 3)
    count = range(rnd.randint(1, 40))
    rows = ((str(each), rnd.choice(keys), time(some=False), time(some=True)) for each in count)
    return ", ".join(f"({', '.join(row)})" for row in rows)


@pytest.mark.parametrize("join", JOINS)
def test_trino_finds_the_versions_that_duckdb_finds(cursor: trino.dbapi.Cursor, join: str) -> None:
    catalog, plans = planned(f"{_TABLES}CREATE STREAMING VIEW v AS {_SHOWN} {join};")
    asked = at_rest(plans["v"], catalog, "trino").text()
    rnd, found = Random(join), 0
    for _ in range(25):
        tables = [("trades", "id", _rows(rnd)), ("quotes", "bid", _rows(rnd))]
        held = ", ".join(
            f"{name} ({first}, symbol, ts, _arrived_at) AS (VALUES {rows})"
            for name, first, rows in tables
        )
        cursor.execute(f"WITH {held} SELECT id, bid, to_unixtime(ts) FROM ({asked})")
        have = sorted(map(repr, (tuple(row) for row in cursor.fetchall())))
        theirs = held.replace("TIMESTAMP '", "TIMESTAMPTZ '")
        right = duckdb.sql(f"WITH {theirs} SELECT id, bid, epoch(ts) FROM ({_SHOWN} {JOINS[join]})")
        assert have == sorted(map(repr, right.fetchall()))
        found += sum("None" not in row for row in have)
    assert found > 100


def _changes(rnd: Random) -> str:
    """Changes as text: many of one instant, some deletions."""
    rows = []
    for number in range(rnd.randint(1, 40)):
        key, at = rnd.choice("abc"), f"TIMESTAMP '2026-01-01 12:{rnd.randint(0, 9):02}:00 UTC'"
        gone = rnd.random() < 0.3
        city = "CAST(NULL AS VARCHAR)" if gone else f"'{rnd.choice(('Oslo', 'Rome'))}'"
        kind = "DELETE" if gone else "UPSERT"
        rows.append(f"('{key}', {city}, {at}, '{kind}', 'f{rnd.randint(0, 1)}', {number})")
    return ", ".join(rows)


@pytest.mark.parametrize("join", KEYED_JOINS)
def test_trino_finds_the_versions_in_the_log_of_a_keyed_table(
    cursor: trino.dbapi.Cursor, join: str
) -> None:
    shown = "SELECT t.id, q.city, q.since FROM trades t"
    catalog, plans = planned(f"{_TABLES}CREATE STREAMING VIEW v AS {shown} {join};")
    asked = at_rest(plans["v"], catalog, "trino").text()
    rnd, found = Random(join), 0
    for _ in range(25):
        log = "firms__changes (symbol, city, since, _change_type, _path, _row)"
        trades = f"trades (id, symbol, ts, _arrived_at) AS (VALUES {_rows(rnd)})"
        held = f"{trades}, {log} AS (VALUES {_changes(rnd)})"
        cursor.execute(f"WITH {held} SELECT id, city, to_unixtime(since) FROM ({asked})")
        have = sorted(map(repr, (tuple(row) for row in cursor.fetchall())))
        theirs = held.replace("TIMESTAMP '", "TIMESTAMPTZ '")
        right = f"{_KEYED} {KEYED_JOINS[join]}"
        rows = duckdb.sql(f"WITH {theirs} SELECT id, city, epoch(since) FROM ({right})").fetchall()
        assert have == sorted(map(repr, rows))
        found += sum("None" not in row for row in have)
    assert found > 50
