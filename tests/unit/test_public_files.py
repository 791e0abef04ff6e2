"""The files for GitHub, editors and hooks have their form, and name what there is."""

from __future__ import annotations

import itertools
import json
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from ruamel.yaml import YAML

ROOT = Path(__file__).parents[2]
GITHUB = ROOT / ".github"
WORKFLOWS = sorted((GITHUB / "workflows").glob("*.yml"))
FORMS = ("wrong-result", "crash", "idea")
TARGETS = set(re.findall(r"^([a-z][a-z-]*):", (ROOT / "Makefile").read_text(), re.MULTILINE))
LOCK = (ROOT / "requirements.lock").read_text()
SCHEMAS = [
    *(("github-workflows", file) for file in WORKFLOWS),
    ("dependabot", GITHUB / "dependabot.yml"),
    *(("github-issue-forms", GITHUB / "ISSUE_TEMPLATE" / f"{name}.yml") for name in FORMS),
    ("github-issue-config", GITHUB / "ISSUE_TEMPLATE" / "config.yml"),
]

every = pytest.mark.parametrize("file", WORKFLOWS, ids=lambda file: file.name)


def load(file: Path) -> dict[str, Any]:
    return YAML(typ="safe", pure=True).load(file)


def steps(job: dict[str, Any]) -> list[dict[str, Any]]:
    return job["steps"]


def matrix(job: dict[str, Any]) -> Iterator[dict[str, str]]:
    """The values of each job that a matrix makes."""
    axes = job.get("strategy", {}).get("matrix", {})
    for values in itertools.product(*axes.values()):
        yield dict(zip(axes, map(str, values), strict=True))


def made(file: Path) -> set[str]:
    """The targets that a workflow makes."""
    found: set[str] = set()
    for job in load(file)["jobs"].values():
        for values, step in itertools.product(matrix(job), steps(job)):
            text = re.sub(
                r"\$\{\{ matrix\.(\w+) \}\}",
                lambda name, of=values: of[name[1]],
                step.get("run", ""),
            )
            for words in re.findall(r"\bmake ((?:[a-z-]+ ?)+)", text):
                found |= set(words.split())
    return found


def validate(schema: str, *files: Path) -> int:
    command = [sys.executable, "-m", "check_jsonschema", "--builtin-schema", f"vendor.{schema}"]
    return subprocess.run([*command, *files], capture_output=True).returncode


@pytest.mark.parametrize("schema", dict.fromkeys(schema for schema, _ in SCHEMAS))
def test_a_file_has_the_form_that_github_reads(schema: str) -> None:
    files = [file for of, file in SCHEMAS if of == schema]
    assert files
    assert validate(schema, *files) == 0


def test_a_wrong_workflow_is_seen(tmp_path: Path) -> None:
    wrong = tmp_path / "ci.yml"
    text = (GITHUB / "workflows" / "ci.yml").read_text()
    wrong.write_text(text.replace("runs-on:", "runs-at:", 1))
    assert validate("github-workflows", wrong) == 1


@every
def test_a_workflow_makes_targets_that_there_are(file: Path) -> None:
    assert made(file) <= TARGETS


def test_every_lane_is_made_by_a_workflow() -> None:
    lanes = {name for name in TARGETS if name.startswith(("test-", "fuzz"))} | {"faults", "docs"}
    lanes -= {"test-changed", "test-long"}  # a choice among the lanes, and several of them
    assert lanes <= set.union(*map(made, WORKFLOWS))


@every
def test_a_workflow_may_only_read_unless_a_job_says_more(file: Path) -> None:
    workflow = load(file)
    assert workflow["permissions"] == {"contents": "read"}
    for job in workflow["jobs"].values():
        assert job["timeout-minutes"] <= 60
        uses = [step["uses"] for step in steps(job) if "uses" in step]
        assert all(re.fullmatch(r"[\w./-]+@(v\d+|release/v1)", each) for each in uses)


def test_the_fast_lane_runs_on_each_python_that_is_supported() -> None:
    fast = load(GITHUB / "workflows" / "ci.yml")["jobs"]["fast"]
    versions = [values["python"] for values in matrix(fast)]
    assert versions == ["3.11", "3.12", "3.13", "3.14"]
    assert f'requires-python = ">={versions[0]}' in (ROOT / "pyproject.toml").read_text()


def test_one_action_has_one_version() -> None:
    text = "".join(file.read_text() for file in WORKFLOWS)
    found = dict(re.findall(r"uses: (\S+)@(\S+)", text))
    assert set(re.findall(r"uses: (\S+)@(\S+)", text)) == set(found.items())


@pytest.mark.parametrize("name", FORMS)
def test_a_form_asks_for_what_doctor_says(name: str) -> None:
    fields = load(GITHUB / "ISSUE_TEMPLATE" / f"{name}.yml")["body"]
    (doctor,) = (field for field in fields if field.get("id") == "doctor")
    assert "headwater doctor --output json" in doctor["attributes"]["label"]
    assert doctor.get("validations", {}).get("required", False) == (name != "idea")


def test_hooks_have_the_versions_of_the_lock_and_run_tests_that_there_are() -> None:
    repos = load(ROOT / ".pre-commit-config.yaml")["repos"]
    (ruff,) = (each["rev"] for each in repos if each["repo"].endswith("ruff-pre-commit"))
    assert f"\nruff=={ruff.removeprefix('v')} " in LOCK
    (local,) = (each["hooks"] for each in repos if each["repo"] == "local")
    for hook in local:
        paths = re.findall(r"tests/\S+", hook["entry"])
        assert paths
        assert all((ROOT / path).exists() for path in paths)


def test_the_devcontainer_has_what_setup_needs() -> None:
    container = json.loads((ROOT / ".devcontainer" / "devcontainer.json").read_text())
    (java,) = container["features"].values()
    assert java["version"] == "17"
    target = container["postCreateCommand"].removeprefix("make ")
    assert target in TARGETS
