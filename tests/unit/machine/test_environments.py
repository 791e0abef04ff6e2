"""Environments of servers: made once, by hash, and anew when they were made in part."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest

from headwater.errors import ServiceError
from headwater.machine.environments import environment, find_python


@pytest.fixture
def python(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A Python whose environments have a pip that does as the file `fails` says."""
    pip = tmp_path / "made"
    pip.write_text(
        f"#!/bin/sh\necho \"$@\" >> {tmp_path}/calls\necho 'Collecting flask==1'\n"
        f"echo 'no matching distribution'\ntest ! -e {tmp_path}/fails\n"
    )
    pip.chmod(0o755)
    program = tmp_path / "python"
    program.write_text(f'#!/bin/sh\nmkdir -p "$3/bin" && cp {pip} "$3/bin/python"\n')
    program.chmod(0o755)
    monkeypatch.setenv("HEADWATER_JARS", str(tmp_path / "cache"))
    return program


@pytest.fixture
def lock(tmp_path: Path) -> Path:
    path = tmp_path / "requirements.lock"
    path.write_text("flask==1 \\\n    --hash=sha256:0\n")
    return path


def test_it_is_made_once_with_hashes_and_pinned_builders(
    python: Path, lock: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    made = environment("board", lock, python)
    assert environment("board", lock, python) == made
    calls = (python.parent / "calls").read_text().splitlines()
    assert len(calls) == 2
    assert all("--require-hashes" in call for call in calls)
    assert "builders.lock" in calls[0]
    assert "--no-build-isolation" in calls[1]
    said = capsys.readouterr().err
    assert said.count("installing board") == 1
    assert "[1/1] flask" in said


def test_one_that_was_made_in_part_is_made_anew(python: Path, lock: Path) -> None:
    (python.parent / "fails").touch()
    with pytest.raises(ServiceError) as caught:
        environment("board", lock, python)
    assert caught.value.condition == "PYTHON_ENVIRONMENT"
    assert "no matching distribution" in caught.value.message
    assert caught.value.hint
    (python.parent / "fails").unlink()
    assert environment("board", lock, python).exists()


def test_another_lock_is_another_environment(python: Path, lock: Path) -> None:
    before = environment("board", lock, python)
    lock.write_text("flask==2\n")
    assert environment("board", lock, python) != before


def test_a_python_is_found_by_its_version(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert find_python(["%d.%d" % sys.version_info[:2]]) == Path(sys.executable)  # noqa: UP031
    program = tmp_path / "python3.99"
    program.write_text("#!/bin/sh\necho 3.99\n")
    program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}{os.pathsep}{os.environ['PATH']}")
    assert find_python(["3.99"]) == program
    program.write_text("#!/bin/sh\nexit 127\n")  # as a version manager answers for one it lacks
    assert find_python(["3.99"]) is None
