"""What a run shows of failures: an error once, as text or JSON, and no traceback."""

from __future__ import annotations

import io
import json

import pytest

from headwater.cli.output import JsonOutput, TableOutput
from headwater.cli.progress import shown_progress
from headwater.errors import ServiceError
from headwater.runtime.events import RunState, StateChanged, ViewDelivered

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
