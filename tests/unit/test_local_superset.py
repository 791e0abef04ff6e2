"""Superset as a process: installed once, secrets made once and for their owner only."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from docker.local import superset as module
from docker.local.service import CONFIGURATION
from docker.local.superset import Superset, environment_python
from headwater.errors import ServiceError

FIRST_START = CONFIGURATION / "superset" / "first_start.py"


@pytest.fixture
def installs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The cache; what makes an environment gives it a pip that does as the file `fails` says."""

    def create(folder: Path, *, with_pip: bool) -> None:
        assert with_pip
        python = folder / "bin" / "python"
        python.parent.mkdir(parents=True)
        python.write_text(
            f"#!/bin/sh\necho \"$@\" >> {tmp_path}/calls\necho 'Collecting flask==1'\n"
            f"echo 'no matching distribution'\ntest ! -e {tmp_path}/fails\n"
        )
        python.chmod(0o755)

    monkeypatch.setenv("HEADWATER_JARS", str(tmp_path / "cache"))
    monkeypatch.setattr(module.venv, "create", create)
    return tmp_path


def test_it_is_installed_once_with_hashes_and_pinned_builders(
    installs: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    python = environment_python()
    assert environment_python() == python
    calls = (installs / "calls").read_text().splitlines()
    assert len(calls) == 2
    assert all("--require-hashes" in call for call in calls)
    assert "--no-build-isolation" in calls[1]
    said = capsys.readouterr().err
    assert said.count("installing Superset") == 1
    assert "[1] flask" in said


def test_one_that_was_installed_in_part_is_made_anew(
    installs: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (installs / "fails").touch()
    with pytest.raises(ServiceError) as caught:
        environment_python()
    assert caught.value.condition == "SUPERSET_INSTALL"
    assert "no matching distribution" in caught.value.message
    assert caught.value.hint
    (installs / "fails").unlink()
    assert environment_python().exists()


def test_another_lock_is_another_environment(
    installs: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = environment_python()
    other = installs / "requirements.lock"
    other.write_text("flask==2\n")
    monkeypatch.setattr(module, "LOCK", other)
    assert environment_python() != before


def first_start(home: Path) -> str:
    """Run it over a folder whose database is ready: making one needs Superset itself."""
    release = home / "packages" / "apache_superset-6.1.0.dist-info" / "METADATA"
    release.parent.mkdir(parents=True, exist_ok=True)
    release.write_text("Metadata-Version: 2.1\nName: apache-superset\nVersion: 6.1.0\n")
    (home / "ready").write_text("6.1.0")
    environment = os.environ | {"SUPERSET_HOME": str(home), "PYTHONPATH": str(home / "packages")}
    done = subprocess.run(
        [sys.executable, FIRST_START], env=environment, capture_output=True, text=True, check=True
    )
    return done.stdout


def test_secrets_are_made_once_and_said_once(tmp_path: Path) -> None:
    said = first_start(tmp_path)
    password = (tmp_path / "admin_password").read_text()
    assert len(password) >= 24
    assert said.count(password) == 1
    for name in ("secret_key", "admin_password"):
        assert (tmp_path / name).stat().st_mode & 0o777 == 0o600
    assert (tmp_path / "secret_key").read_text() not in said
    assert first_start(tmp_path) == ""
    assert (tmp_path / "admin_password").read_text() == password


def test_its_files_hold_no_secret_and_it_listens_where_it_is_told(tmp_path: Path) -> None:
    server = Superset(tmp_path)
    texts = [(CONFIGURATION / file).read_text() for file in server.files]
    assert "os.environ['LISTEN']" in texts[1]
    assert server.environment()["LISTEN"] == "127.0.0.1"
    assert not [text for text in texts if 'SECRET_KEY = "' in text]
