"""What ``SHOW``, ``DESCRIBE`` and ``information_schema`` say, and names of columns without one."""

from __future__ import annotations

import pytest
from fake_lake import CLICKS, FakeLake

from headwater.errors import HeadwaterError
from headwater.serve.embedded import Embedded


def ask(lake: FakeLake, sql: str) -> list[tuple[object, ...]]:
    with Embedded(lake.project).query(sql) as result:
        return list(result.rows)


def columns(lake: FakeLake, sql: str) -> tuple[str, ...]:
    with Embedded(lake.project).query(sql) as result:
        return result.columns


@pytest.fixture
def clicks(lake: FakeLake) -> FakeLake:
    lake.create("clicks", CLICKS)
    lake.append("clicks", [{"user_id": 1, "score": 0.5}])
    lake.create("clicks__quarantine", CLICKS)
    lake.create("clicks__files", CLICKS)
    return lake


@pytest.mark.parametrize("sql", ["SHOW TABLES", "show tables from shop", "SHOW TABLES LIKE '%'"])
def test_tables_are_those_that_a_query_can_read(clicks: FakeLake, sql: str) -> None:
    found = [(name, kind) for name, kind, _ in ask(clicks, sql)]
    assert found == [
        ("clicks", "table"),
        ("clicks__quarantine", "table"),
        ("commits", "view"),
        ("per_hour", "view"),
        ("per_user", "view"),
    ]


@pytest.mark.parametrize(
    "sql",
    [
        "DESCRIBE clicks",
        "desc CLICKS",
        'DESCRIBE TABLE "Clicks"',
        "SHOW COLUMNS FROM clicks",
        "show columns in shop.clicks -- the table",
    ],
)
def test_columns_are_described_without_those_of_headwater(clicks: FakeLake, sql: str) -> None:
    assert [(name, kind) for name, kind, *_ in ask(clicks, sql)] == [
        ("user_id", "bigint"),
        ("ts", "timestamp(6) with time zone"),
        ("score", "double"),
    ]


def test_a_view_is_described_before_it_is_written_and_a_side_table_by_its_columns(
    clicks: FakeLake,
) -> None:
    described = ask(clicks, "DESCRIBE per_user")
    assert [row[:3] for row in described][:2] == [
        ("user_id", "bigint", ""),
        ("clicks", "bigint", "not null"),
    ]
    assert ask(clicks, "DESCRIBE clicks__quarantine")[1][:2] == (
        "ts",
        "timestamp(6) with time zone",
    )
    assert "epoch" in [row[0] for row in ask(clicks, "DESCRIBE commits")]


def test_the_snapshots_of_a_table_are_described_as_a_query_gives_them(clicks: FakeLake) -> None:
    described = ask(clicks, 'DESCRIBE "clicks$snapshots"')
    assert described[1][:2] == ("snapshot_id", "bigint")
    names = tuple(row[0] for row in described)
    assert names == columns(clicks, 'SELECT * FROM "clicks$snapshots"')


def test_a_query_is_explained_by_its_engine(clicks: FakeLake) -> None:
    sql = "EXPLAIN SELECT user_id, count(*) FROM clicks GROUP BY user_id"
    assert columns(clicks, sql) == ("Query Plan",)
    assert any("Group By" in str(line) for (line,) in ask(clicks, sql))
    measured = ask(clicks, f"explain analyze {sql.removeprefix('EXPLAIN ')}")
    assert any("Total Time" in str(line) for (line,) in measured)


def test_the_schema_is_read_like_any_tables(clicks: FakeLake) -> None:
    sql = (
        "SELECT t.table_name, count(*) FROM information_schema.tables AS t"
        " JOIN Information_Schema.Columns AS c ON c.table_name = t.table_name"
        " WHERE t.table_type = 'VIEW' AND t.table_name LIKE 'per%' GROUP BY 1 ORDER BY 1"
    )
    assert ask(clicks, sql) == [("per_hour", 2), ("per_user", 4)]
    names = ask(clicks, "SELECT column_name FROM information_schema.columns")
    assert not [name for (name,) in names if str(name).startswith("_")]
    assert ask(clicks, "SELECT table_name FROM information_schema.views ORDER BY 1") == [
        ("commits",),
        ("per_hour",),
        ("per_user",),
    ]
    assert len(ask(clicks, "SELECT * FROM information_schema.schemata")) == 2


