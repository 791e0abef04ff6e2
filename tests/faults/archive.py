"""Archives of loaded classes for all processes of a run (class data sharing of the JVM).

In: a folder. Out: an archive per class path in it. A process that is killed after seconds has spent
most of them loading classes: with its archive it tells of its first commit after 7.5 s instead of
12.7 s. The JVM takes an archive only for the very class path it was made with, and views of Delta
tables bring more jars: hence two.
"""

from __future__ import annotations

import random
import shutil
import time
from collections.abc import Sequence
from pathlib import Path

from tests.faults.shapes import SHAPES, Shape, with_inputs
from tests.faults.world import World

PATIENCE = 300.0
"""Seconds for the JVM to write it, after all else has ended."""


def with_delta(shapes: Sequence[Shape]) -> bool:
    """Return whether a project of these views has Delta's jars on its class path.

    Args:
        shapes: the views.
    """
    return any(shape.format == "delta" for shape in with_inputs(shapes))


def class_archive(folder: Path, *, delta: bool) -> Path:
    """Run a world with many views once, and keep the classes that its JVM has loaded.

    Args:
        folder: where the world and the archive are made.
        delta: the archive of worlds that have a Delta table, else of those that have none.

    Raises:
        RuntimeError: the run failed, or wrote no archive.
    """
    name = "delta" if delta else "iceberg"
    archive = folder / f"{name}.jsa"
    if archive.exists():
        return archive
    shapes = [shape for shape in SHAPES if delta or not with_delta([shape])]
    place = folder / f"warm-up-{name}"
    shutil.rmtree(place, ignore_errors=True)  # of a run that was stopped
    world = World(place, shapes, random.Random(0))  # noqa: S311 - no secret
    world.create(f"-XX:ArchiveClassesAtExit={archive}")
    world.add_input(1)
    ended = world.run(None)
    deadline = time.monotonic() + PATIENCE
    while world.lives() and time.monotonic() < deadline:
        time.sleep(0.1)
    if ended.code or not archive.exists():
        raise RuntimeError(f"no archive of classes, exit code {ended.code}:\n{ended.output}")
    return archive
