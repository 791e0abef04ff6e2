"""Which lake a catalog and a warehouse belong to, and where that lake was written.

A lake is one namespace of a catalog, and the folder of that namespace in a warehouse. Its tables
hold absolute addresses, so it works only where it was written. Both sides carry a note:

- the catalog: identity of the lake, address of the warehouse, address of an embedded catalog, and
  the last two turns
- the warehouse: identity and turn, so that the catalog of another lake, or an old copy of this
  one, cannot write here

In: a project's configuration. Out: nothing if all is well, or an error that names both places.
Every process that writes takes a turn: an old copy of a catalog does not know the newest one.
Knows neither Spark nor Iceberg.
"""

from __future__ import annotations

import json
import uuid
from collections.abc import Collection, Mapping
from dataclasses import asdict, dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING

from headwater.errors import ServiceError
from headwater.lake.catalogs.opening import catalog_backend
from headwater.lake.storage.places import inside, is_inside, is_same, local_path
from headwater.lake.storage.warehouse import warehouse_for

if TYPE_CHECKING:
    from headwater.config.settings import Config

NOTE = "_headwater-lake.json"
"""Name of the warehouse's note, in the folder of the namespace."""

RELOCATE = "run: headwater relocate"


@dataclass(frozen=True, slots=True)
class CatalogNote:
    """What the catalog says of a lake.

    Attributes:
        lake: identity of the lake.
        warehouse: address of the warehouse that it was written in, as it was spelled.
        catalog: file of an embedded catalog, as it was spelled; None for a server.
        turns: the last two turns; the warehouse knows one of them.
    """

    lake: str
    warehouse: str
    catalog: str | None = None
    turns: tuple[str, ...] = ()

    @classmethod
    def parse(cls, text: str | None) -> CatalogNote | None:
        """Read a note, None if there is none."""
        fields = json.loads(text) if text else None
        return cls(**{**fields, "turns": tuple(fields["turns"])}) if fields else None

    def text(self) -> str:
        """Return the note as it is stored."""
        return json.dumps(asdict(self))


@dataclass(frozen=True, slots=True)
class WarehouseNote:
    """What the warehouse says of a lake.

    Attributes:
        lake: identity of the lake.
        warehouse: address of the warehouse when the note was written.
        catalog: file of an embedded catalog; None for a server.
        turn: the newest turn.
        origin: until the catalog follows a relocation, the identity before it; empty if the lake
            had none.
    """

    lake: str
    warehouse: str
    catalog: str | None = None
    turn: str = ""
    origin: str | None = None

    @classmethod
    def parse(cls, text: bytes | None) -> WarehouseNote | None:
        """Read a note, None if there is none."""
        return cls(**json.loads(text)) if text else None

    def text(self) -> bytes:
        """Return the note as it is stored."""
        return json.dumps(asdict(self), indent=1).encode()


