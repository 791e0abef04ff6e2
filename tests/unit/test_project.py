"""Reading a project: which files, all errors at once, and no JVM."""

import subprocess
import sys
from pathlib import Path

import pytest

from headwater.errors import ConfigError, ErrorGroup, HeadwaterError
from headwater.project import load_project, sql_files

TABLE = """
CREATE TABLE departures (flight VARCHAR, origin VARCHAR, dest VARCHAR, distance BIGINT,
  dep_delay DOUBLE, ts TIMESTAMP WITH TIME ZONE, WATERMARK FOR ts AS ts - INTERVAL '1' HOUR)
WITH (connector = 'files', path = 'departures') FORMAT PLAIN ENCODE JSON;
"""
VIEWS = (
    "SELECT date_trunc('hour', ts) AS hour, origin, count(*) AS n, avg(dep_delay) AS delay,"
    " max(CASE WHEN dep_delay > {n} THEN distance ELSE 0 END) AS far FROM departures"
    " WHERE origin IN ('JFK', 'EWR') AND dep_delay IS NOT NULL GROUP BY 1, 2 EMIT ON WINDOW CLOSE",
    "WITH late AS (SELECT flight, upper(origin) AS origin, dep_delay * {n} AS x FROM departures"
    " WHERE dep_delay > {n}) SELECT origin, sum(x) AS x, count(DISTINCT flight) AS f FROM late"
    " GROUP BY origin HAVING count(*) > 1",
    "SELECT flight, origin || '-' || dest AS leg, ts + INTERVAL '{n}' MINUTE AS later"
    " FROM departures WHERE distance BETWEEN {n} AND 1000",
)


def write(root: Path, files: dict[str, str]) -> Path:
    (root / "headwater.toml").write_text("")
    for name, text in files.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text)
    return root


def many(root: Path) -> Path:
    views = {
        f"views/v{n:02}.sql": f"CREATE STREAMING VIEW v{n:02} AS {VIEWS[n % 3].format(n=n + 1)};"
        for n in range(99)
    }
    return write(root, {"tables.sql": TABLE, **views})


def test_a_hundred_files_are_checked_without_a_jvm(tmp_path: Path) -> None:
    root = many(tmp_path)
    assert len(load_project(root).catalog.views) == 99
    program = (
        "import sys; from pathlib import Path; from headwater.project import load_project;"
        f"load_project(Path({str(root)!r}));"
        "print(sorted({m.split('.')[0] for m in sys.modules} & {'pyspark', 'py4j', 'duckdb'}))"
    )
    found = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )
    assert found.stdout.strip() == "[]"


def test_tests_and_hidden_folders_hold_no_definitions(tmp_path: Path) -> None:
    root = write(
        tmp_path,
        {
            "b.sql": "CREATE STREAMING VIEW b AS SELECT flight FROM departures",
            "a/departures.sql": TABLE,
            "tests/t.sql": "nonsense",
            ".headwater/x.sql": "nonsense",
            "notes.txt": "nonsense",
        },
    )
    project = load_project(root)
    assert [file.relative_to(root).as_posix() for file in project.files] == [
        "a/departures.sql",
        "b.sql",
    ]
    assert list(project.catalog.views) == ["b"]
    assert project.root == root


def test_all_errors_of_all_files_come_at_once_sorted_by_place(tmp_path: Path) -> None:
    root = write(
        tmp_path,
        {
            "a.sql": "CREATE STREAMING VIEW a AS SELECT 1 FROM;\nCREATE STREMING VIEW x",
            "b.sql": "CREATE STREAMING VIEW b AS SELECT orign FROM departures;\n"
            "CREATE STREAMING VIEW c AS SELECT rand() AS x FROM departures",
            "c.sql": TABLE,
            "d.sql": "CREATE STREAMING VIEW d AS SELECT flight FROM a",
        },
    )
    with pytest.raises(ErrorGroup) as raised:
        load_project(root)
    found = [
        (Path(e.span.file).name, e.span.line, e.condition) for e in raised.value.errors if e.span
    ]
    assert found == [
        ("a.sql", 1, "SYNTAX_ERROR"),
        ("a.sql", 2, "UNKNOWN_STATEMENT"),
        ("b.sql", 1, "UNKNOWN_COLUMN"),
        ("b.sql", 2, "NON_DETERMINISTIC"),
    ]
    assert raised.value.exit_code == 2


def test_given_paths_replace_the_folder(tmp_path: Path) -> None:
    root = write(tmp_path, {"a.sql": TABLE, "b.sql": "nonsense"})
    assert load_project(root, [root / "a.sql"]).files == (root / "a.sql",)
    with pytest.raises(ConfigError):
        list(sql_files(root, [root / "c.sql"]))


