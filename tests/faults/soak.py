"""Kill a running project again and again, and let the oracle judge every snapshot after each kill.

In: how many kills, a seed. Out: a line per kill, and at the end one line
``kills=N violations=N fired=N seed=S``; exit code 1 if something did not hold. The seed decides all
views, inputs and faults: the same seed runs the same worlds again. A run that was stopped goes on
after the worlds that had ended, if it is given the same folder and seed.

    python -m tests.faults.soak --kills 40 --seed 1
    python -m tests.faults.soak --kills 1000 --seed 7 --jobs 2 --keep /tmp/soak
"""

from __future__ import annotations

import itertools
import json
import platform
import random
import shutil
import sys
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path

import click

from tests.faults.archive import class_archive, with_delta
from tests.faults.oracle import Oracle
from tests.faults.shapes import LATE, SHAPES, Shape, with_inputs
from tests.faults.world import Ended, Fault, World

KILLS_PER_WORLD = 12
"""After so many kills a world runs to its end and a new one begins: tables stay small."""

FILES_PER_ROUND = 2

_STEPS = ("1-read", "2-checked", "3-fenced", "4-sides", "5-staged", "5-published", "7-released")
_AFTER_THE_TABLE = ("5-published", "7-released")
_VICTIMS = ("group",) * 6 + ("python",) * 3 + ("jvm",)


@dataclass(slots=True)
class Tally:
    """What has happened so far, for several worlds at a time.

    Attributes:
        wanted: kills to reach.
        kills: kills that fired, by kind.
        void: runs whose fault did not fire.
        violations: what did not hold, with its world.
        snapshots: snapshots that were judged.
    """

    wanted: int
    kills: Counter[str] = field(default_factory=Counter)
    void: int = 0
    violations: list[str] = field(default_factory=list)
    snapshots: int = 0
    lock: threading.Lock = field(default_factory=threading.Lock)
    began: float = field(default_factory=time.monotonic)

    @property
    def reached(self) -> int:
        """How many kills have fired."""
        return self.kills.total()

    def add(self, name: str, fault: Fault, ended: Ended, found: Sequence[str], seen: int) -> None:
        """Count one run and say so.

        Args:
            name: the world.
            fault: what was to happen.
            ended: how the run ended.
            found: what does not hold.
            seen: snapshots judged after it.
        """
        with self.lock:
            if ended.fired:
                self.kills[fault.kind] += 1
            else:
                self.void += 1
            self.violations += [f"{name}: {text}" for text in found]
            self.snapshots += seen
            minutes = (time.monotonic() - self.began) / 60
            fired = "" if ended.fired else f" did not fire (exit code {ended.code})"
            click.echo(
                f"[{minutes:6.1f} min] {self.reached}/{self.wanted} {name} {fault}{fired}:"
                f" {seen} snapshots, {len(found)} violations"
            )
            for text in found:
                click.echo(f"  VIOLATION {text}")


@dataclass(slots=True)
class Journal:
    """The worlds that have come to their end, so that a stopped run can go on.

    Attributes:
        path: a line of JSON per world.
        seed: what decided them.
        ended: their numbers.
    """

    path: Path
    seed: int
    ended: set[int] = field(default_factory=set)

    def read(self, tally: Tally) -> None:
        """Count what ended before.

        Args:
            tally: where to count.

        Raises:
            click.ClickException: the worlds are those of another seed.
        """
        for line in self.path.read_text().splitlines() if self.path.exists() else ():
            world = json.loads(line)
            if world["seed"] != self.seed:
                raise click.ClickException(f"{self.path} is about seed {world['seed']}")
            self.ended.add(world["world"])
            tally.kills.update(world["kills"])
            tally.void += world["void"]
            tally.snapshots += world["snapshots"]
        if self.ended:
            click.echo(f"goes on after {len(self.ended)} worlds with {tally.reached} kills")

    def write(self, world: int, kills: Counter[str], void: int, snapshots: int) -> None:
        """Add a world.

        Args:
            world: its number.
            kills: kills that fired, by kind.
            void: runs whose fault did not fire.
            snapshots: snapshots that were judged.
        """
        entry = {"seed": self.seed, "world": world, "kills": kills, "void": void}
        with self.path.open("a") as lines:
            lines.write(json.dumps(entry | {"snapshots": snapshots}) + "\n")


def choose(world: World) -> Fault:
    """Return the next fault of a world.

    Args:
        world: the world, whose random numbers decide.
    """
    chance = world.random
    victim = chance.choice(_VICTIMS)
    streaming = [shape.name for shape in world.shapes if shape.streaming]
    kind = chance.random()
    if streaming and kind < 0.45:
        table, point = chance.choice(streaming), chance.choice(_AFTER_THE_TABLE)
        return Fault(point, table, chance.choice((1, 1, 2)), victim, between=True)
    if kind < 0.8:
        landed = [name for name in world.raw if name != "feed"]
        sides = [f"{name}__files" for name in landed]
        sides += [LATE[shape.name] for shape in world.shapes if shape.name in LATE]
        if sides and chance.random() < 0.25:
            point = chance.choice(("4-staged", "4-published"))
            return Fault(point, chance.choice(sides), 1, victim)
        tables = [*landed, *(shape.name for shape in world.shapes)]
        return Fault(chance.choice(_STEPS), chance.choice(tables), chance.choice((1, 1, 2)), victim)
    return Fault("", victim=victim, after=chance.uniform(0, 2.5))


