"""The canonical form of a bound query."""

import re

import pytest
from sqlglot import exp

from headwater.analyze.typing.types import is_unknown, sql_type
from tests.unit.analyze.small_project import bound, catalog, view


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        (
            "SELECT origin FROM departures",
            "SELECT departures.origin AS origin FROM departures AS departures",
        ),
        (
            "SELECT * FROM landings",
            "SELECT landings.flight AS flight, landings.arr_delay AS arr_delay, landings.ts AS ts"
            " FROM landings AS landings",
        ),
        (
            "SELECT l.*, 1 AS one FROM landings l",
            "SELECT l.flight AS flight, l.arr_delay AS arr_delay, l.ts AS ts, 1 AS one"
            " FROM landings AS l",
        ),
        (
            "WITH a AS (SELECT flight FROM landings) SELECT * FROM a",
            "SELECT a.flight AS flight FROM landings AS a",
        ),
        (
            "WITH landings AS (SELECT flight AS f FROM landings) SELECT f FROM landings",
            "SELECT landings.flight AS f FROM landings AS landings",
        ),
        (
            "WITH a(x) AS (SELECT flight FROM landings) SELECT x FROM a AS b",
            "SELECT b.flight AS x FROM landings AS b",
        ),
        (
            "SELECT origin, count(*) AS n FROM departures GROUP BY 1",
            "SELECT departures.origin AS origin, COUNT(*) AS n FROM departures AS departures"
            " GROUP BY departures.origin",
        ),
        (
            "SELECT lower(origin) AS o, 'x' AS x, count(*) AS n,"
            " rank() OVER (ORDER BY count(*)) AS r, dest FROM departures GROUP BY ALL",
            "SELECT LOWER(departures.origin) AS o, 'x' AS x, COUNT(*) AS n, RANK() OVER (ORDER BY"
            " COUNT(*)) AS r, departures.dest AS dest FROM departures AS departures"
            " GROUP BY LOWER(departures.origin), departures.dest",
        ),
        (
            "SELECT count(*) AS n FROM departures GROUP BY ALL",
            "SELECT COUNT(*) AS n FROM departures AS departures",
        ),
        (  # without brackets EXCEPT would take the first of the two SELECTs only
            "SELECT flight FROM landings EXCEPT"
            " SELECT flight FROM landings GROUP BY ROLLUP (flight)",
            "SELECT landings.flight AS flight FROM landings AS landings EXCEPT"
            " (SELECT landings.flight AS flight FROM landings AS landings GROUP BY landings.flight"
            " UNION ALL SELECT CAST(NULL AS VARCHAR) AS flight FROM landings AS landings"
            " HAVING COUNT(*) >= 0)",
        ),
        (
            "SELECT lower(origin) AS o, count(*) AS n FROM departures GROUP BY o",
            "SELECT LOWER(departures.origin) AS o, COUNT(*) AS n FROM departures AS departures"
            " GROUP BY LOWER(departures.origin)",
        ),
        (
            "SELECT origin AS code, lower(origin) AS origin, count(*) AS n FROM departures"
            " GROUP BY origin",
            "SELECT departures.origin AS code, LOWER(departures.origin) AS origin, COUNT(*) AS n"
            " FROM departures AS departures GROUP BY departures.origin",
        ),
        (
            "SELECT date_add('day', 1, ts) AS x, date_add('hour', -2, ts) AS y FROM landings",
            "SELECT landings.ts + INTERVAL '1' DAY AS x, landings.ts - INTERVAL '2' HOUR AS y"
            " FROM landings AS landings",
        ),
        (
            "SELECT flight FROM landings WHERE ts > TIMESTAMP '2013-01-01 00:00:00'",
            "SELECT landings.flight AS flight FROM landings AS landings WHERE"
            " landings.ts > CAST('2013-01-01 00:00:00' AS TIMESTAMP WITH TIME ZONE)",
        ),
        (
            "SELECT plane.tail FROM departures",
            "SELECT departures.plane.tail AS tail FROM departures AS departures",
        ),
        (
            "SELECT flight, tag FROM departures CROSS JOIN UNNEST(tags) AS t(tag)",
            "SELECT departures.flight AS flight, t.tag AS tag FROM departures AS departures"
            " CROSS JOIN UNNEST(departures.tags) AS t(tag)",
        ),
        (
            "SELECT flight, distance AS x FROM departures"
            " UNION ALL SELECT flight, arr_delay FROM landings",
            "SELECT departures.flight AS flight, CAST(departures.distance AS DOUBLE) AS x"
            " FROM departures AS departures UNION ALL"
            " SELECT landings.flight AS flight, landings.arr_delay AS x FROM landings AS landings",
        ),
        (
            "SELECT origin, count(*) AS n FROM departures GROUP BY origin HAVING count(*) > 1",
            "SELECT departures.origin AS origin, COUNT(*) AS n FROM departures AS departures"
            " GROUP BY departures.origin HAVING COUNT(*) > 1",
        ),
        (
            "SELECT flight, any_value(ts) RESPECT NULLS OVER w AS x FROM landings"
            " WINDOW v AS (PARTITION BY flight), w AS (v ORDER BY arr_delay)",
            "SELECT landings.flight AS flight, MIN(landings.ts)"
            " OVER (PARTITION BY landings.flight ORDER BY landings.arr_delay) AS x"
            " FROM landings AS landings",
        ),
        (
            "SELECT max(arr_delay) + 1 AS x FROM landings l GROUP BY flight HAVING min(ts) IS NULL"
            " AND EXISTS (SELECT 1 FROM landings WHERE flight = l.flight)",
            "SELECT _groups.v2 + 1 AS x FROM (SELECT l.flight AS k1, MAX(l.arr_delay) AS v2"
            " FROM landings AS l GROUP BY l.flight HAVING MIN(l.ts) IS NULL) AS _groups WHERE"
            " EXISTS (SELECT 1 AS _unnamed FROM landings AS landings"
            " WHERE landings.flight = _groups.k1)",
        ),
        (
            "SELECT arr_delay FROM departures CROSS JOIN UNNEST(tags) AS t(tag) JOIN landings ON"
            " landings.flight = tag",
            "SELECT landings.arr_delay AS arr_delay FROM (SELECT t.tag AS c1"
            " FROM departures AS departures CROSS JOIN UNNEST(departures.tags) AS t(tag))"
            " AS _unnested JOIN landings AS landings ON landings.flight = _unnested.c1",
        ),
    ],
)
def test_canonical_form(query: str, expected: str) -> None:
    assert bound(query) == expected


