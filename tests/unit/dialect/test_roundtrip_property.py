"""Statements made at random from the grammar's clauses survive printing and parsing."""

from hypothesis import example, given, settings
from hypothesis import strategies as st

from headwater.dialect import parse, to_sql
from headwater.errors import HeadwaterError

names = st.sampled_from(
    ["a", "b", "ts", "user_id", "watermark", "emit", "format", '"select"', '"x y"', "Aa"]
)
created = st.sampled_from(["v", "orders_1m", "Late_Rows", "emit", "t2"])
strings = st.text(
    st.characters(codec="utf-8", exclude_characters="\0\r", exclude_categories=["Cs"]), max_size=8
).map(lambda text: "'" + text.replace("'", "''") + "'")
numbers = st.integers(0, 10**9).map(str) | st.sampled_from(["0.5", "1.25", "1e3"])
intervals = st.builds(
    lambda n, unit, quoted: f"INTERVAL '{n}' {unit}" if quoted else f"interval {n} {unit}s",
    st.integers(1, 1000),
    st.sampled_from(["SECOND", "MINUTE", "HOUR", "DAY"]),
    st.booleans(),
)
types = st.recursive(
    st.sampled_from(
        [
            "BIGINT",
            "string",
            "DECIMAL(10, 2)",
            "TIMESTAMP(3) WITH TIME ZONE",
            "timestamptz",
            "DOUBLE",
        ]
    ),
    lambda inner: st.one_of(
        inner.map(lambda kind: f"ARRAY({kind})"),
        st.builds("MAP({}, {})".format, inner, inner),
        st.builds("ROW(x {}, y {})".format, inner, inner),
    ),
    max_leaves=4,
)


def csv(items, low=1, high=3):
    return st.lists(items, min_size=low, max_size=high).map(", ".join)


def maybe(items):
    return st.just("") | items


def binary(inner):
    operators = st.sampled_from(
        [
            "+",
            "-",
            "*",
            "/",
            "||",
            "=",
            "<>",
            "<",
            ">=",
            "AND",
            "OR",
            "IS DISTINCT FROM",
            "LIKE",
            "NOT LIKE",
        ]
    )
    return st.builds("({} {} {})".format, inner, operators, inner)


expressions = st.recursive(
    names
    | strings
    | numbers
    | intervals
    | st.sampled_from(["NULL", "TRUE", "DATE '2026-01-01'", "t.a"]),
    lambda inner: st.one_of(
        binary(inner),
        st.builds(
            "{}({})".format,
            st.sampled_from(["count", "Sum", "my_udf", "coalesce", "max"]),
            csv(inner, 1, 1),
        ),
        st.builds("CAST({} AS {})".format, inner, types),
        st.builds("CASE WHEN {} THEN {} ELSE {} END".format, inner, inner, inner),
        st.builds("({} IS NOT NULL)".format, inner),
        st.builds("({} NOT IN ({}))".format, inner, csv(inner)),
        st.builds("({} NOT BETWEEN {} AND {})".format, inner, inner, inner),
        st.builds("(NOT {})".format, inner),
        st.builds("COUNT(*) FILTER (WHERE {})".format, inner),
        st.builds("SUM({}) OVER (PARTITION BY {} ORDER BY ts DESC)".format, inner, inner),
        st.builds(
            "AVG({}) OVER (ORDER BY ts RANGE BETWEEN {} PRECEDING AND CURRENT ROW)".format,
            inner,
            intervals,
        ),
    ),
    max_leaves=8,
)


def queries(inner):
    tables = st.one_of(
        st.sampled_from(
            [
                "t",
                "T AS x",
                "u FOR SYSTEM_TIME AS OF t.ts AS y",
                "UNNEST(a) WITH ORDINALITY AS u (e, n)",
            ]
        ),
        st.builds("({}) AS q".format, inner),
        st.builds("TUMBLE(t, ts, {})".format, intervals),
        st.builds("TABLE(HOP(TABLE t, DESCRIPTOR(ts), {}, {})) w".format, intervals, intervals),
        st.builds("SESSION(TABLE t PARTITION BY a, DESCRIPTOR(ts), {})".format, intervals),
    )
    joins = st.builds(
        "{} {} ON {}".format,
        st.sampled_from([" JOIN", " LEFT JOIN", " FULL JOIN"]),
        tables,
        expressions,
    )
    select = st.builds(
        "SELECT {}{} AS c, {} FROM {}{}{}{}{}".format,
        maybe(st.just("DISTINCT ")),
        expressions,
        csv(expressions),
        tables,
        maybe(joins),
        maybe(st.builds(" WHERE {}".format, expressions)),
        maybe(st.builds(" GROUP BY {}".format, csv(names))),
        maybe(st.just(" ORDER BY c DESC LIMIT 3")),
    )
    union = st.builds("({}) UNION ALL ({})".format, inner, inner)
    return select | union | st.builds("WITH z AS ({}) SELECT * FROM z".format, inner)


