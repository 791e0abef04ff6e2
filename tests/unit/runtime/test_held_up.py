"""A view that is computed for long: it is named, and holds up only what reads it."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from headwater.engine.incremental.tick import MOST_BEHIND, PATIENCE, Ticks
from headwater.engine.target import Committed
from headwater.lake.protocol.marker import Marker
from headwater.runtime.backoff import BackOff
from headwater.runtime.board import RUN_FILE, Board
from headwater.runtime.events import Event, ViewCommitted, Warned
from headwater.runtime.turns import Turns
from headwater.runtime.workers.building import Builds
from headwater.runtime.workers.ticks import TickWorker


class Clock:
    now = 0.0

    def __call__(self) -> float:
        return self.now


class View:
    """Stands for a view: each step commits, after what ``computes`` does."""

    marker = None

    def __init__(self, name: str, reads: Sequence[str], computes: Callable[[], None]) -> None:
        self.plan = SimpleNamespace(
            view=SimpleNamespace(name=name, inputs=reads),
            inputs=[SimpleNamespace(name=each) for each in reads],
        )
        self.target = self
        self.computes, self.commits = computes, 0
        self.read: list[Mapping[str, int]] = []

    def step(self, pins: Mapping[str, int]) -> Committed:
        self.computes()
        self.read.append({each: pins[each] for each in self.plan.view.inputs})
        self.commits += 1
        name = self.plan.view.name
        return Committed(name, Marker(name, 1, self.commits, {}, {}), 1, self.commits, 0, 1.0)

    def history(self, pins: Mapping[str, int]) -> int:
        return 0

    def refresh(self) -> None:
        pass

    def last_change(self) -> int:
        return self.commits


class World:
    """Five views over one table: ``slow`` can be held, and ``late`` is done when it is too long."""

    def __init__(self, folder: Path) -> None:
        self.clock, self.release, self.begun = Clock(), threading.Event(), threading.Event()
        self.told: list[Event] = []
        self.in_jobs: set[str] = set()
        self.board = Board(folder, self.told.append)
        self.folder, self.snapshot = folder, 1

    def held(self) -> None:
        self.begun.set()
        assert self.release.wait(60)

    def late(self) -> None:
        assert self.begun.wait(60)
        self.clock.now += PATIENCE

    def views(self) -> dict[str, View]:
        return {
            "slow": View("slow", ["t"], self.held),
            "reads_slow": View("reads_slow", ["slow", "other"], lambda: None),
            "other": View("other", ["t"], lambda: None),
            "late": View("late", ["other"], self.late),
            "last": View("last", ["late"], lambda: None),
        }

    def ticks(self, on_held_up: Callable[[Any], None] = lambda view: None) -> Ticks:
        context = SimpleNamespace(defaultParallelism=2, setLocalProperty=lambda key, value: None)
        lake: Any = SimpleNamespace(spark=SimpleNamespace(sparkContext=context))
        ticks = Ticks(lake, [], patience=PATIENCE, on_held_up=on_held_up, now=self.clock)
        ticks.pin = lambda: {"t": self.snapshot}  # type: ignore[method-assign]
        return ticks

    def noted(self) -> dict[str, str]:
        said = json.loads((self.folder / RUN_FILE).read_text())["views"]
        return {name: each["note"] for name, each in said.items() if each["note"]}


@pytest.fixture
def world(tmp_path: Path) -> Iterator[World]:
    made = World(tmp_path)
    yield made
    made.release.set()


def commits(views: Mapping[str, View]) -> dict[str, int]:
    return {name: view.commits for name, view in views.items()}


def test_a_tick_leaves_behind_what_takes_too_long(world: World) -> None:
    views, named = world.views(), list[str]()
    order: list[Any] = [views[n] for n in ("slow", "other", "reads_slow", "late", "last")]
    ticks = world.ticks(lambda view: named.append(view.plan.view.name))
    done = ticks.run(order, ticks.pin())
    assert named == ["slow"] and list(ticks.behind) == ["slow"]
    assert [each.view for each in done.committed] == ["other", "late", "last"]
    assert ticks.collect() == {}
    world.release.set()
    ticks.close()
    assert isinstance(ticks.collect()["slow"], Committed) and not ticks.behind
    assert commits(views) == {"slow": 1, "reads_slow": 0, "other": 1, "late": 1, "last": 1}


def test_without_patience_a_tick_waits_for_every_view(world: World) -> None:
    views: list[Any] = list(world.views().values())
    world.begun.set()
    world.release.set()
    ticks = world.ticks()
    ticks._patience = None
    assert len(ticks.run(views, ticks.pin()).committed) == 5 and not ticks.behind
    ticks.close()


def test_only_so_many_views_are_left_behind(world: World) -> None:
    held: list[Any] = [View(f"slow{n}", ["t"], world.held) for n in range(MOST_BEHIND + 1)]
    ticks = world.ticks(lambda view: world.release.set() if view is held[-1] else None)
    ticks._patience = 0.0
    committed = ticks.run(held, ticks.pin()).committed
    ticks.close()
    # the last of them was named, and no tick ended before one of them was done
    assert committed and len(committed) + len(ticks.collect()) == MOST_BEHIND + 1


def test_it_is_named_and_other_views_go_on(world: World) -> None:
    views = world.views()
    reads = {name: [r for r in view.plan.view.inputs if r != "t"] for name, view in views.items()}
    order = ("slow", "other", "reads_slow", "late", "last")
    worker = TickWorker(
        world.board,
        0.0,
        ticks=world.ticks,
        makers={name: (lambda n=name: views[n]) for name in order},  # type: ignore[misc]
        reads={name: reads[name] for name in order},
        back_offs=BackOff,
        turns=Turns({}, lambda: (), hurry=True),
        builds=Builds(dict, lambda event: None),
        in_jobs=lambda: world.in_jobs,
    )
    worker.open()
    assert worker.step() is True
    assert set(worker.busy) == {"slow"}
    assert [each.name for each in world.told if isinstance(each, Warned)] == ["slow"]
    assert world.noted().keys() == {"slow", "reads_slow"}
    assert "plans its query" in world.noted()["slow"]
    assert 'waits for "slow"' in world.noted()["reads_slow"]
    # what comes meanwhile reaches every view that does not read it
    world.snapshot = 2
    assert worker.step() is True
    assert commits(views) == {"slow": 0, "reads_slow": 0, "other": 2, "late": 2, "last": 2}
    # when it is done it takes part again, and what reads it reads one cut
    world.release.set()
    worker._ticks._behind["slow"].result(60)  # type: ignore[union-attr]
    assert worker.step() is True
    assert not worker.busy
    assert world.noted() == {}
    assert commits(views)["slow"] == 2 and views["reads_slow"].read == [{"slow": 2, "other": 3}]
    assert views["other"].read[-1] == views["slow"].read[-1] == {"t": 2}
    assert [e.view for e in world.told if isinstance(e, ViewCommitted)].count("slow") == 2
    worker.shut()


def test_a_view_that_reads_its_history_is_not_warned_of(world: World) -> None:
    world.in_jobs.add("slow")
    views = {"slow": View("slow", ["t"], world.held), "late": View("late", ["t"], world.late)}
    worker = TickWorker(
        world.board,
        0.0,
        ticks=world.ticks,
        makers={name: (lambda n=name: views[n]) for name in views},  # type: ignore[misc]
        reads={name: [] for name in views},
        back_offs=BackOff,
        turns=Turns({}, lambda: (), hurry=True),
        builds=Builds(dict, lambda event: None),
        in_jobs=lambda: world.in_jobs,
    )
    worker.open()
    assert worker.step() is True
    assert "runs its jobs" in world.noted()["slow"]
    assert not [each for each in world.told if isinstance(each, Warned)]
    world.release.set()
    worker.shut()
