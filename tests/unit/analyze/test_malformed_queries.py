"""A malformed query is refused, wherever its mistake stands; it never ends in an internal error."""

import pytest

from headwater.errors import ErrorGroup, HeadwaterError
from tests.support.sampling import some
from tests.unit.analyze.small_project import catalog

VALUES = (
    *("nope", "nope(distance)", "d.nope", "nope.distance", "plane.nope", "tags[nope]", "tags.x"),
    *("'a' + tags", "CAST(tags AS nope)", "exists(tags, x -> x > 'a')", "x -> x", "any(distance)"),
    *("any(distance > 1) OVER (PARTITION BY origin)", "every(distance) OVER ()", "sum(sum(x))"),
    *("(SELECT * FROM nope)", "(SELECT nope FROM landings)", "(SELECT 1, 2)", "(SELECT *)"),
    *("(SELECT max(nope) FROM (SELECT * FROM nope))", "EXISTS (SELECT * FROM (SELECT 1 AS x))"),
    *("EXISTS (SELECT * FROM (SELECT * FROM nope))", "NOT EXISTS (SELECT * FROM nope WHERE a = b)"),
    *("distance IN (SELECT * FROM nope)", "distance = ALL (SELECT * FROM nope)"),
    *("(distance, origin) IN (SELECT * FROM nope)", "row_number() OVER (ORDER BY nope)"),
    *("filter(distance, x -> x > 1)", "transform(tags, (x, y) -> x)", "reduce(tags, 0, x -> x)"),
)
ITEMS = (
    *("nope", "(SELECT * FROM nope)", "(SELECT * FROM (SELECT 1 AS flight) AS q)", "(SELECT 1)"),
    *("UNNEST(nope) AS u(x)", "UNNEST(d.origin) AS u(x)", "UNNEST(d.tags, d.distance) AS u(x)"),
    *("UNNEST(d.origin) WITH ORDINALITY AS u(x, n)", "UNNEST(d.tags) WITH ORDINALITY AS u(x)"),
    *("UNNEST(d.tags || d.distance) WITH ORDINALITY AS u(x, n)", "UNNEST() AS u", "VALUES 1, 'a'"),
    *("TUMBLE(nope, ts, INTERVAL '1' HOUR)", "TUMBLE(departures, nope, INTERVAL '1' HOUR)"),
    *("LATERAL (SELECT * FROM nope)", "LATERAL (SELECT d.nope)", "nope FOR SYSTEM_TIME AS OF d.ts"),
)
FORMS = (
    *("SELECT {value} AS x FROM departures d", "SELECT flight FROM departures d WHERE {value}"),
    "SELECT origin, count(*) AS n FROM departures d GROUP BY origin, {value}",
    "SELECT origin, count(*) AS n FROM departures d GROUP BY origin HAVING {value}",
    "SELECT sum({value}) AS n FROM departures d",
    "SELECT flight FROM departures d ORDER BY {value} LIMIT 3",
    "SELECT d.flight FROM departures d LEFT JOIN landings l ON d.flight = l.flight AND {value}",
    "SELECT flight FROM landings l WHERE EXISTS (SELECT * FROM departures d WHERE {value})",
)
AROUND = (
    *("SELECT * FROM {item}", "SELECT * FROM departures d CROSS JOIN {item}"),
    "SELECT count(*) AS n FROM departures d LEFT JOIN {item} ON true GROUP BY d.origin",
    "SELECT flight FROM landings l WHERE EXISTS (SELECT * FROM departures d CROSS JOIN {item})",
    "SELECT flight FROM landings l WHERE flight IN (SELECT * FROM departures d, {item})",
    "WITH q AS (SELECT 1 AS x UNION ALL SELECT * FROM {item}) SELECT x, count(*) FROM q GROUP BY x",
    "SELECT max(d.distance) AS x FROM departures d UNION SELECT * FROM {item} UNION SELECT 1",
)


def refusal(query: str, dialect: str) -> HeadwaterError | None:
    try:
        catalog(f"CREATE STREAMING VIEW v WITH (dialect = '{dialect}') AS {query}")
    except ErrorGroup as group:
        return group.errors[0]
    except HeadwaterError as error:
        return error
    return None


@pytest.mark.parametrize("dialect", ["trino", "spark"])
def test_a_mistake_in_a_query_is_no_internal_error(dialect: str) -> None:
    queries = [form.format(value=value) for form in FORMS for value in VALUES]
    queries += [form.format(item=item) for form in AROUND for item in ITEMS]
    queries = some(queries, 3)
    refused = [query for query in queries if refusal(query, dialect) is not None]
    assert len(refused) > 0.8 * len(queries)


@pytest.mark.parametrize(
    ("query", "condition"),
    [
        ("SELECT flight FROM landings WHERE EXISTS (SELECT * FROM nope)", "UNKNOWN_TABLE"),
        ("SELECT *", "NO_INPUT"),
    ],
)
def test_the_mistake_is_named(query: str, condition: str) -> None:
    error = refusal(query, "trino")
    assert error is not None and error.condition == condition