def test_date_trunc_on_the_event_time_is_a_window() -> None:
    assert bound(
        "SELECT date_trunc('hour', ts) AS hour, origin, count(*) AS n FROM departures d"
        " WHERE dep_delay > 0 GROUP BY 1, 2 HAVING date_trunc('hour', ts) IS NOT NULL"
    ) == (
        "SELECT d.window_start AS hour, d.origin AS origin, COUNT(*) AS n"
        " FROM TUMBLE(departures AS d, d.ts, INTERVAL '1' HOUR) AS d WHERE d.dep_delay > 0"
        " GROUP BY d.window_start, d.origin, d.window_end HAVING d.window_start IS NOT NULL"
    )


def test_the_finest_date_trunc_becomes_the_window() -> None:
    query = bound(
        "SELECT date_trunc('day', ts) AS day, date_trunc('hour', ts) AS hour, count(*) AS n"
        " FROM departures GROUP BY 1, 2"
    )
    assert "INTERVAL '1' HOUR" in query
    assert "DATE_TRUNC('DAY', departures.ts) AS day" in query


@pytest.mark.parametrize(
    "query",
    [
        "SELECT date_trunc('day', opened) AS x, count(*) AS n FROM airports GROUP BY 1",
        "SELECT date_trunc('month', ts) AS x, count(*) AS n FROM departures GROUP BY 1",
        "SELECT date_trunc('day', ts) AS x FROM departures",
    ],
    ids=["no watermark", "no fixed length", "not grouped"],
)
def test_other_date_truncs_stay(query: str) -> None:
    assert "TUMBLE" not in bound(query)


def test_a_window_table_adds_its_bounds_and_both_are_keys() -> None:
    query = bound(
        "SELECT window_end, origin, count(*) AS n"
        " FROM HOP(TABLE departures, DESCRIPTOR(ts), INTERVAL '15' MINUTE, INTERVAL '1' HOUR)"
        " GROUP BY window_end, origin"
    )
    assert query.endswith(
        "GROUP BY departures.window_end, departures.origin, departures.window_start"
    )
    fields = view("SELECT * FROM TUMBLE(clicks, at, INTERVAL '1' MINUTE)").fields
    assert [(f.name, sql_type(f.type), f.nullable) for f in fields] == [
        ("page", "VARCHAR", True),
        ("at", "TIMESTAMP", True),
        ("window_start", "TIMESTAMP", False),
        ("window_end", "TIMESTAMP", False),
    ]


