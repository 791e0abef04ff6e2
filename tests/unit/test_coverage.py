"""Every row of docs/features.md is proved by tests that exist (``tests/coverage.toml``)."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

ROOT = Path(__file__).parents[2]
TABLE = tomllib.loads((ROOT / "tests" / "coverage.toml").read_text())


def features() -> list[str]:
    """Return the first cells of the feature tables, without their headings."""
    page = (ROOT / "docs" / "features.md").read_text()
    rows = re.findall(r"^\| ([^|]+?) \|", page, re.MULTILINE)
    return [row for row in rows if row != "feature"]


def exists(test: str) -> bool:
    """Return whether a test is there: ``file::name`` for Python, a path for .slt and goldens."""
    path, _, name = test.partition("::")
    file = ROOT / "tests" / path
    return file.exists() and (not name or f"def {name}(" in file.read_text())


def test_there_are_feature_tables() -> None:
    assert len(features()) > 20


def test_every_feature_has_tests() -> None:
    assert [name for name in features() if not TABLE.get(name)] == []


def test_every_named_test_exists() -> None:
    tests = {test for tests in TABLE.values() for test in tests}
    assert sorted(test for test in tests if not exists(test)) == []


def test_no_row_is_left_over() -> None:
    assert sorted(set(TABLE) - set(features())) == []


def test_readme_asks_for_views_that_a_new_project_has() -> None:
    section = (ROOT / "README.md").read_text().split("## Quickstart", 1)[1]
    section = section.split("\n## ", 1)[0]
    asked = set(re.findall(r"FROM (\w+)", section))
    template = (ROOT / "headwater" / "cli" / "template" / "views.sql").read_text()
    assert asked
    assert asked <= set(re.findall(r"CREATE STREAMING VIEW (\w+)", template))
