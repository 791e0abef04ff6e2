"""A lake of one project without a JVM, whose views hold what a test gives them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path

import pyarrow as pa
from fake_lake import UTC_MICROS, make_lake

from headwater.analyze.definitions import View
from headwater.lake.protocol.marker import Marker
from headwater.plan.planner import plan_project

AT = datetime(2026, 1, 1, 10, tzinfo=UTC)
ROW = {"_path": pa.string(), "_row": pa.int64()}
ORDERS = pa.schema(
    {
        "order_id": pa.int64(),
        "customer": pa.int64(),
        "city": pa.string(),
        "amount": pa.int64(),
        "ordered_at": UTC_MICROS,
        "_watermark": UTC_MICROS,
        "_arrived_at": UTC_MICROS,
        **ROW,
    }
)
CHANGES = pa.schema(
    {"customer": pa.int64(), "name": pa.string(), "_change_type": pa.string(), **ROW}
)
QUARANTINE = pa.schema(
    {"raw": pa.binary(), "reason": pa.string(), "_arrived_at": UTC_MICROS, **ROW}
)
_TYPES = {
    "BIGINT": pa.int64(),
    "BOOLEAN": pa.bool_(),
    "VARCHAR": pa.string(),
    "TIMESTAMPTZ": UTC_MICROS,
}


def order(
    order_id: int, customer: int, city: str, amount: int, minute: int, mark: int | None = None
) -> dict[str, object]:
    return {
        "order_id": order_id,
        "customer": customer,
        "city": city,
        "amount": amount,
        "ordered_at": AT.replace(minute=minute),
        "_watermark": AT.replace(hour=AT.hour + mark) if mark is not None else None,
        "_path": "orders/1.json",
        "_row": order_id,
    }


class Lake:
    """A project whose tables are written by PyIceberg."""

    def __init__(self, folder: Path, sql: str) -> None:
        self.fake = make_lake(folder, sql)
        self.project = self.fake.project
        self.plans = plan_project(self.project.catalog)
        self._made: set[str] = set()

    def land(self, name: str, schema: pa.Schema, rows: Sequence[Mapping[str, object]]) -> None:
        """Land rows."""
        self._create(name, schema)
        self.fake.append(name, rows)

    def write(
        self, view: str, rows: Sequence[Mapping[str, object]], watermark: datetime | None = None
    ) -> None:
        """Commit rows of a view that has read all of its inputs."""
        plan = self.plans[view]
        self._create(view, _schema(plan.view))
        cut = {each.name: str(self.fake.snapshot(each.name)) for each in plan.inputs}
        mark = int(watermark.timestamp()) * 1_000_000 if watermark else None
        marker = Marker(view, 1, 0, {}, cut, watermark=mark, fingerprint=plan.fingerprint)
        self.fake.append(view, rows, marker)

    def _create(self, name: str, schema: pa.Schema) -> None:
        if name not in self._made:
            self._made.add(name)
            self.fake.create(name, schema)


def _schema(view: View) -> pa.Schema:
    return pa.schema([(field.name, _TYPES[field.type.this.name]) for field in view.fields])
