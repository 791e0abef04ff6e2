"""What no tracked file may hold: registry hosts, paths of one machine; and what locks keep."""

from __future__ import annotations

import re
import subprocess
import tomllib
from collections import Counter
from importlib import metadata
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

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
    "requirements-java.lock",
    "docker/headwater/requirements.lock",
    "docs/requirements.lock",
    "headwater/machine/builders.lock",
    "headwater/servers/files/superset/requirements.lock",
    "headwater/servers/files/trino/java.lock",
]


@pytest.mark.parametrize("name", LOCKS)
def test_locks_pin_by_hash_and_name_no_index(name: str) -> None:
    text = (ROOT / name).read_text()
    assert "://" not in text
    assert "--find-links" not in text
    for requirement in re.split(r"\n(?=[a-z])", text)[1:]:
        pin = r"[a-z0-9-]+==\S+( ; [^\\\n]+)? \\\n    --hash=sha256:"
        assert re.match(pin, requirement), requirement[:80]


def locked(name: str) -> dict[str, str]:
    """The versions of a lock file by the names of packages."""
    return dict(re.findall(r"^([a-z0-9-]+)==(\S+)", (ROOT / name).read_text(), re.M))


def test_sqlglot_is_the_one_that_raises_on_deep_nesting() -> None:
    text = (ROOT / "requirements.lock").read_text().lower()
    assert "sqlglot==" in text
    assert not re.search(r"sqlglot\[|sqlglotc|sqlglotrs", text)


def test_what_users_install_has_ranges_and_the_lock_is_within_them() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    extras = project["optional-dependencies"]
    versions = locked("requirements.lock") | locked("requirements-java.lock")
    ours = {"dev", "build", "demo"}
    for name, requirements in {"": project["dependencies"], **extras}.items():
        for requirement in map(Requirement, requirements):
            version = versions[canonicalize_name(requirement.name)]
            assert requirement.specifier.contains(version), requirement
            operators = {each.operator for each in requirement.specifier}
            assert operators == ({"=="} if name in ours else {">=", "<"}), requirement


@pytest.mark.parametrize("python", ["3.11.0", "3.11.3", "3.12.0", "3.13.0", "3.14.0"])
@pytest.mark.parametrize("platform", ["linux", "darwin"])
def test_the_lock_is_complete_for_every_python_and_system(python: str, platform: str) -> None:
    """Pip refuses a package without a hash: a dependency of older Pythons only was once missing."""
    place = {
        "python_full_version": python,
        "python_version": python.rpartition(".")[0],
        "sys_platform": platform,
        "platform_system": platform.capitalize(),
    }
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    extras = project["optional-dependencies"]
    roots = [*project["dependencies"], *extras["dev"], *extras["demo"], *extras["delta"]]
    waiting = [Requirement(text) for text in [*roots, *extras["postgres"], *extras["trino"]]]
    seen = set()
    while waiting:
        requirement = waiting.pop()
        key = (canonicalize_name(requirement.name), frozenset(requirement.extras))
        if key in seen:
            continue
        seen.add(key)
        try:
            needs = metadata.requires(requirement.name) or ()
        except metadata.PackageNotFoundError:
            continue  # not for this machine: what it needs is not known here
        for each in map(Requirement, needs):
            chosen = [*requirement.extras, ""]
            marker = each.marker
            if marker is None or any(marker.evaluate({**place, "extra": one}) for one in chosen):
                waiting.append(each)
    assert {name for name, _ in seen} <= {*locked("requirements.lock"), "packaging"}


def test_packages_of_the_documentation_are_what_their_lock_has() -> None:
    groups = tomllib.loads((ROOT / "pyproject.toml").read_text())["dependency-groups"]
    lock = (ROOT / "docs" / "requirements.lock").read_text()
    for requirement in groups["docs"]:
        assert f"\n{requirement} \\" in lock, requirement


def test_the_image_has_the_versions_of_the_tests_and_none_of_their_tools() -> None:
    tested, image = locked("requirements.lock"), locked("docker/headwater/requirements.lock")
    assert image.items() <= tested.items()
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    extras = project.pop("optional-dependencies")
    assert not {Requirement(text).name for text in extras["dev"]} & image.keys()
    kept = [*project["dependencies"], *extras["delta"], *extras["postgres"], *extras["trino"]]
    assert {Requirement(text).name for text in kept} <= image.keys()


def test_files_of_tests_have_names_of_their_own() -> None:
    """Pytest knows them by these, and reads none where two are the same."""
    names = Counter(path.name for path in (ROOT / "tests").rglob("test_*.py"))
    assert [name for name, files in names.items() if files > 1] == []


def test_ci_runs_make_test_and_a_part_of_the_long_lanes() -> None:
    script = ROOT / ".ci" / "run"
    assert script.read_text().rstrip().endswith("\nmake test\nmake lane")
    assert script.stat().st_mode & 0o111
