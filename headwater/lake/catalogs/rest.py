"""A catalog behind REST: how it is reached, and the lease that lies in it.

In: section ``[catalog]`` of a project. Out: a :class:`RestServer`, and a :class:`TableLease` with
the moves of ``headwater.lake.catalogs.lease_record``.

Such a catalog keeps tables and nothing else, so the lease is a table without rows. The server
applies a commit only if what it requires still holds, by Iceberg's REST specification; among what
can be required is the number of the last column that the table ever had, which only rises. That is
the fence token: who takes the lease adds a column and requires the number that it saw. The owner
and its renewals are properties, changed on condition that the token is still their own.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from contextlib import closing, contextmanager, suppress
from dataclasses import asdict
from functools import cached_property
from typing import TYPE_CHECKING, Any

from headwater.config.secrets import Secret
from headwater.errors import ServiceError
from headwater.errors.plain import plain
from headwater.lake.catalogs.backend import CATALOG, CatalogBackend
from headwater.lake.catalogs.lease_record import TABLE, LeaseRecord, Owner, Standing
from headwater.lake.failures import explain_failure
from headwater.lake.reserved_names import LAKE

if TYPE_CHECKING:
    from pyiceberg.catalog.rest import RestCatalog
    from pyiceberg.table import Table
    from pyiceberg.table.update import TableUpdate

    from headwater.config.settings import CatalogSection

SILENCE = 60
"""Seconds after which a server that says nothing at all is given up."""

_OWNER, _RENEWALS = "headwater.owner", "headwater.renewals"
_KEPT = {
    "write.metadata.delete-after-commit.enabled": "true",
    "write.metadata.previous-versions-max": "2",
}
"""A renewal every few seconds is a commit: their files must not pile up."""


class RestServer(CatalogBackend):
    """A server with the interface of Iceberg's REST catalog.

    Args:
        section: its address, and who asks.
    """

    jars = ("core",)

    def __init__(self, section: CatalogSection) -> None:
        self._section = section

    def spark_settings(self, warehouse: str) -> dict[str, str]:  # noqa: ARG002 - the server's own
        """Return the settings of Iceberg's REST catalog, below the name of the catalog."""
        return {"type": "rest", **self._place()}

    def spark_secrets(self) -> dict[str, str]:
        """Return who asks, as Iceberg takes it."""
        found = {"credential": self._section.credential, "token": self._section.token}
        return {name: Secret(template).reveal() for name, template in found.items() if template}

    def reader_settings(self) -> dict[str, str] | None:
        """Return the properties by which PyIceberg reads the catalog."""
        return self.writer_settings()

    def writer_settings(self) -> dict[str, str]:
        """Return the same: what may be changed is the server's business."""
        return {"type": "rest", **self._place(), **self.spark_secrets()}

    def note(self, namespace: str) -> str | None:
        """Return what is noted of the lake of a namespace, as a property of the namespace."""
        with _errors():
            return self._namespace_properties(namespace).get(LAKE)

    def write_note(self, namespace: str, text: str) -> None:
        """Note something of the lake of a namespace, likewise."""
        with _errors(), closing(rest_catalog(self)) as catalog:
            catalog.create_namespace_if_not_exists(namespace)
            catalog.update_namespace_properties(namespace, updates={LAKE: text})

    def metadata_locations(self, namespace: str) -> dict[str, str]:
        """Return the metadata file of each table: the server is asked for one after the other."""
        from pyiceberg.exceptions import NoSuchNamespaceError

        with _errors(), closing(rest_catalog(self)) as catalog, suppress(NoSuchNamespaceError):
            names = list(catalog.list_tables(namespace))
            return {each[-1]: catalog.load_table(each).metadata_location for each in names}
        return {}

    def _namespace_properties(self, namespace: str) -> Mapping[str, str]:
        from pyiceberg.exceptions import NoSuchNamespaceError

        with closing(rest_catalog(self)) as catalog, suppress(NoSuchNamespaceError):
            return dict(catalog.load_namespace_properties(namespace))
        return {}

    def _place(self) -> dict[str, str]:
        section = self._section
        named = {"warehouse": section.warehouse} if section.warehouse else {}
        return {"uri": str(section.uri), **named}


