"""The pages of the console over a lake without a JVM."""

from __future__ import annotations

import hashlib
import re
import tomllib
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pyarrow as pa
import pytest
from starlette.testclient import TestClient

from headwater import redact
from headwater.console import project_reader
from headwater.console.app import STATIC, Console
from headwater.console.query import QueryLimits, bounded, run_query
from headwater.errors import SqlError
from headwater.lake.protocol.marker import Marker
from headwater.plan.planner import plan_project
from headwater.project import load_project
from tests.support.waiting import wait_for
from tests.unit.serve.fake_lake import CLICKS, TABLES, FakeLake, make_lake

AT = datetime(2024, 1, 1, 10, tzinfo=UTC)
OWN = {"hx-request": "true"}
USERS = """
CREATE STREAMING VIEW users AS SELECT user_id, count(*) AS clicks FROM clicks GROUP BY user_id;
"""
USERS_SCHEMA = pa.schema({"user_id": pa.int64(), "clicks": pa.int64()})


@pytest.fixture
def lake(tmp_path: Path) -> FakeLake:
    found = make_lake(tmp_path, TABLES + USERS)
    found.create("clicks", CLICKS)
    rows = [{"user_id": n % 3, "ts": AT + timedelta(minutes=n)} for n in range(300)]
    found.append("clicks", rows, Marker("clicks", 1, 0, {}, {}, watermark=micros(AT)))
    found.create("users", USERS_SCHEMA)
    count(found, 0, [(0, 100), (1, 100), (2, 100)])
    return found


def micros(at: datetime) -> int:
    return int(at.timestamp() * 1_000_000)


def count(lake: FakeLake, epoch: int, rows: list[tuple[int, int]]) -> None:
    """Commit rows of the view, over what the table has now."""
    fingerprint = plan_project(lake.project.catalog)["users"].fingerprint
    cut = {"clicks": str(lake.snapshot("clicks"))}
    marker = Marker("users", 1, epoch, {}, cut, fingerprint=fingerprint)
    lake.append("users", [{"user_id": user, "clicks": n} for user, n in rows], marker)


@pytest.fixture
def client(lake: FakeLake, monkeypatch: pytest.MonkeyPatch) -> TestClient:
    monkeypatch.setattr(project_reader, "FRESH", 0.0)
    return TestClient(Console(lake.project.root).app(), base_url="http://127.0.0.1:8642")


def sql(client: TestClient, query: str) -> str:
    answer = client.post("/sql", data={"sql": query}, headers=OWN)
    assert answer.status_code == 200
    return answer.text


def test_the_overview_shows_every_relation_with_what_status_says(client: TestClient) -> None:
    text = client.get("/").text
    for name in ("clicks", "users", "per_user", "per_hour"):
        assert f'id="box-{name}"' in text and f'id="row-{name}"' in text
    assert "2024-01-01 10:00:00" in text  # the watermark
    assert ">300<" in text


def test_a_page_that_is_open_sees_a_new_commit(lake: FakeLake, client: TestClient) -> None:
    before = client.get("/relations/users/commits").text
    assert "user_id=9" not in client.get("/relations/users/rows").text
    assert "commit-" in before and "epoch 1:" not in before
    lake.append("clicks", [{"user_id": 9, "ts": AT}], Marker("clicks", 1, 1, {}, {}))
    assert "1 <small>commits</small>" in client.get("/relations/users").text  # it lags
    count(lake, 1, [(9, 1)])
    assert "epoch 1: 1 rows" in client.get("/relations/users/commits").text
    assert "user_id=9" in client.get("/relations/users/rows").text


def test_definitions_that_change_are_read_again(lake: FakeLake, client: TestClient) -> None:
    assert client.get("/relations/late").status_code == 404
    (lake.project.root / "more.sql").write_text(
        "CREATE STREAMING VIEW late AS SELECT user_id FROM clicks WHERE score > 1;\n"
    )
    text = client.get("/relations/late").text
    assert "score" in text and "new" in text
    (lake.project.root / "more.sql").write_text(
        "CREATE STREAMING VIEW late AS SELECT x FROM clicks;"
    )
    text = client.get("/relations/late").text
    assert "broken" in text and "UNKNOWN_COLUMN" in text
    (lake.project.root / "headwater.toml").write_text("name = ")
    answer = client.get("/")
    assert answer.status_code == 503 and "CONFIG_SYNTAX" in answer.text


@pytest.mark.parametrize(
    ("section", "shown"),
    [
        ("definition", '<span class="k">SELECT</span> user_id'),
        ("plan", "incremental (fold)"),
        ("commits", "epoch 0: 3 rows"),
        ("rows", "/relations/users/why?user_id=2"),
        ("quarantine", "Nothing is quarantined"),
        ("why", 'name="user_id"'),
        ("verify", "Not checked yet"),
    ],
)
def test_each_section_of_a_view(client: TestClient, section: str, shown: str) -> None:
    answer = client.get(f"/relations/users/{section}")
    assert answer.status_code == 200
    assert shown in answer.text


