"""Every node of a parsed statement can say where it stands."""

import pytest
from sqlglot import exp

from headwater.dialect import parse, span_of
from headwater.dialect import syntax as s

SOURCE = """CREATE TABLE t (
  a BIGINT,
  WATERMARK FOR ts AS ts - INTERVAL '5' SECOND
) WITH (connector = 'files', 'Rate' = 10)
FORMAT PLAIN ENCODE CSV (header = TRUE);
"""
VIEW = """CREATE STREAMING VIEW v
PARTITIONED BY (day(ts)) LATE ROWS ACCEPT FOR INTERVAL '1' HOUR START FROM EARLIEST AS
SELECT a, approx_distinct(b) AS n, 1 + 2 AS three
FROM TUMBLE(t, ts, INTERVAL '1' MINUTE) AS w
JOIN u ON w.a = u.a
WHERE c > 1
"""


def marked(node: exp.Expression) -> str:
    span = span_of(node)
    assert span
    return f"{span.line}:{span.text[span.column - 1 : span.column - 1 + span.length]}"


@pytest.mark.parametrize(
    ("kind", "expected"),
    [
        (s.CreateStreamingView, "6:v"),
        (s.LateRowsClause, "7:LATE ROWS ACCEPT FOR INTERVAL '1' HOUR"),
        (s.StartFromClause, "7:START FROM EARLIEST"),
        (exp.Anonymous, "7:day(ts)"),
        (exp.ApproxDistinct, "8:approx_distinct"),
        (s.WindowTable, "9:TUMBLE(t, ts, INTERVAL '1' MINUTE)"),
        (exp.EQ, "10:w.a = u.a"),
        (exp.GT, "11:c > 1"),
    ],
)
def test_nodes_of_a_view(kind, expected):
    _, view = parse(SOURCE + VIEW, file="x.sql")
    assert marked(view.find(kind)) == expected


@pytest.mark.parametrize(
    ("kind", "expected"),
    [
        (s.CreateSource, "1:t"),
        (s.SourceColumn, "2:a BIGINT"),
        (exp.DataType, "2:BIGINT"),
        (s.WatermarkClause, "3:WATERMARK FOR ts AS ts - INTERVAL '5' SECOND"),
        (exp.Interval, "3:INTERVAL '5' SECOND"),
        (s.OptionClause, "4:connector"),
    ],
)
def test_nodes_of_a_table(kind, expected):
    (table,) = parse(SOURCE, file="x.sql")
    assert marked(table.find(kind)) == expected


def test_every_node_has_a_span_in_its_file():
    for statement in parse(SOURCE + VIEW, file="x.sql"):
        for node in statement.walk():
            span = span_of(node)
            assert span
            assert span.file == "x.sql"


def test_a_node_made_by_hand_takes_the_place_of_its_parent():
    (query,) = parse("SELECT a FROM t")
    query.expressions[0].set("table", exp.to_identifier("x"))
    query.find(exp.Column).replace(exp.Coalesce(this=exp.Literal.number(1), expressions=[]))
    assert span_of(query.find(exp.Coalesce)) == span_of(query)


def test_copies_of_a_view_and_of_its_query_keep_their_places():
    (view,) = parse(VIEW, file="x.sql")
    for copy in (view.copy(), view.expression.copy()):
        assert marked(copy.find(exp.EQ)) == "5:w.a = u.a"


def test_a_tree_that_was_not_parsed_has_no_place():
    assert span_of(exp.column("a")) is None
