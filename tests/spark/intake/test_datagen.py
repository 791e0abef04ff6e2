"""Generated rows: the same for the same seed in whatever pieces they are made."""

from __future__ import annotations

from datetime import timedelta

import pytest
from conftest import Project, column
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from headwater.analyze.definitions import Source, Watermark
from headwater.connectors.contract import Limits, Range
from headwater.connectors.datagen import Datagen
from headwater.connectors.source_stream import quarantine_stream, stream
from headwater.runtime.session import session_for_thread

TOTAL = 200
OPTIONS = {
    "rows_per_second": "10",
    "number_of_rows": str(TOTAL),
    "seed": "7",
    "fields.id.kind": "sequence",
    "fields.ts.max_lateness": "5 seconds",
    "fields.k.min": "3",
    "fields.k.max": "5",
    "fields.word.length": "40",
    "fields.side.kind": "values",
    "fields.side.values": "buy, sell",
    "fields.side.weights": "3, 1",
    "fields.gap.null_rate": "0.5",
    "fields.const.kind": "constant",
    "fields.const.value": "it's",
}
COLUMNS = (
    column("id", "bigint", not_null=True),
    column("ts", "timestamp with time zone"),
    column("k", "integer"),
    column("x", "double"),
    column("price", "decimal(10,2)"),
    column("word", "varchar"),
    column("side", "varchar"),
    column("gap", "integer"),
    column("flag", "boolean"),
    column("day", "date"),
    column("const", "varchar"),
)


def generator(**options: str) -> Source:
    merged = {**OPTIONS, **{key.replace("__", "."): value for key, value in options.items()}}
    watermark = Watermark("ts", timedelta(seconds=5))
    return Source("g", True, COLUMNS, "datagen", options=merged, watermark=watermark)


def made(spark, source, first, last):
    rows = Datagen(source, Project(None)).read(spark, Range("", 0, (first, last)), 2**52).all
    return sorted(tuple(row) for row in rows.drop("_value").collect())


@pytest.fixture(scope="module")
def whole(spark):
    return made(session_for_thread(spark), generator(), 0, TOTAL)


@settings(max_examples=6, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(cuts=st.lists(st.integers(1, TOTAL - 1), unique=True, max_size=3))
def test_rows_are_the_same_under_any_batch_cuts(spark, whole, cuts):
    own = session_for_thread(spark)
    ends = [0, *sorted(cuts), TOTAL]
    pieces = [made(own, generator(), a, b) for a, b in zip(ends, ends[1:], strict=False)]
    assert [row for piece in pieces for row in piece] == whole


def test_values_follow_their_options(whole):
    by_name = [dict(zip([c.name for c in COLUMNS], row, strict=False)) for row in whole]
    assert [row["id"] for row in by_name] == list(range(TOTAL))
    assert {row["k"] for row in by_name} == {3, 4, 5}
    assert {len(row["word"]) for row in by_name} == {40}
    sides = [row["side"] for row in by_name]
    assert sides.count("buy") > sides.count("sell") > 10
    assert 60 < sum(row["gap"] is None for row in by_name) < 140
    assert {row["const"] for row in by_name} == {"it's"}
    times = [row["ts"] for row in by_name]
    assert times != sorted(times)
    assert str(min(times)) >= "2023-12-31 23:59:55"


def test_another_seed_makes_other_values(spark, whole):
    other = made(session_for_thread(spark), generator(seed="8"), 0, TOTAL)
    assert [row[0] for row in other] == [row[0] for row in whole]
    assert [row[2:6] for row in other] != [row[2:6] for row in whole]


def test_landing_a_generator_ends_with_its_rows_and_goes_on_after_a_restart(lake, landing):
    source = generator()
    first = landing(source).step(Limits(rows=150))
    restarted = landing(source)
    second = restarted.step()
    assert (first.rows_out, second.rows_out, second.epoch) == (150, 50, 1)
    assert restarted.step() is None
    rows = lake.table("g").read()
    assert rows.selectExpr("count(*)", "count(DISTINCT _row)", "max(id)").first()[:] == (
        200,
        200,
        199,
    )
    assert not lake.exists("g__files")


def drained(query_frame, spark, folder, name):
    query = (
        query_frame.writeStream.format("memory")
        .queryName(name)
        .option("checkpointLocation", str(folder / name))
        .trigger(availableNow=True)
        .start()
    )
    query.awaitTermination()
    return spark.table(name).collect()


def test_streamed_generator_gives_the_rows_that_landing_gives(spark, whole, tmp_path):
    own = session_for_thread(spark)
    source = generator()
    rows = drained(stream(own, source, _project(tmp_path)), own, tmp_path, "made")
    assert sorted(tuple(row)[:-1] for row in rows) == [row[: len(COLUMNS)] for row in whole]
    assert {row._watermark for row in rows} == {None}


def test_streamed_files_give_good_rows_and_a_quarantine(
    spark, project, drop, files_source, tmp_path
):
    own = session_for_thread(spark)
    drop("a b.json", '{"id":1}\nbad\n{"id":2}\n')
    drop("c.json.tmp", '{"id":9}\n')
    drop("d.json", '{"id":3}\n\n')
    source = files_source("id integer; file varchar")
    good = drained(stream(own, source, _project(tmp_path)), own, tmp_path, "good")
    assert sorted(row.id for row in good) == [1, 2, 3]
    bad = drained(quarantine_stream(own, source, _project(tmp_path)), own, tmp_path, "bad")
    assert [(row.reason, bytes(row.raw), row._path, row._row) for row in bad] == [
        ("not valid JSON: bad", b"bad", "a b.json", None)
    ]


def _project(folder):
    return Project(folder)
