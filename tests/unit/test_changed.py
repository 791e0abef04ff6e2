"""The tests of what has changed are those that reach it."""

from __future__ import annotations

from pathlib import Path

from tests.changed import chosen
from tests.support.imports import ROOT, reached_from


def names(*changed: str) -> set[str]:
    found = chosen({ROOT / each for each in changed})
    return {str(path.relative_to(ROOT / "tests")) for path in found}


def test_a_unit_test_runs_if_it_reaches_the_module_through_others() -> None:
    assert ROOT / "headwater/errors/__init__.py" in reached_from(
        Path(__file__).parent / "test_config.py"
    )
    assert "unit/test_config.py" in names("headwater/errors/__init__.py")
    assert "unit/dialect/test_text.py" not in names("headwater/lake/protocol/commit.py")


def test_a_spark_test_runs_if_it_imports_the_module_itself() -> None:
    found = names("headwater/lake/protocol/commit.py")
    assert "spark/lake/test_commit.py" in found
    assert "spark/intake/test_flat.py" not in found


def test_changed_tests_and_files_that_only_tests_read_choose_theirs() -> None:
    assert names("tests/unit/test_layers.py") == {"unit/test_layers.py"}
    assert "slt/test_slt.py" in names("tests/slt/over/ties.slt")
    assert {"unit/test_coverage.py"} <= names("README.md")