def rest_catalog(server: RestServer) -> RestCatalog:
    """Open a catalog behind REST; a server that hangs is given up after :data:`SILENCE`."""
    from pyiceberg.catalog.rest import RestCatalog
    from requests.adapters import HTTPAdapter

    class Patient(HTTPAdapter):
        def send(self, *given: Any, **options: Any) -> Any:  # noqa: ANN401 - as it is declared
            return super().send(*given, **{**options, "timeout": options["timeout"] or SILENCE})

    catalog = RestCatalog(CATALOG, **server.writer_settings())
    # PyIceberg 0.12.0 asks without a timeout: a server that hangs would hold us for ever. Later
    # releases can be given one (apache/iceberg-python#3418).
    for scheme in ("http://", "https://"):
        catalog._session.mount(scheme, Patient())  # noqa: SLF001
    return catalog


class TableLease(LeaseRecord):
    """The lease of one namespace, as a table of the catalog."""

    def __init__(self, server: RestServer, namespace: str) -> None:
        self.namespace = namespace
        self._server = server
        self._name = (TABLE, namespace)

    @cached_property
    def _catalog(self) -> RestCatalog:
        return rest_catalog(self._server)

    def create(self) -> None:
        """Make the table, once, before the lease is taken."""
        from pyiceberg.schema import Schema

        with _errors():
            self._catalog.create_namespace_if_not_exists(TABLE)
            self._catalog.create_table_if_not_exists(self._name, Schema(), properties=_KEPT)

    def exists(self) -> bool:
        """Return whether there is a lease at all."""
        with _errors():
            return bool(self._catalog.table_exists(self._name))

    def read(self) -> Standing | None:
        """Return what it says, or None if the namespace never had an owner."""
        with _errors():
            table = self._catalog.load_table(self._name)
        token = table.metadata.last_column_id
        owner = table.properties.get(_OWNER)
        renewals = int(table.properties.get(_RENEWALS, 0))
        return Standing(token, renewals, Owner.parse(owner)) if token else None

    def take(self, owner: Owner, seen: Standing | None) -> int | None:
        """Become the owner, if nobody else has become it since; renewals are not looked at."""
        from pyiceberg.schema import Schema
        from pyiceberg.table.update import (
            AddSchemaUpdate,
            RemoveSchemasUpdate,
            SetCurrentSchemaUpdate,
            SetPropertiesUpdate,
        )
        from pyiceberg.types import NestedField, StringType

        token = seen.token if seen else 0
        column = NestedField(token + 1, f"token_{token + 1}", StringType(), required=False)

        def updates(table: Table) -> tuple[TableUpdate, ...]:
            return (
                AddSchemaUpdate(schema_=Schema(column)),
                SetCurrentSchemaUpdate(),
                RemoveSchemasUpdate(schema_ids=list(table.schemas())),
                SetPropertiesUpdate(updates={_OWNER: json.dumps(asdict(owner)), _RENEWALS: "0"}),
            )

        return token + 1 if self._commit(token, updates) else None

    def renew(self, token: int) -> bool:
        """Give a sign of life; False if that is not known to have been heard."""
        from pyiceberg.table.update import SetPropertiesUpdate

        def updates(table: Table) -> tuple[TableUpdate, ...]:
            renewals = int(table.properties.get(_RENEWALS, 0)) + 1
            return (SetPropertiesUpdate(updates={_RENEWALS: str(renewals)}),)

        return self._commit(token, updates)

    def release(self, token: int) -> None:
        """Give the lease back, if it is still held."""
        from pyiceberg.table.update import RemovePropertiesUpdate

        self._commit(token, lambda _: (RemovePropertiesUpdate(removals=[_OWNER]),))

    def close(self) -> None:
        """Close the connections to the server."""
        if "_catalog" in self.__dict__:
            self._catalog.close()

    def _commit(self, token: int, updates: Callable[[Table], tuple[TableUpdate, ...]]) -> bool:
        """Change the table if its token is the one given; return whether it was changed."""
        from pyiceberg.exceptions import CommitFailedException
        from pyiceberg.table.update import AssertLastAssignedFieldId

        required = AssertLastAssignedFieldId(last_assigned_field_id=token)
        with _errors():
            table = self._catalog.load_table(self._name)
            try:
                self._catalog.commit_table(table, (required,), updates(table))
            except CommitFailedException:
                return False
            return True


@contextmanager
def _errors() -> Iterator[None]:
    from pyiceberg.exceptions import RESTError
    from requests.exceptions import RequestException

    try:
        yield
    except (RESTError, RequestException) as error:
        first = plain(error)
        hint = "read the log of the catalog's server, then start again"
        known = explain_failure(error)
        raise known or ServiceError("CATALOG_FAILED", first, hint=hint) from error