query = st.recursive(st.builds("SELECT {} FROM t".format, csv(expressions)), queries, max_leaves=3)
options = st.builds(
    "WITH ({} = {})".format,
    st.sampled_from(["format", "a.b.c", "'Any-Thing'", "table"]),
    strings | numbers | st.sampled_from(["TRUE", "false", "-3"]),
)
view_clauses = st.tuples(
    maybe(st.builds("COMMENT {}".format, strings)),
    maybe(
        st.builds(
            "PARTITIONED BY ({})".format,
            st.sampled_from(["days(ts)", "a, bucket(4, b)", "YEAR(ts)"]),
        )
    ),
    maybe(st.builds("FRESHNESS {}{}".format, maybe(st.just("= ")), intervals)),
    maybe(
        st.builds(
            "LATE ROWS {}{}".format,
            st.sampled_from(["DROP", "ACCEPT"]) | st.builds("ACCEPT FOR {}".format, intervals),
            maybe(st.just(" INTO others")),
        )
    ),
    maybe(st.sampled_from(["START FROM EARLIEST", "START FROM TIMESTAMP '2026-01-01 00:00:00'"])),
    maybe(options),
).flatmap(st.permutations)
commented = csv(st.builds("{} COMMENT {}".format, names, strings))
keyed = st.builds("PRIMARY KEY ({})".format, csv(names))
view_items = commented | keyed | st.builds("{}, {}".format, commented, keyed)
views = st.builds(
    "CREATE {}STREAMING VIEW {}{} {} {} AS {} {}".format,
    maybe(st.just("OR REPLACE ")),
    maybe(st.just("IF NOT EXISTS ")),
    created,
    maybe(st.builds("({})".format, view_items)),
    view_clauses.map(" ".join),
    query,
    maybe(st.sampled_from(["EMIT CHANGES", "EMIT ON WINDOW CLOSE", "emit final"])),
)
watermarks = st.builds(
    "WATERMARK FOR ts AS {}{}".format,
    st.sampled_from(["ts", "ADAPTIVE (PERCENTILE 0.9)"]) | st.builds("TS - {}".format, intervals),
    maybe(st.builds(" IDLE TIMEOUT {}".format, intervals)),
)
columns = st.one_of(
    st.builds(
        "{} {}{}{}{}".format,
        names,
        types,
        maybe(st.just(" NOT NULL")),
        maybe(
            st.just(" METADATA FROM 'k'")
            | st.builds(" FROM {}".format, strings.filter(lambda text: text != "''"))
        ),
        maybe(st.builds(" COMMENT {}".format, strings)),
    ),
    st.builds(
        "{} AS {}{}".format, names, expressions, maybe(st.builds(" COMMENT {}".format, strings))
    ),
)
source_clauses = st.tuples(
    maybe(st.builds("COMMENT {}".format, strings)),
    maybe(options),
    maybe(
        st.builds(
            "FORMAT {} ENCODE {}{}".format,
            st.sampled_from(["PLAIN", "upsert", "DEBEZIUM"]),
            st.sampled_from(["JSON", "csv", "RAW"]),
            maybe(st.just(" (header = TRUE)")),
        )
    ),
    maybe(st.sampled_from(["ON ERROR DROP", "on error quarantine"])),
    maybe(st.just("ON SCHEMA CHANGE FAIL")),
).flatmap(st.permutations)
sources = st.builds(
    "CREATE {} {} ({}{}{}) {}".format,
    st.sampled_from(["SOURCE", "table", "OR REPLACE SOURCE"]),
    created,
    csv(columns),
    maybe(st.builds(", PRIMARY KEY ({})".format, csv(names))),
    maybe(st.builds(", {}".format, watermarks)),
    source_clauses.map(" ".join),
)


@settings(max_examples=80)
@given(views | sources | query)
@example("CREATE STREAMING VIEW v AS SELECT a FROM t JOIN u ON emit")
@example("CREATE STREAMING VIEW v AS SELECT a FROM t WHERE a || emit LIKE emit")
@example("CREATE STREAMING VIEW v AS SELECT a FROM t GROUP BY emit EMIT CHANGES")
def test_generated_statements_come_back(text):
    (statement,) = parse(text)
    for pretty in (True, False):
        printed = to_sql(statement, pretty=pretty)
        (again,) = parse(printed)
        assert again == statement
        assert to_sql(again, pretty=pretty) == printed


WORDS = """
CREATE STREAMING VIEW SOURCE TABLE SELECT FROM WHERE GROUP BY AS EMIT CHANGES ON WINDOW CLOSE a t v
( ) , ; . 'x' 1 INTERVAL MINUTE TUMBLE HOP WITH = FORMAT PLAIN ENCODE JSON WATERMARK FOR PRIMARY
KEY LATE ROWS DROP JOIN OVER CASE WHEN END CAST NOT IN MATCH_RECOGNIZE PATTERN UNION ALL * - BIGINT
PARTITIONED START EARLIEST TIMESTAMP "q" -> [ ] { } : ? @ $ | & # VALUES LATERAL PIVOT
DESCRIPTOR QUALIFY ORDER LIMIT FILTER WITHIN GROUPING SETS UNNEST ORDINALITY COMMENT
"""
words = st.sampled_from(WORDS.split())


@settings(max_examples=200)
@given(st.lists(words, min_size=1, max_size=25).map(" ".join))
def test_any_words_give_statements_or_errors_with_a_place(text):
    try:
        statements = parse(text)
    except HeadwaterError as error:
        for each in getattr(error, "errors", [error]):
            assert each.span
            assert each.condition.isupper()
        return
    for statement in statements:
        assert parse(to_sql(statement, pretty=False))
