"""Iceberg's REST catalog, for trying what talks to one: it has no accounts and trusts everybody.

In: ``rest/RestCatalog.java``, and how the catalog reaches its files. Out: a server with the
interface of Iceberg's REST catalog, whose tables are known to a SQLite database in its folder.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from pathlib import Path

from headwater.lake.storage.warehouse import folder_uri
from headwater.machine.java import find_java
from headwater.servers.web import ask
from jobs.demos.servers.packages import packages
from jobs.demos.servers.service import CONFIGURATION, HOST, Service, java_options

JAVA = 17
"""The oldest Java that runs it; on 25 its Hadoop fails at every file."""


class Rest(Service):
    """A REST catalog.

    Args:
        folder: of the stack.
        files: properties of the catalog that say where its files are and how it reaches them;
            by default they are in its own folder.
        lasting: see :class:`~jobs.demos.servers.service.Service`.
    """

    name = "rest"
    files = ("rest/RestCatalog.java",)
    port_names = ("REST_PORT",)

    def __init__(
        self, folder: Path, files: Mapping[str, str] | None = None, *, lasting: bool = False
    ) -> None:
        super().__init__(folder, lasting=lasting)
        self._files = files or {"warehouse": folder_uri(self.folder / "warehouse")}

    @property
    def address(self) -> str:
        """What clients take for the ``uri`` of a REST catalog."""
        return f"http://{HOST}:{self.ports['REST_PORT']}"

    def prepare(self) -> None:
        """Write the properties of the catalog, which may hold keys."""
        database = self.folder / "catalog.db"
        properties = {
            "type": "jdbc",
            "uri": f"jdbc:sqlite:{database}?busy_timeout=10000&journal_mode=WAL",
            "jdbc.schema-version": "V1",
            **self._files,
        }
        text = "".join(f"{name}={value}\n" for name, value in properties.items())
        private = os.open(self._properties, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
        with os.fdopen(private, "w", encoding="utf-8") as file:
            file.write(text)

    def command(self) -> Sequence[str | Path]:
        """Return the command line of the catalog."""
        jars = os.pathsep.join(map(str, packages("rest")))
        java = find_java(oldest=JAVA).executable
        place = HOST, self.ports["REST_PORT"], self._properties
        source = CONFIGURATION / self.files[0]
        return [java, *java_options(192), "-cp", jars, source, *map(str, place)]

    def answers(self) -> bool:
        """Return whether the catalog says how it is to be used."""
        return "overrides" in ask(f"{self.address}/v1/config")

    @property
    def _properties(self) -> Path:
        return self.folder / "catalog.properties"
