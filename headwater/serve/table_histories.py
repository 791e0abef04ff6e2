"""The commits of all tables of a project, each read once, and what they say together.

In: a reader of the lake, a catalog. Out: commits by table, newest first; of a table that cannot be
read, the reason.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import TYPE_CHECKING

from headwater.errors import HeadwaterError
from headwater.lake.protocol.history import Commit
from headwater.lake.reserved_names import PLACE, SINK, quarantine_of
from headwater.serve.lake_reader import NOTHING_IS_READABLE, LakeReader
from headwater.serve.stored_table import reading

if TYPE_CHECKING:
    from headwater.analyze.definitions import Catalog


class TableHistories(dict[str, Sequence[Commit]]):
    """The commits of each table, newest first, read once."""

    def __init__(self, lake: LakeReader, catalog: Catalog) -> None:
        super().__init__()
        self._lake, self._catalog = lake, catalog
        self.external = catalog.external
        self.unread: dict[str, str] = {}

    def __missing__(self, name: str) -> Sequence[Commit]:
        try:
            with reading(name):
                return self._read(name)
        except HeadwaterError as error:
            if error.condition in NOTHING_IS_READABLE:
                raise
            self[name], self.unread[name] = (), error.message
            return self[name]

    def _read(self, name: str) -> Sequence[Commit]:
        table = self._lake.table(name)
        if table is None:
            self[name] = ()
        elif name in self.external:
            self[name] = list(table.commits_of_others(name))
        else:
            self[name] = table.history(name.removesuffix(SINK))
        return self[name]

    def cut(self, commit: Commit) -> set[str]:
        """Return what a commit of a view is made of; what was expired since is left out."""
        found: set[str] = set()
        for name, position in commit.marker.cut_to.items():
            if name == PLACE:
                continue
            read = next((c for c in self[name] if str(c.snapshot_id) == position), None)
            if read is not None and name in self._catalog.views:
                found |= self.cut(read)
            elif read is not None:
                found.add(f"{name}@{read.marker.epoch}")
        return found

    def timed(self, name: str) -> bool:
        """Return whether a table has event times, or a view reads one that has."""
        if source := self._catalog.sources.get(name):
            return source.watermark is not None
        view = self._catalog.views.get(name)
        return view is not None and any(map(self.timed, view.inputs))

    def uncounted(self, name: str) -> bool:
        """Return whether a view may leave out late rows of a SOURCE, which nobody counts."""
        view = self._catalog.views.get(name)
        read = [self._catalog.sources.get(each) for each in view.inputs] if view else []
        return any(source and not source.kept and source.watermark for source in read)

    def rejected(self, name: str) -> Counter[str]:
        """Return how many rows of a table were refused, as its quarantine's marker says.

        A quarantine that cannot be read is noted in ``unread``.
        """
        side = quarantine_of(name)
        try:
            with reading(side):
                table = self._lake.table(side)
                newest = next(table.commits(name), None) if table is not None else None
        except HeadwaterError as error:
            if error.condition in NOTHING_IS_READABLE:
                raise
            self.unread[side], newest = error.message, None
        return Counter(newest.marker.counts if newest else {})
