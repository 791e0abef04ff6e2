"""The table of hazards against the functions, the nodes and what the binder says."""

from __future__ import annotations

import pytest
from sqlglot import exp

from headwater.analyze.diagnostics import Diagnostics
from headwater.analyze.project import bind, bind_all
from headwater.analyze.rules.allowed_syntax import ALLOWED, only_allowed
from headwater.analyze.typing.determinism import HAZARDS, REFUSED, Hazard
from headwater.analyze.typing.functions import AGGREGATES, FUNCTIONS
from headwater.dialect import parse
from headwater.errors import HeadwaterError, SqlError

TABLE = """
CREATE TABLE t (a BIGINT, b VARCHAR, d DOUBLE, ts TIMESTAMP WITH TIME ZONE)
WITH (connector = 'files', path = 't') FORMAT PLAIN ENCODE JSON;
"""
TABLES = parse(TABLE)
EXACT = {
    *("count", "count_if", "min", "max", "bool_and", "bool_or"),  # in any order of rows
    *("any_value", "min_by", "max_by", "array_agg", "listagg"),  # settled
    *("bitwise_and_agg", "bitwise_or_agg", "bitwise_xor_agg"),
    "sum",  # of integers and decimals; of doubles it is bounded
}
NOT_CALLED = {"limit", "offset", "fetch", "tablesample", "at time zone"}
"""Clauses and operators: the error corpus has them."""


def refusals(columns: list[str], dialect: str) -> list[SqlError]:
    sql = ", ".join(f"{column} AS x{at}" for at, column in enumerate(columns))
    text = f"CREATE STREAMING VIEW v AS SELECT {sql} FROM t"
    return bind_all({"t": TABLES, "v": parse(text, file="v", default_dialect=dialect)})[1]


@pytest.mark.parametrize("name", sorted(REFUSED.keys() - NOT_CALLED))
def test_what_the_table_refuses_is_refused_with_a_place(name: str) -> None:
    calls = [f"{name}()", f"{name}(b)", f"upper({name}(b, b))"]
    found = [error for call in calls for error in attempt(call)]
    assert REFUSED[name].condition in {error.condition for error in found}
    assert all(error.span for error in found)


@pytest.mark.parametrize("call", ["min_by(a, b)", "arg_max(a, b)"])
def test_min_by_of_duckdb_passes_over_null(call: str) -> None:
    text = f"CREATE STREAMING VIEW v AS SELECT {call} AS x FROM t"
    parsed = parse(text, file="v", default_dialect="duckdb")
    assert "IS NULL" in bind({"t": TABLES, "v": parsed}).views["v"].query.sql("trino")
    assert "IS NULL" not in bind({"t": TABLES, "v": parse(text)}).views["v"].query.sql("trino")


def attempt(call: str) -> list[SqlError]:
    """The errors of a call, which has some, whether it can be parsed or not."""
    found: list[SqlError] = []
    for dialect in ("trino", "spark"):
        try:
            errors = refusals([call], dialect)
        except SqlError as error:
            errors = [error]
        assert errors, (call, dialect)
        found += errors
    return found


@pytest.mark.parametrize("hazard", HAZARDS, ids=lambda hazard: hazard.names[0])
def test_every_row_says_what_to_do(hazard: Hazard) -> None:
    refused = hazard.answer == "refused"
    assert bool(hazard.condition) == refused == bool(hazard.hint)
    assert hazard.names and hazard.reason


def test_nothing_allowed_is_refused_and_every_aggregate_is_judged() -> None:
    allowed = {function.name for function in FUNCTIONS.values()}
    assert not allowed & REFUSED.keys()
    bounded = {name for hazard in HAZARDS if hazard.answer == "bounded" for name in hazard.names}
    assert {function.name for function in AGGREGATES.values()} == bounded | EXACT
    sketches = {function.name for function in AGGREGATES.values() if function.approximate}
    assert sketches == {"approx_distinct", "approx_percentile"}


def test_the_allow_list_names_arguments_that_exist() -> None:
    for node, arguments in ALLOWED.items():
        if node not in FUNCTIONS:
            assert arguments <= set(node.arg_types), node
    assert FUNCTIONS.keys() <= ALLOWED.keys()


class Novelty(exp.Expression):
    """What a new version of sqlglot might bring."""

    arg_types = {"this": False}


BODY = "SELECT upper(b) AS u, sum(a) AS n FROM t WHERE a > 1 GROUP BY 1"
BOUND = bind({"t": TABLES, "v": parse(f"CREATE STREAMING VIEW v AS {BODY}")}).views["v"].query


def bound_query() -> exp.Expr:
    query: exp.Expr = BOUND.copy()
    return query


def complaints(query: exp.Expr) -> list[str]:
    report = Diagnostics(query)
    only_allowed(query, report)
    return [error.message for error in report.errors]


def test_a_node_that_nobody_has_read_is_refused_wherever_it_stands() -> None:
    assert complaints(bound_query()) == []
    count = sum(1 for _ in bound_query().walk())
    for at in range(1, count):
        query = bound_query()
        node = list(query.walk())[at]
        node.replace(Novelty())
        assert complaints(query) == ["this is not part of the language"], node


def test_a_flag_that_nobody_has_read_is_refused_on_every_node() -> None:
    for at, original in enumerate(bound_query().walk()):
        for key in (*original.arg_types, "novelty"):
            if original.args.get(key) or key in ALLOWED[type(original)]:
                continue
            query = bound_query()
            list(query.walk())[at].set(key, True)
            assert len(complaints(query)) == 1, (original, key)


def test_comments_do_not_reach_an_engine() -> None:
    text = "CREATE STREAMING VIEW v AS SELECT /*+ BROADCAST(t) */ b /* x */ FROM t -- y"
    view = bind({"t": TABLES, "v": parse(text)}).views["v"]
    assert "/*" not in view.query.sql("spark")
    text = TABLE.replace("ts TIMESTAMP", "c AS a /*+ y */ + 1, ts TIMESTAMP")
    (column,) = [c for c in bind({"t": parse(text)}).sources["t"].columns if c.computed]
    assert column.computed is not None and "/*" not in column.computed.sql("spark")


@pytest.mark.parametrize(
    "body",
    [
        "SELECT reflect('java.lang.System', 'exit') AS x FROM t",
        "SELECT x FROM t LATERAL VIEW stack(2, b, 'x') e AS x",
        "SELECT TRANSFORM(b) USING 'cat' AS (x STRING) FROM t",
        "SELECT b FROM t TABLESAMPLE (10 PERCENT)",
        "SELECT b FROM parquet.`/tmp/x`",
        "SELECT b FROM IDENTIFIER('t')",
        "SELECT b FROM t VERSION AS OF 1",
        "SELECT b FROM t@v1",
        "SELECT b FROM range(3)",
        "SELECT :b AS b FROM t",
        "SELECT ${b} AS b FROM t",
        "SELECT b FROM t; SET x = y",
        "FROM t INSERT INTO u SELECT b",
        "VALUES (b)",
    ],
)
@pytest.mark.parametrize("dialect", ["trino", "spark"])
def test_hostile_queries_are_refused_in_every_dialect(body: str, dialect: str) -> None:
    text = f"CREATE STREAMING VIEW v AS {body}"
    with pytest.raises(HeadwaterError):
        bind({"t": TABLES, "v": parse(text, file="v", default_dialect=dialect)})