def test_a_definition_that_is_not_applied_is_told(lake: FakeLake, client: TestClient) -> None:
    assert "not applied yet" not in client.get("/relations/users/definition").text
    file = lake.project.root / "project.sql"
    file.write_text(file.read_text().replace("AS clicks FROM clicks", "AS n FROM clicks"))
    assert "not applied yet" in client.get("/relations/users/definition").text


def test_why_names_the_rows_that_decide_and_the_step_that_removes(client: TestClient) -> None:
    assert "decided by 100 of 300 rows" in client.get("/relations/users/why?user_id=1").text
    missing = client.get("/relations/users/why?user_id=7&-not=1").text
    assert "rows before" in missing
    assert "Ask why it is missing" in client.get("/relations/users/why?user_id=7").text


def test_quarantined_rows_are_shown_with_their_reason(lake: FakeLake, client: TestClient) -> None:
    schema = {"_arrived_at": pa.timestamp("us", "UTC"), "_path": pa.string(), "_row": pa.int64()}
    lake.create(
        "clicks__quarantine", pa.schema({**schema, "reason": pa.string(), "raw": pa.binary()})
    )
    bad = {"_arrived_at": AT, "_path": "a.json", "_row": 7, "reason": "<b>no</b>", "raw": b"<i>"}
    refused = Marker("clicks", 1, 0, {}, {}, counts={"quarantined": 1, "dropped": 0})
    lake.append("clicks__quarantine", [bad], refused)
    for path in ("/quarantine", "/relations/clicks/quarantine"):
        text = client.get(path).text
        assert "&lt;b&gt;no&lt;/b&gt;" in text and "<b>no" not in text
        assert "a.json:7" in text
    assert "quarantine replay clicks" in client.get("/relations/clicks/quarantine").text


def test_verify_is_a_button_that_finds_what_differs(lake: FakeLake, client: TestClient) -> None:
    def checked() -> str:
        assert client.get("/relations/users/verify").status_code == 200
        client.post("/relations/users/verify", headers=OWN)

        def answer() -> str | None:
            text = client.get("/relations/users/verify").text
            return None if "checking" in text else text

        return wait_for(answer, "an answer of verify") or ""

    assert '<span class="state good">equal</span>' in checked()
    before = lake.snapshot("users")
    lake.append("users", [{"user_id": 77, "clicks": 1}])
    text = checked()
    assert '<span class="state bad">different</span>' in text
    assert "1 in the table, not in the SELECT" in text and ">77<" in text
    assert lake.snapshot("users") != before


def test_sql_answers_and_bounds_rows(client: TestClient) -> None:
    assert ">300<" in sql(client, "SELECT count(*) FROM clicks")
    text = sql(client, "SELECT a.ts FROM clicks AS a CROSS JOIN clicks AS b")
    assert text.count("<tr>") == 501 and "the first 500 are shown" in text


def test_a_query_that_takes_too_long_is_stopped(lake: FakeLake) -> None:
    joined = ", ".join(f"clicks AS c{n}" for n in range(6))
    query = f"SELECT sum(c0.user_id * c1.user_id + c5.user_id) FROM {joined}"
    limits = QueryLimits(seconds=0.5, memory="256MB")
    with pytest.raises(SqlError) as caught, bounded(limits):
        run_query(lake.project, query)
    assert caught.value.condition == "QUERY_TOO_LONG"


@pytest.mark.parametrize(
    "statement",
    [
        "DROP TABLE clicks",
        "DELETE FROM clicks",
        "INSERT INTO clicks VALUES (1)",
        "UPDATE clicks SET user_id = 1",
        "CREATE TABLE x AS SELECT 1",
        "COPY clicks TO 'x.csv'",
        "ATTACH 'x.db'",
        "INSTALL httpfs",
        "SET memory_limit = '9GB'",
        "PRAGMA database_list",
        "SELECT 1; SELECT 2",
        "SELECT * FROM read_csv('/etc/passwd')",
        "SELECT * FROM read_text('/etc/passwd')",
        "SELECT * FROM '/etc/passwd'",
        "SELECT * FROM duckdb_secrets()",
        "SELECT getenv('PATH')",
        "",
    ],
)
def test_the_sql_box_reads_tables_and_can_do_nothing_else(
    lake: FakeLake, client: TestClient, statement: str
) -> None:
    before = sorted(lake.project.root.rglob("*"))
    text = sql(client, statement)
    assert 'role="alert"' in text and "<table" not in text
    assert sorted(lake.project.root.rglob("*")) == before


