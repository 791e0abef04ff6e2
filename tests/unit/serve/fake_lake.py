"""A lake without a JVM: PyIceberg writes what Spark would, commit markers included."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import quote

import pyarrow as pa
from pyiceberg.catalog.sql import SqlCatalog

from headwater.lake.protocol.marker import Marker
from headwater.lake.storage.warehouse import folder_uri
from headwater.project import Project, load_project

TABLES = """
CREATE TABLE clicks (
  user_id BIGINT,
  ts TIMESTAMP WITH TIME ZONE,
  score DOUBLE,
  WATERMARK FOR ts AS ts - INTERVAL '10' MINUTE
) WITH (connector = 'files', path = 'in') FORMAT PLAIN ENCODE JSON;

CREATE STREAMING VIEW per_user AS
SELECT user_id, count(*) AS clicks, sum(score) AS score, approx_distinct(score) AS scores
FROM clicks GROUP BY user_id;

CREATE STREAMING VIEW per_hour AS
SELECT window_start, count(*) AS clicks
FROM TUMBLE(clicks, ts, INTERVAL '1' HOUR) GROUP BY window_start
EMIT ON WINDOW CLOSE;
"""

UTC_MICROS = pa.timestamp("us", "UTC")
CLICKS = pa.schema(
    {
        "user_id": pa.int64(),
        "ts": UTC_MICROS,
        "score": pa.float64(),
        "_watermark": UTC_MICROS,
        "_arrived_at": UTC_MICROS,
    }
)


@dataclass
class FakeLake:
    """Writes tables and markers of one project."""

    project: Project
    catalog: SqlCatalog

    def create(self, name: str, schema: pa.Schema) -> None:
        self.catalog.create_table((self.project.config.namespace, name), schema)

    def append(
        self,
        name: str,
        rows: Sequence[Mapping[str, object]],
        marker: Marker | None = None,
    ) -> int:
        table = self.catalog.load_table((self.project.config.namespace, name))
        data = pa.Table.from_pylist(list(rows), schema=table.schema().as_arrow())
        table.append(data, snapshot_properties=marker.to_summary() if marker else {})
        return self.snapshot(name)

    def delete(self, name: str, condition: str) -> None:
        self.catalog.load_table((self.project.config.namespace, name)).delete(condition)

    def snapshot(self, name: str) -> int:
        snapshot = self.catalog.load_table((self.project.config.namespace, name)).current_snapshot()
        assert snapshot is not None
        return snapshot.snapshot_id


def make_lake(folder: Path, sql: str = TABLES) -> FakeLake:
    (folder / "headwater.toml").write_text('name = "shop"\n')
    (folder / "project.sql").write_text(sql)
    project = load_project(folder)
    warehouse = project.config.warehouse
    warehouse.mkdir(parents=True)
    uri = f"sqlite:///{quote(str(warehouse))}/catalog.db"
    catalog = SqlCatalog("lake", uri=uri, warehouse=folder_uri(warehouse))
    catalog.create_namespace(project.config.namespace)
    return FakeLake(project, catalog)
