"""``make growth``: how the cost of a step grows along each axis.

In: which axes, how large. Out: a curve for each, with the exponent that fits; what a cluster of
executors adds; with ``--svg`` a chart. An exponent of 0 means that the size does not matter, one of
1 that twice the size costs twice as much.

    python -m bench.growth --axis ticks --scale 0.1
"""

from __future__ import annotations

import argparse
import tempfile
from collections.abc import Callable, Iterator, Sequence
from datetime import UTC, datetime
from pathlib import Path

from bench.drawing import growth
from bench.growth import cluster, runs, topics
from bench.growth.curve import Curve
from bench.growth.ticks import FACTS, Growth
from bench.measure import machine
from headwater.config.settings import Config, RunSection
from headwater.runtime.session import open_session

Lines = Iterator[Curve | str]


def _ticks(options: argparse.Namespace) -> Lines:
    with tempfile.TemporaryDirectory(prefix="headwater-growth-") as folder:
        home = Path(folder)
        config = Config(
            directory=home, name="bench", namespace="bench", warehouse=home / "warehouse",
            state=home / "state", master="local[2]", run=RunSection(shuffle_partitions=2),
        )  # fmt: skip
        spark = open_session(config)
        try:
            yield from Growth(spark, options.scale).curves()
        finally:
            spark.stop()


def _commits(options: argparse.Namespace) -> Lines:
    curve, memory = runs.commits(options.minutes)
    yield curve
    yield "memory: " + ", ".join(f"{used:,.0f} MB at {at:,} commits" for at, used in memory)


def _files(_: argparse.Namespace) -> Lines:
    yield runs.files()


def _partitions(options: argparse.Namespace) -> Lines:
    yield topics.partitions(int(400_000 * options.scale))


def _cluster(options: argparse.Namespace) -> Lines:
    yield from cluster.lines(int(FACTS * options.scale))


AXES: dict[str, Callable[[argparse.Namespace], Lines]] = {
    "ticks": _ticks,
    "commits": _commits,
    "files": _files,
    "partitions": _partitions,
    "cluster": _cluster,
}


def chart(curves: Sequence[Curve]) -> str:
    """Draw all curves, each from its first point on."""
    series = {each.axis: [(point.size, point.cpu) for point in each.points] for each in curves}
    return growth(series, "times the size", "times the CPU seconds")


def main() -> None:
    """Measure the axes, and print their curves."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--axis", action="append", choices=AXES, help="only this one")
    parser.add_argument("--scale", type=float, default=1.0, help="of the rows, at most 1")
    parser.add_argument("--minutes", type=float, default=15, help="how long tables commit")
    parser.add_argument("--svg", type=Path, help="write the chart to this file")
    options = parser.parse_args()
    about = machine()
    print(
        f"# {datetime.now(UTC):%Y-%m-%d}, {about['cores']} cores, {about['cpu']},"
        f" commit {about['commit']}"
    )
    curves = []
    for axis in options.axis or AXES:
        for found in AXES[axis](options):
            if isinstance(found, Curve):
                curves.append(found)
                print(*found.lines(), sep="\n", flush=True)
            else:
                print(found, flush=True)
    if options.svg:
        options.svg.write_text(chart(curves), encoding="utf-8")


if __name__ == "__main__":
    main()
