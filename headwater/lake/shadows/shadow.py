"""The shadow of a table, whichever format both have: made, held against it, swapped, dropped.

In: a table of a view, the columns and partitions that it will have. Out: see
``headwater.lake.shadows.iceberg`` and ``headwater.lake.shadows.delta``, which do the work.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import cast

from headwater.lake.catalog import Lake
from headwater.lake.delta.table import DeltaTable
from headwater.lake.iceberg.table import LakeTable
from headwater.lake.protocol.table import Table
from headwater.lake.protocol.takeover import Takeover
from headwater.lake.shadows import delta, iceberg


def make_shadow(
    lake: Lake, table: Table, name: str, ddl: str, partitioned_by: Sequence[str]
) -> None:
    """Make the empty shadow of a table; one of Delta is made when the view is opened.

    Args:
        lake: where the table is.
        table: the table.
        name: of the shadow; a table of this name is replaced.
        ddl: its columns as Spark DDL.
        partitioned_by: its partition transforms as Spark DDL.
    """
    drop_shadow(lake, name)
    if isinstance(table, LakeTable):
        iceberg.make_shadow(lake, table, name, ddl, partitioned_by)


def fits(table: Table, shadow: Table, ddl: str, partitioned_by: Sequence[str]) -> bool:
    """Return whether a table with these columns and partitions could take a shadow's files."""
    if isinstance(shadow, DeltaTable):
        return isinstance(table, DeltaTable) and delta.fits(shadow, ddl, partitioned_by)
    assert isinstance(shadow, LakeTable)
    return isinstance(table, LakeTable) and iceberg.fits(table, shadow, ddl, partitioned_by)


def begin_swap(shadow: Table) -> None:
    """Note at a shadow that its files will be taken over, whatever happens."""
    if isinstance(shadow, DeltaTable):
        delta.begin_swap(shadow)
    elif isinstance(shadow, LakeTable):
        iceberg.begin_swap(shadow)


def drop_shadow(lake: Lake, name: str, *, files: bool = False) -> None:
    """Remove a shadow or a side table of one, if there is one.

    Args:
        lake: where it is.
        name: its name.
        files: whether the files of an Iceberg table go, too: nobody has taken them over.
    """
    found = lake.written(name)
    if isinstance(found, DeltaTable):
        delta.drop_shadow(lake, found)
    elif found is not None:
        iceberg.drop_shadow(lake, name, files=files)


def take_over(table: Table, taken: Takeover[Table]) -> int:
    """Give a table the rows and columns of its shadow, or of an earlier snapshot, in one commit.

    Returns:
        The new snapshot.

    Raises:
        HeadwaterError: another commit came between, or files are gone.
        py4j.protocol.Py4JJavaError: the same of an Iceberg table, or the catalog failed.
    """
    if isinstance(table, DeltaTable):
        return delta.take_over(table, cast(Takeover[DeltaTable], taken))
    return iceberg.take_over(cast(LakeTable, table), cast(Takeover[LakeTable], taken))
