"""The mark that a source has bad rows its quarantine may lack."""

from __future__ import annotations

from pathlib import Path

from headwater.engine.streaming.quarantine import WaitingMark


def test_a_mark_stays_until_it_is_cleared(tmp_path: Path) -> None:
    waiting = WaitingMark(tmp_path / "clicks__quarantine" / "v1")
    assert waiting.seen() is None
    waiting.mark()
    mark = waiting.seen()
    assert mark
    assert WaitingMark(tmp_path / "clicks__quarantine" / "v1").seen() == mark
    waiting.clear(mark)
    assert waiting.seen() is None


def test_a_mark_made_meanwhile_is_not_cleared(tmp_path: Path) -> None:
    waiting = WaitingMark(tmp_path)
    waiting.mark()
    before = waiting.seen()
    assert before
    waiting.mark()
    waiting.clear(before)
    assert waiting.seen() not in (None, before)


def test_a_mark_cut_short_by_a_crash_counts(tmp_path: Path) -> None:
    (tmp_path / "waiting").write_text("")
    waiting = WaitingMark(tmp_path)
    assert waiting.seen() == ""
    waiting.clear("")
    assert waiting.seen() is None
