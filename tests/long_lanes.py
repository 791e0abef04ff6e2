"""The long lanes in parts: which there are, whose turn it is, and which ran last on which commit.

    python -m tests.long_lanes            # what `make lanes` shows
    python -m tests.long_lanes run        # the part whose turn it is, by the number of commits
    python -m tests.long_lanes run tpcds/2 swaps

A part that takes too long is stopped. It is red only if it said so until then. What came of it goes
into ``long_lanes_ran.json``: commit the file.
"""

from __future__ import annotations

import codecs
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import tomllib
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from pathlib import Path
from threading import Timer

import click

HERE = Path(__file__).parent
RAN = HERE / "long_lanes_ran.json"
STOP_AFTER, END_AFTER = 35 * 60.0, 60.0
"""Seconds until a part is interrupted, and from then until it is killed."""
RED = re.compile(
    r"\bWRONG\b|^wrong: |^(FAILED|ERROR) |\b[1-9]\d* (wrong|failed|errors?|surprises)\b(?!=)"
    r"|\b(wrong|violations)=[1-9]|\bequal=false\b|^make: \*\*\* .*Error",
    re.M,
)
"""What the programs of the lanes print when something is red; see ``test_long_lanes.py``."""
CRASHED = re.compile(r"^worker '\w+' crashed while running '(.+)'$", re.M)
SUMMARY = re.compile(r"^(?:=+ )?(\d+) failed\b.* in [\d.]+s\b")
"""What pytest prints of tests that an interrupt ended, and at its end."""

OF_OTHERS = re.compile(r"^(make(\[\d+\])?:|Exception ignored|ResourceWarning)")
"""What make and a Python that ends print behind the counts."""

COLOUR = re.compile(r"\x1b\[[0-9;]*m")


@dataclass(frozen=True, slots=True)
class Part:
    """A part of a long lane.

    Attributes:
        name: the lane and the number, ``tpcds/2``; the lane alone if it has one part.
        command: runs it, for bash.
        needs: programs that must be installed.
    """

    name: str
    command: str
    needs: tuple[str, ...] = ()

    @property
    def lacks(self) -> list[str]:
        """The programs that this machine does not have."""
        return [program for program in self.needs if shutil.which(program) is None]


@dataclass(frozen=True, slots=True)
class Outcome:
    """What came of a part.

    Attributes:
        commit: on which it ran; with a ``+`` if files differed from it.
        day: when it ended, in UTC.
        minutes: how long it took.
        result: ``passed``, ``red`` or ``stopped``.
        words: the last line that it printed: counts, or how far it came.
    """

    commit: str
    day: str
    minutes: int
    result: str
    words: str


def parts() -> dict[str, Part]:
    """Return the parts of all lanes by name, in turn."""
    lanes = tomllib.loads((HERE / "long_lanes.toml").read_text(encoding="utf-8"))
    found = {}
    for lane, held in lanes.items():
        for number in range(1, held["parts"] + 1):
            name = lane if held["parts"] == 1 else f"{lane}/{number}"
            command = held["command"].format(part=number, parts=held["parts"])
            found[name] = Part(name, command, tuple(held.get("needs", ())))
    return found


def in_turn(every: Sequence[Part], commits: int) -> Part:
    """Return the part whose turn it is; one that lacks a program leaves it to the next.

    Args:
        every: all parts.
        commits: how many commits the branch has.
    """
    first = commits % len(every)
    order = [*every[first:], *every[:first]]
    return next(part for part in order if not part.lacks)


def run(part: Part, seconds: float = STOP_AFTER, grace: float = END_AFTER) -> Outcome:
    """Run a part, and print what it prints.

    Args:
        part: the part.
        seconds: after which it is interrupted, as by Ctrl-C.
        grace: seconds after which it is killed if it still runs then.
    """
    began, commit, stopped = datetime.now(UTC), _commit(), False
    process = subprocess.Popen(
        ["bash", "-c", part.command],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        stdin=subprocess.DEVNULL,
        env={**os.environ, "PYTHONUNBUFFERED": "1"},
        start_new_session=True,
    )

    def end(with_signal: int) -> None:
        nonlocal stopped
        stopped = True
        with suppress(ProcessLookupError):
            os.killpg(process.pid, with_signal)

    timers = [
        Timer(seconds, end, [signal.SIGINT]),
        Timer(seconds + grace, end, [signal.SIGKILL]),
    ]
    for timer in timers:
        timer.daemon = True
        timer.start()
    printed, until_stopped = "", ""
    decoder = codecs.getincrementaldecoder("utf-8")("replace")
    pipe = process.stdout
    assert pipe is not None
    with pipe:
        while some := os.read(pipe.fileno(), 1 << 16):  # a line of dots has no end for long
            text = decoder.decode(some)
            printed += text
            if not stopped:
                until_stopped = printed
            sys.stdout.write(text)
            sys.stdout.flush()
    code = process.wait()
    for timer in timers:
        timer.cancel()
    return Outcome(
        commit=commit,
        day=f"{datetime.now(UTC):%Y-%m-%d}",
        minutes=round((datetime.now(UTC) - began).total_seconds() / 60),
        result=result(code, printed, stopped=stopped),
        words=_last_words(until_stopped)[:100],
    )


