"""Which key a sink gets, and what makes it another sink."""

from __future__ import annotations

import pytest

from headwater.analyze.definitions import Sink
from headwater.errors import HeadwaterError
from tests.unit.analyze.small_project import catalog

KEYED = """CREATE TABLE planes (tail VARCHAR, seats INTEGER, PRIMARY KEY (tail))
WITH (connector = 'files', path = 'planes') FORMAT UPSERT ENCODE JSON;"""


def sink(view: str, format_: str = "UPSERT", *, topic: str = "out", **more: str) -> Sink:
    options = {"topic": topic, "bootstrap_servers": "k:1", **more}
    listed = ", ".join(f"{name} = '{value}'" for name, value in options.items())
    text = f"CREATE SINK s FROM v WITH (connector = 'kafka', {listed}) FORMAT {format_} ENCODE JSON"
    return catalog(f"{KEYED} CREATE STREAMING VIEW v {view}; {text}").sinks["s"]


GROUPED = "AS SELECT origin, dest, count(*) AS n FROM departures GROUP BY origin, dest"


@pytest.mark.parametrize(
    ("view", "more", "key"),
    [
        (GROUPED, {}, ("origin", "dest")),
        (GROUPED, {"key": "dest, origin"}, ("dest", "origin")),
        (GROUPED, {"key": "n,origin,dest"}, ("n", "origin", "dest")),
        ("AS SELECT count(*) AS n FROM departures", {}, ()),
        ("AS SELECT DISTINCT origin, dest FROM departures", {}, ("origin", "dest")),
        ("AS SELECT seats, tail AS name FROM planes", {}, ("name",)),
        ("(PRIMARY KEY (tail)) AS SELECT tail, seats FROM planes", {}, ("tail",)),
        (
            "AS SELECT window_start, count(*) AS n FROM TUMBLE(departures, ts, INTERVAL '1' HOUR)"
            " GROUP BY window_start, window_end EMIT ON WINDOW CLOSE",
            {},
            ("window_start",),
        ),
    ],
)
def test_the_key_is_what_the_query_proves(
    view: str, more: dict[str, str], key: tuple[str, ...]
) -> None:
    assert sink(view, **more).key == key
    assert sink(view, "DEBEZIUM", **more).key == key


@pytest.mark.parametrize(
    "view",
    [
        "AS SELECT origin FROM departures",
        "AS SELECT seats FROM planes",
        "(PRIMARY KEY (flight)) AS SELECT flight, origin FROM departures",
        "AS SELECT p.tail FROM planes p JOIN departures d ON d.flight = p.tail",
        "AS SELECT p.tail FROM planes p LEFT JOIN planes d ON d.seats = p.seats",
        "AS SELECT tail FROM planes UNION ALL SELECT tail FROM planes",
        "AS SELECT t.tag FROM departures CROSS JOIN UNNEST(tags) AS t(tag)",
    ],
)
def test_a_key_that_nothing_proves_is_none(view: str) -> None:
    with pytest.raises(HeadwaterError) as caught:
        sink(view)
    assert caught.value.condition == "MISSING_KEY"


def test_a_declared_key_proves_nothing_to_the_views_that_pass_it_on() -> None:
    declared = "CREATE STREAMING VIEW w (PRIMARY KEY (flight)) AS SELECT flight FROM departures;"
    with pytest.raises(HeadwaterError) as caught:
        catalog(
            f"{declared} CREATE STREAMING VIEW v AS SELECT flight FROM w; CREATE SINK s FROM v WITH"
            " (connector = 'kafka', topic = 't', bootstrap_servers = 'k:1')"
            " FORMAT UPSERT ENCODE JSON"
        )
    assert caught.value.condition == "MISSING_KEY"


def test_rows_that_are_only_added_need_no_key() -> None:
    plain = sink("AS SELECT origin FROM departures", "PLAIN")
    assert (plain.key, plain.appends) == (None, True)
    assert sink("AS SELECT origin FROM departures", "PLAIN", key="origin").key == ("origin",)


def test_another_place_is_another_sink_and_another_address_is_not() -> None:
    one = sink(GROUPED).fingerprint
    assert sink(GROUPED, bootstrap_servers="other:2").fingerprint == one
    others = {
        sink(GROUPED, topic="there").fingerprint,
        sink(GROUPED, "DEBEZIUM").fingerprint,
        sink(GROUPED, key="n,origin,dest").fingerprint,
    }
    assert len(others - {one}) == 3


def into_table(format_: str = "UPSERT", view: str = GROUPED, **more: str) -> Sink:
    options = {"table": "shop.out", **more}
    listed = ", ".join(f"{name} = '{value}'" for name, value in options.items())
    text = f"CREATE SINK s FROM v WITH (connector = 'iceberg', {listed}) FORMAT {format_}"
    return catalog(f"{KEYED} CREATE STREAMING VIEW v {view}; {text}").sinks["s"]


def test_a_table_has_the_key_of_the_view_and_any_column() -> None:
    assert (into_table().key, into_table().format) == (("origin", "dest"), "upsert")
    assert into_table(key="dest,origin,n").key == ("dest", "origin", "n")
    plain = into_table("PLAIN", "AS SELECT origin FROM departures")
    assert (plain.key, plain.appends) == (None, True)
    by_number = "CREATE TABLE m (id BIGINT, x MAP(BIGINT, VARCHAR)) WITH (connector = 'files',"
    by_number += " path = 'm') FORMAT PLAIN ENCODE PARQUET;"
    text = "CREATE SINK s FROM m WITH (connector = 'iceberg', table = 'a.b') FORMAT PLAIN"
    assert catalog(f"{by_number} {text}").sinks["s"].fields[1].name == "x"


def test_another_table_is_another_sink_and_its_catalog_may_move() -> None:
    there = {"catalog_type": "rest", "catalog_uri": "http://h"}
    one = into_table(**there).fingerprint
    assert into_table(**{**there, "catalog_uri": "http://other"}).fingerprint == one
    assert into_table(**{**there, "table": "shop.other"}).fingerprint != one


def test_tables_of_one_name_in_two_catalogs_are_two() -> None:
    texts = [
        f"CREATE SINK s{n} FROM v WITH (connector = 'iceberg', table = 'a.b',"
        f" catalog_type = 'rest', catalog_uri = 'http://{n}') FORMAT UPSERT;"
        for n in (1, 2)
    ]
    assert len(catalog(f"CREATE STREAMING VIEW v {GROUPED}; {' '.join(texts)}").sinks) == 2
