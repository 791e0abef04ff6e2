"""Connector ``delta``: changes into a Delta table in a folder, each exactly once.

In: changes. Out: one transaction of the table, which Delta itself skips if its number is there; see
:mod:`headwater.connectors.lake_tables.sink`. Delta's store for local files is safe within one
process
only: a version that another process puts in the place of ours is noticed; the sink stops, and
delivers it again when it is started.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from headwater.analyze.definitions import Sink
from headwater.connectors.lake_tables.sink import TableOutlet
from headwater.connectors.lake_tables.target import DeltaSinkTarget
from headwater.lake.catalog import Lake
from headwater.lake.delta.log import is_delta
from headwater.lake.delta.metastore import is_entered
from headwater.lake.java import active
from headwater.lake.protocol.history import Commit
from headwater.lake.protocol.marker import Marker


class DeltaFolder(TableOutlet):
    """The Delta table of one sink.

    Args:
        directory: where relative paths of options start.
    """

    def __init__(self, sink: Sink, directory: Path) -> None:
        super().__init__(sink, directory)
        self._folder = directory / sink.options["path"]
        self._target: DeltaSinkTarget

    @staticmethod
    def jars(sink: Sink, directory: Path) -> tuple[str, ...]:  # noqa: ARG004 - of others
        """See :meth:`Outlet.jars`."""
        return ("delta",)

    def open(self, lake: Lake) -> None:
        """See :meth:`Outlet.open`: the table is not looked at yet."""
        super().open(lake)
        identifier = lake.delta_identifier(self._sink.name)
        name = self._sink.options["path"]
        self._target = DeltaSinkTarget(self._session, name, identifier, self._folder)

    def place(self, before: str | None) -> str:
        """See :meth:`Outlet.place`: the table's identity."""
        target = self._target
        with self._failing(), active(self._session):
            if self._lake.owns(str(self._folder)):
                raise self._refused("OWN_TABLE", "is in the folder of the project's own tables")
            if is_entered(self._folder):
                raise self._refused("OWN_TABLE", "belongs to a Headwater project")
            if before and not is_delta(self._folder):
                raise self._missing()
            self._lake.make_delta(target, self._spec(target.name))
            if before and before != target.uuid:
                raise self._refused("TABLE_RECREATED", "was removed and created again: it is empty")
            self._check_columns()
            target.refresh()
            return target.uuid

    def _check_epochs(self, newest: Commit | None, marker: Marker) -> None:
        super()._check_epochs(newest, marker)
        if newest and self._target.is_restored_since(newest.snapshot_id):
            raise self._refused("TABLE_ROLLED_BACK", "was restored since the last delivery")

    @contextmanager
    def _failing(self) -> Iterator[None]:
        """See :meth:`TableOutlet._failing`: files that Python opens here are those of the table."""
        try:
            yield
        except OSError as error:
            reason = error.strerror or str(error)
            what = f'the folder of sink "{self._sink.name}" cannot be used: {reason}'
            hint = f'check "{self._folder}", its owner and permissions, or give another path'
            raise self._service("TABLE_NOT_WRITABLE", what, hint) from error
