"""``make delay``: from a record in Kafka to a row that Trino returns, and to the chart.

In: kinds of view, rates, a time. Out: p50, p95 and p99 of the delay, and the median of each step.

A real Kafka, ``headwater run`` as a process, a real Trino, Superset and Chromium, all on this
machine. A reader asks Trino again and again for the newest record that it can see; a record's
delay is the time until the first answer that has it, so the query is part of it. Then a dashboard
is open in Chromium, which asks anew each second. The JVM compiles what it runs often, and is slow
until it has: nothing is measured in the first minutes of a project.

    python -m bench.delay --rates 100,1000 --seconds 40
"""

from __future__ import annotations

import argparse
import tempfile
import time
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace
from pathlib import Path

from bench.delay.kinds import KINDS, Kind
from bench.delay.load import Load
from bench.delay.readers import by_chart, by_query, watch
from bench.delay.steps import STEPS, Shown, Steps, landed, steps, summary, viewed
from bench.drawing import stacked
from bench.measure import machine, running
from headwater.config.settings import Config, TrinoSection, load_config
from headwater.lake.protocol.history import Commit
from headwater.serve.lake_reader import LakeReader
from headwater.serve.trino.catalog import properties
from headwater.servers.superset import SupersetServer
from headwater.servers.trino import TrinoServer
from jobs.demos.servers.kafka import Kafka

_SETTINGS = """name = "{name}"

[warehouse]
path = "../warehouse"

[run]
trigger = "{trigger}"

# the steps are read from all commits of the run
[maintain]
max_snapshots = 5000

[superset]
refresh = "1 second"
"""


class Bench:
    """The servers, and what is asked.

    Args:
        folder: of everything.
        options: of the command line.
        stack: ends the servers.
    """

    def __init__(self, folder: Path, options: argparse.Namespace, stack: ExitStack) -> None:
        self.options, self.folder = options, folder
        self.kafka = stack.enter_context(Kafka(folder))
        config = self._config("any")
        self.trino = stack.enter_context(TrinoServer(folder, {"lake": properties(config)}))
        self.medians: dict[str, dict[str, float]] = {}
        self.superset = stack.enter_context(SupersetServer(folder)) if options.chart else None

    def _config(self, name: str) -> Config:
        project = self.folder / name
        project.mkdir(exist_ok=True)
        settings = _SETTINGS.format(name=name, trigger=self.options.trigger)
        (project / "headwater.toml").write_text(settings, encoding="utf-8")
        config = load_config(project)
        config.warehouse.mkdir(exist_ok=True)
        return config

    def measure(self, kind: Kind) -> None:
        """Run a project of one kind; print a line per rate, and one for the chart."""
        config = self._config(kind.project)
        load = Load(self.kafka.address, kind.project)
        load.rate = self.options.rates[0]
        folder = config.directory
        statements = kind.statements(kind.project, self.kafka.address)
        (folder / "views.sql").write_text(statements, encoding="utf-8")
        with running(folder, "--no-console", log=folder / "run.log"), load.running():
            _await(config, kind)
            self._read(Run(kind, config, load))

    def _read(self, run: Run) -> None:
        """Let each reader look at the view, Trino's at every rate."""
        trino = replace(run.config, trino=TrinoSection(url=self.trino.address))
        newest = by_query(trino, run.kind)
        run.load.rate = self.options.rates[-1]
        watch(newest, self.options.first)
        for rate in self.options.rates:
            self._watch(run, "Trino", rate, newest)
        if self.superset is not None and run.kind.view:  # charts read views
            folder = run.config.directory
            with by_chart(folder, run.kind, self.trino, self.superset) as newest:
                self._watch(run, "chart", self.options.rates[0], newest)

    def _watch(self, run: Run, reader: str, rate: int, newest: Callable[[], int | None]) -> None:
        """Watch the newest record at a rate, and print what came out."""
        run.load.rate = rate
        watch(newest, self.options.warm_up)
        begin = len(run.load.produced)
        figures = summary(run.steps(watch(newest, self.options.seconds), begin))
        print(_line(run.kind.name, f"{reader}, {rate}/s", figures), flush=True)
        medians = {name: figures[name] for name in STEPS}
        self.medians[f"{run.kind.name}, {reader}, {rate}/s"] = medians


@dataclass(frozen=True)
class Run:
    """A project of one kind that runs under load."""

    kind: Kind
    config: Config
    load: Load

    def steps(self, answers: Sequence[Shown], begin: int) -> list[Steps]:
        """Return the steps of the records from one on that a reader saw."""
        produced = self.load.produced
        table, view = self._commits("events" if self.kind.landed else self.kind.shown), None
        shown = landed(table)
        if self.kind.landed and self.kind.view:
            oldest_first = zip(reversed(table), shown, strict=True)
            upto = {str(commit.snapshot_id): each.upto for commit, each in oldest_first}
            view = viewed(self._commits(self.kind.shown), upto, produced, self.kind.closes)
        return steps(produced, shown, view, answers, range(begin, len(produced)))

    def _commits(self, name: str) -> list[Commit]:
        table = LakeReader(self.config).table(name)
        assert table is not None
        return list(table.commits())


def _line(kind: str, reader: str, figures: dict[str, float]) -> str:
    columns = "".join(f"{figures[name]:7.2f}" for name in ("p50", "p95", "p99", *STEPS))
    return f"{kind:<22}{reader:<16}{columns}"


def _await(config: Config, kind: Kind, within: float = 180.0) -> None:
    """Wait until something is in the view."""
    deadline = time.monotonic() + within
    while True:
        table = LakeReader(config).table(kind.shown)
        if table is not None and next(iter(table.commits()), None) is not None:
            return
        if time.monotonic() > deadline:
            said = (config.directory / "run.log").read_text(encoding="utf-8")
            raise TimeoutError(f"headwater run did not make {kind.shown}:\n{said}")
        time.sleep(0.5)


def main() -> None:
    """Start the servers, measure each kind, say what came out."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument(
        "--rates",
        type=lambda text: [*map(int, text.split(","))],
        default=[100, 1000],
        help="records per second, one after the other: 100,1000",
    )
    parser.add_argument("--seconds", type=float, default=40, help="how long each is measured")
    parser.add_argument("--warm-up", type=float, default=10, help="seconds before that")
    parser.add_argument("--first", type=float, default=100, help="seconds before the first rate")
    parser.add_argument("--trigger", default="1 second", help="time between two ticks")
    parser.add_argument("--kind", action="append", help="only this kind of view")
    parser.add_argument("--no-chart", dest="chart", action="store_false", help="no Superset")
    parser.add_argument("--svg", type=Path, help="write the medians of the steps to this file")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="headwater-bench-") as name, ExitStack() as stack:
        bench = Bench(Path(name), options, stack)
        about = machine()
        print(f"# {about['cores']} cores, {about['cpu']}, commit {about['commit']}")
        print(f"# trigger {options.trigger}, {options.seconds:.0f} s each; seconds")
        heads = "".join(f"{name:>7}" for name in ("p50", "p95", "p99", *STEPS))
        print(f"{'kind of view':<22}{'seen by':<16}{heads}", flush=True)
        for kind in KINDS:
            if not options.kind or kind.name in options.kind:
                bench.measure(kind)
        if options.svg:
            options.svg.write_text(stacked(bench.medians, "s"), encoding="utf-8")


if __name__ == "__main__":
    main()
