"""One project under attack: its files, its input, and processes that run it and die.

In: a folder, the views, a seed. Out: more input, and runs that end by a real SIGKILL. Everything
that is left to chance comes from the seed, except the moment at which the machine gets there.
"""

from __future__ import annotations

import json
import os
import random
import signal
import subprocess
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import cast

import headwater
from headwater.lake.protocol.crash_points import REPORT, VARIABLE
from tests.faults.shapes import INPUTS, Shape, definition, run_command, settings

BEGIN = datetime(2026, 1, 1, tzinfo=UTC)
ROWS = 40
PATIENCE = 900.0
"""Seconds after which a process that neither died nor ended is taken for stuck."""


@dataclass(frozen=True, slots=True)
class Fault:
    """One way to kill a run.

    Attributes:
        point: name of a crash point, or empty for a moment chosen by the clock.
        table: the table whose commit is hit at the point.
        nth: at which time of reaching it.
        victim: ``python``, ``jvm`` or ``group``.
        after: without a point: seconds after the first commit that the process tells.
        between: whether it lies between the table's commit and that of Spark's checkpoint.
    """

    point: str
    table: str = ""
    nth: int = 1
    victim: str = "group"
    after: float = 0.0
    between: bool = False

    @property
    def kind(self) -> str:
        """``between`` the two commits, at another ``step``, or by the ``clock``."""
        return "between" if self.between else "step" if self.point else "clock"

    def __str__(self) -> str:
        where = f"{self.point}@{self.table}:{self.nth}" if self.point else f"+{self.after:.2f}s"
        return f"{where} {self.victim}"


@dataclass(frozen=True, slots=True)
class Ended:
    """How a run ended.

    Attributes:
        fired: whether the fault was seen to fire.
        code: exit code.
        output: what it printed.
    """

    fired: bool
    code: int
    output: str


@dataclass(slots=True)
class World:
    """One project.

    Attributes:
        folder: where it lies; made here.
        shapes: its views.
        random: source of every choice.
        raw: input → file → its lines, None for one that is no JSON.
        round: how often input was added.
    """

    folder: Path
    shapes: Sequence[Shape]
    random: random.Random
    raw: dict[str, dict[str, list[dict[str, object] | None]]] = field(default_factory=dict)
    round: int = 0
    _ids: int = 0
    _group: int = 0
    _java_options: str = ""
    _rewrites: bool = False

    def create(self, java_options: str = "") -> None:
        """Write the project.

        Args:
            java_options: further options of its JVMs.
        """
        self.folder.mkdir(parents=True)
        read = dict.fromkeys(name for shape in self.shapes for name in shape.inputs)
        inputs = [name for name in read if name in INPUTS]
        self.raw = {name: {} for name in inputs}
        self._java_options = java_options
        self._rewrites = self.random.random() < 0.5
        self._settings(files=1)
        texts = [*(INPUTS[name] for name in inputs), *map(definition, self.shapes)]
        (self.folder / "views.sql").write_text("\n".join(texts))

    def hurry(self) -> None:
        """Let the next run take all that waits in one epoch."""
        self._settings(files=1000)

    def _settings(self, files: int) -> None:
        text = settings(self.folder, self._java_options, files, rewrites=self._rewrites)
        (self.folder / "headwater.toml").write_text(text)

    def add_input(self, files: int) -> None:
        """Add files to every input; some lines are bad, some rows late.

        Args:
            files: how many per input.
        """
        for _ in range(files):
            self.round += 1
            events = [self._event() for _ in range(ROWS)]
            for name in self.raw:
                rows = events if name != "replies" else [self._reply(event) for event in events]
                self._write(name, f"{self.round:06}.json", rows)

    def _event(self) -> dict[str, object]:
        self._ids += 1
        late = self.random.choice((0, 0, 0, 20, 90, 400))
        at = BEGIN + timedelta(seconds=self.round * 45 + self.random.uniform(0, 45) - late)
        key = self.random.choice(("a", "b", "c", "d", None))
        amount = self.random.randrange(-5, 100)
        return {"id": self._ids, "key": key, "amount": amount, "ts": at}

    def _reply(self, event: dict[str, object]) -> dict[str, object]:
        delay = timedelta(seconds=self.random.uniform(-30, 400))
        return {"id": event["id"], "ts": cast(datetime, event["ts"]) + delay}

    def _write(self, name: str, file: str, rows: Sequence[dict[str, object]]) -> None:
        kept = [None if self.random.random() < 0.03 else row for row in rows]
        lines = [json.dumps(row, default=str) if row else '{"id": "no number"' for row in kept]
        path = self.folder / "incoming" / name / file
        path.parent.mkdir(parents=True, exist_ok=True)
        hidden = path.with_name("." + file)  # a file appears whole
        hidden.write_text("".join(line + "\n" for line in lines))
        hidden.rename(path)
        time.sleep(0.002)  # Spark reads files in the order of their milliseconds
        self.raw[name][file] = list(kept)

    # -- runs

    def run(self, fault: Fault | None, *, linger: bool = False) -> Ended:
        """Run the project once in a process of its own, and kill it as asked.

        Args:
            fault: what happens to it; None for a run that ends by itself.
            linger: leave behind what a SIGKILL of Python alone leaves behind: its JVM.
        """
        report = self.folder / "fired"
        report.unlink(missing_ok=True)
        environ = os.environ | {"PYTHONPATH": str(Path(headwater.__file__).parents[1])}
        if fault and fault.point:
            point = f"{fault.point}@{fault.table}" if fault.table else fault.point
            environ |= {VARIABLE: f"{point}:{fault.nth}:{fault.victim}", REPORT: str(report)}
        output = self.folder / "output"
        with output.open("w") as words:
            process = subprocess.Popen(
                run_command(self.folder),
                env=environ,
                stdout=words,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )
            sent = _strike(process, fault, output) if fault and not fault.point else False
            code = _wait(process)
        self._group = process.pid
        if code and not linger:
            _end_group(process.pid)
        # of a point the process itself has told; of the clock it was alive when it was struck
        return Ended(report.exists() or sent, code, output.read_text())

    def lives(self) -> bool:
        """Return whether a process of the last run is still there."""
        return _alive(self._group)


