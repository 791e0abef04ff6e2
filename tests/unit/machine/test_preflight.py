"""What a machine lacks is said at once, with packages that its system has."""

from __future__ import annotations

import ast
import subprocess
import sys
from collections import namedtuple
from collections.abc import Callable
from pathlib import Path

import pytest

from headwater.machine import preflight, system_packages
from headwater.machine.preflight import check, main
from headwater.machine.system_packages import install_command

System = Callable[..., str]


@pytest.fixture
def system(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> System:
    """Make a system with one package manager; APT knows some packages."""
    monkeypatch.setattr("os.geteuid", lambda: 0)

    def make(manager: str, *known: str) -> str:
        folder = tmp_path / manager
        folder.mkdir()
        cases = "".join(f"{name}) echo '  Candidate: 1';;" for name in known)
        policy = f'case "$2" in {cases} gone) echo "  Candidate: (none)";; esac'
        for name, text in ((manager, ""), ("apt-cache", policy)):
            program = folder / name
            program.write_text(f"#!/bin/sh\n{text}\n")
            program.chmod(0o755)
        return str(folder)

    return make


@pytest.fixture
def lists(tmp_path: Path) -> Path:
    folder = tmp_path / "lists"
    folder.mkdir()
    (folder / "main_Packages").touch()
    return folder


def test_apt_names_a_package_that_exists_here(system: System, lists: Path) -> None:
    path = system("apt-get", "openjdk-17-jre-headless", "python3-venv")
    assert install_command("java", path, lists) == "apt-get install openjdk-17-jre-headless"
    assert install_command("venv", path, lists) == "apt-get install python3-venv"
    assert install_command("postgresql", path, lists) is None


def test_apt_without_lists_fetches_them_first(system: System, tmp_path: Path) -> None:
    assert install_command("java", system("apt-get"), tmp_path / "none") == "apt-get update"


@pytest.mark.parametrize(
    ("manager", "command"),
    [
        ("dnf", "dnf install java-21-openjdk-headless"),
        ("apk", "apk add openjdk21-jre-headless"),
        ("zypper", "zypper install java-21-openjdk-headless"),
        ("brew", "brew install openjdk@21"),
    ],
)
def test_other_systems_have_names_of_their_own(system: System, manager: str, command: str) -> None:
    assert install_command("java", system(manager)) == command


def test_who_is_not_root_asks_for_it(system: System, monkeypatch: pytest.MonkeyPatch) -> None:
    path = system("apk")
    monkeypatch.setattr("os.geteuid", lambda: 1000)
    assert install_command("java", path) == "sudo apk add openjdk21-jre-headless"


def test_a_system_that_is_not_known_has_no_command(tmp_path: Path) -> None:
    assert install_command("java", str(tmp_path)) is None


def test_a_fitting_machine_is_ok(capsys: pytest.CaptureFixture[str]) -> None:
    assert [each.subject for each in check()] == ["Python", "Java", "Disk", "Memory", "Ports"]
    assert main() == 0
    assert capsys.readouterr().err.count("ok ") == 5


def test_all_that_is_missing_is_said_at_once(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    usage = namedtuple("usage", "total used free")
    monkeypatch.setattr(preflight.shutil, "disk_usage", lambda _: usage(2, 1, 10**8))
    monkeypatch.setattr(preflight, "available_memory", lambda: 10**9)
    monkeypatch.setattr(preflight.importlib.util, "find_spec", lambda name: None)
    assert main() == 3
    said = capsys.readouterr().err
    assert "cannot make environments" in said
    assert "0.1 GB free" in said
    assert "1.0 GB available, 3 GB are needed" in said
    assert said.count("hint: ") == said.count("missing ") >= 3


@pytest.mark.parametrize("module", [preflight, system_packages])
def test_an_old_python_can_say_what_is_missing(module: object) -> None:
    text = Path(module.__file__).read_text()  # type: ignore[attr-defined]
    tree = ast.parse(text, feature_version=(3, 7))
    names = [
        (node.module or "") if isinstance(node, ast.ImportFrom) else node.names[0].name
        for node in tree.body
        if isinstance(node, ast.Import | ast.ImportFrom)
    ]
    first = {name.split(".")[0] for name in names} - {"headwater"}
    assert first <= sys.stdlib_module_names


def test_it_needs_no_package() -> None:
    code = (
        "import sys; sys.path.append('.');"
        "from headwater.machine import pip_install, preflight; preflight.check()"
    )
    root = Path(preflight.__file__).parents[2]
    done = subprocess.run([sys.executable, "-I", "-S", "-c", code], cwd=root, capture_output=True)
    assert (done.returncode, done.stderr) == (0, b"")
