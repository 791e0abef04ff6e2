"""The quickstart and the tutorials of changes work as they are written."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.support.executed_pages import execute
from tests.support.pages import DOCS


@pytest.mark.parametrize("page", ["tutorials/change-a-view.md"])
def test_a_page_as_it_is_written(tmp_path: Path, page: str) -> None:
    assert execute(DOCS / page, tmp_path) == []
