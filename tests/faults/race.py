"""Two live writers of one view: exactly one commits each epoch.

    python -m tests.faults.race --starts 200 --stops 10 --catalog sqlite

Two processes, each with its own Spark and state folder. A start: both are ready with the same
epoch, both are let go at once (lead and delay are random), and exactly one must commit. A stop: one
process holds the lease and is stopped (SIGSTOP) in the middle of a commit, the other waits until
the lease has run out, takes over and commits, then the first goes on and must not. In the end the
table is read with another engine: one commit and the rows of one writer for every epoch.

The last line sums up; the exit code is 0 if there was no violation.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import random
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import deltalake

from headwater.serve.iceberg import StoredIcebergTable
from headwater.serve.lake_reader import LakeReader
from tests.faults.contender import ROWS, VIEW, settings

ROOT = Path(__file__).parents[2]
NAMES = ("left", "right")
LOST = ("LOST_RACE", "FENCED")
ALREADY, COMMITTED = "already committed", "committed"


class Process:
    """A contender in a process group of its own."""

    def __init__(self, folder: Path, name: str, format_: str, uri: str | None) -> None:
        command = [sys.executable, "-m", "tests.faults.contender", str(folder), name, format_]
        self._words = (folder / f"{name}.log").open("w")
        self._process = subprocess.Popen(
            [*command, *([uri] if uri else [])], cwd=ROOT, text=True, start_new_session=True,
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=self._words,
        )  # fmt: skip

    def tell(self, **command: Any) -> None:
        """Send a line."""
        assert self._process.stdin is not None
        self._process.stdin.write(json.dumps(command) + "\n")
        self._process.stdin.flush()

    def answer(self, key: str = "end") -> Any:
        """Read the next line, which must have the key."""
        assert self._process.stdout is not None
        line = self._process.stdout.readline()
        said = json.loads(line) if line else {}
        if key not in said:
            raise RuntimeError(f"{key} was expected, not {said or 'the end of the process'}")
        return said

    def ask(self, **command: Any) -> Any:
        """Send a line and read the answer."""
        self.tell(**command)
        return self.answer()

    def send(self, number: signal.Signals) -> None:
        """Send a signal to the process and its JVM."""
        os.killpg(self._process.pid, number)

    def end(self) -> None:
        """End both."""
        self.send(signal.SIGCONT)
        self.send(signal.SIGKILL)
        self._process.wait()
        for stream in (self._process.stdin, self._process.stdout, self._words):
            assert stream is not None
            stream.close()


def say(text: str) -> None:
    """Write a line at once."""
    sys.stdout.write(text + "\n")
    sys.stdout.flush()


@dataclass
class Tally:
    """What happened.

    Attributes:
        starts: races that were run.
        stops: writers that were stopped past their lease.
        ends: how often a writer ended how.
        violations: what must not happen.
        take_over: the longest wait for a silent owner, in seconds.
    """

    starts: int = 0
    stops: int = 0
    ends: Counter[str] = field(default_factory=Counter)
    violations: list[str] = field(default_factory=list)
    take_over: float = 0.0

    def line(self) -> str:
        """The summary."""
        lost = sum(self.ends[name] for name in LOST)
        return (
            f"starts={self.starts} stops={self.stops} commits={self.ends[COMMITTED]} lost={lost} "
            f"already={self.ends[ALREADY]} violations={len(self.violations)}"
        )


def race(writers: tuple[Process, Process], epoch: int, tally: Tally) -> None:
    """Let both commit one epoch at once."""
    kind = epoch % 4
    # as after a start (new writers, who drop each other's branches), or as in a long run
    fresh = kind < 2
    # without a lease nobody knows better; with one, the second has the higher token
    tokens = (2 * epoch + 1, 2 * epoch + 1 + kind % 2)
    order = random.sample((0, 1), 2)
    for index in order:
        writers[index].tell(do="commit", epoch=epoch, token=tokens[index], fresh=fresh)
    for writer in writers:
        writer.answer("ready")
    for index in order:
        writers[index].tell(do="go")
        time.sleep(random.choice((0, 0, 0.002, 0.01, 0.05, 0.2)))
    ends = [writer.answer() for writer in writers]
    tally.starts += 1
    _judge(epoch, ends, tally)


def stop(writers: tuple[Process, Process], epoch: int, tally: Tally) -> None:
    """Stop the owner in a commit, let the other take over and commit, let the first go on."""
    stopped, other = random.sample(writers, 2)
    token = _acquire(stopped)["token"] + 10**6
    pause, fence = random.choice(("before", "after")), random.choice((True, False))
    stopped.tell(do="commit", epoch=epoch, token=token, fresh=True, fence=fence, pause=pause)
    stopped.answer("ready")
    stopped.tell(do="go")
    stopped.answer("paused")
    stopped.send(signal.SIGSTOP)
    taken = _acquire(other)
    tally.take_over = max(tally.take_over, taken["seconds"])
    other.tell(do="commit", epoch=epoch, token=token + 1, fresh=True, fence=True)
    other.answer("ready")
    other.tell(do="go")
    first = other.answer()
    stopped.send(signal.SIGCONT)
    stopped.tell(do="go")
    second = stopped.answer()
    tally.stops += 1
    _judge(epoch, [first, second], tally)
    if first["end"] != COMMITTED or second["end"] not in LOST:
        tally.violations.append(f"epoch {epoch}: the stopped writer ended with {second}")
    for writer in writers:
        writer.ask(do="release")


def _acquire(writer: Process) -> Any:
    writer.tell(do="acquire")
    writer.answer("ready")
    return writer.ask(do="go")


def _judge(epoch: int, ends: list[Any], tally: Tally) -> None:
    names = [end["end"] for end in ends]
    tally.ends.update(names)
    if names.count(COMMITTED) != 1 or not set(names) <= {COMMITTED, ALREADY, *LOST}:
        tally.violations.append(f"epoch {epoch}: {ends}")


def check_table(folder: Path, uri: str | None, epochs: int, tally: Tally) -> None:
    """Read it with PyIceberg or delta-rs: one commit and the rows of one writer for each epoch."""
    config = settings(folder, "left", uri)
    table = LakeReader(config).table(VIEW)
    assert table is not None
    found = [marker.epoch for snapshot in table.ancestors() if (marker := snapshot.marker)]
    if found != list(reversed(range(epochs))):
        tally.violations.append(f"the history has the epochs {found}")
    if isinstance(table, StoredIcebergTable):
        rows = table.iceberg.scan().to_arrow().to_pylist()
    else:
        stored = deltalake.DeltaTable(config.warehouse / config.namespace / VIEW)
        rows = stored.to_pyarrow_table().to_pylist()
    counts = Counter((row["epoch"], row["writer"]) for row in rows)
    if sorted(epoch for epoch, _ in counts) != list(range(epochs)) or set(counts.values()) > {ROWS}:
        tally.violations.append(f"the table has the rows {counts}")


def run(
    starts: int,
    stops: int,
    uri: str | None,
    folder: Path,
    measure: int = 0,
    format_: str = "iceberg",
) -> Tally:
    """Run everything; the result says what happened."""
    tally = Tally()
    with ExitStack() as stack:
        started = [Process(folder, name, format_, uri) for name in NAMES]
        for process in started:
            stack.callback(process.end)
        for process in started:
            process.answer()
        writers = (started[0], started[1])
        writers[0].ask(do="ensure")
        kinds = [race] * starts + [stop] * stops
        for epoch, kind in enumerate(kinds):
            kind(writers, epoch, tally)
            if len(kinds) >= 50 and (epoch + 1) % 25 == 0:
                say(f"{epoch + 1} of {len(kinds)}: {tally.line()}")
        check_table(folder, uri, len(kinds), tally)
        if measure:
            _acquire(writers[0])
            writers[1].end()
            stack.pop_all().callback(writers[0].end)
            with stack:
                writers[0].tell(do="measure", epochs=measure)
                spent = writers[0].answer("staged")
                writers[0].end()
            cost = spent["staged"] - spent["plain"]
            say(
                f"plain append {spent['plain']:.0f} ms, commit {spent['staged']:.0f} ms: "
                f"the protocol costs {cost:.0f} ms (medians of {measure})"
            )
    return tally


def main() -> int:
    """Run from the command line."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("--starts", type=int, default=200)
    parser.add_argument("--stops", type=int, default=10)
    parser.add_argument("--catalog", choices=("sqlite", "postgres"), default="sqlite")
    parser.add_argument("--format", choices=("iceberg", "delta"), default="iceberg")
    parser.add_argument("--measure", type=int, default=0, help="commits to measure the cost with")
    parser.add_argument("--seed", type=int, default=None)
    given = parser.parse_args()
    seed = given.seed if given.seed is not None else random.randrange(10**6)
    random.seed(seed)
    machine = f"{os.cpu_count()} cores, {platform.system()}, Python {platform.python_version()}"
    say(f"python -m tests.faults.race {' '.join(sys.argv[1:])}  [{machine}]")
    began = time.monotonic()
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="headwater-race-")))
        uri = None
        if given.catalog == "postgres":
            from tests.faults.postgres import postgres

            uri = stack.enter_context(postgres()).uri()
        tally = run(given.starts, given.stops, uri, folder, given.measure, given.format)
    for violation in tally.violations:
        say(violation)
    say(f"ends: {dict(tally.ends)}; longest take-over {tally.take_over:.1f} s")
    where = f"catalog={given.catalog} format={given.format}"
    say(f"{time.monotonic() - began:.0f} s, {where} seed={seed}")
    say(tally.line())
    return 1 if tally.violations else 0


if __name__ == "__main__":
    sys.exit(main())
