"""Views that stand still, that need not be fresh, and that serve while others are built."""

from __future__ import annotations

import threading

from headwater.deploy import apply as apply_module
from headwater.engine.incremental.view import IncrementalView
from headwater.runtime import turns
from headwater.runtime.events import RunState, StateChanged, ViewBuilding
from headwater.runtime.supervisor import Supervisor
from headwater.serve.lake_reader import pause
from tests.spark.deploy.world import all_equal
from tests.support.waiting import wait_for


def test_a_paused_view_and_what_reads_it(world):
    config = world.project.config
    pause(config, ["per_who", "per_hour"])
    before = {name: world.rows(name) for name in ("per_who", "per_hour", "whos")}
    world.drop(1)
    world.run()
    assert {name: world.rows(name) for name in before} == before
    assert len(world.rows("inverse")) == 6  # four of each file are ann's, one each has qty 0
    assert all_equal(world)  # each at its own cut
    pause(config, [], ["per_who", "per_hour"])
    world.run()
    assert [row[1] for row in world.rows("per_who")] == [8, 8]
    assert world.rows("whos") != before["whos"] and all_equal(world)


def test_a_running_project_pauses_at_its_next_tick(world, monkeypatch):
    monkeypatch.setattr(turns, "LOOK_EVERY", 0)
    supervisor = Supervisor(world.changes.applied, spark=world.spark)
    try:
        supervisor.tick()
        pause(world.project.config, ["per_who"])
        before = world.rows("per_who")
        world.drop(1)
        supervisor.tick()
        assert world.rows("per_who") == before and len(world.rows("inverse")) == 6
        pause(world.project.config, [], ["per_who"])
        supervisor.tick()  # though no input has anything new
        assert [row[1] for row in world.rows("per_who")] == [8, 8]
    finally:
        supervisor.stop()
    assert all_equal(world)


def test_freshness_bounds_ticks(world, monkeypatch):
    taken, took = set(), turns.Turns.took
    monkeypatch.setattr(
        turns.Turns, "took", lambda self, names: took(self, names) or taken.update(names)
    )
    world.change("VIEW per_who AS", "VIEW per_who FRESHNESS INTERVAL '1' HOUR AS")
    world.apply()
    assert not world.due
    done = []
    supervisor = Supervisor(
        world.changes.applied, spark=world.spark, progress=lambda event: done.append(event)
    )
    thread = threading.Thread(target=supervisor.run)
    thread.start()
    try:
        wait_for(lambda: any(_runs(each, "per_who") for each in done), "the start of the view")
        wait_for(lambda: "per_who" in taken, "its first tick, which is due")
        before = world.rows("per_who")
        world.drop(1)
        wait_for(lambda: len(world.rows("inverse")) == 6, "the rows")
        assert world.rows("per_who") == before
    finally:
        supervisor.interrupt()
        thread.join()
    world.run()  # --once waits for nothing
    assert [row[1] for row in world.rows("per_who")] == [8, 8] and all_equal(world)


def test_views_serve_fresh_rows_while_others_are_built(world, monkeypatch):
    world.change("max(id) AS newest", "min(id) AS oldest")
    real, seen = IncrementalView.step, {}

    def slow(view, pins):
        if view.plan.view.name == "per_who__next" and not seen:
            world.drop(1)
            seen["served"] = wait_for(lambda: len(world.rows("inverse")) == 6, "fresh rows")
        return real(view, pins)

    monkeypatch.setattr(IncrementalView, "step", slow)
    events = []
    done = apply_module.apply(world.changes, spark=world.spark, progress=events.append)
    assert seen["served"] and [each.view for each in done] == ["per_who"]
    assert all_equal(world) and not world.due
    assert [row[1] for row in world.rows("per_who")] == [8, 8]
    built = [each for each in events if isinstance(each, ViewBuilding)]
    assert any(each.view == "per_who__next" and each.total == 8 for each in built)


def _runs(event, name):
    return isinstance(event, StateChanged) and (event.name, event.state) == (name, RunState.RUNNING)