def test_a_window_over_a_subquery() -> None:
    query = bound(
        "SELECT window_start, count(*) AS n FROM"
        " TUMBLE((SELECT ts FROM departures WHERE dep_delay > 0), ts, INTERVAL '1' DAY) AS late"
        " GROUP BY 1"
    )
    assert query == (
        "SELECT late.window_start AS window_start, COUNT(*) AS n"
        " FROM TUMBLE(departures AS departures, departures.ts, INTERVAL '1' DAY) AS late"
        " WHERE late.dep_delay > 0 GROUP BY late.window_start, late.window_end"
    )


def test_using_shows_its_column_once() -> None:
    v = view(
        "SELECT * FROM (SELECT flight, ts AS departed FROM departures) d"
        " JOIN landings l USING (flight)",
        head="WITH (allow_unbounded_state = TRUE)",
    )
    assert [field.name for field in v.fields] == ["flight", "departed", "arr_delay", "ts"]
    (join,) = v.query.args["joins"]
    assert join.args["on"].sql() == "d.flight = l.flight"
    assert join.args.get("using") is None


@pytest.mark.parametrize(
    "query",
    [
        "SELECT d.flight, coalesce(l.arr_delay, 0) AS x FROM departures d JOIN landings l"
        " ON l.flight = d.flight AND l.ts BETWEEN d.ts AND d.ts + INTERVAL '1' DAY",
        "SELECT CASE WHEN dep_delay > 0 THEN 'a' ELSE 'b' END AS x, sum(price) AS y,"
        " count(DISTINCT dest) AS z, avg(dep_delay) FILTER (WHERE distance > 1) AS a"
        " FROM departures GROUP BY 1",
        "SELECT window_start, approx_percentile(dep_delay, 0.5) AS p"
        " FROM TUMBLE(departures, ts, INTERVAL '1' HOUR) GROUP BY 1",
        "SELECT flight FROM departures UNION ALL SELECT flight FROM landings",
    ],
)
def test_every_column_is_qualified_and_typed_and_every_output_is_an_alias(query: str) -> None:
    bound_query = view(query).query
    for column in bound_query.find_all(exp.Column):
        assert column.table, column
        assert column.type and not is_unknown(column.type), column
    for select in bound_query.find_all(exp.Select):
        for item in select.selects:
            assert isinstance(item, exp.Alias) and item.alias
            assert item.this.type and not is_unknown(item.this.type)
    for table in bound_query.find_all(exp.Table):
        assert table.alias


def test_views_come_after_what_they_read() -> None:
    views = catalog(
        "CREATE STREAMING VIEW c AS SELECT flight FROM b;"
        "CREATE STREAMING VIEW b AS SELECT flight FROM a;"
        "CREATE STREAMING VIEW a AS WITH c AS (SELECT flight FROM departures) SELECT flight FROM c"
    ).views
    assert list(views) == ["a", "b", "c"]
    assert views["c"].inputs == ("b",)


def test_a_view_keeps_what_its_clauses_say() -> None:
    v = view(
        "SELECT date_trunc('hour', ts) AS hour, origin, count(*) AS n FROM departures"
        " GROUP BY 1, 2",
        "EMIT ON WINDOW CLOSE",
        "(PRIMARY KEY (hour, origin)) COMMENT 'per hour' PARTITIONED BY (day(hour), origin)"
        " LATE ROWS ACCEPT FOR INTERVAL '2' HOUR INTO too_late WITH (engine = 'streaming')",
    )
    assert v.late is not None and v.emit is not None
    assert (v.late.accept, v.late.allowed.total_seconds(), v.late.into) == (False, 7200, "too_late")
    assert (v.emit.value, v.primary_key, v.comment) == (
        "on window close",
        ("hour", "origin"),
        "per hour",
    )
    assert [key.name for key in v.partitioned_by] == ["day", "origin"]
    assert v.options == {"engine": "streaming"}
    assert v.span is not None and v.text.startswith("CREATE STREAMING VIEW v")


