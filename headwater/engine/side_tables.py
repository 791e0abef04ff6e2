"""The side tables of a view that takes over the rows of its shadow: quarantine and late rows.

In: the plans of both. Out: the side tables of the view hold the rows of those of the shadow, each
by one commit before that of the view, as with any epoch. Their rows are copied: they are few.
"""

from __future__ import annotations

from pyspark.sql import functions as F  # noqa: N812 - Spark's own convention

from headwater.analyze.definitions import NEXT
from headwater.engine.follow_definition import follow_input
from headwater.lake.catalog import Lake
from headwater.lake.iceberg.table import LakeTable
from headwater.lake.protocol.commit import SideWrite, commit_side
from headwater.lake.protocol.marker import Marker
from headwater.lake.protocol.table import Write
from headwater.lake.reserved_names import tables_of
from headwater.lake.spec import TableSpec
from headwater.plan.view_plan import ViewPlan

_NOT_NULL = " NOT NULL"


def take_sides(lake: Lake, plan: ViewPlan, shadow: ViewPlan, marker: Marker) -> None:
    """Give the side tables of a view the rows that those of its shadow have.

    Args:
        lake: where the tables are.
        plan: of the view.
        shadow: the plan of the shadow.
        marker: of the commit that swaps the view.
    """
    own, beside = tables_of(plan)[1:], tables_of(shadow)[1:]
    for name, other in zip(own, beside, strict=True):
        if lake.exists(name) or lake.exists(other):
            table = _like(lake, name, other) if lake.exists(other) else lake.table(name)
            _take_back(table, marker)
            commit_side(SideWrite(table, _writes(lake, table, other)), marker, lake.spark)


def _like(lake: Lake, name: str, other: str) -> LakeTable:
    """The side table of a view, with the columns of that of its shadow."""
    columns = tuple(
        (column, kind.removesuffix(_NOT_NULL), not kind.endswith(_NOT_NULL))
        for column, kind in lake.table(other).columns().items()
    )
    return lake.ensure(TableSpec(name, columns), follow_input)


def _take_back(table: LakeTable, marker: Marker) -> None:
    """Undo what an apply that was killed has written: its view was never swapped."""
    table.refresh()
    newest = table.newest(marker.view)
    if newest is not None and newest.marker.epoch >= marker.epoch:
        snapshot = table.snapshot(newest.snapshot_id)
        assert snapshot is not None and snapshot.parent is not None
        table.take_back(snapshot.parent)
        table.refresh()


def _writes(lake: Lake, table: LakeTable, other: str) -> Write:
    rows = lake.table(other).read() if lake.exists(other) else table.read().where("false")
    if "_input" in rows.columns:
        rows = rows.withColumn("_input", F.regexp_replace("_input", f"{NEXT}$", ""))
    return lambda target: target.replace(rows)
