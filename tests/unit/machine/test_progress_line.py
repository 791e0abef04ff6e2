"""One line of progress: what a terminal shows, and what a log does."""

from __future__ import annotations

import io

import pytest

from headwater.machine.progress import ProgressLine


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


class Clock:
    now = 0.0

    def __call__(self) -> float:
        return self.now


def test_a_log_has_a_line_when_something_changed_and_at_most_every_ten_seconds() -> None:
    err, clock = io.StringIO(), Clock()
    line = ProgressLine(err, clock)
    for clock.now in range(40):
        line.show(f"{clock.now // 4 * 4} MB" if clock.now < 20 else "16 MB")
    line.close()
    assert err.getvalue().splitlines() == ["  0 MB", "  8 MB", "  16 MB"]


def test_a_new_stage_is_said_at_once() -> None:
    err = io.StringIO()
    line = ProgressLine(err, Clock())
    for _ in range(3):
        line.show("collecting")
        line.show("building", at_once=True)
    assert err.getvalue().splitlines() == ["  collecting", "  building"]


@pytest.mark.parametrize("columns", [80, 120])
def test_a_terminal_rewrites_a_line_that_fits(
    columns: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", str(columns))
    err = Terminal()
    line = ProgressLine(err, Clock())
    line.show("x" * 200)
    line.show("done")
    line.close()
    first, second = err.getvalue().split("\r\033[K")[1:]
    assert len(first) < columns
    assert second == "  done\n"
