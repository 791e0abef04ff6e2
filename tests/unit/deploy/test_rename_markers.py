"""A rename in a lake without a JVM: tables, markers, definitions, sinks."""

from __future__ import annotations

import io
import json
from pathlib import Path

import pyarrow as pa
import pytest
from pyiceberg.schema import Schema
from pyiceberg.types import NestedField

from headwater.analyze.typing.types import iceberg_type
from headwater.cli.commands.apply import definitions_to_run
from headwater.cli.context import Context
from headwater.cli.main import main
from headwater.cli.output import TableOutput
from headwater.deploy import rename as rename_module
from headwater.deploy.changes import Kind, ProjectChanges
from headwater.deploy.rename import rename
from headwater.deploy.renames import Renames
from headwater.dialect import parse_all, to_sql
from headwater.dialect.syntax import CreateStreamingView
from headwater.errors import ConfigError
from headwater.lake.protocol.marker import Marker
from headwater.lake.reserved_names import DEFINITION, MARKER_TAG, PAUSED, TAKEN
from headwater.plan.planner import plan_project
from headwater.project import load_project
from headwater.serve.lake_reader import LakeReader
from tests.unit.serve.fake_lake import CLICKS, TABLES, FakeLake, make_lake

FURTHER = """
CREATE STREAMING VIEW users AS SELECT count(*) AS users, sum(p.clicks) AS clicks FROM per_user AS p;
CREATE SINK out FROM per_user WITH (connector = 'kafka', topic = 'out', bootstrap_servers = 'b:9')
FORMAT UPSERT ENCODE JSON;
"""
SIDE = pa.schema({"sink": pa.string()})


class Crash(BaseException):
    """Nobody catches a kill."""


@pytest.fixture
def lake(tmp_path: Path) -> FakeLake:
    """Views that have run: per_user with a quarantine; behind it are users and a sink."""
    found = make_lake(tmp_path, TABLES + FURTHER)
    catalog = found.project.catalog
    plans = plan_project(catalog)
    found.create("clicks", CLICKS)
    landed = found.append("clicks", [], Marker("clicks", 1, 0, {}, {"clicks": "x"}))
    read: dict[str, int] = {}
    for name, plan in plans.items():
        columns = (
            NestedField(number, each.name, iceberg_type(each.type), required=False)
            for number, each in enumerate(plan.view.fields, start=1)
        )
        found.catalog.create_table((found.project.config.namespace, name), Schema(*columns))
        cut = {"clicks": str(landed)} if name != "users" else {"per_user": str(read["per_user"])}
        marker = Marker(name, 1, 4, {}, cut, fingerprint=plan.fingerprint)
        read[name] = found.append(name, [], marker)
        tag(found, name, plan.view.definition)
    cut = {"per_user": str(read["per_user"])}
    for name in ("per_user__quarantine", "out__sink", "out__begun"):
        found.create(name, SIDE)
    quarantine = Marker("per_user", 1, 3, {}, {"clicks": str(landed)}, fingerprint="q")
    found.append("per_user__quarantine", [], quarantine)
    sent = Marker("out", 1, 7, {}, cut, fingerprint=catalog.sinks["out"].fingerprint)
    for name in ("out__sink", "out__begun"):
        found.append(name, [], sent)
    return found


def tag(lake: FakeLake, name: str, definition: str) -> None:
    table = lake.catalog.load_table((lake.project.config.namespace, name))
    with table.transaction() as change:
        change.set_properties({DEFINITION: definition})
    table.manage_snapshots().create_tag(lake.snapshot(name), MARKER_TAG).commit()


def changes(lake: FakeLake) -> ProjectChanges:
    project = load_project(lake.project.root)
    return ProjectChanges(project, plan_project(project.catalog))


def edit(lake: FakeLake, *pairs: tuple[str, str]) -> None:
    file = lake.project.root / "project.sql"
    text = file.read_text()
    for old, new in pairs:
        assert old in text
        text = text.replace(old, new)
    file.write_text(text)


RENAME = (
    ("CREATE STREAMING VIEW per_user", "-- renamed from: PER_USER\nCREATE STREAMING VIEW per_user"),
    ("VIEW per_user", "VIEW by_user"),
    ("FROM per_user", "FROM by_user"),
)


