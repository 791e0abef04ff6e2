"""NEXMark without a JVM: its events, the queries that check accepts, and DuckDB's answers."""

from __future__ import annotations

import re
from pathlib import Path

import duckdb
import pytest

from bench.nexmark import by_hand, peers
from bench.nexmark.events import FILES, TABLES, generate
from bench.nexmark.flink import launch
from bench.nexmark.run import QUERIES, answers, refusals, write_project

EVENTS = 5_000
TO_COME: set[str] = set()
"""Queries that are refused until windows can be joined, ranked and closed by gaps."""


@pytest.fixture(scope="module")
def duck(tmp_path_factory: pytest.TempPathFactory) -> duckdb.DuckDBPyConnection:
    folder = tmp_path_factory.mktemp("nexmark")
    found = generate(folder, EVENTS)
    connection = duckdb.connect()
    for table in (*TABLES, "side_input"):
        files = f"read_parquet('{found.folder}/{table}/*.parquet', filename = true)"
        connection.execute(f"CREATE TABLE {table}_files AS FROM {files}")
        connection.execute(f"CREATE VIEW {table} AS SELECT * EXCLUDE (filename) FROM {table}_files")
    return connection


def test_events_have_their_shares_and_times(duck: duckdb.DuckDBPyConnection) -> None:
    counts = [duck.sql(f"SELECT count(*) FROM {table}").fetchall()[0][0] for table in TABLES]
    assert counts == [EVENTS // 50, EVENTS // 50 * 3, EVENTS // 50 * 46]
    times = " UNION ALL ".join(f"SELECT date_time FROM {table}" for table in TABLES)
    assert duck.sql(f"SELECT count(DISTINCT date_time) FROM ({times})").fetchall() == [(EVENTS,)]
    hot = "SELECT count(*) FILTER (WHERE (bidder - 1001) % 100 = 0) / count(*) FROM bid"
    assert 0.7 < duck.sql(hot).fetchall()[0][0] < 0.85
    in_time = "a.id = b.auction AND b.date_time BETWEEN a.date_time AND a.expires"
    pairs = f"SELECT count(*) FROM auction AS a JOIN bid AS b ON {in_time}"
    assert duck.sql(pairs).fetchall()[0][0] > EVENTS / 10


@pytest.mark.parametrize("table", TABLES)
def test_files_follow_one_another_within_a_second(
    duck: duckdb.DuckDBPyConnection, table: str
) -> None:
    spans = duck.sql(
        f"SELECT filename, min(date_time), max(date_time) FROM {table}_files GROUP BY 1 ORDER BY 1"
    ).fetchall()
    assert len(spans) == FILES
    for (_, _, newest), (_, oldest, _) in zip(spans, spans[1:], strict=False):
        assert (newest - oldest).total_seconds() <= 1


def test_a_seed_says_which_events(tmp_path: Path) -> None:
    found = {}
    for name, seed in (("one", 1), ("same", 1), ("other", 2)):
        generate(tmp_path / name, 500, seed)
        rows = f"FROM '{tmp_path / name}/bid/*.parquet' ORDER BY date_time"
        found[name] = duckdb.sql(rows).fetchall()
    assert found["one"] == found["same"] != found["other"]


def test_there_are_23_queries_and_every_one_finds_rows(duck: duckdb.DuckDBPyConnection) -> None:
    assert list(QUERIES) == [f"q{number}" for number in range(23)]
    assert [q.name for q in QUERIES.values() if not duck.sql(q.theirs).fetchall()] == []


def test_check_accepts_all_queries_but_those_to_come(tmp_path: Path) -> None:
    refused = refusals(write_project(tmp_path, tmp_path / "events", QUERIES))
    assert set(refused) - TO_COME == {"q12"}
    assert refused["q12"].startswith("NON_DETERMINISTIC")


def test_columns_of_a_view_are_those_of_the_query_beside_it(tmp_path: Path) -> None:
    project = write_project(tmp_path / "project", tmp_path / "events", QUERIES)
    with answers(project, generate(tmp_path / "events", EVENTS)) as connection:
        for name, view in project.catalog.views.items():
            assert connection.sql(QUERIES[name].theirs).columns == [f.name for f in view.fields]


def test_the_judge_of_the_ways_sees_a_row_that_differs(tmp_path: Path) -> None:
    events = peers.closed_events(tmp_path, 2_000, 1)
    with duckdb.connect() as duck:
        for table in TABLES:
            duck.execute(f"CREATE VIEW {table} AS FROM '{events}/{table}/*.parquet'")
        for name in by_hand.QUERIES:
            rows = tmp_path / name
            rows.mkdir()
            duck.execute(f"CREATE OR REPLACE TABLE found AS {QUERIES[name].theirs}")
            duck.execute(f"COPY found TO '{rows}/right.parquet' (FORMAT parquet)")
            assert peers.difference(events, name, str(rows)) == ""
            more = "SELECT * REPLACE (price + 1 AS price)" if name == "q7" else ""
            more = f"{more} FROM found WHERE {peers.COMPARED.get(name, 'true')} LIMIT 1"
            duck.execute(f"COPY ({more}) TO '{rows}/more.parquet' (FORMAT parquet)")
            assert peers.difference(events, name, str(rows)).startswith("1 rows differ")


def test_flink_answers_the_queries_that_are_written_by_hand() -> None:
    text = (launch.HERE / "queries.sql").read_text(encoding="utf-8")
    assert re.findall(r"^-- (q\d+): ", text, re.M) == list(by_hand.QUERIES)


def test_a_way_that_has_no_answer_is_a_dash_with_the_reason(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(peers, "difference", lambda *_: "")
    answered = {name: {"cpu": 1.0, "rows": "folder"} for name in by_hand.QUERIES}
    other = {**answered, "q2": {"why": "no memory"}, "q5": {"cpu": 3.0, "rows": "folder"}}
    assert peers.report(500_000, tmp_path, {"headwater": answered, "flink": other}) == 0
    lines = {line.split()[0]: line.split() for line in capsys.readouterr().out.splitlines()}
    assert lines["q2"] == ["q2", "2.00", "-", "-", "flink:", "no", "memory"]
    assert lines["q5"] == ["q5", "2.00", "6.00", "3.00", "equal"]
