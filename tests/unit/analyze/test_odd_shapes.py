"""FROM clauses that are odd but legal: our SELECT at rest and the author's own text are equal."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from itertools import islice
from pathlib import Path

import duckdb
import pytest
from sqlglot import exp

from headwater.analyze.ddl import views
from headwater.analyze.shapes import bracketed_joins
from tests.fuzz.odd_shapes import compare, open_tables, ours, texts
from tests.support.sampling import some

RANDOM = 300

WRITTEN = [
    line.removesuffix(";")
    for line in Path(__file__).with_name("odd_shapes.sql").read_text().splitlines()
    if not line.startswith("--")
]


@pytest.fixture(scope="module")
def duck() -> Iterator[duckdb.DuckDBPyConnection]:
    with open_tables() as connection:
        yield connection


@pytest.mark.parametrize("text", WRITTEN)
def test_a_written_shape_means_what_it_says(text: str, duck: duckdb.DuckDBPyConnection) -> None:
    assert compare(duck, text) == ("equal", "")


def test_random_shapes_mean_what_they_say(duck: duckdb.DuckDBPyConnection) -> None:
    outcomes, wrong = Counter[str](), []
    asked = some([*islice(texts(41), RANDOM)], 3)
    for text in asked:
        outcome, why = compare(duck, text)
        outcomes[outcome] += 1
        if outcome == "wrong":
            wrong.append(f"{text}\n{why}")
    assert not wrong, "\n".join(wrong)
    assert outcomes["equal"] > len(asked) * 0.97


def without_joins(monkeypatch: pytest.MonkeyPatch) -> None:
    """Plant the fault of a reader that forgets the joins of a subquery in brackets."""
    right = bracketed_joins._opened

    def forgetful(node: exp.Expr) -> tuple[exp.Expr, list[exp.Join]]:
        if isinstance(node, exp.Subquery):
            node.set("joins", None)
        return right(node)

    monkeypatch.setattr(bracketed_joins, "_opened", forgetful)


def test_a_table_that_is_lost_is_refused(
    duck: duckdb.DuckDBPyConnection, monkeypatch: pytest.MonkeyPatch
) -> None:
    without_joins(monkeypatch)
    text = "SELECT a.x AS p FROM ((g a JOIN h b ON a.x = b.x) JOIN k c ON c.x = a.x)"
    assert compare(duck, text) == ("refused", "NOT_YET not supported: this table where it stands")


def test_the_oracle_sees_joins_that_are_lost(
    duck: duckdb.DuckDBPyConnection, monkeypatch: pytest.MonkeyPatch
) -> None:
    without_joins(monkeypatch)
    monkeypatch.setattr(views, "lost_tables", lambda *_: None)
    outcomes = [compare(duck, text)[0] for text in islice(texts(41), 60)]
    assert "wrong" in outcomes


def test_names_of_other_tables_do_not_reach_into_brackets() -> None:
    text = "SELECT a.x AS p FROM g a JOIN (h JOIN (SELECT y AS w FROM k) c ON x = w) ON a.x = h.y"
    assert '"h"."x" = ' in ours(text)
