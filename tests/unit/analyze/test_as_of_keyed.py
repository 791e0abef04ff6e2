"""As-of joins of keyed tables: which versions they see, what they read, when rows are final."""

from __future__ import annotations

from datetime import timedelta

import pytest

from headwater.analyze.query_parts import joins, relations, union_branches
from headwater.analyze.time.event_time import Reach
from headwater.analyze.time.finality import Finality
from headwater.analyze.time.settling import Settled
from headwater.plan.explain import explain
from headwater.plan.planner import plan_project
from tests.unit.analyze.small_project import catalog

MICROSECOND, NONE = timedelta(microseconds=1), timedelta(0)
TABLES = """
CREATE TABLE planes (
  tail VARCHAR PRIMARY KEY, seats INTEGER, since TIMESTAMP WITH TIME ZONE NOT NULL,
  WATERMARK FOR since AS since
) WITH (connector = 'files', path = 'planes') FORMAT UPSERT ENCODE JSON (delete_field = 'op');
CREATE TABLE owners (
  tail VARCHAR PRIMARY KEY, name VARCHAR, shares INTEGER,
  since TIMESTAMP WITH TIME ZONE METADATA FROM 'source.ts_ms', WATERMARK FOR since AS since
) WITH (connector = 'files', path = 'owners') FORMAT DEBEZIUM ENCODE JSON;
"""
KEY = "ON p.tail = d.flight"
FORMS = {
    "SQL:2011": f"JOIN planes FOR SYSTEM_TIME AS OF d.ts AS p {KEY}",
    "Snowflake": f"ASOF INNER JOIN planes p MATCH_CONDITION (d.ts >= p.since) {KEY}",
    "DuckDB": f"ASOF JOIN planes p {KEY} AND p.since <= d.ts",
}


def view(join: str, emit: str = "", columns: str = "d.flight, d.ts, p.tail") -> str:
    return f"{TABLES}CREATE STREAMING VIEW v AS SELECT {columns} FROM departures d {join} {emit}"


@pytest.mark.parametrize("name", FORMS)
def test_the_versions_are_the_changes_and_a_deletion_holds_no_time(name: str) -> None:
    found = catalog(view(FORMS[name])).views["v"]
    assert found.inputs == ("departures", "planes__changes")
    (join,) = joins(union_branches(found.query)[0])
    assert join.this.this.selects[-1].sql("trino") == (
        "CASE WHEN p._change_type = 'UPSERT' THEN LEAD(p.since) OVER (PARTITION BY p.tail ORDER BY"
        " p.since ASC, p._path ASC, p._row ASC) ELSE p.since END AS __until"
    )


def test_a_row_is_final_as_with_versions_of_a_log() -> None:
    project = catalog(view(FORMS["SQL:2011"], "EMIT ON WINDOW CLOSE"))
    (branch,) = union_branches(project.views["v"].query)
    found = Finality(project).settled(branch)
    assert isinstance(found, Settled) and not found.unless
    assert ([a.sql("trino") for a in found.anchors], found.after) == (["d.ts"], MICROSECOND)
    read = relations(relations(branch)[1].this)[0]
    assert found.reads[id(read)] == Reach(None, NONE)


@pytest.mark.parametrize("emit", ["EMIT ON WINDOW CLOSE", "EMIT CHANGES"])
def test_values_that_changes_leave_out_are_those_of_the_changes_before(emit: str) -> None:
    join = f"LEFT JOIN owners FOR SYSTEM_TIME AS OF d.ts AS p {KEY}"
    project = catalog(view(join, emit, "d.flight, p.name"))
    text = project.views["v"].query.sql("trino")
    assert text.count("FIRST_VALUE(") == 1
    assert "PARTITION BY p.tail, p.__said_name ORDER BY p.since ASC, p._path ASC" in text
    if emit == "EMIT ON WINDOW CLOSE":
        assert "once the watermark is at d.ts + 1 µs" in explain(plan_project(project)["v"])


def test_a_table_that_is_read_elsewhere_too_stays_an_input() -> None:
    for more in ("JOIN planes q ON q.tail = p.tail", "WHERE p.tail IN (SELECT tail FROM planes)"):
        inputs = catalog(view(f"{FORMS['SQL:2011']} {more}")).views["v"].inputs
        assert inputs == ("departures", "planes__changes", "planes")
    before = f"JOIN planes q ON q.tail = d.flight {FORMS['DuckDB']}"
    assert "planes" in catalog(view(before)).views["v"].inputs


def test_rows_that_a_part_of_the_key_finds_are_versions_themselves() -> None:
    quotes = """
    CREATE TABLE quotes (
      symbol VARCHAR, at TIMESTAMP WITH TIME ZONE, bid INTEGER, PRIMARY KEY (symbol, at)
    ) WITH (connector = 'files', path = 'quotes') FORMAT UPSERT ENCODE JSON (delete_field = 'op');
    """
    join = "ASOF JOIN quotes p ON p.symbol = d.flight AND d.ts >= p.at"
    assert catalog(quotes + view(join, columns="p.bid")).views["v"].inputs == (
        "departures",
        "quotes",
    )


DATED = {
    "by the broker": "since TIMESTAMP WITH TIME ZONE METADATA FROM 'timestamp'",
    "by what is computed from that": (
        "sent TIMESTAMP WITH TIME ZONE METADATA FROM 'timestamp',"
        " since AS date_trunc('second', sent)"
    ),
}


@pytest.mark.parametrize("name", DATED)
def test_the_time_of_a_deletion_may_stand_beside_its_record(name: str) -> None:
    table = (
        f"CREATE TABLE people (tail VARCHAR PRIMARY KEY, age INTEGER, {DATED[name]},"
        " WATERMARK FOR since AS since) WITH (connector = 'kafka', topic = 'people',"
        " bootstrap_servers = 'b:9092') FORMAT UPSERT ENCODE JSON;"
    )
    join = f"JOIN people FOR SYSTEM_TIME AS OF d.ts AS p {KEY}"
    inputs = catalog(table + view(join)).views["v"].inputs
    assert inputs == ("departures", "people__changes")


def test_engines_sort_rows_and_changes_once() -> None:
    project = catalog(view(FORMS["DuckDB"], "EMIT ON WINDOW CLOSE"))
    (text,) = plan_project(project)["v"].program.texts().values()
    assert "JOIN" not in text and "LEAD(" not in text
