"""Implicit casts are Trino's in Spark, too: the forms of ``tests/coercion`` in a few statements."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import pytest
from pyspark.sql import SparkSession

from headwater.analyze.definitions import View
from headwater.analyze.typing.types import spark_type
from tests.coercion.pairs import Answer, kinds_by, read, rows_sql, values_of
from tests.coercion.product import bound, sql_of

_AT_ONCE = 130
Known = Sequence[tuple[Answer, View]]


@pytest.fixture(scope="module")
def rows(spark: SparkSession) -> Iterator[SparkSession]:
    spark.sql(rows_sql(kinds_by(spark_type), text="STRING")).createOrReplaceTempView("t")
    yield spark
    spark.catalog.dropTempView("t")


def known() -> Known:
    found = [(answer, bound(answer.form)) for answer in read().values() if answer.type]
    return [(answer, view) for answer, view in found if isinstance(view, View)]


def value_sql(view: View) -> str:
    """Return the value of a form of one row."""
    _, _, text = sql_of(view, "spark").partition("SELECT t.id AS id, ")
    return text.removesuffix(" AS v FROM t AS t")


def test_values_of_pairs_are_trinos(rows: SparkSession) -> None:
    scalars = [each for each in known() if not each[0].form.startswith("SELECT")]
    wrong = []
    for start in range(0, len(scalars), _AT_ONCE):
        part = scalars[start : start + _AT_ONCE]
        columns = (
            f"CAST({value_sql(view)} AS {_kind(view)}) AS v{at}"
            for at, (_, view) in enumerate(part)
        )
        found = rows.sql(f"SELECT t.id AS id, {', '.join(columns)} FROM t AS t").collect()
        for at, (answer, _) in enumerate(part):
            pairs = [(row[0], row[at + 1]) for row in found]
            values = values_of(answer.form, pairs, answer.type)
            if values != answer.values:
                wrong.append((answer.form, values, answer.values))
    assert wrong == []


def test_rows_that_meet_are_trinos(rows: SparkSession) -> None:
    joins = [each for each in known() if each[0].form.startswith("SELECT l.id")]
    texts = [
        f"SELECT {at} AS form, v FROM ({sql_of(v, 'spark')})" for at, (_, v) in enumerate(joins)
    ]
    found = rows.sql(" UNION ALL ".join(texts)).collect()
    for at, (answer, _) in enumerate(joins):
        mine = [(0, row[1]) for row in found if row[0] == at]
        assert values_of(answer.form, mine, answer.type) == answer.values, answer.form


def _kind(view: View) -> str:
    """Return the type of a value; a point in time is compared as a wall clock of UTC."""
    name = spark_type(view.fields[-1].type)
    return "TIMESTAMP_NTZ" if name == "TIMESTAMP" else name