def _strike(process: subprocess.Popen[bytes], fault: Fault, output: Path) -> bool:
    """Kill a process some time after it has told of its first commit."""
    deadline = time.monotonic() + PATIENCE
    while process.poll() is None and time.monotonic() < deadline:
        if any(line.startswith(("kept", "landed")) for line in output.read_text().splitlines()):
            break
        time.sleep(0.05)
    time.sleep(fault.after)
    if process.poll() is not None:
        return False
    if fault.victim == "group":
        os.killpg(process.pid, signal.SIGKILL)
        return True
    victim = process.pid if fault.victim == "python" else _jvm_of(process.pid)
    if victim is None:
        return False
    os.kill(victim, signal.SIGKILL)
    return True


def _jvm_of(parent: int) -> int | None:
    children = Path(f"/proc/{parent}/task/{parent}/children").read_text().split()
    for child in children:
        if Path(f"/proc/{child}/comm").read_text().strip() == "java":
            return int(child)
    return None


def _wait(process: subprocess.Popen[bytes]) -> int:
    try:
        return process.wait(PATIENCE)
    except subprocess.TimeoutExpired:
        _end_group(process.pid)
        process.wait()
        return -1


def _end_group(group: int) -> None:
    """Kill what is left of a process group and wait until it is gone."""
    deadline = time.monotonic() + 10
    while _alive(group) and time.monotonic() < deadline:
        os.killpg(group, signal.SIGKILL)
        time.sleep(0.02)


def _alive(group: int) -> bool:
    """Whether a process of the group runs; a dead one that nobody has waited for does not count."""
    for stat in Path("/proc").glob("[0-9]*/stat"):
        try:
            state, _, pgrp = stat.read_text().rpartition(")")[2].split()[:3]
        except OSError:
            continue
        if int(pgrp) == group and state != "Z":
            return True
    return False
