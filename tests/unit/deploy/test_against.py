"""Two states of files held against each other: no lake, the same words as against one."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import pytest

from headwater.cli.main import main

TABLES = """
CREATE TABLE orders (id BIGINT, who VARCHAR, qty BIGINT)
WITH (connector = 'files', path = 'in') FORMAT PLAIN ENCODE JSON;
"""
VIEWS = """
CREATE STREAMING VIEW per_who AS
SELECT who, count(*) AS n, sum(qty) AS qty FROM orders GROUP BY who;
CREATE STREAMING VIEW whos AS SELECT count(*) AS whos FROM per_who;
CREATE STREAMING VIEW large COMMENT 'over ten' AS SELECT id FROM orders WHERE qty > 10;
"""


def write(folder: Path, views: str, tables: str = TABLES) -> Path:
    folder.mkdir(exist_ok=True)
    (folder / "headwater.toml").write_text('name = "t"\n')
    (folder / "all.sql").write_text(tables + views)
    return folder


def plan(
    project: Path, state: object, capsys: pytest.CaptureFixture[str]
) -> tuple[int, dict[str, dict[str, object]]]:
    command = ["--project", str(project), "plan", "--against", str(state), "--output", "json"]
    code = main(command)
    return code, {each["view"]: each for each in json.loads(capsys.readouterr().out)}


def test_every_kind_of_change(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    old = write(tmp_path / "old", VIEWS)
    views = VIEWS.replace("count(*) AS n", "count(*) * 2 AS n").replace("'over ten'", "'dear'")
    views = views.replace("count(*) AS whos", "count(*) AS whos, sum(n) AS n") + (
        "CREATE STREAMING VIEW small AS SELECT id FROM orders WHERE qty < 3;"
    )
    code, found = plan(write(tmp_path / "new", views), old, capsys)
    assert code == 1
    assert {name: each["change"] for name, each in found.items()} == {
        "per_who": "rebuild",
        "whos": "additive",
        "large": "comments",
        "small": "new",
    }
    assert found["per_who"]["reason"] == "column n differs"
    assert (found["per_who"]["was"], found["per_who"]["is"]) == ("COUNT(*)", "COUNT(*) * 2")
    assert found["per_who"]["behind"] == "whos"
    assert not (tmp_path / "new" / ".headwater").exists()

    code, found = plan(tmp_path / "old", tmp_path / "new", capsys)
    assert (code, found["small"]["change"]) == (1, "removed")
    assert plan(old, old, capsys) == (0, {})


def test_a_type_that_a_table_gives(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    old = write(tmp_path / "old", VIEWS)
    tables = TABLES.replace("id BIGINT", "id INTEGER")
    _, found = plan(write(tmp_path / "new", VIEWS, tables), old, capsys)
    assert {name: each["reason"] for name, each in found.items()} == {
        "orders": 'column "id" is BIGINT, and INT does not hold all of its values',
        "large": "column id has another type",
    }


def test_a_view_that_had_an_error_is_new(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    old = write(tmp_path / "old", VIEWS.replace("FROM orders GROUP", "FROM nowhere GROUP"))
    _, found = plan(write(tmp_path / "new", VIEWS), old, capsys)
    reasons = {name: (each["change"], each["reason"]) for name, each in found.items()}
    assert reasons == {"per_who": ("new", "was broken"), "whos": ("new", "was blocked")}


def test_what_names_a_column_that_is_gone(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    old = write(tmp_path / "old", VIEWS)
    new = write(tmp_path / "new", VIEWS.replace("sum(qty) AS qty", "sum(qty) AS pieces"))
    charts, tests = new / "dashboards", new / "tests"
    charts.mkdir()
    tests.mkdir()
    (charts / "10-pieces.yaml").write_text(
        "view: per_who\ntitle: Pieces\nviz_type: big_number_total\nparams: {metric: sum__qty}\n"
    )
    (charts / "20-customers.yaml").write_text(
        "view: per_who\ntitle: qty\nviz_type: table\n"
        "params: {all_columns: [who, n], subtitle: qty, y_axis_title: qty}\n"
    )
    (charts / "30-whos.yaml").write_text(
        "view: whos\ntitle: Whos\nviz_type: big_number_total\nparams: {metric: sum__qty}\n"
    )
    (charts / "40-torn.yaml").write_text("view: [per_who\n")
    (tests / "a.slt").write_text("query TI\nSELECT who, qty FROM per_who\n----\n")
    (tests / "b.slt").write_text("query TI\nSELECT who, qty_ FROM per_who_\n----\n")
    _, found = plan(new, old, capsys)
    behind = "whos, chart 10-pieces, chart 20-customers, test a.slt"
    assert found["per_who"]["behind"] == behind
    assert found["per_who"]["breaks"] == "chart 10-pieces reads qty, test a.slt reads qty"
    views = VIEWS[: VIEWS.index("CREATE STREAMING VIEW whos")].replace("per_who", "by_who")
    write(new, views.replace("sum(qty)", "max(qty)"))
    _, found = plan(new, old, capsys)
    assert found["whos"]["breaks"] == "chart 30-whos shows whos"
    assert "test a.slt reads per_who" in str(found["per_who"]["breaks"])


@pytest.mark.parametrize("comment", ["", "-- renamed from: per_who\n"])
def test_another_name(tmp_path: Path, capsys: pytest.CaptureFixture[str], comment: str) -> None:
    old = write(tmp_path / "old", VIEWS)
    views = VIEWS.replace("per_who", "by_who")
    new = write(tmp_path / "new", views.replace("CREATE", f"{comment}CREATE", 1))
    _, found = plan(new, old, capsys)
    assert {name: (each["change"], each["reason"]) for name, each in found.items()} == {
        "by_who": ("renamed", "was per_who"),
        "whos": ("renamed", "reads by_who, was per_who"),
    }
    changed = views.replace("sum(qty)", "max(qty)").replace("CREATE", f"{comment}CREATE", 1)
    _, found = plan(write(tmp_path / "new", changed), old, capsys)
    kinds = {name: each["change"] for name, each in found.items()}
    if comment:
        assert kinds == {"by_who": "rebuild", "whos": "renamed"}
    else:
        assert kinds == {"by_who": "new", "whos": "rebuild", "per_who": "removed"}


def test_a_commit_of_git(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    def git(*arguments: str) -> None:
        who = ["-c", "user.name=t", "-c", "user.email=t@example.org"]
        command = ["git", "-C", str(tmp_path), *who, *arguments]
        subprocess.run(command, check=True, capture_output=True)

    project = write(tmp_path / "project", VIEWS)
    git("init", "-b", "main")
    git("add", ".")
    git("commit", "-m", "first")
    write(project, VIEWS.replace("qty > 10", "qty > 11"))
    code, found = plan(project, "main", capsys)
    assert code == 1
    assert {name: each["reason"] for name, each in found.items()} == {"large": "WHERE differs"}
    for state in ("nowhere", "--output=x", "main:project"):
        assert main(["--project", str(project), "plan", f"--against={state}"]) in (1, 2)
    assert not (project / "x").exists()
    git("rm", "-q", "--cached", "project/headwater.toml")
    git("commit", "-m", "without settings")
    capsys.readouterr()
    assert main(["--project", str(project), "plan", "--against", "HEAD"]) == 2
    said = capsys.readouterr().err
    assert said.startswith("UNKNOWN_STATE") and "no headwater.toml" in said


def test_rows_need_a_lake(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    project = write(tmp_path / "project", VIEWS)
    assert main(["--project", str(project), "plan", "--diff", "--against", "."]) == 2
    assert "--diff needs a lake" in capsys.readouterr().err


KEYED = """
CREATE TABLE orders (id BIGINT, who VARCHAR, qty BIGINT, PRIMARY KEY ({}))
WITH (connector = 'files', path = 'in') FORMAT UPSERT ENCODE JSON;
"""


@pytest.mark.parametrize(
    ("before", "after", "kind", "reason"),
    [
        (TABLES, TABLES.replace("'in'", "'other'"), "from now on", "WITH differs, for rows"),
        (TABLES, TABLES.replace("id BIGINT", "id BIGINT, at VARCHAR"), "from now on", "column at"),
        (TABLES, TABLES.replace("qty BIGINT", "qty INTEGER"), "refused", "does not hold all"),
        (TABLES, KEYED.format("id"), "refused", "not kept alike"),
        (KEYED.format("id"), TABLES, "refused", "not kept alike"),
        (KEYED.format("id"), KEYED.format("who"), "refused", "its key or its order differs"),
        (KEYED.format("id"), KEYED.format("id").replace("'in'", "'x'"), "from now on", "WITH"),
    ],
)
def test_tables(
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    before: str,
    after: str,
    kind: str,
    reason: str,
) -> None:
    write(tmp_path / "old", "", before)
    code, found = plan(write(tmp_path / "new", "", after), tmp_path / "old", capsys)
    assert (code, [*found]) == (1, ["orders"])
    assert found["orders"]["change"] == kind and reason in str(found["orders"]["reason"])
