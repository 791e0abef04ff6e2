"""The quickstart works as it is written: its commands, in an empty folder, give what it shows."""

from __future__ import annotations

from pathlib import Path

from tests.support.executed_pages import execute
from tests.support.pages import DOCS


def test_the_quickstart_as_it_is_written(tmp_path: Path) -> None:
    """Shell blocks run one after the other in one shell; new SQL files are written between them."""
    assert execute(DOCS / "quickstart.md", tmp_path) == []