def test_a_source_keeps_what_its_clauses_say() -> None:
    sources = catalog(
        "CREATE TABLE t (a INTEGER NOT NULL, r BIGINT METADATA FROM 'row', b AS a + 1,"
        " ts TIMESTAMP, WATERMARK FOR ts AS ts - INTERVAL '90' SECOND)"
        " WITH (connector = 'datagen', seed = 7, fields.a.kind = 'sequence', fields.a.start = 1)"
        " ON ERROR FAIL"
    ).sources
    t = sources["t"]
    assert t.watermark is not None
    assert (t.kept, t.connector, t.on_error) == (True, "datagen", "fail")
    assert t.options == {"seed": "7", "fields.a.kind": "sequence", "fields.a.start": "1"}
    assert t.watermark.delay.total_seconds() == 90
    assert [(c.name, sql_type(c.type), c.nullable, c.metadata) for c in t.columns] == [
        ("a", "INTEGER", False, None),
        ("r", "BIGINT", True, "row"),
        ("b", "INTEGER", False, None),
        ("ts", "TIMESTAMP", True, None),
    ]
    assert t.columns[2].computed is not None
    assert sources["airports"].encode_options == {"header": "true"}


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        (
            "SELECT date_trunc('hour', at) AS hour, o, count(*) AS n FROM"
            " (SELECT ts AS at, upper(origin) AS o FROM departures"
            " WHERE distance > 1 OR distance < 0) AS q WHERE o <> 'X' GROUP BY 1, 2",
            "SELECT q.window_start AS hour, UPPER(q.origin) AS o, COUNT(*) AS n"
            " FROM TUMBLE(departures AS q, q.ts, INTERVAL '1' HOUR) AS q"
            " WHERE (q.distance > 1 OR q.distance < 0) AND UPPER(q.origin) <> 'X'"
            " GROUP BY q.window_start, UPPER(q.origin), q.window_end",
        ),
        (
            "SELECT x * 2 AS y FROM (SELECT distance + 1 AS x FROM departures) AS q"
            " WHERE NOT x > 3",
            "SELECT (q.distance + 1) * 2 AS y FROM departures AS q WHERE NOT (q.distance + 1) > 3",
        ),
        (
            "SELECT x, count(*) AS n FROM (SELECT distance + 1 AS x FROM departures) AS q"
            " GROUP BY x",
            "SELECT q.distance + 1 AS x, COUNT(*) AS n FROM departures AS q"
            " GROUP BY q.distance + 1",
        ),
        (
            "SELECT window_start, n FROM (SELECT window_start, distance AS n"
            " FROM TUMBLE(departures, ts, INTERVAL '1' HOUR) WHERE distance > 1) AS q",
            "SELECT q.window_start AS window_start, q.distance AS n"
            " FROM TUMBLE(departures AS departures, departures.ts, INTERVAL '1' HOUR) AS q"
            " WHERE q.distance > 1",
        ),
        (
            "SELECT a.f, b.flight FROM"
            " (SELECT flight AS f, ts FROM departures WHERE distance > 1) a"
            " JOIN (SELECT flight, ts FROM landings WHERE arr_delay > 1) b"
            " ON a.f = b.flight AND b.ts BETWEEN a.ts AND a.ts + INTERVAL '1' DAY",
            "SELECT a.flight AS f, b.flight AS flight FROM departures AS a JOIN landings AS b"
            " ON a.flight = b.flight AND b.ts BETWEEN a.ts AND a.ts + INTERVAL '1' DAY"
            " WHERE b.arr_delay > 1 AND a.distance > 1",
        ),
        (
            "SELECT o, n FROM (SELECT origin AS o, count(*) AS n FROM departures GROUP BY 1) AS q"
            " WHERE n > 1",
            "SELECT q.o AS o, q.n AS n FROM (SELECT departures.origin AS o, COUNT(*) AS n"
            " FROM departures AS departures GROUP BY departures.origin) AS q WHERE q.n > 1",
        ),
        (
            "SELECT one, count(*) AS n FROM (SELECT 1 AS one FROM departures) AS q GROUP BY one",
            "SELECT q.one AS one, COUNT(*) AS n FROM"
            " (SELECT 1 AS one FROM departures AS departures) AS q GROUP BY q.one",
        ),
        (
            "SELECT d.flight, l.late FROM departures d LEFT JOIN"
            " (SELECT flight, ts, arr_delay > 0 AS late FROM landings WHERE arr_delay > 1) l"
            " ON l.flight = d.flight AND l.ts BETWEEN d.ts AND d.ts + INTERVAL '1' DAY",
            "SELECT d.flight AS flight, l.late AS late FROM departures AS d LEFT JOIN"
            " (SELECT landings.flight AS flight, landings.ts AS ts, landings.arr_delay > 0 AS late"
            " FROM landings AS landings WHERE landings.arr_delay > 1) AS l"
            " ON l.flight = d.flight AND l.ts BETWEEN d.ts AND d.ts + INTERVAL '1' DAY",
        ),
    ],
)
def test_subqueries_that_only_filter_and_compute_are_merged(query: str, expected: str) -> None:
    assert bound(query) == expected


