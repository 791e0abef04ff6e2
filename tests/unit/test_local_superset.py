"""Superset as a process: installed once, secrets made once and for their owner only."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from headwater.errors import ServiceError
from headwater.servers import superset as module
from headwater.servers.superset import SupersetServer, environment_python

FIRST_START = SupersetServer.configuration / "superset" / "first_start.py"


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
    server = SupersetServer(tmp_path)
    texts = [server.file(file).read_text() for file in server.files]
    assert "os.environ['LISTEN']" in texts[1]
    assert server.environment()["LISTEN"] == "127.0.0.1"
    assert not [text for text in texts if 'SECRET_KEY = "' in text]


def test_a_machine_without_its_python_is_told_which(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "find_python", lambda versions: None)
    with pytest.raises(ServiceError) as caught:
        environment_python()
    assert caught.value.condition == "SUPERSET_PYTHON"
    assert "3.12 or 3.11" in caught.value.message
    assert "3.1" in caught.value.hint
