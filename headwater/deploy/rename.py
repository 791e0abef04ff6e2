"""A view gets another name: its table and side tables in the catalog, and all markers that name it.

In: a project whose files have other names than the lake. Out: the lake as if the views had always
had these names. No row is read or written, and no JVM is started.

1. The name that is given up is noted: at the namespace, because the folder of the table keeps it,
   and at the table (``1-noted``).
2. The catalog knows the table and its quarantine by the new name (``2-renamed``).
3. Side tables and sinks, then views, get one more snapshot without files each. Its marker is the
   newest one, of the same epoch, in the names of now (``3-followed``, after each).

A rename that was killed goes on: the tables know what they were, and a view's marker with a name
that is gone shows that step 3 is not done.
"""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING

from headwater.analyze.ddl.sinks import fingerprint_of
from headwater.deploy.changes import ProjectChanges
from headwater.dialect import parse_all, to_sql
from headwater.dialect.syntax import CreateStreamingView
from headwater.lake.protocol.crash_points import crash_point
from headwater.lake.protocol.marker import Marker
from headwater.lake.reserved_names import (
    BEGUN,
    DEFINITION,
    FORMERLY,
    MARKER_TAG,
    PAUSED,
    SINK,
    TAKEN,
    quarantine_of,
)
from headwater.plan.identity import FORMER
from headwater.runtime.lease import Lease
from headwater.serve.lake_reader import LakeReader, catalog_failures, writable_catalog
from headwater.serve.stored_table import StoredTable

if TYPE_CHECKING:
    from pyiceberg.catalog import Catalog

CRASH_POINTS = ("1-noted", "2-renamed", "3-followed")
"""Names for ``HEADWATER_CRASH_POINT``, in the order in which a rename reaches them."""


def rename(changes: ProjectChanges) -> ProjectChanges:
    """Give views the names that the files have.

    Args:
        changes: the project held against the lake.

    Returns:
        The project held against the lake as it is then.

    Raises:
        HeadwaterError: a view cannot have its new name, or another process runs the project.
    """
    if not changes.renamed:
        return changes
    changes.old_fingerprint("")  # what was is read before anything is changed
    config = changes.project.config
    lease = Lease.acquire(config)
    try:
        with writable_catalog(config) as catalog, catalog_failures():
            for name, old in changes.renames.pending.items():
                _rename(catalog, config.namespace, name, old)
                for folder in (old, quarantine_of(old)):  # written anew from the marker
                    shutil.rmtree(config.state / folder, ignore_errors=True)
            _Followers(changes, catalog).follow()
    finally:
        lease.release()
    return ProjectChanges(changes.project, changes.plans)


def _rename(catalog: Catalog, namespace: str, name: str, old: str) -> None:
    noted = {TAKEN + old: name}
    if PAUSED + old in catalog.load_namespace_properties(namespace):
        noted[PAUSED + name] = "true"
    catalog.update_namespace_properties(namespace, {PAUSED + old}, noted)
    table = catalog.load_table((namespace, old))
    had = [*json.loads(table.properties.get(FORMERLY, "[]")), old]
    with table.transaction() as change:
        change.set_properties({FORMERLY: json.dumps(list(dict.fromkeys(had)))})
    crash_point("1-noted", name)
    # the view last: it is found again by its name
    if catalog.table_exists((namespace, quarantine_of(old))):
        catalog.rename_table((namespace, quarantine_of(old)), (namespace, quarantine_of(name)))
    catalog.rename_table((namespace, old), (namespace, name))
    crash_point("2-renamed", name)


class _Followers:
    """The tables whose markers and definitions have names that are gone."""

    def __init__(self, changes: ProjectChanges, catalog: Catalog) -> None:
        self._changes, self._catalog = changes, catalog
        self._renames = changes.renames
        self._namespace = changes.project.config.namespace
        self._lake = LakeReader(changes.project.config)

    def follow(self) -> None:
        """Write their newest markers in the names of now; those of renamed views come last."""
        views = [*self._changes.plans]
        order = {name: at for at, name in enumerate(views, start=1)}
        renamed = {*self._renames.former.values()}
        names = sorted(self._lake.names(), key=lambda n: (n in renamed, order.get(n, 0)))
        for name in names:
            table = self._lake.table(name)
            for marker in _newest(table) if table and not table.is_delta else ():
                self._write(table, marker)

    def _write(self, table: StoredTable | None, marker: Marker) -> None:
        assert table is not None
        former, name = self._renames.former, table.name
        if marker.view not in former and not marker.cut_to.keys() & former.keys():
            return
        found = replace(
            marker,
            view=former.get(marker.view, marker.view),
            cut_from=self._renames.cut(marker.cut_from),
            cut_to=self._renames.cut(marker.cut_to),
            fingerprint=self._fingerprint(name, marker),
            began=None,  # nothing was computed
        )
        iceberg = self._catalog.load_table((self._namespace, name))
        definitions = dict(self._definitions(name, iceberg.properties))
        with iceberg.transaction() as change:
            if definitions:
                change.set_properties(definitions)
            summary = found.to_summary()
            with change.update_snapshot(snapshot_properties=summary).fast_append():
                pass  # nothing is appended: the marker is all
        head = iceberg.current_snapshot()
        if head is not None and MARKER_TAG in iceberg.metadata.refs:
            iceberg.manage_snapshots().create_tag(head.snapshot_id, MARKER_TAG).commit()
        crash_point("3-followed", name)

    def _fingerprint(self, name: str, marker: Marker) -> str:
        """The fingerprint of the same definition in the names of now."""
        if name in self._changes.old:
            former = marker.fingerprint.startswith(f"{FORMER}:")
            return self._changes.old_fingerprint(name, former=former) or marker.fingerprint
        sink = self._changes.project.catalog.sinks.get(name.removesuffix(SINK).removesuffix(BEGUN))
        if sink is not None and name.endswith((SINK, BEGUN)):
            for old, now in self._renames.former.items():
                if now == sink.view:
                    before = fingerprint_of(replace(sink, view=old))
                    return sink.fingerprint if before == marker.fingerprint else marker.fingerprint
        return marker.fingerprint

    def _definitions(self, name: str, properties: Mapping[str, str]) -> Iterator[tuple[str, str]]:
        plan = self._changes.plans.get(name)
        for key, text in properties.items():
            if not key.startswith(DEFINITION):
                continue
            if key == DEFINITION and plan and self._changes.means_the_same(name):
                yield key, plan.view.definition
                continue
            statements, errors = parse_all(text) if text else ([], [])
            if statements and not errors and isinstance(statements[0], CreateStreamingView):
                yield key, to_sql(self._renames.of(statements[0]))


def _newest(table: StoredTable) -> list[Marker]:
    """The newest marker of each view that writes a table."""
    found: dict[str, Marker] = {}
    for snapshot in table.ancestors():
        marker = snapshot.marker
        if marker is not None:
            found.setdefault(marker.view, marker)
    return list(found.values())
