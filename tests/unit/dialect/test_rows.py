"""Rows of values, however their fields get their names."""

import pytest

from headwater.dialect import parse, to_sql
from headwater.errors import SqlError


def printed(expression: str, dialect: str = "trino") -> str:
    text = f"CREATE STREAMING VIEW v AS SELECT {expression} AS x FROM t"
    (view,) = parse(text, default_dialect=dialect)
    return to_sql(view.args["expression"].selects[0].this, pretty=False)


@pytest.mark.parametrize(
    ("dialect", "written", "canonical"),
    [
        ("trino", "ROW(a AS x, b + 1 AS y)", "ROW(a AS x, b + 1 AS y)"),
        (
            "trino",
            "CAST(ROW(a, b) AS ROW(x BIGINT, y VARCHAR))",
            "ROW(CAST(a AS BIGINT) AS x, CAST(b AS VARCHAR) AS y)",
        ),
        (
            "trino",
            "CAST(ROW(a, ROW(b)) AS ROW(x BIGINT, y ROW(z DATE)))",
            "ROW(CAST(a AS BIGINT) AS x, ROW(CAST(b AS DATE) AS z) AS y)",
        ),
        ("spark", "named_struct('x', a, 'y', b)", "ROW(a AS x, b AS y)"),
        ("spark", "struct(a, b AS y)", "ROW(a AS a, b AS y)"),
        ("duckdb", "{'x': a, 'y': b}", "ROW(a AS x, b AS y)"),
        ("duckdb", "struct_pack(x := a)", "ROW(a AS x)"),
        (
            "flink",
            "CAST((a, b) AS ROW<x BIGINT, y STRING>)",
            "ROW(CAST(a AS BIGINT) AS x, CAST(b AS VARCHAR) AS y)",
        ),
    ],
)
def test_a_row_has_one_form(dialect: str, written: str, canonical: str) -> None:
    assert printed(written, dialect) == canonical
    assert printed(canonical) == canonical


def test_a_cast_names_every_field() -> None:
    with pytest.raises(SqlError, match="2 values, the type 1 named fields"):
        printed("CAST(ROW(a, b) AS ROW(x BIGINT))")
