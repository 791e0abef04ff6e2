"""The page on ``headwater why`` shows what it prints; HEADWATER_REWRITE_GOLDEN=1 rewrites it."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime

import pytest
from why_lake import CHANGES, ORDERS, Lake, order

from headwater.cli.main import main
from tests.support.pages import DOCS, blocks, check_printed

PAGE = DOCS / "how-to" / "explain-a-row.md"
HOUR = datetime(2026, 1, 1, 10, tzinfo=UTC)


@pytest.fixture(scope="module")
def lake(tmp_path_factory: pytest.TempPathFactory) -> Lake:
    (sql,) = (block.text for block in blocks(PAGE) if block.language == "sql")
    lake = Lake(tmp_path_factory.mktemp("page"), sql)
    late = {**order(5, 1, "Narvik", 5, 5, mark=0), "ordered_at": HOUR.replace(hour=8)}
    rows = [order(1, 1, "Oslo", 50, 1), order(2, 1, "Oslo", 150, 2), order(3, 2, "Bergen", 70, 3)]
    lake.land("orders", ORDERS, [*rows, order(4, 3, "Oslo", 2000, 4), late])
    changes = [(1, "Ann", "UPSERT"), (3, "Bo", "UPSERT"), (3, None, "DELETE")]
    names = ("customer", "name", "_change_type", "_path", "_row")
    held = [(*each, "customers/1.json", n) for n, each in enumerate(changes)]
    lake.land("customers__changes", CHANGES, [dict(zip(names, row, strict=True)) for row in held])
    lake.write("customers", [{"customer": 1, "name": "Ann"}])
    lake.write("per_city", [{"city": "Oslo", "orders": 3, "amount": 2200}])
    lake.write("busy", [{"city": "Oslo"}])
    lake.write("named", [{"order_id": n, "name": "Ann"} for n in (1, 2, 5)])
    lake.write("per_hour", [], HOUR)
    return lake


def test_the_page_shows_what_commands_print(
    lake: Lake, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "100")

    def printed(arguments: Sequence[str]) -> str:
        main(["--project", str(lake.project.root), *arguments])
        return capsys.readouterr().out

    check_printed(PAGE, printed)
