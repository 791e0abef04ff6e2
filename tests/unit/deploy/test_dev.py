"""``headwater dev`` shows what a save has changed: errors, or the first rows."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

import pytest

from headwater.deploy.dev import Dev
from headwater.lake.protocol.marker import Marker
from tests.unit.serve.fake_lake import CLICKS, TABLES, make_lake

AT = datetime(2024, 1, 1, 10, tzinfo=UTC)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    lake = make_lake(tmp_path)
    lake.create("clicks", CLICKS)
    rows = [{"user_id": n % 2, "ts": AT, "score": float(n)} for n in range(4)]
    lake.append("clicks", rows, Marker("clicks", 1, 0, {}, {}, watermark=0))
    return tmp_path


def save(folder: Path, old: str = "", new: str = "") -> None:
    file = folder / "project.sql"
    text = file.read_text()
    assert old in text
    file.write_text(text.replace(old, new, 1) if old else text + "\n" + new)


def test_a_save_shows_the_rows_of_what_changed(folder: Path) -> None:
    dev = Dev(folder)
    first = dev.look()
    assert first and first.views == 2 and not first.changed and not first.errors
    assert dev.look() is None
    save(folder, "count(*) AS clicks, sum(score)", "count(*) * 10 AS clicks, sum(score)")
    look = dev.look()
    (changed,) = look.changed
    assert changed.view == "per_user" and changed.columns[:2] == ("user_id", "clicks")
    assert sorted(row[:2] for row in changed.rows) == [(0, 20), (1, 20)]


def test_windows_that_are_open_are_shown_and_views_on_views(folder: Path) -> None:
    dev = Dev(folder, limit=3)
    dev.look()
    save(folder, new="CREATE STREAMING VIEW doubled AS SELECT clicks * 2 AS n FROM per_hour;")
    (changed,) = dev.look().changed
    assert (changed.view, changed.rows) == ("doubled", ((8,),))


def test_an_error_is_shown_and_the_view_again_when_it_is_mended(folder: Path) -> None:
    dev = Dev(folder)
    dev.look()
    save(folder, "FROM clicks GROUP BY user_id", "FROM klicks GROUP BY user_id")
    look = dev.look()
    assert [error.condition for error in look.errors] == ["UNKNOWN_TABLE"] and not look.changed
    save(folder, "FROM klicks", "FROM clicks")
    assert [each.view for each in dev.look().changed] == ["per_user"]


def test_a_comment_shows_nothing(folder: Path) -> None:
    dev = Dev(folder)
    dev.look()
    save(folder, new="-- a remark")
    look = dev.look()
    assert look is not None and not look.changed and not look.errors


def test_what_has_not_landed_is_named(folder: Path) -> None:
    dev = Dev(folder)
    dev.look()
    table = TABLES.split("CREATE STREAMING")[0].replace("TABLE clicks", "TABLE taps")
    save(folder, new=table + "CREATE STREAMING VIEW t AS SELECT user_id FROM taps;")
    (changed,) = dev.look().changed
    assert changed.error and changed.error.condition == "NO_DATA_YET"
    assert "taps" in changed.error.message