def test_a_definition_is_shown_as_it_is_written(clicks: FakeLake) -> None:
    ((text,),) = ask(clicks, "SHOW CREATE VIEW per_hour")
    assert str(text).startswith("CREATE STREAMING VIEW per_hour AS\nSELECT window_start, count(*)")
    assert str(text).endswith("EMIT ON WINDOW CLOSE;")
    assert ask(clicks, "SHOW CREATE per_hour") == [(text,)]


def test_functions_are_listed_by_pattern(clicks: FakeLake) -> None:
    found = ask(clicks, "SHOW FUNCTIONS LIKE 'date_t%'")
    assert [row[0] for row in found] == ["date_trunc"]


@pytest.mark.parametrize(
    ("sql", "condition", "hint"),
    [
        ("SHOW TABELS", "SYNTAX_ERROR", "did you mean SHOW TABLES?"),
        ("DESCRIBE per_usr", "UNKNOWN_TABLE", "did you mean per_user?"),
        ("DESCRIBE", "SYNTAX_ERROR", "DESCRIBE orders"),
        ("SHOW TABLES FROM other", "UNKNOWN_NAMESPACE", "shop"),
        ("SHOW TABLES 5", "UNKNOWN_NAMESPACE", ""),
        ("EXPLAIN per_user", "NOT_A_QUERY", "headwater explain per_user"),
        ("EXPLAIN SELECT scroe FROM clicks", "UNKNOWN_COLUMN", "did you mean score?"),
        ('DESCRIBE "click$snapshots"', "UNKNOWN_TABLE", "did you mean clicks?"),
        ("SHOW CREATE TABLE click", "UNKNOWN_TABLE", "did you mean clicks?"),
        ("SELECT * FROM information_schema.colums", "UNKNOWN_TABLE", "did you mean columns?"),
        ("SELECT cuont(*) FROM clicks", "UNKNOWN_FUNCTION", "did you mean count?"),
        ("SELECT scroe FROM clicks", "UNKNOWN_COLUMN", "did you mean score?"),
        ("SELECT c.scroe FROM clicks c", "UNKNOWN_COLUMN", "did you mean score?"),
        ("SELECT d.score FROM clicks c", "UNKNOWN_TABLE", "relations are: c"),
        ('SELECT 1 FROM clicks WHERE score = "x"', "UNKNOWN_COLUMN", "single quotes: 'x'"),
    ],
)
def test_a_wrong_name_is_answered_with_the_one_that_is_meant(
    clicks: FakeLake, sql: str, condition: str, hint: str
) -> None:
    with pytest.raises(HeadwaterError) as caught:
        ask(clicks, sql)
    assert caught.value.condition == condition
    assert hint in caught.value.hint


@pytest.mark.parametrize(
    ("sql", "names"),
    [
        ("SELECT count(*) FROM clicks", ("_col0",)),
        ("SELECT user_id, score + 1, max(ts) OVER () FROM clicks", ("user_id", "_col1", "_col2")),
        ("SELECT *, 1, (SELECT 2) FROM clicks", ("user_id", "ts", "score", "_col3", "_col4")),
        ("SELECT (user_id), CAST(score AS BIGINT) FROM clicks", ("user_id", "_col1")),
        ("SELECT 1, 'a' UNION ALL SELECT 2 AS x, 'b'", ("_col0", "_col1")),
        ("SELECT _col3 FROM (SELECT *, 1 FROM clicks)", ("_col3",)),
        ("WITH c AS (SELECT 1, count(*) FROM clicks) SELECT _col1 FROM c", ("_col1",)),
        ("SELECT * FROM (VALUES (1, 2))", ("_col0", "_col1")),
        ("VALUES (1, 2), (3, 4) ORDER BY 1", ("_col0", "_col1")),
        ("SELECT _col1 AS x FROM (VALUES (1, 2)) AS v", ("x",)),
        ("SELECT count(*) AS n, 2 FROM clicks GROUP BY user_id ORDER BY 2", ("n", "_col1")),
    ],
)
def test_a_column_without_a_name_has_trinos(
    clicks: FakeLake, sql: str, names: tuple[str, ...]
) -> None:
    assert columns(clicks, sql) == names
