"""The page on the tree of a query shows what commands print."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest

from headwater.cli.main import main
from tests.support.pages import DOCS, blocks, check_printed

PAGE = DOCS / "architecture" / "a-query-from-text-to-tree-to-sql.md"


def test_the_page_shows_what_commands_print(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "100")
    (tmp_path / "headwater.toml").write_text('name = "page"\n')
    defined = [block.text for block in blocks(PAGE) if block.text.startswith("CREATE")]
    (tmp_path / "page.sql").write_text("\n".join(defined))

    def printed(arguments: Sequence[str]) -> str:
        assert main(["--project", str(tmp_path), *arguments]) == 0
        return capsys.readouterr().out

    check_printed(PAGE, printed)
