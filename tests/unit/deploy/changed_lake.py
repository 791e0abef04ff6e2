"""A lake without a JVM whose project's files change."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

import pyarrow as pa

from headwater.deploy.changes import ProjectChanges
from headwater.deploy.preview import RowChanges, preview
from headwater.lake.protocol.marker import Marker
from headwater.lake.reserved_names import DEFINITION
from headwater.plan.planner import plan_project
from headwater.project import load_project
from tests.unit.serve.fake_lake import CLICKS, FakeLake, make_lake

NOON = datetime(2026, 1, 1, 12, tzinfo=UTC)
BIGINT, TEXT, TIME = pa.int64(), pa.string(), CLICKS.field("ts").type
CLICK = {"user_id": 1, "score": 1.5}


def table(name: str) -> str:
    return (
        f"CREATE TABLE {name} (user_id BIGINT, ts TIMESTAMP WITH TIME ZONE, score DOUBLE,"
        " WATERMARK FOR ts AS ts - INTERVAL '10' MINUTE)"
        f" WITH (connector = 'files', path = '{name}') FORMAT PLAIN ENCODE JSON;\n"
    )


class Lake:
    """Views whose files change."""

    def __init__(self, folder: Path, views: str, names: tuple[str, ...] = ("clicks",)) -> None:
        self.tables = "".join(map(table, names))
        self.fake: FakeLake = make_lake(folder, self.tables + views)
        self.plans = plan_project(self.fake.project.catalog)
        for name in names:
            self.fake.create(name, CLICKS)

    def land(self, name: str, *minutes: int) -> None:
        """Land rows, each so many minutes after noon."""
        rows = [{**CLICK, "ts": NOON.replace(minute=minute)} for minute in minutes]
        self.fake.append(name, rows, Marker(name, 1, 0, {}, {}))

    def write(self, view: str, schema: dict[str, pa.DataType], *rows: dict[str, object]) -> None:
        """Commit a view that has read all there is."""
        self.fake.create(view, pa.schema(schema))
        self.commit(view, *rows)
        identifier = (self.fake.project.config.namespace, view)
        with self.fake.catalog.load_table(identifier).transaction() as change:
            change.set_properties({DEFINITION: self.plans[view].view.definition})

    def commit(self, view: str, *rows: dict[str, object], version: int = 1) -> None:
        """Commit rows of a version of a view that has read all there is."""
        plan = self.plans[view]
        cut = {each.name: str(self.fake.snapshot(each.name)) for each in plan.inputs}
        marker = Marker(view, version, version - 1, {}, cut, fingerprint=plan.fingerprint)
        self.fake.append(view, rows, marker)

    def changed(self, views: str) -> ProjectChanges:
        """Change the files."""
        (self.fake.project.root / "project.sql").write_text(self.tables + views)
        project = load_project(self.fake.project.root)
        return ProjectChanges(project, plan_project(project.catalog))

    def diff(self, views: str) -> dict[str, RowChanges]:
        """What a change of the files does to the rows."""
        return {each.view: each for each in preview(self.changed(views))}
