"""The parts of a table, kept as text: what differs, and the watermark that comes back."""

from __future__ import annotations

import json

import pytest

from headwater.analyze.definitions import Source
from headwater.analyze.project import bind
from headwater.dialect import parse
from headwater.plan.table_parts import WATERMARK, parts_of, shown, watermark_of

TABLE = """
CREATE TABLE t (id INTEGER, twice AS id * 2, {watermark} ts TIMESTAMP WITH TIME ZONE)
WITH (connector = 'files', path = 'in') FORMAT PLAIN ENCODE JSON;
"""


def source_of(watermark: str = "", table: str = TABLE) -> Source:
    return bind({"t.sql": parse(table.format(watermark=watermark))}).sources["t"]


@pytest.mark.parametrize(
    ("clause", "text"),
    [
        ("", ""),
        ("WATERMARK FOR ts AS ts - INTERVAL '15' MINUTE,", "ts - 15 min"),
        (
            "WATERMARK FOR ts AS ts - INTERVAL '15' MINUTE IDLE TIMEOUT INTERVAL '1' HOUR,",
            "ts - 15 min idle 1 h",
        ),
        (
            "WATERMARK FOR ts AS ADAPTIVE (PERCENTILE 0.99, MIN INTERVAL '1' SECOND,"
            " MAX INTERVAL '2' HOUR),",
            "ts - 2 h adaptive 0.99 from 1 s",
        ),
    ],
)
def test_the_watermark_comes_back(clause: str, text: str) -> None:
    source = source_of(clause)
    kept = json.loads(json.dumps(parts_of(source)))
    assert watermark_of(kept) == source.watermark
    assert shown(WATERMARK, kept) == text


@pytest.mark.parametrize(
    ("old", "new", "part"),
    [
        ("path = 'in'", "path = 'more'", "WITH"),
        ("id * 2", "id * 3", "computed columns"),
        ("ENCODE JSON", "ENCODE JSON ON ERROR FAIL", "ON ERROR"),
        ("ENCODE JSON", "ENCODE JSON ON SCHEMA CHANGE EVOLVE", None),
        ("ENCODE JSON", "ENCODE CSV (header = 'true')", "ENCODE"),
        ("CREATE TABLE t", "CREATE  TABLE  T", None),
        ("id INTEGER", "id INTEGER FROM 'Id No'", "FROM"),
        ("id INTEGER", "id BIGINT", None),  # the table knows its columns
    ],
)
def test_what_differs(old: str, new: str, part: str | None) -> None:
    before = parts_of(source_of())
    after = parts_of(source_of(table=TABLE.replace(old, new)))
    differs = [word for word in {**before, **after} if before.get(word) != after.get(word)]
    assert differs == ([part] if part else [])