@pytest.mark.parametrize(
    ("content", "condition"),
    [
        (b"SELECT \xff\xfe", "INVALID_TEXT"),
        (b"", "no error"),
        (b"\xef\xbb\xbf" + TABLE.replace("\n", "\r\n").encode(), "no error"),
        (b"CREATE STREAMING VIEW v AS SELECT " + b"(" * 3000 + b"1" + b")" * 3000, "TOO_DEEP"),
        (b"SELECT 1;" * 700_000, "TOO_LARGE"),
        (b"SELECT 1", "UNSUPPORTED_STATEMENT"),
        (
            b"CREATE STREAMING VIEW v AS SELECT "
            + b"CASE WHEN true THEN " * 40
            + b"1"
            + b" END" * 40
            + b" AS x FROM departures",
            "UNKNOWN_TABLE",
        ),
        (
            b"CREATE STREAMING VIEW v AS SELECT x FROM "
            + b"(SELECT x FROM " * 40
            + b"t"
            + b")" * 40,
            "UNKNOWN_TABLE",
        ),
        (
            b"CREATE STREAMING VIEW v AS SELECT 1"
            + b" + 1" * 400
            + b" AS x FROM departures"
            + b" UNION ALL SELECT 1 AS x FROM departures" * 400,
            "UNKNOWN_TABLE",
        ),
    ],
    ids=[
        "not UTF-8",
        "empty",
        "BOM and CRLF",
        "parentheses",
        "6 MB",
        "query",
        "CASE",
        "subqueries",
        "chains",
    ],
)
def test_hostile_files_are_refused_with_a_condition(
    tmp_path: Path, content: bytes, condition: str
) -> None:
    write(tmp_path, {})
    (tmp_path / "a.sql").write_bytes(content)
    found = "no error"
    try:
        load_project(tmp_path)
    except HeadwaterError as error:
        found = error.condition
    assert found == condition or (condition == "TOO_LARGE" and found.endswith("LARGE"))


def test_a_folder_without_a_project_says_so(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="NO_PROJECT"):
        load_project(tmp_path / "missing")
    with pytest.raises(ConfigError, match="NO_PROJECT"):
        load_project(write(tmp_path, {}))


SINK = """CREATE STREAMING VIEW n AS SELECT origin, count(*) AS n FROM departures GROUP BY origin;
CREATE SINK out FROM n WITH (connector = 'iceberg', table = '{table}'{where}) FORMAT UPSERT;
"""
DATABASE = ", catalog_type = 'jdbc', catalog_uri = '{}', warehouse_path = 'x'"
SERVER = ", catalog_type = 'rest', catalog_uri = '{}'"
IN_POSTGRES = (
    '[catalog]\ntype = "jdbc"\nuri = "postgresql://me:${env:P}@db:1/lake?sslmode=require"\n'
)
BEHIND_REST = '[catalog]\ntype = "rest"\nuri = "http://here:1/"\nwarehouse = "w"\n'


@pytest.mark.parametrize(
    ("settings", "where", "own"),
    [
        ("", "", True),
        ("", ", catalog_type = 'embedded', warehouse_path = '.headwater/warehouse/'", True),
        ("", ", catalog_type = 'embedded', warehouse_path = '../other'", False),
        (IN_POSTGRES, DATABASE.format("postgres://you@db:1/lake"), True),
        (IN_POSTGRES, DATABASE.format("postgresql://db:1/lake"), True),
        (IN_POSTGRES, DATABASE.format("postgresql://me@db:1/lake2"), False),
        (IN_POSTGRES, DATABASE.format("postgresql://db:1/lake") + ", catalog_name = 'o'", False),
        (IN_POSTGRES, SERVER.format("http://here:1"), False),
        (BEHIND_REST, SERVER.format("http://here:1") + ", catalog_warehouse = 'w'", True),
        (BEHIND_REST, SERVER.format("http://here:1"), False),
    ],
)
def test_a_sink_into_the_projects_own_tables_is_refused(
    tmp_path: Path, settings: str, where: str, own: bool
) -> None:
    sink = SINK.format(table="shop.out", where=where)
    write(tmp_path, {"project.sql": TABLE + sink})
    (tmp_path / "headwater.toml").write_text('name = "shop"\n' + settings)
    if not own:
        assert load_project(tmp_path).catalog.sinks
        return
    with pytest.raises(HeadwaterError) as error:
        load_project(tmp_path)
    assert (error.value.condition, error.value.span and error.value.span.line) == ("OWN_TABLE", 6)
    (tmp_path / "project.sql").write_text(TABLE + SINK.format(table="other.out", where=where))
    assert load_project(tmp_path).catalog.sinks