def due(lake: FakeLake) -> dict[str, tuple[Kind, str]]:
    return {each.name: (each.kind, each.reason) for each in changes(lake).due}


def newest(lake: FakeLake, name: str) -> Marker:
    table = LakeReader(lake.project.config).table(name)
    assert table is not None
    marker = table.marker()
    assert marker is not None
    return marker


def test_markers_and_definitions_follow(lake: FakeLake) -> None:
    assert due(lake) == {}
    namespace = lake.project.config.namespace
    lake.catalog.update_namespace_properties(namespace, updates={PAUSED + "per_user": "true"})
    before = {
        n: newest(lake, n) for n in ("per_user", "users", "out__sink", "per_user__quarantine")
    }
    edit(lake, *RENAME)
    assert due(lake) == {
        "by_user": (Kind.RENAMED, "was per_user"),
        "users": (Kind.RENAMED, "reads by_user, was per_user"),
    }
    rename(changes(lake))
    assert due(lake) == {}
    names = LakeReader(lake.project.config).names()
    assert "by_user" in names and "by_user__quarantine" in names
    assert not [name for name in names if name.startswith("per_user")]

    own, users = newest(lake, "by_user"), newest(lake, "users")
    assert (own.view, own.epoch, own.cut_to) == ("by_user", 4, before["per_user"].cut_to)
    assert users.cut_to == {"by_user": before["users"].cut_to["per_user"]}
    project = changes(lake).project
    plans = plan_project(project.catalog)
    assert users.fingerprint == plans["users"].fingerprint
    for name in ("out__sink", "out__begun"):
        sent = newest(lake, name)
        assert (sent.view, sent.epoch) == ("out", 7)
        assert sent.cut_to == {"by_user": before["out__sink"].cut_to["per_user"]}
        assert sent.fingerprint == project.catalog.sinks["out"].fingerprint
    bad = newest(lake, "by_user__quarantine")
    assert (bad.view, bad.epoch, bad.fingerprint) == ("by_user", 3, "q")
    for name in ("by_user", "users"):
        table = LakeReader(project.config).table(name)
        assert table is not None and table.definition == plans[name].view.definition
        assert table.refs[MARKER_TAG] == table.snapshot_id()
    assert LakeReader(project.config).paused() == {"by_user"}
    assert lake.catalog.load_namespace_properties(namespace)[TAKEN + "per_user"] == "by_user"
    assert not changes(lake).renames.pending  # though the comment stays


def test_a_definition_says_it_without_a_comment(lake: FakeLake) -> None:
    edit(lake, *RENAME[1:])
    assert due(lake)["by_user"] == (Kind.RENAMED, "was per_user")
    edit(lake, ("count(*) AS clicks, sum(score)", "count(*) AS clicks, max(score)"))
    found = due(lake)  # another definition: nothing says that it was per_user
    assert found["by_user"][0] is Kind.NEW and found["per_user"][0] is Kind.REMOVED


def test_two_that_read_each_other(lake: FakeLake) -> None:
    edit(lake, *RENAME[1:], ("VIEW users", "VIEW people"))
    assert due(lake) == {
        "by_user": (Kind.RENAMED, "was per_user"),
        "people": (Kind.RENAMED, "was users"),
    }
    rename(changes(lake))
    assert due(lake) == {} and newest(lake, "people").cut_to.keys() == {"by_user"}


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("SELECT per_user.n FROM per_user", "SELECT by_user.n FROM by_user"),
        ("SELECT p.n FROM per_user AS p", "SELECT p.n FROM by_user AS p"),
        (
            "SELECT per_user.n FROM a AS per_user, (SELECT n FROM per_user) AS q",
            "SELECT per_user.n FROM a AS per_user, (SELECT n FROM by_user AS per_user) AS q",
        ),
        (
            "WITH per_user AS (SELECT n FROM a) SELECT n FROM per_user",
            "WITH per_user AS (SELECT n FROM a) SELECT n FROM per_user",
        ),
    ],
)
def test_definitions_in_the_names_of_now(old: str, new: str) -> None:
    (statement,), _ = parse_all(f"CREATE STREAMING VIEW v AS {old}")
    assert isinstance(statement, CreateStreamingView)
    found = to_sql(Renames({}, {"per_user": "by_user"}).of(statement), pretty=False)
    assert found == f"CREATE STREAMING VIEW v AS {new}"


