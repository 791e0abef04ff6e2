"""A table of somebody else that a sink delivers into, and what is remembered in it.

In: the table, and the name under which the sink delivers. Out: a table of the commit protocol that
others write to as well: its epochs are those of this sink, whatever lies between them.

In Iceberg the newest epoch carries a tag of the sink's own, set in the same commit that published
it. So an owner who expires snapshots leaves it, and a delivery that is repeated finds it in one
look. In Delta it is looked for in the log, which keeps its commits for 30 days where its owner says
nothing else.
"""

from __future__ import annotations

from pyspark.errors import AnalysisException
from pyspark.sql import SparkSession

from headwater.lake.delta.table import DeltaTable
from headwater.lake.iceberg.table import LakeTable
from headwater.lake.protocol.history import Commit
from headwater.lake.reserved_names import MARKER_TAG


class SinkTarget(LakeTable):
    """The table of one sink.

    Args:
        spark: session in which its catalog is known.
        name: namespace and table, as messages say them.
        identifier: full name as Spark SQL reads it.
        sink: the project's namespace and the name of the sink.

    Attributes:
        first: the snapshot on which the first delivery was begun: no epoch is older. None until it
            is known.
    """

    def __init__(self, spark: SparkSession, name: str, identifier: str, sink: str) -> None:
        super().__init__(spark, name, identifier)
        self.marker_tag = f"headwater-sink-{sink}"
        self.first: int | None = None

    @property
    def uuid(self) -> str:
        """Identity of the table: another one if it was dropped and made again."""
        return str(self.java.operations().current().uuid())

    @property
    def is_kept_by_headwater(self) -> bool:
        """Whether it is the table of a view, or a landed one, of some project."""
        return self.ref(MARKER_TAG) is not None

    def reload(self) -> bool:
        """Load it from the catalog by its name, whichever table that is now.

        Returns:
            Whether there is one.
        """
        self.__dict__.pop("java", None)
        try:
            return self.java is not None
        except AnalysisException as error:
            # not asked before: Spark looks for a view too, which older catalogs do not know
            if "TABLE_OR_VIEW_NOT_FOUND" not in str(error):
                raise
            return False

    def total_rows(self) -> int:
        """Return the number of rows; 1 if who wrote the newest snapshot does not tell it."""
        snapshot = self.current()
        return int(snapshot.summary.get("total-records", 1)) if snapshot else 0

    def newest(self, view: str | None = None, *, before: int | None = None) -> Commit | None:
        """Return the newest epoch of the sink; see :meth:`Table.newest`.

        The tag says it without a walk over what others have committed since. Without a tag there is
        none since the first delivery was begun, unless somebody has removed the tag.
        """
        kept = self.kept_commit() if before is None else None
        if kept and view in (None, kept.marker.view) and self._is_ancestor(kept.snapshot_id):
            return kept
        if kept is None and before is None and self.first and self._is_ancestor(self.first):
            for snapshot in self.since(self.first):
                if (marker := snapshot.marker) and view in (None, marker.view):
                    return Commit.of(snapshot, marker)
            return None
        return super().newest(view, before=before)

    def _is_ancestor(self, snapshot_id: int) -> bool:
        return self.includes(self.snapshot_id(), snapshot_id)


class DeltaSinkTarget(DeltaTable):
    """The table of one sink, in Delta's format."""

    @property
    def uuid(self) -> str:
        """Identity of the table: another one if it was removed and made again."""
        return str(self._newest().metadata().id())

    def total_rows(self) -> None:
        """Return None: its owner may have made it with rows."""

    def is_restored_since(self, snapshot_id: int) -> bool:
        """Return whether its owner has gone back to an older version after one."""
        return any(later.operation == "restore" for later in self.since(snapshot_id))