def test_a_query_that_is_too_long_to_read_is_refused(client: TestClient) -> None:
    long = client.post("/sql", data={"sql": "x" * 200_000}, headers=OWN)
    assert long.status_code == 413


def test_no_page_shows_a_secret(lake: FakeLake, client: TestClient) -> None:
    redact.remember("hunter2hunter2")
    try:
        text = sql(client, "SELECT 'hunter2hunter2' AS password")
        assert "hunter2" not in text and "***" in text
        assert "hunter2" not in client.get("/sql?q=hunter2hunter2").text
    finally:
        redact.forget()


def test_names_are_escaped_wherever_they_stand(client: TestClient) -> None:
    answer = client.get("/relations/%3Cscript%3E")
    assert answer.status_code == 404 and "<script>" not in answer.text.replace("<script src", "")
    assert "<script>x" not in client.get("/sql?q=%3C/textarea%3E%3Cscript%3Ex").text


def test_a_project_without_data_says_what_to_do_next(tmp_path: Path) -> None:
    (tmp_path / "headwater.toml").write_text('name = "shop"\n')
    (tmp_path / "project.sql").write_text(TABLES)
    app = Console(load_project(tmp_path).root).app()
    client = TestClient(app, base_url="http://localhost:8642")
    assert "headwater run" in client.get("/").text
    for path in ("/relations/per_user/rows", "/relations/per_user/commits"):
        assert "headwater run --once" in client.get(path).text
    assert "Nothing is quarantined" in client.get("/quarantine").text
    assert "NO_DATA_YET" in sql(client, "SELECT * FROM clicks")


def test_a_source_and_a_sink_have_the_pages_that_they_can_have(tmp_path: Path) -> None:
    (tmp_path / "headwater.toml").write_text('name = "shop"\n')
    source = TABLES.replace("CREATE TABLE clicks", "CREATE SOURCE clicks")
    sink = (
        "CREATE SINK hours FROM per_hour WITH (connector = 'delta', path = '/data/hours')"
        " FORMAT UPSERT;\n"
    )
    (tmp_path / "project.sql").write_text(source + sink)
    client = TestClient(Console(tmp_path).app(), base_url="http://localhost:8642")
    text = client.get("/").text
    assert "read in place" in text and 'id="row-hours"' in text and 'id="row-clicks"' not in text
    assert "CREATE SOURCE" in re.sub("<[^>]+>", "", client.get("/relations/clicks").text)
    assert client.get("/relations/clicks/rows").status_code == 404
    assert "CREATE SINK" in re.sub("<[^>]+>", "", client.get("/relations/hours").text)
    assert "No commit yet" in client.get("/relations/hours/commits").text


def test_a_keyed_table_is_one_box_with_what_its_log_says(tmp_path: Path) -> None:
    lake = make_lake(
        tmp_path,
        "CREATE TABLE people (id BIGINT, name VARCHAR, PRIMARY KEY (id))"
        " WITH (connector = 'files', path = 'in') FORMAT UPSERT ENCODE JSON;\n",
    )
    log = "people__changes"
    for name in (log, "people__quarantine"):
        lake.create(name, pa.schema({"id": pa.int64()}))
    lake.append(log, [{"id": 1}], Marker(log, 1, 0, {}, {}))
    refused = Marker(log, 1, 0, {}, {}, counts={"quarantined": 7, "dropped": 0})
    lake.append("people__quarantine", [{"id": 1}], refused)
    client = TestClient(Console(tmp_path).app(), base_url="http://localhost:8642")
    text = client.get("/").text
    assert text.count('class="box') == 1 and "7 quarantined</text>" in text
    assert ">7</dd>" in client.get("/relations/people").text


def test_a_hundred_views_are_on_one_page(tmp_path: Path) -> None:
    views = "".join(
        f"CREATE STREAMING VIEW v{n} AS SELECT user_id FROM {of};\n"
        for n in range(100)
        for of in ("clicks" if n < 50 else f"v{n - 50}",)
    )
    (tmp_path / "headwater.toml").write_text('name = "shop"\n')
    (tmp_path / "project.sql").write_text(TABLES + views)
    client = TestClient(Console(tmp_path).app(), base_url="http://localhost:8642")
    text = client.get("/").text
    assert text.count('class="box') == 103 and text.count('id="row-') == 103


def test_scripts_of_others_are_what_their_lock_says() -> None:
    lock = tomllib.loads((STATIC / "vendored.toml").read_text())
    own = {"console.js"}
    assert {path.name for path in STATIC.glob("*.js")} - own == set(lock)
    for name, said in lock.items():
        assert hashlib.sha256((STATIC / name).read_bytes()).hexdigest() == said["sha256"]
        assert said["version"] in (STATIC / name).read_text()
        assert said["licence"] == "0BSD"