def test_two_with_one_definition_are_new(lake: FakeLake) -> None:
    edit(lake, *RENAME[1:])
    file = lake.project.root / "project.sql"
    text = file.read_text()
    view = text[text.index("CREATE STREAMING VIEW by_user") :]
    view = view[: view.index(";") + 1]
    file.write_text(text + view.replace("by_user", "twin"))
    found = due(lake)
    assert found["by_user"][0] is found["twin"][0] is Kind.NEW


@pytest.mark.parametrize("point", rename_module.CRASH_POINTS)
@pytest.mark.parametrize("after", [1, 2])
def test_killed_and_started_again(
    lake: FakeLake, monkeypatch: pytest.MonkeyPatch, point: str, after: int
) -> None:
    edit(lake, *RENAME)
    seen = 0

    def die(name: str, table: str = "") -> None:
        nonlocal seen
        seen += name == point
        if name == point and seen == after:
            raise Crash

    monkeypatch.setattr(rename_module, "crash_point", die)
    if point == "3-followed" or after == 1:
        with pytest.raises(Crash):
            rename(changes(lake))
        monkeypatch.undo()
        assert {kind for kind, _ in due(lake).values()} == {Kind.RENAMED}
    rename(changes(lake))
    assert due(lake) == {}
    assert (
        newest(lake, "users").cut_to.keys()
        == newest(lake, "out__sink").cut_to.keys()
        == {"by_user"}
    )
    assert newest(lake, "by_user").view == newest(lake, "by_user__quarantine").view == "by_user"


@pytest.mark.parametrize(
    ("pairs", "why"),
    [
        (
            [
                (
                    "CREATE STREAMING VIEW users",
                    "-- renamed from: per_user\nCREATE STREAMING VIEW people",
                )
            ],
            "still define",
        ),
        (
            [
                (
                    "CREATE STREAMING VIEW users",
                    "-- renamed from: clicks\nCREATE STREAMING VIEW people",
                )
            ],
            "still define",
        ),
        (
            [
                *RENAME[1:],
                (
                    "CREATE STREAMING VIEW users",
                    "-- renamed from: per_user\nCREATE STREAMING VIEW users",
                ),
            ],
            "already",
        ),
        (
            [
                *RENAME,
                (
                    "CREATE STREAMING VIEW users",
                    "-- renamed from: per_user\nCREATE STREAMING VIEW people",
                ),
            ],
            "another view",
        ),
        (
            [
                (
                    "CREATE STREAMING VIEW users",
                    "-- renamed from: out__sink\nCREATE STREAMING VIEW people",
                )
            ],
            "is no view",
        ),
    ],
)
def test_names_that_collide(lake: FakeLake, pairs: list[tuple[str, str]], why: str) -> None:
    edit(lake, *pairs)
    with pytest.raises(ConfigError, match=why) as refused:
        due(lake)
    assert refused.value.condition == "RENAME_COLLIDES"


def test_a_quarantine_in_the_way(lake: FakeLake) -> None:
    lake.create("by_user__quarantine", SIDE)
    edit(lake, *RENAME)
    with pytest.raises(ConfigError, match="by_user__quarantine"):
        due(lake)


def test_a_run_renames_first(lake: FakeLake) -> None:
    edit(lake, *RENAME)
    err = io.StringIO()
    output = TableOutput(io.StringIO(), err)
    project = load_project(lake.project.root)
    assert definitions_to_run(Context(output=output), project, False, False) is project
    assert err.getvalue() == "renaming per_user to by_user\n"
    assert due(lake) == {} and newest(lake, "by_user").began is None
    edit(
        lake, ("CREATE STREAMING VIEW users", "-- renamed from: by_user\nCREATE STREAMING VIEW all")
    )
    with pytest.raises(ConfigError, match="still define"):
        definitions_to_run(Context(output=output), load_project(lake.project.root), False, False)


def test_apply_needs_no_java(
    lake: FakeLake, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(lake.project.root)
    monkeypatch.setattr("headwater.machine.java.find_java", lambda: pytest.fail("asked for Java"))
    edit(lake, *RENAME)
    assert main(["apply", "--auto-approve"]) == 0
    assert "renamed per_user to by_user" in capsys.readouterr().err
    assert main(["plan", "--output", "json"]) == 0
    assert json.loads(capsys.readouterr().out) == []