def _last_words(printed: str) -> str:
    """The last line that says something."""
    for line in reversed(printed.splitlines()):
        if line.strip() and not OF_OTHERS.match(line):
            return COLOUR.sub("", line).strip()
    return ""


def result(code: int, printed: str, *, stopped: bool) -> str:
    """Return what came of a part: ``passed``, ``red`` or ``stopped``.

    Args:
        code: its exit code.
        printed: what it printed.
        stopped: whether it was interrupted; then the exit code says nothing.
    """
    if stopped:
        return "red" if RED.search(_without_interrupt(printed)) else "stopped"
    return "red" if code else "passed"


def _without_interrupt(printed: str) -> str:
    """What was printed, without what make and pytest say of being interrupted."""
    crashed = CRASHED.findall(printed)

    def is_of_it(line: str) -> bool:
        if found := SUMMARY.match(line):
            return int(found[1]) <= len(crashed)
        return line.startswith("make: ***") or any(
            line.startswith(f"FAILED {node}") for node in crashed
        )

    return "\n".join(line for line in printed.splitlines() if not is_of_it(line))


def read(path: Path = RAN) -> dict[str, Outcome]:
    """Return what came of each part when it ran last.

    Args:
        path: the file.
    """
    if not path.exists():
        return {}
    return {k: Outcome(**v) for k, v in json.loads(path.read_text(encoding="utf-8")).items()}


def write(held: Mapping[str, Outcome], path: Path = RAN) -> None:
    """Write what came of each part: a line for each, in turn, so that merges are easy.

    Args:
        held: by name of the part.
        path: the file.
    """
    known = [name for name in parts() if name in held]
    lines = (f"{json.dumps(name)}: {json.dumps(asdict(held[name]))}" for name in known)
    path.write_text("{\n" + ",\n".join(lines) + "\n}\n", encoding="utf-8")


def table(held: Mapping[str, Outcome]) -> str:
    """Return which part ran last on which commit, with how many commits since.

    Args:
        held: what :func:`read` returns.
    """
    lines = [f"{'part':18} {'ran on':10} {'since':>6}  {'day':10} {'min':>3}  result"]
    for name in parts():
        if name not in held:
            lines.append(f"{name:18} never")
            continue
        one = held[name]
        since = _git("rev-list", "--count", f"{one.commit.rstrip('+')}..HEAD") or "?"
        lines.append(
            f"{name:18} {one.commit:10} {since:>6}  {one.day} {one.minutes:3}  {one.result}"
        )
        if one.result != "passed":
            lines.append(f"{'':18} {one.words}")
    return "\n".join(lines)


def _commit() -> str:
    dirty = _git("status", "--porcelain", "--untracked-files=no", "--", ".", f":!{RAN.name}")
    return _git("rev-parse", "--short=8", "HEAD") + "+" * bool(dirty)


def _git(*arguments: str) -> str:
    done = subprocess.run(
        ["git", *arguments], cwd=HERE, capture_output=True, text=True, check=False
    )
    return done.stdout.strip()


@click.group(invoke_without_command=True)
@click.pass_context
def main(context: click.Context) -> None:
    """Show which part of the long lanes ran last on which commit."""
    if context.invoked_subcommand is None:
        click.echo(table(read()))


@main.command("run")
@click.argument("names", nargs=-1)
def _run(names: Sequence[str]) -> None:
    """Run some parts; without names the one whose turn it is."""
    every = parts()
    if unknown := [name for name in names if name not in every]:
        raise click.UsageError(f"no part {unknown[0]!r}; there are {', '.join(every)}")
    turn = in_turn([*every.values()], int(_git("rev-list", "--count", "HEAD") or 0))
    red = False
    for part in [every[name] for name in names] or [turn]:
        click.echo(f"lane {part.name}: {part.command}")
        outcome = run(part)
        write(read() | {part.name: outcome})
        words = {"stopped": f" after {outcome.minutes} min; it came to: {outcome.words}"}
        click.echo(f"lane {part.name}: {outcome.result}{words.get(outcome.result, '')}")
        red |= outcome.result == "red"
    sys.exit(red)


if __name__ == "__main__":
    main()
