"""What a run shows of failures: an error once, as text or JSON, and no traceback."""

from __future__ import annotations

import io
import json
import logging
from collections.abc import Callable, Iterator

import pytest

from headwater.cli.context import Context
from headwater.cli.output import JsonOutput, TableOutput
from headwater.cli.progress import LINE_EVERY, Lines, shown_progress
from headwater.cli.warnings import shown_warnings
from headwater.errors import ServiceError
from headwater.errors.steps import step, told
from headwater.runtime.events import RunState, StateChanged, ViewCommitted, ViewDelivered, Warned

FAILED = StateChanged("v", RunState.FAILED, ServiceError("DISK_FULL", "the disk is full", hint="x"))


def test_json_gets_errors_and_nothing_else() -> None:
    err = io.StringIO()
    with shown_progress(JsonOutput(io.StringIO(), err)) as progress:
        progress(StateChanged("v", RunState.RUNNING))
        progress(FAILED)
    (error,) = json.loads(err.getvalue())["errors"]
    assert error["condition"] == "DISK_FULL"


def test_people_see_how_far_a_sink_is() -> None:
    err = io.StringIO()
    with shown_progress(TableOutput(io.StringIO(), err)) as progress:
        progress(ViewDelivered("out", 3, {}, 0.1))
    assert err.getvalue() == "delivered out: epoch 3\n"


@pytest.mark.parametrize("again", [None, 2.0])
def test_people_get_one_line_and_a_hint(again: float | None) -> None:
    err = io.StringIO()
    state = RunState.FAILED if again is None else RunState.BACKING_OFF
    with shown_progress(TableOutput(io.StringIO(), err)) as progress:
        progress(StateChanged("v", state, FAILED.error, again))
    lines = err.getvalue().splitlines()
    assert len(lines) == 2
    assert lines[0].startswith("v ")
    assert ("next attempt in 2 s" in lines[0]) is (again is not None)


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def test_a_line_that_was_held_back_comes_in_time_and_not_with_the_next_event() -> None:
    """A view of a slow tick is done: its line does not wait for the slowest one."""
    err, clock, later = io.StringIO(), [100.0], list[tuple[float, Callable[[], None]]]()
    show = Lines(err, lambda seconds, then: later.append((seconds, then)), lambda: clock[0])

    def committed(view: str, epoch: int) -> None:
        show(ViewCommitted(view, epoch, 1, {}, None, {}, 1, 0.1))

    committed("quick", 0)
    committed("slow", 0)
    clock[0] += 0.5
    committed("quick", 1)
    assert err.getvalue().splitlines() == [
        "maintained quick: epoch 0, 1 row",
        "maintained slow: epoch 0, 1 row",
    ]
    ((seconds, flush),) = later
    assert seconds == LINE_EVERY - 0.5
    clock[0] += seconds
    flush()
    assert err.getvalue().splitlines()[2:] == ["maintained quick: epoch 1, 1 row"]
    committed("quick", 2)
    assert len(later) == 2


def test_steps_are_lines_without_a_terminal_and_end_with_the_first_result() -> None:
    err = io.StringIO()
    output = TableOutput(io.StringIO(), err)
    with told(output.step):
        step("starting Spark")
        step("opening view x (3 of 7)", minor=True)
    step("nobody listens")
    assert err.getvalue() == "starting Spark\n"


def test_a_terminal_shows_every_step_at_once() -> None:
    out, err = io.StringIO(), Terminal()
    output = TableOutput(out, err, width=80)
    with told(output.step):
        step("starting Spark")
        shown = err.getvalue()
        step("opening view x (3 of 7)", minor=True)
    assert "starting Spark" in shown
    output.rows(("a",), [(1,)])
    assert "opening view x (3 of 7)" in err.getvalue() and output._spinner is None


def test_json_is_told_of_no_step() -> None:
    err = io.StringIO()
    with told(JsonOutput(io.StringIO(), err).step):
        step("starting Spark")
    assert not err.getvalue()


@pytest.mark.parametrize("stream", [io.StringIO, Terminal])
def test_a_run_says_what_it_does_before_the_first_commit(stream: type[io.StringIO]) -> None:
    err = stream()
    with shown_progress(TableOutput(io.StringIO(), err, width=80)):
        step("starting Spark")
        step("opening view x (3 of 7)", minor=True)
    assert "starting Spark" in err.getvalue() or "opening view x" in err.getvalue()
    assert ("opening view x (3 of 7)" in err.getvalue()) is (stream is Terminal)


@pytest.fixture
def warned() -> Iterator[tuple[Context, io.StringIO]]:
    err = io.StringIO()
    context = Context(output=TableOutput(io.StringIO(), err))
    with shown_warnings(context):
        yield context, err
    assert not logging.getLogger("headwater").handlers  # a later command has an output of its own


def test_what_is_logged_is_a_warning_once_with_its_remedy(
    warned: tuple[Context, io.StringIO],
) -> None:
    context, err = warned
    log = logging.getLogger("headwater.connectors.files.source")
    for _ in range(3):  # of a run, of an apply that it was asked for, and of the run after it
        with shown_progress(context.output) as progress:
            log.warning("file %s was changed", "a.csv", extra={"hint": "write a new file"})
            progress(Warned("v", "it is slow", "look at it"))
    log.info("nobody reads this")
    assert err.getvalue().splitlines() == [
        "warning: file a.csv was changed",
        "  hint: write a new file",
        "warning: it is slow",
        "  hint: look at it",
    ]


def test_libraries_write_nothing_raw(
    warned: tuple[Context, io.StringIO], capsys: pytest.CaptureFixture[str]
) -> None:
    _, err = warned
    logging.getLogger("some.library").warning("deprecated")
    logging.warning("this call would give the root logger a handler")  # noqa: LOG015
    logging.getLogger("headwater.engine").warning("plain")
    assert err.getvalue() == "warning: plain\n"
    assert capsys.readouterr().err == ""