def _views(chance: random.Random, wanted: Sequence[str]) -> list[Shape]:
    """One view that streams and one that is kept by ticks, if there are both; what they read."""
    known = [shape for shape in SHAPES if not wanted or shape.name in wanted]
    groups = [[s for s in known if s.streaming], [s for s in known if not s.streaming]]
    return with_inputs([chance.choice(group) for group in groups if group])


def attack(
    number: int,
    folder: Path,
    journal: Journal,
    views: Sequence[str],
    tally: Tally,
    archives: Mapping[bool, Path],
) -> None:
    """Run one world to its end: kills, then a run that is left alone.

    Args:
        number: of the world.
        folder: where to make it.
        journal: where to write it down; its seed decides the world.
        views: names to choose its views from; all if empty.
        tally: where to count.
        archives: classes for its JVMs, by whether it has Delta tables.
    """
    name, kills, void = folder.name, Counter[str](), 0
    chance = random.Random(f"{journal.seed}/{number}")  # noqa: S311 - reproducible on purpose
    world = World(folder, _views(chance, views), chance)
    world.create(f"-XX:SharedArchiveFile={archives[with_delta(world.shapes)]}")
    oracle = Oracle(world)
    for _ in range(KILLS_PER_WORLD):
        if tally.reached >= tally.wanted or tally.violations:
            break
        world.add_input(FILES_PER_ROUND)
        fault = choose(world)
        before = oracle.checked
        ended = world.run(fault, linger=fault.victim == "python" and chance.random() < 0.5)
        found = oracle.violations(finished=ended.code == 0)
        if not ended.fired and ended.code:
            found.append(f"ended with exit code {ended.code}, unasked:\n{ended.output[-2000:]}")
        tally.add(name, fault, ended, found, oracle.checked - before)
        kills[fault.kind] += ended.fired
        void += not ended.fired
    before = oracle.checked
    world.hurry()
    ended = world.run(None)
    found = oracle.violations(finished=True)
    if ended.code:
        found.append(f"the last run ended with exit code {ended.code}:\n{ended.output[-2000:]}")
    with tally.lock:
        tally.snapshots += oracle.checked - before
        tally.violations += [f"{name}: {text}" for text in found]
        click.echo("\n  ".join([f"{name} at its end: {len(found)} violations", *found]))
        if not tally.violations:
            journal.write(number, kills, void, oracle.checked)
            shutil.rmtree(folder)


@click.command(context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100})
@click.option("--kills", default=40, show_default=True, help="Kills to reach.")
@click.option("--seed", type=int, help="What decides every choice; by default the clock.")
@click.option("--jobs", default=1, show_default=True, help="Worlds at a time.")
@click.option("--view", "views", multiple=True, help="Only worlds of these views.")
@click.option("--keep", type=click.Path(path_type=Path), help="Folder for the worlds.")
def main(
    kills: int, seed: int | None, jobs: int, views: tuple[str, ...], keep: Path | None
) -> None:
    """Kill a running project again and again; every snapshot must stay right."""
    seed = int(time.time()) if seed is None else seed
    folder = keep or Path(tempfile.mkdtemp(prefix="headwater-faults-"))
    tally = Tally(kills)
    click.echo(f"seed={seed} jobs={jobs} python={platform.python_version()} folder={folder}")

    folder.mkdir(parents=True, exist_ok=True)
    journal = Journal(folder / "journal.jsonl", seed)
    journal.read(tally)
    with ThreadPoolExecutor(jobs) as pool:
        made = pool.map(lambda delta: class_archive(folder, delta=delta), (False, True))
        archives = dict(zip((False, True), made, strict=True))

    def work(worker: int) -> None:
        for number in itertools.count(worker, jobs):
            if tally.reached >= kills or tally.violations:
                return
            if number not in journal.ended:
                place = folder / f"world-{number}"
                shutil.rmtree(place, ignore_errors=True)
                attack(number, place, journal, views, tally, archives)

    with ThreadPoolExecutor(jobs) as pool:
        list(pool.map(work, range(jobs)))
    kinds = " ".join(f"{kind}={count}" for kind, count in sorted(tally.kills.items()))
    click.echo(f"{kinds} void={tally.void} snapshots={tally.snapshots}")
    fired = tally.reached
    click.echo(f"kills={fired} violations={len(tally.violations)} fired={fired} seed={seed}")
    sys.exit(1 if tally.violations or fired < kills else 0)


if __name__ == "__main__":
    main()
