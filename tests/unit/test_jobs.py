"""The jobs for schedulers run commands that exist, with options that exist."""

from __future__ import annotations

import runpy
import shlex
import subprocess
import sys
from collections.abc import Sequence
from datetime import timedelta
from pathlib import Path
from types import ModuleType
from typing import Any

import click
import pytest
from ruamel.yaml import YAML

from headwater.cli.main import cli

ROOT = Path(__file__).parents[2]
JOBS = ROOT / "jobs"
ENTRY_POINTS = [
    ("run", ["--once", "--view", "v"], "headwater run"),
    ("maintain", ["orders", "--dry-run"], "headwater maintain"),
    ("replay", ["orders", "--dry-run"], "headwater quarantine replay"),
    ("verify", ["v", "--engine", "trino"], "headwater verify"),
    ("doctor", ["v", "--output", "json"], "headwater doctor"),
    ("dashboards", ["--trino-url", "http://127.0.0.1:8080"], "headwater dashboards push"),
]


def parse(words: Sequence[str]) -> str:
    """Parse a command line as the program does, without running it; return the command's path.

    The project's folder is on another machine, so this one's root takes its place.
    """
    command: click.Command = cli
    context, path, rest = None, [], list(words)
    if "--project" in rest:
        rest[rest.index("--project") + 1] = "/"
    while True:
        context = command.make_context(rest[0], rest[1:], parent=context)
        path.append(str(context.info_name))
        if not isinstance(command, click.Group):
            return " ".join(path)
        name, found, rest = command.resolve_command(context, rest_of(context))
        assert found, words
        command, rest = found, [str(name), *rest]


def rest_of(context: click.Context) -> list[str]:
    """What a group has not parsed: its command's name and the words after it."""
    return [*context._protected_args, *context.args]


def test_a_wrong_command_is_seen() -> None:
    assert parse(["headwater", "--project", "x", "run", "--once"]) == "headwater run"
    for wrong in (["headwater", "rum"], ["headwater", "run", "--twice"]):
        with pytest.raises(click.UsageError):
            parse(wrong)


@pytest.mark.parametrize(("name", "further", "command"), ENTRY_POINTS)
def test_an_entry_point_runs_its_command(
    name: str, further: list[str], command: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    called: list[list[str]] = []

    def record(arguments: list[str]) -> int:
        called.append(arguments)
        return 7

    monkeypatch.setattr("headwater.cli.main.main", record)
    monkeypatch.setattr(sys, "path", [*sys.path])
    monkeypatch.setattr(sys, "argv", [f"{name}.py", str(tmp_path), *further])
    with pytest.raises(SystemExit) as ended:
        runpy.run_path(str(JOBS / f"{name}.py"), run_name="__main__")
    assert ended.value.code == 7
    assert called == [["--project", str(tmp_path), *command.split()[1:], *further]]
    assert parse(["headwater", *called[0]]) == command


def test_every_entry_point_is_tried() -> None:
    files = {file.stem for file in JOBS.glob("*.py")} - {"__init__"}
    assert files == {name for name, _, _ in ENTRY_POINTS}


def test_without_a_folder_an_entry_point_says_its_usage() -> None:
    for name, _, _ in ENTRY_POINTS:
        for words in ([], ["--help"]):
            command = [sys.executable, JOBS / f"{name}.py", *words]
            done = subprocess.run(command, capture_output=True, text=True)
            assert done.returncode == 1
            assert f"jobs/{name}.py DIR" in done.stderr


def test_the_dag_calls_commands_that_exist(monkeypatch: pytest.MonkeyPatch) -> None:
    dag: dict[str, Any] = {}
    tasks: list[dict[str, Any]] = []

    class Dag:
        def __init__(self, **options: Any) -> None:
            dag.update(options)

        def __enter__(self) -> Dag:
            return self

        def __exit__(self, *_: object) -> None:
            dag["closed"] = True

    def operator(**options: Any) -> str:
        tasks.append(options)
        return options["task_id"]

    def chain(*names: str) -> None:
        dag["order"] = names

    modules = {
        "airflow": {}, "airflow.providers": {}, "airflow.providers.standard": {},
        "airflow.providers.standard.operators": {},
        "airflow.providers.standard.operators.bash": {"BashOperator": operator},
        "airflow.sdk": {"DAG": Dag, "chain": chain},
    }  # fmt: skip
    for name, members in modules.items():
        module = ModuleType(name)
        vars(module).update(members)
        monkeypatch.setitem(sys.modules, name, module)
    runpy.run_path(str(JOBS / "airflow" / "headwater_dag.py"))
    assert dag["closed"] and dag["order"] == tuple(task["task_id"] for task in tasks)
    assert dag["max_active_runs"] == 1, "one process at a time may own a project"
    assert dag["default_args"]["retry_delay"] > timedelta(0)
    paths = [parse(shlex.split(task["bash_command"])) for task in tasks]
    assert paths == [f"headwater {name}" for name in ("run", "maintain", "verify", "doctor")]


def test_the_job_of_kubernetes_calls_commands_that_exist() -> None:
    job, claim = YAML(typ="safe").load_all(JOBS / "k8s" / "cronjob.yaml")
    assert (job["kind"], claim["kind"]) == ("CronJob", "PersistentVolumeClaim")
    assert job["spec"]["concurrencyPolicy"] == "Forbid", "one process at a time may own a project"
    pod = job["spec"]["jobTemplate"]["spec"]["template"]["spec"]
    (container,) = pod["containers"]
    assert container["command"] == ["sh", "-ec"]
    lines = [shlex.split(line) for line in container["args"][0].splitlines()]
    assert [parse(words) for words in lines] == [
        "headwater run", "headwater maintain", "headwater verify",
    ]  # fmt: skip
    (state,) = (each["value"] for each in container["env"])
    (mount,) = container["volumeMounts"]
    assert Path(state).is_relative_to(mount["mountPath"])
    (volume,) = pod["volumes"]
    assert volume["name"] == mount["name"]
    assert volume["persistentVolumeClaim"]["claimName"] == claim["metadata"]["name"]
