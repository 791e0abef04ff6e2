"""What no tracked file may hold: registry hosts, paths of one machine; and what locks keep."""

from __future__ import annotations

import re
import subprocess
from collections import Counter
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]

# Spelt in two parts, so that this file does not hold what it forbids.
HOSTS = [
    "repo1.maven" + ".org", "repo.maven.apache" + ".org", "files.python" + "hosted.org",
    "pypi" + ".org", "registry.npm" + "js.org", "deb.debian" + ".org", "repos.spark-" + "packages",
]  # fmt: skip
MACHINE_PATHS = re.compile(rb"(?<![\w.-])/(?:work|root)/[a-z.]")
HOST = re.compile("|".join(re.escape(host) for host in HOSTS).encode())


def tracked() -> list[Path]:
    """The files that a commit would hold: tracked ones and new ones that are not ignored."""
    command = ["git", "ls-files", "--cached", "--others", "--exclude-standard", "-z"]
    listing = subprocess.run(command, cwd=ROOT, capture_output=True)
    if listing.returncode:
        pytest.skip("not a git checkout")
    paths = [ROOT / name for name in listing.stdout.decode().split("\0") if name]
    return [path for path in paths if path.is_file()]


@pytest.mark.parametrize(("what", "pattern"), [("host", HOST), ("machine path", MACHINE_PATHS)])
def test_no_file_names_a(what: str, pattern: re.Pattern[bytes]) -> None:
    found = [
        f"{path.relative_to(ROOT)}: {match[0].decode()}"
        for path in tracked()
        if (match := pattern.search(path.read_bytes()))
    ]
    assert not found


LOCKS = [
    "requirements.lock",
    "requirements-build.lock",
    "docker/headwater/requirements.lock",
    "docker/superset/requirements.lock",
    "docs/requirements.lock",
]


@pytest.mark.parametrize("name", LOCKS)
def test_locks_pin_by_hash_and_name_no_index(name: str) -> None:
    text = (ROOT / name).read_text()
    assert "http" not in text
    assert "--find-links" not in text
    for requirement in re.split(r"\n(?=[a-z])", text)[1:]:
        assert re.match(r"[a-z0-9-]+==\S+ \\\n    --hash=sha256:", requirement), requirement[:80]


def test_sqlglot_is_the_one_that_raises_on_deep_nesting() -> None:
    text = (ROOT / "requirements.lock").read_text().lower()
    assert "sqlglot==" in text
    assert not re.search(r"sqlglot\[|sqlglotc|sqlglotrs", text)


def test_dependencies_in_pyproject_are_what_the_lock_has() -> None:
    import tomllib

    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    extras = project["optional-dependencies"].values()
    wanted = [*project["dependencies"], *(name for extra in extras for name in extra)]
    lock = (ROOT / "requirements.lock").read_text()
    for requirement in wanted:
        pinned = re.sub(r"\[.*\]", "", requirement).replace("_", "-")
        assert f"\n{pinned} \\" in lock, requirement


def test_packages_of_the_documentation_are_what_their_lock_has() -> None:
    import tomllib

    groups = tomllib.loads((ROOT / "pyproject.toml").read_text())["dependency-groups"]
    lock = (ROOT / "docs" / "requirements.lock").read_text()
    for requirement in groups["docs"]:
        assert f"\n{requirement} \\" in lock, requirement


def test_the_image_has_the_versions_of_the_tests_and_none_of_their_tools() -> None:
    import tomllib

    tested, image = (
        dict(re.findall(r"^(\S+)==(\S+)", (ROOT / path / "requirements.lock").read_text(), re.M))
        for path in ("", "docker/headwater")
    )
    assert image.items() <= tested.items()
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    extras = project.pop("optional-dependencies")
    tools = {requirement.split("==")[0] for requirement in extras["dev"]}
    assert not tools & image.keys()
    kept = [*project["dependencies"], *extras["delta"], *extras["postgres"], *extras["trino"]]
    assert {re.split(r"\[|==", requirement)[0] for requirement in kept} <= image.keys()


def test_files_of_tests_have_names_of_their_own() -> None:
    """Pytest knows them by these, and reads none where two are the same."""
    names = Counter(path.name for path in (ROOT / "tests").rglob("test_*.py"))
    assert [name for name, files in names.items() if files > 1] == []


def test_ci_runs_make_test() -> None:
    script = ROOT / ".ci" / "run"
    assert script.read_text().rstrip().endswith("\nmake test")
    assert script.stat().st_mode & 0o111
