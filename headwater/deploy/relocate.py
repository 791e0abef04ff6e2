"""``headwater relocate``: a lake that was moved or copied goes on where it lies now.

In: a project whose catalog names another place. Out: the same tables in the same catalog, with all
snapshots, markers and properties, at the place where they lie. First the metadata is written anew,
beside what is there (:mod:`headwater.lake.relocation.iceberg`); then one transaction of the catalog
makes it the tables'. A process that is killed before leaves the lake as it was found. Nothing
outside the project's own warehouse is read for it, changed or deleted.
"""

from __future__ import annotations

import uuid
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from headwater.checkpoints.moves import follow, paths_of
from headwater.errors import ServiceError
from headwater.lake.catalogs.database import CatalogDatabase
from headwater.lake.delta.log import is_delta
from headwater.lake.delta.metastore import enter_table, is_entered
from headwater.lake.identity import CatalogNote, LakeIdentity, WarehouseNote
from headwater.lake.protocol.crash_points import crash_point
from headwater.lake.relocation.iceberg import MovedFiles, Rewriting
from headwater.lake.storage.places import is_same, local_path
from headwater.lake.storage.warehouse import table_folder
from headwater.runtime.lease import Lease

if TYPE_CHECKING:
    from headwater.config.settings import Config
    from headwater.project import Project

CRASH_POINTS = ("relocate-written", "relocate-posted", "relocate-committed")
"""Names for ``HEADWATER_CRASH_POINT``."""


@dataclass(frozen=True, slots=True)
class Relocated:
    """What was done to one table.

    Attributes:
        table: its name.
        format: ``iceberg`` or ``delta``.
        manifests: manifests that were written anew.
        delete_files: files of position deletes that were written anew.
    """

    table: str
    format: str
    manifests: int = 0
    delete_files: int = 0


@dataclass(frozen=True, slots=True)
class Relocation:
    """What was done to a lake.

    Attributes:
        before: where it was written; None if there was nothing to do.
        now: where it lies.
        is_copy: whether the original is still there.
        tables: its tables.
    """

    before: str | None
    now: str
    is_copy: bool
    tables: tuple[Relocated, ...]


def relocate(project: Project, tell: Callable[[str], None] = lambda _: None) -> Relocation:
    """Make the catalog of a project name the place where its lake lies.

    Args:
        project: the project; its sources say which folders of files move with it.
        tell: told of each table before it is read.

    Raises:
        TerminalError: ``COPY_INCOMPLETE``.
        ServiceError: ``ALREADY_RUNNING``, ``WAREHOUSE_TAKEN``, ``NOT_YET`` behind a catalog with
            REST, ``CATALOG_CHANGED``, ``LAKE_RENAMED``, ``ORIGINAL_THERE``.
    """
    config = project.config
    identity = LakeIdentity(config)
    wrong = _what_is_wrong(identity)
    if not wrong:
        return Relocation(None, identity.warehouse.uri, False, ())
    if wrong == "CATALOG_OUTDATED":
        with Lease.acquire(config, moved=True):
            identity.take_turn(over=True)
        return Relocation(identity.warehouse.uri, identity.warehouse.uri, False, ())
    if not isinstance(identity.backend, CatalogDatabase):
        raise ServiceError(
            "NOT_YET",
            "a lake behind a catalog with REST cannot be relocated",
            hint="move the warehouse back, or register its tables anew with the catalog's tools",
        )
    with Lease.acquire(config, moved=True):
        found = _relocated(config, identity, identity.backend, tell)
        for checkpoint in sorted(config.state.glob("*/v*/checkpoint")):
            follow(checkpoint, config.directory, paths_of(project.catalog.sources.values()))
        return found


def _what_is_wrong(identity: LakeIdentity) -> str:
    """The condition that a relocation mends, nothing if all is well."""
    try:
        identity.check_turn()
    except ServiceError as error:
        if error.condition not in ("LAKE_MOVED", "CATALOG_OUTDATED"):
            raise
        return error.condition
    return ""


def _relocated(
    config: Config,
    identity: LakeIdentity,
    backend: CatalogDatabase,
    tell: Callable[[str], None],
) -> Relocation:
    here, note = identity.warehouse.uri, identity.catalog_note()
    before = sorted(identity.before())
    posted = identity.warehouse_note()
    is_copy = _original_is_there(identity, note, before)
    known = note.lake if note else ""
    if not _is_own(identity, known, posted, before, is_copy=is_copy):
        raise identity.taken(posted)
    files = identity.warehouse.listed(config.namespace)
    rewriting = Rewriting(MovedFiles(identity.warehouse, before, files))
    moves, done = {}, []
    if not all(is_same(each, here) for each in before):
        for name, location in sorted(identity.metadata.items()):
            tell(name)
            own = replace(rewriting, manifests={}, deletes={})
            moves[name] = location, own.table(location)
            done.append(Relocated(name, "iceberg", len(own.manifests), len(own.deletes)))
    crash_point("relocate-written")
    for folder in _delta_tables(config, here):
        done.append(Relocated(folder.name, "delta"))
        if is_entered(folder):
            enter_table(folder)
    if posted and posted.origin == known:
        lake = posted.lake  # of an attempt that was killed
    else:
        lake = uuid.uuid4().hex if is_copy or not note else note.lake
    now = CatalogNote(lake, here, backend.file, (posted.turn,) if posted and posted.turn else ())
    # the warehouse first: until the catalog follows, the lake is one that has moved
    identity.post(now, known)
    crash_point("relocate-posted")
    backend.repoint(config.namespace, moves, now.text())
    crash_point("relocate-committed")
    elsewhere = [each for each in before if not is_same(each, here)]
    return Relocation((elsewhere or before)[0], here, is_copy, tuple(done))


def _original_is_there(identity: LakeIdentity, note: CatalogNote | None, before: list[str]) -> bool:
    """Whether the lake is still at the place that the catalog names.

    Raises:
        ServiceError: ``ORIGINAL_THERE`` if it has the same catalog.
    """
    own, here = identity.backend.file, identity.warehouse.uri
    if note and note.catalog and own and not is_same(note.catalog, own):
        return Path(note.catalog).is_file()
    # tables that were there may have other metadata by now
    folders = [local_path(root) for root in before if not is_same(root, here)]
    files = [folder / "catalog.db" for folder in folders if folder]
    files += filter(None, map(local_path, identity.metadata.values()))
    there = next((file for file in files if file.is_file()), None)
    if there is not None and own is None:
        raise ServiceError(
            "ORIGINAL_THERE",
            f'the catalog holds the original, which is still there: "{there}"',
            hint="move the original away, or give the copy a new namespace and an empty warehouse",
        )
    return there is not None


def _is_own(
    identity: LakeIdentity,
    known: str,
    posted: WarehouseNote | None,
    before: list[str],
    *,
    is_copy: bool,
) -> bool:
    """Whether the warehouse holds this lake, or the copy of it, and nobody else's."""
    if is_copy and any(is_same(each, identity.warehouse.uri) for each in before):
        return False  # the catalog was copied, and the warehouse is still the original's
    return posted is None or known in (posted.lake, posted.origin)


def _delta_tables(config: Config, here: str) -> Iterator[Path]:
    """Yield the folders of the Delta tables of a project."""
    folder = table_folder(here, config.namespace, "")
    if folder is not None and folder.is_dir():
        yield from (each for each in sorted(folder.iterdir()) if is_delta(each))
