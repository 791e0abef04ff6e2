"""Flink's text of NEXMark, imported: its answers over events are those of DuckDB's own queries."""

from __future__ import annotations

from collections.abc import Iterator

import duckdb
import pytest

from bench.nexmark.events import generate
from bench.nexmark.run import QUERIES, answers
from headwater.importing import SYSTEMS, import_files
from headwater.plan.at_rest import at_rest
from headwater.plan.planner import plan_project
from headwater.project import read_project
from tests.support.golden_files import GOLDEN
from tests.support.nexmark_events import EVENTS

INPUT = GOLDEN / "importing" / "inputs" / "flink" / "nexmark.sql"
COLUMNS = {
    "q0": "auction, bidder, price, date_time, extra",
    "q1": "auction, bidder, price, date_time, extra",
    "q2": "auction, price",
    "q3": "name, city, state, id",
    "q4": "category, final",
    "q5": "auction, num",
    "q8": "id, name, window_start",
    "q9": "id, item_name, description, initial_bid, reserve, date_time, expires, seller, category,"
    " extra, auction, bidder, price, bid_date_time, bid_extra",
    "q10": "auction, bidder, price, date_time, extra, dt, hm",
    "q11": "bidder, bids, window_start, window_end",
    "q13": "auction, bidder, price, date_time, value",
    "q15": "day, total_bids, rank1_bids, total_bidders, rank1_bidders",
    "q16": "channel, day, minute, total_bids, total_bidders",
    "q17": "auction, day, total_bids, min_price, avg_price",
    "q18": "auction, bidder, price, channel, url, date_time, extra",
    "q20": "auction, bidder, price, bid_date_time, item_name",
    "q22": "auction, bidder, price, channel, dir1, dir2, dir3",
}
"""By query whose text is the same: columns of DuckDB's query, in the order of the sink's."""


@pytest.fixture(scope="module")
def duck(tmp_path_factory: pytest.TempPathFactory) -> Iterator[duckdb.DuckDBPyConnection]:
    folder = tmp_path_factory.mktemp("nexmark")
    import_files([INPUT], SYSTEMS["flink"], folder / "project", {"EVENTS": "datagen"})
    project = read_project(folder / "project")
    sound = project.without({})
    plans = plan_project(sound.catalog)
    with answers(project, generate(folder / "events", 5_000)) as connection:
        connection.execute("CREATE SCHEMA ours")
        connection.execute(EVENTS)
        for name, plan in plans.items():
            sql = at_rest(
                plan, sound.catalog, "duckdb", final=False, relation=lambda each: _place(each)
            ).sql
            connection.execute(f"CREATE TABLE ours.{name} AS {sql}")
        yield connection


def _place(name: str) -> str:
    return name if name in ("datagen", "side_input") else f"ours.{name}"


@pytest.mark.parametrize("query", COLUMNS)
def test_an_imported_query_has_the_answer_of_another_text(
    duck: duckdb.DuckDBPyConnection, query: str
) -> None:
    ours = f"FROM ours.{query}"
    theirs = f"SELECT {COLUMNS[query]} FROM ({QUERIES[query].theirs})"
    assert duck.sql(f"SELECT count(*) {ours}").fetchall() != [(0,)]
    for one, other in ((ours, theirs), (theirs, ours)):
        assert duck.sql(f"{one} EXCEPT ALL {other}").fetchall() == []
