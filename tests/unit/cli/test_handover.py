"""Commands that write tables are handed to the process that runs the project."""

from __future__ import annotations

import io
import json
import os
import threading
from pathlib import Path
from typing import Any

import pytest

from headwater.cli.commands import maintain, quarantine, run, versions
from headwater.cli.context import Context
from headwater.cli.handover import CommandAnswer, answer_request
from headwater.cli.main import main
from headwater.cli.output import TableOutput
from headwater.deploy import requests
from headwater.deploy.requests import Requests
from headwater.errors import ServiceError
from headwater.lake.catalogs.lease_record import Owner
from headwater.runtime.lease import Lease
from tests.unit.deploy.changed_lake import BIGINT, Lake

COMMANDS = {
    "rollback v --to 1": ("rollback", {"views": ["v"], "to": 1}),
    "maintain v": ("maintain", {"views": ["v"], "dry_run": False}),
    "quarantine replay clicks": ("quarantine replay", {"table": "clicks", "dry_run": False}),
}


@pytest.fixture
def lake(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Lake:
    found = Lake(tmp_path, "CREATE STREAMING VIEW v AS SELECT user_id FROM clicks;")
    found.land("clicks", 1)
    found.write("v", {"user_id": BIGINT}, {"user_id": 1})
    monkeypatch.setattr(requests, "LOOK_EVERY", 0.01)
    monkeypatch.setattr("headwater.machine.java.find_java", lambda: None)
    return found


@pytest.mark.parametrize("command", COMMANDS)
def test_the_running_process_does_it(
    lake: Lake, command: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    project = lake.fake.project
    name, arguments = COMMANDS[command]
    assert name in run._TASKS

    def refused(*_: object) -> Any:
        raise ServiceError("ALREADY_RUNNING", "this project is run by process 1")

    for module, task in (
        (versions, "rollback_task"), (maintain, "maintain_task"), (quarantine, "replay_task")
    ):  # fmt: skip
        monkeypatch.setattr(module, task, refused)
    asked, heard = Requests(project.config.state), threading.Event()
    seen, went_on = list[Any](), list[Any]()

    def task(_context: Context, _project: Any, given: Any) -> tuple[CommandAnswer, Any]:
        seen.append(given)
        return CommandAnswer(1, ("view", "done"), [("v", "yes")], ["it went on"]), None

    def runs() -> None:
        with asked.heard(heard.set):
            assert heard.wait(30)
        context = Context(project.root, TableOutput(io.StringIO(), io.StringIO()))
        went_on.append(answer_request(context, asked, project, {name: task}))

    runner = threading.Thread(target=runs)
    runner.start()
    while not requests.is_listened_to(project.config.state):
        pass
    code = main(["--project", str(project.root), *command.split()])
    runner.join(30)
    said = capsys.readouterr()
    assert (code, seen, went_on) == (1, [arguments], [project])
    assert "v      yes" in said.out and "it went on" in said.err


def test_a_failure_is_the_answer(lake: Lake) -> None:
    project = lake.fake.project
    state = project.config.state
    state.mkdir(parents=True, exist_ok=True)
    asked, heard = Requests(state), threading.Event()
    (state / requests._REQUEST).write_text('1\n{"command": "rollback", "arguments": {}}')
    with asked.heard(heard.set):
        assert heard.wait(30)

    def fails(*_: object) -> Any:
        raise ServiceError("SNAPSHOT_EXPIRED", "it is gone", hint="no way back")

    err = io.StringIO()
    context = Context(project.root, TableOutput(io.StringIO(), err))
    assert answer_request(context, asked, project, {"rollback": fails}) is project
    answer = json.loads((state / requests._ANSWER).read_text().partition("\n")[2])
    assert answer["code"] == 3 and "it is gone" in answer["notes"][0] and "gone" in err.getvalue()


def test_the_owner_has_run_since_its_process_began(lake: Lake) -> None:
    """A lease that was given back for a while, as an apply does, is as old as its process."""
    config = lake.fake.project.config
    first = Owner.this_process(config.run.lease)
    with Lease.acquire(config):
        pass
    second = Owner.this_process(config.run.lease)
    assert first.since == second.since and str(first).startswith(f"process {os.getpid()} on host")