def test_conditions_between_the_sides_of_an_inner_join_stand_in_on() -> None:
    expected = (
        "SELECT d.flight AS flight FROM departures AS d JOIN landings AS l"
        " ON l.flight = d.flight AND l.ts BETWEEN d.ts AND d.ts + INTERVAL '1' DAY"
        " WHERE d.distance > 1"
    )
    bounds = "l.ts BETWEEN d.ts AND d.ts + INTERVAL '1' DAY"
    for query in (
        f"departures d JOIN landings l ON l.flight = d.flight WHERE d.distance > 1 AND {bounds}",
        f"departures d, landings l WHERE l.flight = d.flight AND {bounds} AND d.distance > 1",
    ):
        assert bound(f"SELECT d.flight FROM {query}") == expected


COMPARABLE = ("flight", "origin", "dest", "distance", "dep_delay", "price")
EVERY = ", ".join(f"departures.{name} ASC" for name in COMPARABLE)


@pytest.mark.parametrize(
    ("query", "order"),
    [
        # of tags nobody reads anything: rows that tie are the same
        ("SELECT flight, row_number() OVER (ORDER BY ts) AS n FROM departures", f"ts, {EVERY}"),
        (
            "SELECT flight FROM departures WHERE cardinality(tags) > 1"
            " QUALIFY lag(flight) OVER (ORDER BY ts) = 'x'",
            f"ts, {EVERY}",
        ),
        # what is read of it can be compared
        (
            "SELECT plane.tail AS tail, row_number() OVER (ORDER BY ts) AS n FROM departures",
            f"ts, {EVERY}, departures.plane.tail ASC",
        ),
        (
            "SELECT lag(cardinality(tags)) OVER (ORDER BY ts) AS n FROM departures",
            f"ts, {EVERY}, CARDINALITY(departures.tags) ASC",
        ),
        (
            "SELECT lag(flight) OVER (ORDER BY ts) AS f, count(*) FILTER"
            " (WHERE cardinality(tags) > 1) OVER () AS n FROM departures",
            f"ts, {EVERY}, CARDINALITY(departures.tags) > 1 ASC",
        ),
        # within a partition it is the same, and rank treats rows that tie alike
        (
            "SELECT tags, row_number() OVER (PARTITION BY tags ORDER BY ts) AS n FROM departures",
            f"ts, {EVERY}",
        ),
        ("SELECT tags, rank() OVER (ORDER BY ts) AS n FROM departures", "ts"),
        (
            "SELECT count(*) AS n, row_number() OVER (ORDER BY count(*)) AS place FROM departures"
            " GROUP BY distance % 3",
            "COUNT(*), departures.distance % 3 ASC",
        ),
        # what an array is made of tells rows apart
        (
            "SELECT flight, split(flight, '-') AS parts FROM departures ORDER BY ts LIMIT 3",
            "ts, flight ASC",
        ),
        ("SELECT split(flight, '-') AS p FROM departures ORDER BY flight LIMIT 3", "flight"),
    ],
)
def test_rows_that_tie_are_told_apart_by_what_can_be_compared(query: str, order: str) -> None:
    found = bound(query)
    assert re.search(rf"ORDER BY (departures\.)?{re.escape(order)}( LIMIT|\))", found), found


def test_the_selects_of_grouping_sets_are_one_side_of_a_set_operation() -> None:
    found = bound(
        "SELECT city FROM airports EXCEPT SELECT origin FROM departures GROUP BY ROLLUP (origin)"
    )
    assert " EXCEPT (SELECT departures.origin AS city " in found
