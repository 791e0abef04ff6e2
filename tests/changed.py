"""Runs the tests of what has changed, chosen by who imports it.

A unit test runs if it reaches a changed module through any imports. A Spark test reaches nearly
everything, so it runs if the test or a helper beside it imports a changed module itself. Changed
tests always run. Text that no module imports (SQL, settings, documents) runs the unit tests that
are about the repository as a whole.

    python -m tests.changed --since main
"""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterable
from pathlib import Path

import click

from tests.support.imports import ROOT, imported_by, reached_from

TESTS = ROOT / "tests"
ABOUT_ALL = frozenset(
    path for folder in ("unit", "unit/docs") for path in (TESTS / folder).glob("test_*.py")
)
"""Tests that read the repository instead of importing it."""


def changed_files(since: str) -> set[Path]:
    """Return the files that differ from a commit, new ones included.

    Args:
        since: what git knows the commit by.
    """
    base = _git("merge-base", since, "HEAD")
    new = _git("ls-files", "--others", "--exclude-standard")
    return {ROOT / name for name in _git("diff", "--name-only", *base) + new}


def chosen(changed: set[Path]) -> list[Path]:
    """Return the tests to run, sorted.

    Args:
        changed: files that have changed.
    """
    found = {path for path in changed if _is_test(path)}
    found |= {path for path in (TESTS / "unit").rglob("test_*.py") if reached_from(path) & changed}
    found |= {path for path in (TESTS / "spark").rglob("test_*.py") if _near(path) & changed}
    if any(path.suffix != ".py" for path in changed):
        found |= ABOUT_ALL
    if any(path.suffix == ".slt" for path in changed):
        found.add(TESTS / "slt" / "test_slt.py")
    return sorted(path for path in found if path.is_file())


def _is_test(path: Path) -> bool:
    return path.is_relative_to(TESTS) and path.name.startswith("test_")


def _near(path: Path) -> set[Path]:
    """What a Spark test and the helpers of tests that it imports import themselves."""
    own = imported_by(path)
    helpers = {each for each in own if each.is_relative_to(TESTS)}
    return {*own}.union(*map(imported_by, helpers))


def _git(*arguments: str) -> list[str]:
    done = subprocess.run(["git", *arguments], cwd=ROOT, capture_output=True, text=True)
    if done.returncode:
        raise click.ClickException(done.stderr.strip())
    return done.stdout.split()


def _shown(paths: Iterable[Path]) -> str:
    return "\n".join(f"  {path.relative_to(ROOT)}" for path in paths)


@click.command()
@click.option("--since", default="main", show_default=True, help="The commit to compare with.")
@click.option("--list", "only_list", is_flag=True, help="Print the tests, run none.")
@click.argument("arguments", nargs=-1, type=click.UNPROCESSED)
def main(since: str, only_list: bool, arguments: tuple[str, ...]) -> None:
    """Run the tests of what differs from a commit."""
    tests = chosen(changed_files(since))
    if not tests:
        click.echo(f"nothing that a test reaches differs from {since}")
        return
    click.echo(f"{len(tests)} files of tests:\n{_shown(tests)}")
    if not only_list:
        command = [sys.executable, "-m", "pytest", "-q", "-n", "2", "--dist", "loadgroup"]
        lanes = ["-m", "not services and not bench"]
        sys.exit(subprocess.call([*command, *lanes, *map(str, tests), *arguments], cwd=ROOT))


if __name__ == "__main__":
    main()
