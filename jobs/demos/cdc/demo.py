"""The course of the demo: start, load, kill, wait until it is quiet, compare.

In: what the command line says. Out: the exit code; 0 if PostgreSQL and the lake are equal.
"""

from __future__ import annotations

import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from random import Random

import psycopg

from headwater.errors import EXIT_NO, EXIT_OK, HeadwaterError, ServiceError
from headwater.serve.status import status
from headwater.servers.leftover import temporary_stack
from jobs.demos.cdc.judge import Judgement, judge
from jobs.demos.cdc.load import Load, transactions
from jobs.demos.cdc.pipeline import ROOT, SERVERS, Pipeline
from jobs.demos.cdc.screen import Screen

RANDOM = "random"
_LOOK = 1.0  # seconds between two looks at what is to be done
_QUIET_WITHIN = 300.0  # seconds in which the lake has to catch up when nothing changes
_SHOWN = 5  # rows of a difference


@dataclass(frozen=True, slots=True)
class Options:
    """What the command line says.

    Attributes:
        seconds: how long the shop is open.
        rate: transactions per second.
        seed: of the load, and of ``random``.
        kill: servers to kill, at even distances while the shop is open.
        keep: folder in which everything goes on running afterwards; None to stop and remove it.
    """

    seconds: float = 60.0
    rate: float = 50.0
    seed: int = 1
    kill: tuple[str, ...] = ()
    keep: Path | None = None


def positive(text: str) -> float:
    """Return the number that a text of the command line says.

    Args:
        text: the text.

    Raises:
        ValueError: it is none, or not above zero.
    """
    if not 0 < float(text) < float("inf"):
        raise ValueError
    return float(text)


def run(options: Options) -> int:
    """Run the demo.

    Args:
        options: see :class:`Options`.

    Returns:
        The exit code: 0 if both sides are equal in the end, 1 if not.

    Raises:
        HeadwaterError: something could not be started.
    """
    with Screen() as screen, folder_of(options.keep) as folder:
        pipeline = Pipeline(folder, screen.say, lasting=options.keep is not None)
        try:
            pipeline.start()
            _await_equal(pipeline, screen)
            load = Load(pipeline.postgres, options.rate, transactions(options.seed))
            _open_shop(pipeline, load, options, screen)
            judgements = _await_equal(pipeline, screen)
            pipeline.watch_no_more()
            if pipeline.failure:
                raise pipeline.failure
            return _conclude(pipeline, judgements, load.done, screen)
        finally:
            if options.keep is None:
                pipeline.stop()
            else:
                pipeline.watch_no_more()
                numbers = " ".join(map(str, pipeline.processes))
                screen.say(f"everything runs on in {folder}; to end it: kill {numbers}")


def deaths(options: Options) -> list[tuple[float, str]]:
    """Return when to kill what: seconds after the shop has opened, and the server.

    Args:
        options: see :class:`Options`.
    """
    rnd = Random(options.seed)
    names = [rnd.choice(SERVERS) if name == RANDOM else name for name in options.kill]
    distance = options.seconds / (len(names) + 1)
    return [(distance * number, name) for number, name in enumerate(names, 1)]


def _open_shop(pipeline: Pipeline, load: Load, options: Options, screen: Screen) -> None:
    """Run the load for its time, and kill what is to be killed."""
    due = deaths(options)
    screen.say(
        f"the shop is open for {options.seconds:g} s: {options.rate:g} transactions a second"
    )
    load.start()
    begun = time.monotonic()
    while (due or time.monotonic() - begun < options.seconds) and not pipeline.failure:
        if due and due[0][0] <= time.monotonic() - begun:
            pipeline.kill(due.pop(0)[1])
        screen.show(pipeline.project, f"{load.done:,} transactions")
        upcoming = due[0][0] if due else options.seconds
        time.sleep(max(0.0, min(_LOOK, begun + upcoming - time.monotonic())))
    load.stop()
    screen.say(f"the shop is closed after {load.done:,} transactions")


def _await_equal(pipeline: Pipeline, screen: Screen) -> list[Judgement]:
    """Compare until both sides are equal or the time is over."""
    begun = time.monotonic()
    judgements: list[Judgement] = []
    while not pipeline.failure:
        over = time.monotonic() - begun > _QUIET_WITHIN
        try:
            judgements = judge(pipeline.project, pipeline.postgres)
        except (HeadwaterError, psycopg.OperationalError) as error:  # killed meanwhile, by hand
            if over:
                raise
            screen.say(f"cannot compare yet: {error}")
        if over or (judgements and all(each.equal for each in judgements)):
            took = time.monotonic() - begun
            screen.say(
                f"the lake {'still differs' if over else 'has caught up'} after {took:.1f} s"
            )
            break
        behind = sum(not each.equal for each in judgements)
        screen.show(pipeline.project, f"waiting for {behind} tables and views")
        time.sleep(_LOOK)
    return judgements


def _conclude(
    pipeline: Pipeline, judgements: Sequence[Judgement], done: int, screen: Screen
) -> int:
    """Say how it ended, and return the exit code."""
    for each in judgements:
        screen.say(f"{each.kind} {each.name:<20}{each.rows:>8,} rows  {each.verdict}")
        for row in each.missing[:_SHOWN]:
            screen.say(f"  only in PostgreSQL: {row}")
        for row in each.surplus[:_SHOWN]:
            screen.say(f"  only in the lake:   {row}")
    refused = sum(each.quarantined or 0 for each in status(pipeline.project))
    headwater = [sys.executable, "-m", "headwater", "--project", str(pipeline.project.root)]
    verified = subprocess.run([*headwater, "verify"], cwd=ROOT, capture_output=True, text=True)
    said = verified.stdout + verified.stderr if verified.returncode else "equal"
    screen.say(f"headwater verify: {said}")
    equal = all(each.equal for each in judgements) and not refused and not verified.returncode
    words = "PostgreSQL and the lake are equal" if equal else "PostgreSQL and the lake DIFFER"
    screen.say(f"{words} after {done:,} transactions; {refused} records refused")
    return EXIT_OK if equal else EXIT_NO


@contextmanager
def folder_of(keep: Path | None) -> Iterator[Path]:
    """Give the folder of everything: the one to keep, or one that goes in the end.

    Args:
        keep: a folder that is empty, or not there yet; None for one that goes.

    Raises:
        ServiceError: ``SERVICE_FOLDER`` if it is not empty.
    """
    if keep is None:
        with temporary_stack() as folder:
            yield folder
        return
    keep.mkdir(parents=True, exist_ok=True)
    if any(keep.iterdir()):
        message = f"the folder {keep} is not empty: it may be that of an earlier demo"
        raise ServiceError("SERVICE_FOLDER", message, hint="choose another, or remove it")
    yield keep.absolute()
