"""What ``headwater import`` makes of other systems' files runs, and equals its SELECT at rest.

Connectors are replaced by files: with NEXMark's events, else with random rows. Sinks are left out.
"""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Sequence
from pathlib import Path
from random import Random

import pytest

from bench.nexmark.events import generate
from bench.nexmark.run import answers
from headwater.errors import Span
from headwater.importing import SYSTEMS, import_files
from headwater.plan.planner import plan_sound
from headwater.project import Project, read_project
from headwater.serve.verify import Verdict, verify
from headwater.testing.harness import World
from headwater.testing.rows import write_rows
from tests.support.golden_files import GOLDEN
from tests.support.nexmark_events import EVENTS
from tests.support.random_rows import random_lines

INPUTS = GOLDEN / "importing" / "inputs"
CASES = [
    "flink/nexmark.sql",
    "risingwave/fleet.sql",
    "ksqldb/rides.sql",
    "flink/functions.sql",
    "risingwave/functions.sql",
    "ksqldb/functions.sql",
]
FILES, ROWS = 3, 40
EMPTY = {"flink/functions.sql": {"recent"}, "ksqldb/functions.sql": {"of_joined"}}
"""By case, views that no row of ours is in at the end."""


class Imported:
    """A project that was imported, with rows for all of its tables.

    Attributes:
        world: its tables and views.
    """

    def __init__(self, spark, case: str, folder: Path) -> None:
        system, target = case.partition("/")[0], folder / "imported"
        import_files([INPUTS / case], SYSTEMS[system], target, {"EVENTS": "datagen"})
        project = read_project(target)
        plans, faults = plan_sound(project.catalog)
        self.views = [name for name in project.without(faults).catalog.views if name in plans]
        (folder / "run").mkdir()
        self.world = World(spark, folder / "run", sorted(target.rglob("*.sql")), names=self.views)
        self._random, self._number = Random(case), 0
        self._events = nexmark(project, folder) if "nexmark" in case else {}

    def land(self) -> None:
        """Write a file for each table."""
        for name, source in self.world.project.catalog.sources.items():
            lines = self._events.get(name, [])[self._number :: FILES]
            lines = lines or random_lines(self._random, source, ROWS)
            folder = self.world._input(name)
            raw = source.encode == "json"
            body = lines if raw else as_csv(lines)
            write_rows(source, folder, self._number, body, raw, Span(name, 1, 1))
        self._number += 1


def as_csv(lines: Sequence[str]) -> list[str]:
    """Return objects as a header and lines."""
    rows = [json.loads(line) for line in lines]
    header = list(rows[0])
    text = io.StringIO()
    csv.writer(text, lineterminator="\n").writerows(
        [header, *([row.get(name, "NULL") for name in header] for row in rows)]
    )
    return text.getvalue().splitlines()


def nexmark(project: Project, folder: Path) -> dict[str, list[str]]:
    """Return NEXMark's events as JSON, by table."""
    with answers(project, generate(folder / "events", 3_000)) as duck:
        duck.execute(EVENTS)
        found = {}
        for table, hidden in (("datagen", "EXCLUDE (_watermark)"), ("side_input", "")):
            rows = duck.sql(f"SELECT to_json(t) FROM (SELECT * {hidden} FROM {table}) t")
            found[table] = [row[0] for row in rows.fetchall()]
        return found


@pytest.mark.parametrize("case", CASES)
def test_an_imported_project_runs(spark, tmp_path, case):
    imported = Imported(spark, case, tmp_path)
    imported.world.tick()  # START FROM LATEST begins here
    for _ in range(FILES):
        imported.land()
    imported.world.tick()
    imported.world.close()
    found = verify(imported.world.project, imported.world.plans)
    wrong = {r.view: (r.verdict, r.reason) for r in found if r.verdict is not Verdict.EQUAL}
    assert wrong == {}
    empty = {r.view for r in found if r.difference and not r.difference.rows}
    assert empty == EMPTY.get(case, set())
