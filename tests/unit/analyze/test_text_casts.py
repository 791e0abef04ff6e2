"""Casts of text read what Trino reads, and the same text as a literal and as a column."""

from __future__ import annotations

import duckdb
import pytest

from headwater.analyze.portable.rewrites import portable
from headwater.analyze.project import bind
from headwater.dialect import parse

READ = {
    "BOOLEAN": {"TRUE": "true", "f": "false", "y": None, " 1": None, "1\n": None, "on": None},
    "INTEGER": {" 7 ": "7", "\x1c7": "7", "7\u00a0": None, "1e1": None, "2147483648": None},
    "DECIMAL(5, 2)": {"1e2": "100.00", "12\n": None, " 12": None, "999.995": None, "NaN": None},
    "DOUBLE": {"-Infinity": "-inf", "+NaN": "nan", "-nan": None, "INF": None, "1f ": "1.0"},
    "DATE": {"\u20032024-2-9 ": "2024-02-09", "2024-02-30": None, "2024-02-09 00:00": None},
    "TIMESTAMP": {
        "2024-02-09 1:02": "2024-02-09 01:02:00",
        "2024-02-09 23:59:59.9999995": "2024-02-10 00:00:00",
        "2024-02-09 23:59:59.99999949": "2024-02-09 23:59:59.999999",
        "2024-02-09 01:02:03-14:00": "2024-02-09 01:02:03",
        "2024-02-09 01:02:03-14:01": None,
        "2024-02-09 01:02:03 UTC ": "2024-02-09 01:02:03",
        "2024-02-09T01:02:03": None,
    },
    "TIMESTAMP WITH TIME ZONE": {
        "2024-02-09 01:02 +02:30": "2024-02-08 22:32:00+00",
        "2024-02-09 01:02:03.1234567 Z": "2024-02-09 01:02:03.123457+00",
        "2024-02-09 01:02:03 utc": None,
        "2024-02-09T01:02:03Z": None,
    },
}


IN_LITERALS = ("BOOLEAN", "INTEGER", "DECIMAL(5, 2)", "DOUBLE")
"""`check` reads literal dates and times."""


@pytest.mark.parametrize(
    ("kind", "text", "value", "given"),
    [
        (kind, text, value, given)
        for kind, texts in READ.items()
        for text, value in texts.items()
        for given in ("s", f"'{text}'")[: 1 + (kind in IN_LITERALS)]
    ],
)
def test_text_is_read_as_in_trino(kind: str, text: str, value: str | None, given: str) -> None:
    project = f"""
CREATE TABLE t (s VARCHAR) WITH (connector = 'files', path = 't') FORMAT PLAIN ENCODE JSON;
CREATE STREAMING VIEW v AS SELECT TRY_CAST({given} AS {kind}) AS x FROM t;
"""
    query = portable(bind({"t.sql": parse(project)}).views["v"].query, "duckdb").sql("duckdb")
    with duckdb.connect() as database:
        database.execute("SET TimeZone = 'UTC'")
        database.execute("CREATE TABLE t (s VARCHAR)")
        database.execute("INSERT INTO t VALUES (?)", [text])
        found = database.execute(f"SELECT CAST(x AS VARCHAR) FROM ({query})").fetchone()
    assert found == (value,)
