"""What versioning.md promises is what the code has: a change of either needs the other."""

from __future__ import annotations

import re
from dataclasses import fields
from pathlib import Path

from headwater import __version__
from headwater.cli.main import cli
from headwater.lake.protocol.commits import COLUMNS
from headwater.lake.protocol.marker import PREFIX, Marker

ROOT = Path(__file__).parents[3]
PAGE = (ROOT / "docs" / "operations" / "versioning.md").read_text(encoding="utf-8")


def names(heading: str) -> list[str]:
    """The names in backticks below a heading, without those that are in sentences about them."""
    section = PAGE.partition(f"## {heading}\n")[2].partition("\n## ")[0]
    (listed,) = (part for part in re.split(r"\n\n|\n- ", section) if part.count("`") > 10)
    return re.findall(r"`([^`]+)`", listed)


def test_the_markers_are_those_of_the_code() -> None:
    assert names("Commit markers") == [PREFIX + field.name for field in fields(Marker)]


def test_the_columns_of_commits_are_those_of_the_code() -> None:
    assert names("The relation `commits`") == [name for name, *_ in COLUMNS]


def test_the_commands_are_those_of_the_code() -> None:
    assert names("The command line") == list(cli.commands)


def test_the_newest_release_of_the_changelog_is_this_version() -> None:
    text = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    releases = re.findall(r"^## (\S+)(?: — (\d{4}-\d\d-\d\d))?$", text, re.M)
    assert releases[0] == ("Unreleased", "")
    assert releases[1][0] == __version__
    assert all(date for _, date in releases[1:])
