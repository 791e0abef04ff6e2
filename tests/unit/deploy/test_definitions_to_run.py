"""Which definitions a run keeps: those of the files, or those that the lake has."""

from __future__ import annotations

import io
from pathlib import Path

import pyarrow as pa
import pytest

from headwater.cli.commands import apply as module
from headwater.cli.commands.apply import definitions_to_run
from headwater.cli.context import Context
from headwater.cli.output import TableOutput
from headwater.errors import ServiceError, TerminalError
from headwater.lake.protocol.marker import Marker
from headwater.lake.reserved_names import DEFINITION, SWAPPING
from headwater.plan.planner import plan_project
from headwater.project import load_project
from tests.unit.serve.fake_lake import CLICKS, FakeLake, make_lake

ROWS = pa.schema(
    {"user_id": pa.int64(), "clicks": pa.int64(), "score": pa.float64(), "scores": pa.int64()}
)
OLD, NEW = "count(*) AS clicks, sum(score)", "count(*) * 2 AS clicks, sum(score)"


@pytest.fixture
def lake(tmp_path: Path) -> FakeLake:
    """A view that has run, and whose file is another one now."""
    found = make_lake(tmp_path)
    plan = plan_project(found.project.catalog)["per_user"]
    found.create("clicks", CLICKS)
    found.create("per_user", ROWS)
    found.append("per_user", [], Marker("per_user", 1, 0, {}, {}, fingerprint=plan.fingerprint))
    table = found.catalog.load_table((found.project.config.namespace, "per_user"))
    with table.transaction() as change:
        change.set_properties({DEFINITION: plan.view.definition})
    file = tmp_path / "project.sql"
    file.write_text(file.read_text().replace(OLD, NEW))
    return found


def kept(lake: FakeLake, *, first: bool = False, once: bool = True) -> tuple[str, str]:
    """Which definition a run keeps, and what it says."""
    said = io.StringIO()
    project = load_project(lake.project.root)
    context = Context(lake.project.root, TableOutput(said, said))
    found = definitions_to_run(context, project, first, once)
    text = found.catalog.views["per_user"].text
    return ("new" if "* 2" in text else "old"), said.getvalue()


def answers(monkeypatch: pytest.MonkeyPatch, answer: list[str] | Exception | None) -> None:
    def carry_out(*_: object) -> list[str] | None:
        if isinstance(answer, Exception):
            raise answer
        return answer

    monkeypatch.setattr(module, "carry_out", carry_out)


def test_once_applies_in_a_project_that_nobody_has_applied(lake, monkeypatch) -> None:
    answers(monkeypatch, [])
    assert kept(lake)[0] == "new"
    assert kept(lake, once=False)[0] == "old"
    assert kept(lake, once=False, first=True)[0] == "new"
    lake.project.config.state.mkdir(parents=True)
    (lake.project.config.state / module.APPLIED).touch()
    which, said = kept(lake)
    assert which == "old" and "per_user" in said and "headwater apply" in said


def test_what_cannot_be_applied_keeps_the_others_running(lake, monkeypatch) -> None:
    answers(monkeypatch, TerminalError("NOT_YET", "it is a Delta table"))
    which, said = kept(lake)
    assert which == "old" and "it is a Delta table" in said
    answers(monkeypatch, None)
    assert kept(lake)[0] == "old"
    answers(monkeypatch, ServiceError("APPLY_FAILED", "no"))
    with pytest.raises(ServiceError):
        kept(lake)


def test_a_table_that_cannot_be_read_is_left_to_the_run(lake) -> None:
    table = lake.catalog.load_table((lake.project.config.namespace, "per_user"))
    Path(table.metadata_location.removeprefix("file://")).unlink()
    assert kept(lake) == ("new", "")


def test_an_apply_that_was_interrupted_has_to_be_finished(lake) -> None:
    lake.create("per_user__next", ROWS)
    shadow = lake.catalog.load_table((lake.project.config.namespace, "per_user__next"))
    with shadow.transaction() as change:
        change.set_properties({SWAPPING: "true"})
    with pytest.raises(TerminalError) as refused:
        kept(lake, once=False)
    assert refused.value.condition == "APPLY_UNFINISHED"