@dataclass
class LakeIdentity:
    """The lake of a project, as its catalog and its warehouse describe it."""

    config: Config
    namespace: str = field(init=False)

    def __post_init__(self) -> None:
        self.namespace = self.config.namespace
        self.backend = catalog_backend(self.config)
        self.warehouse = warehouse_for(self.config)

    @property
    def path(self) -> str:
        """The path of the warehouse's note in the warehouse."""
        return f"{self.namespace}/{NOTE}"

    @cached_property
    def metadata(self) -> Mapping[str, str]:
        """The metadata file of each table and view in the catalog."""
        return self.backend.metadata_locations(self.namespace)

    def catalog_note(self) -> CatalogNote | None:
        """Return what the catalog says."""
        return CatalogNote.parse(self.backend.note(self.namespace))

    def warehouse_note(self) -> WarehouseNote | None:
        """Return what the warehouse says."""
        return WarehouseNote.parse(self.warehouse.read(self.path))

    def check(self) -> None:
        """Make sure that the lake lies where it was written, and that the warehouse is its own.

        Raises:
            ServiceError: ``LAKE_MOVED``, ``WAREHOUSE_TAKEN``; the catalog or the warehouse cannot
                be read.
        """
        self._check(self.catalog_note())

    def check_turn(self) -> None:
        """Make sure, too, that no other copy of the catalog has written since.

        Raises:
            ServiceError: likewise; ``CATALOG_OUTDATED``.
        """
        note = self.catalog_note()
        posted = self._check(note)
        if note is None and posted is None and not self.metadata and self._holds_tables():
            raise self.taken(None)  # who may only read sees no more of a catalog than it may
        # a catalog that knows the tables and not the lake is a backup of an earlier release
        known = note.turns if note else ()
        if posted and posted.turn and posted.turn not in known:
            raise ServiceError(
                "CATALOG_OUTDATED",
                f'another copy of this catalog has written to "{_shown(self.warehouse.uri)}" since',
                hint="use the other copy; or, if it is gone, take over with: headwater relocate",
            )

    def take_turn(self, *, over: bool = False) -> None:
        """Note who writes from now on; a lake without an identity gets one.

        The caller holds the lease.

        Args:
            over: take the warehouse over from another copy of the catalog.

        Raises:
            ServiceError: likewise.
        """
        self.check() if over else self.check_turn()
        posted = self.warehouse_note()
        lake = posted.lake if posted else uuid.uuid4().hex
        note = self.catalog_note() or CatalogNote(lake, self.warehouse.uri)
        turn = uuid.uuid4().hex
        known = posted.turn if posted and posted.turn else turn
        note = replace(note, catalog=self.backend.file, turns=(known, turn))
        # the catalog first: a process that dies here leaves a turn that both know
        self.backend.write_note(self.namespace, note.text())
        self.post(note)

    def post(self, note: CatalogNote, origin: str | None = None) -> None:
        """Write the note of the warehouse.

        Args:
            note: the catalog's.
            origin: of a relocation that goes on, the identity before it.
        """
        turn = note.turns[-1] if note.turns else ""
        mine = WarehouseNote(note.lake, note.warehouse, note.catalog, turn, origin)
        self.warehouse.write(self.path, mine.text())

    def before(self) -> set[str]:
        """Return how the warehouse was spelled when the lake was written, in all known ways."""
        note = self.catalog_note()
        known = {note.warehouse} if note else set[str]()
        return known | self._roots(self.metadata.values())

    def _check(self, note: CatalogNote | None) -> WarehouseNote | None:
        here = self.warehouse.uri
        if note is not None and not is_same(note.warehouse, here):
            raise self.moved(note.warehouse)
        if note is not None and not self._is_own_catalog(note.catalog):
            raise self.moved(str(note.catalog), str(self.backend.file), "the catalog of this lake")
        if note is None and (elsewhere := self._roots(self._elsewhere())):
            raise self.moved(min(elsewhere))
        posted = self.warehouse_note()
        is_other = note.lake != posted.lake if note and posted else not self.metadata
        if posted is not None and is_other:
            raise self.taken(posted)
        if note is None and not self.metadata:
            self._check_name()
        return posted

    def _check_name(self) -> None:
        """Refuse a new lake in a folder that gave the lake in it another name."""
        own, config = self.backend.namespaces(), self.config
        at_home = is_inside(self.warehouse.uri, str(config.directory))
        if own and not config.is_named and at_home and self.namespace not in own:
            raise ServiceError(
                "LAKE_RENAMED",
                f'this project has the name of its folder, "{config.name}", and its lake was '
                f'written under the name "{own[0]}"',
                hint=f'write name = "{own[0]}" in headwater.toml',
            )

    def _is_own_catalog(self, written: str | None) -> bool:
        """Whether an embedded catalog lies where it was; a server may have many addresses."""
        own = self.backend.file
        return own is None or written is None or is_same(written, own)

    def _elsewhere(self) -> list[str]:
        """The metadata files of the catalog that lie outside the warehouse."""
        own = {*inside(self.metadata.values(), self.warehouse.uri)}
        return [each for each in self.metadata.values() if each not in own]

    def _roots(self, files: Collection[str]) -> set[str]:
        """The warehouses of metadata files: what comes before the namespace and the table."""
        between = f"/{self.namespace}/"
        return {f.rpartition(between)[0] or f.rpartition("/")[0] for f in files}

    def _holds_tables(self) -> bool:
        """Whether the folder of the namespace holds tables that a catalog knew."""
        return any(
            path.endswith(".metadata.json") for path in self.warehouse.listed(self.namespace)
        )

    def moved(self, before: str, now: str | None = None, what: str = "this lake") -> ServiceError:
        """Return the error that something lies where it was not written.

        Args:
            before: where it was written.
            now: where it lies; the warehouse by default.
            what: what has moved.
        """
        return ServiceError(
            "LAKE_MOVED",
            f'{what} was written at "{_shown(before)}" and now lies at '
            f'"{_shown(now or self.warehouse.uri)}"',
            hint=RELOCATE,
        )

    def taken(self, posted: WarehouseNote | None) -> ServiceError:
        """Return the error that the warehouse is that of another lake.

        Args:
            posted: what the warehouse says.
        """
        catalog = posted.catalog if posted else None
        whose = f'another lake, whose catalog is "{catalog}"' if catalog else "another lake"
        return ServiceError(
            "WAREHOUSE_TAKEN",
            f'namespace "{self.namespace}" of warehouse "{_shown(self.warehouse.uri)}" '
            f"belongs to {whose}",
            hint="set [warehouse] path or namespace in headwater.toml to one of this project's own",
        )


def _shown(address: str) -> str:
    return str(local_path(address) or address)
