"""What a person sees while pip works, and what is said when it fails."""

from __future__ import annotations

import io
from pathlib import Path

import pytest

from headwater.errors import ServiceError
from headwater.machine.pip_install import pip_install

SAID = """Ignoring colorama: markers 'sys_platform == \"win32\"' don't match your environment
Collecting pyspark==4.1.3 (from -r requirements.lock (line 1))
  Downloading pyspark-4.1.3.tar.gz (456.0 MB)
Progress 0 of 456000000
Progress 228000000 of 456000000
  Building wheel for pyspark (pyproject.toml): started
Installing collected packages: pyspark
Successfully installed pyspark-4.1.3
"""


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def fake_pip(folder: Path, said: str, code: int = 0) -> Path:
    (folder / "said").write_text(said)
    program = folder / "python"
    program.write_text(f"#!/bin/sh\ncat {folder}/said\nexit {code}\n")
    program.chmod(0o755)
    return program


def test_plain_lines_say_which_package_of_how_many(tmp_path: Path) -> None:
    lock, err = tmp_path / "requirements.lock", io.StringIO()
    lock.write_text("colorama==1 ; sys_platform == 'win32' \\\n  --hash=x\npyspark==4.1.3 \\\n")
    pip_install(fake_pip(tmp_path, SAID), ["-r", str(lock)], err)
    assert err.getvalue().splitlines() == [
        "  [1/1] pyspark", "  building pyspark", "  writing 1 packages",
    ]  # fmt: skip


def test_a_terminal_shows_the_bytes_of_large_packages(tmp_path: Path) -> None:
    err = Terminal()
    pip_install(fake_pip(tmp_path, SAID), ["pyspark"], err)
    assert "[1] pyspark: 228 of 456 MB" in err.getvalue()
    assert err.getvalue().count("\n") == 1


def test_a_failure_quotes_pip_but_not_its_progress(tmp_path: Path) -> None:
    said = SAID + "Progress 1 of 2\nERROR: No matching distribution found for x\n"
    with pytest.raises(ServiceError) as caught:
        pip_install(fake_pip(tmp_path, said, 1), ["x"], io.StringIO())
    assert caught.value.condition == "PIP_INSTALL"
    assert "No matching distribution" in caught.value.message
    assert "Progress" not in caught.value.message
