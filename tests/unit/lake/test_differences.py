"""How the columns of a table differ from its definition, and what it can follow."""

from __future__ import annotations

import pytest

from headwater.analyze.project import bind_all
from headwater.dialect import parse
from headwater.errors import TerminalError
from headwater.lake.evolve import check_evolution, difference, means_otherwise, schema_changed

HELD = {"id": "INT", "x": "DECIMAL(10,2)", "r": "FLOAT", "s": "STRING", "_row": "BIGINT"}


def changed(**columns: str | None) -> dict[str, str]:
    """The columns held, with some added, of another type, or (None) without."""
    return {name: kind for name, kind in {**HELD, **columns}.items() if kind is not None}


@pytest.mark.parametrize(
    ("wanted", "changes"),
    [
        (HELD, {}),
        (changed(n="BIGINT"), {"n": "added as BIGINT"}),
        (changed(s=None), {"s": "dropped"}),
        (changed(s=None, t="STRING"), {"t": "added as STRING", "s": "dropped"}),
        (changed(id="BIGINT"), {"id": "widened from INT to BIGINT"}),
        (changed(r="DOUBLE"), {"r": "widened from FLOAT to DOUBLE"}),
        (changed(x="DECIMAL(12,2)"), {"x": "widened from DECIMAL(10,2) to DECIMAL(12,2)"}),
    ],
)
def test_changes_that_a_table_can_follow(wanted, changes):
    change = difference(HELD, wanted)
    assert change.changes() == changes
    assert bool(change) == bool(changes)
    check(change)


@pytest.mark.parametrize(
    ("wanted", "words"),
    [
        (changed(id="SMALLINT"), 'column "id" is INT, and SMALLINT does not hold all of its'),
        (changed(id="STRING"), 'column "id" is INT, and STRING'),
        (changed(id="DOUBLE"), 'column "id" is INT, and DOUBLE'),
        (changed(s="INT"), 'column "s" is STRING, and INT'),
        (changed(x="DECIMAL(9,2)"), 'column "x" is DECIMAL(10,2), and DECIMAL(9,2)'),
        (changed(x="DECIMAL(12,3)"), 'column "x" is DECIMAL(10,2), and DECIMAL(12,3)'),
        (changed(id="INT NOT NULL"), 'column "id" is INT, and INT NOT NULL'),
        (changed(_row=None), 'column "_row" follows from how rows are read'),
        (changed(_offset="BIGINT"), 'column "_offset" follows from how rows are read'),
        (changed(ts="TIMESTAMP"), 'column "ts" is the event time'),
        (changed(gone="INT"), 'column "gone" was dropped before'),
        (changed(sure="INT"), 'column "sure" is NOT NULL'),
    ],
)
def test_changes_that_no_table_can_follow_are_refused_by_the_name_of_the_column(wanted, words):
    with pytest.raises(TerminalError) as refused:
        check(difference(HELD, wanted))
    assert refused.value.condition == "SCHEMA_CHANGED"
    assert words in refused.value.message


def check(change):
    check_evolution(
        "t",
        change,
        system={"_row", "_offset"},
        earlier={*HELD, "gone"},
        never_null={"sure", "id"},
        event_times={"ts"},
    )


def test_every_difference_is_said():
    change = difference(HELD, changed(id="BIGINT", s="INT", n="INT", r=None))
    assert schema_changed("t", change).message == (
        'table "t" does not have the defined columns: column "n" is missing; column "r" is no '
        'longer defined; column "id" is INT, defined as BIGINT; column "s" is STRING, defined as'
        " INT"
    )


def test_another_order_is_a_difference():
    change = difference({"a": "INT", "b": "INT"}, {"b": "INT", "a": "INT"})
    assert change.moved and not change.changes()
    assert "their order differs" in schema_changed("t", change).message


VIEW = """
CREATE TABLE t (id BIGINT, x BIGINT, n BIGINT) WITH (connector = 'datagen');
CREATE STREAMING VIEW v AS {query};
"""


@pytest.mark.parametrize(
    ("query", "found", "words"),
    [
        ("SELECT id FROM t", {"id": "BIGINT", "x": "INT", "gone": "INT"}, ""),
        (
            "SELECT id FROM t WHERE x > 1",
            {"id": "BIGINT", "x": "INT"},
            'it reads column "x" of "t", which was INT and is BIGINT',
        ),
        (
            "SELECT count(*) AS n FROM (SELECT DISTINCT * FROM t) AS d",
            {"id": "BIGINT", "x": "BIGINT", "gone": "INT"},
            'it reads column "n" of "t", which was added, by * or to order rows',
        ),
        (
            "SELECT id, row_number() OVER (PARTITION BY id ORDER BY x) AS place FROM t",
            {"id": "BIGINT", "x": "BIGINT", "n": "BIGINT", "gone": "INT"},
            'it may have read column "gone" of "t", which was dropped, by * or to order rows',
        ),
        (
            "SELECT id, x FROM t ORDER BY id LIMIT 3",
            {"x": "BIGINT", "id": "BIGINT", "n": "BIGINT"},
            'the columns of "t" stand in another order, and it reads them by * or in order',
        ),
        ("SELECT count(*) AS n FROM t", {"id": "BIGINT", "gone": "INT"}, ""),
        ("SELECT count(*) AS n FROM (SELECT DISTINCT * FROM t) AS d", None, ""),
    ],
)
def test_a_view_goes_on_as_long_as_its_columns_mean_the_same(query, found, words):
    catalog, errors = bind_all({"t.sql": parse(VIEW.format(query=query), file="t.sql")})
    assert not errors
    now = {"id": "BIGINT", "x": "BIGINT", "n": "BIGINT"}
    assert means_otherwise(catalog.views["v"], "t", difference(found or now, now)) == words
