"""Trino: SQL over the tables of the lake, for many readers at once.

In: ``trino/*``, and the properties of catalogs. Out: a server that reads them and writes nothing.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from headwater.errors import ServiceError
from headwater.jars.archives import unpacked
from headwater.jars.fetch import fetch, progress_line
from headwater.machine.environments import environment
from headwater.machine.java import find_java
from headwater.machine.packaged_java import PACKAGE, java_home
from headwater.serve.trino.access import with_hidden
from headwater.serve.trino.catalog import properties_file
from headwater.serve.trino.client import SOURCE
from headwater.servers.service import HOST, LocalServer
from headwater.servers.web import ask

JAVA = 24
"""The oldest Java that runs it."""

JAVA_LOCK = Path(__file__).with_name("files") / "trino" / "java.lock"
"""The package that brings a Java for it, where none is installed."""

PARTS = ("lib", "plugin/iceberg", "plugin/delta-lake")
"""What of the archive is unpacked: readers of other systems take half a gigabyte."""

SQLITE = "sqlite-jdbc-"
"""The driver of the embedded catalog, which Trino does not bring."""


class TrinoServer(LocalServer):
    """A server of one node.

    Args:
        folder: of the stack.
        catalogs: names of catalogs and their properties
            (:func:`headwater.serve.trino.catalog.properties`).
        variables: of the environment, that the properties refer to.
        hidden: columns that only the user ``headwater`` sees, beside those that no table shows
            (:func:`headwater.serve.trino.access.state_columns`).
        lasting: as for every :class:`LocalServer`.
    """

    name = "trino"
    files = (
        "trino/config.properties",
        "trino/node.properties",
        "trino/access-control.properties",
        "trino/log.properties",
        "trino/jvm.config",
        "trino/rules.json",
    )
    port_names = ("TRINO_PORT",)
    ready_within = 120.0  # it starts in 15 s, four of them on a busy machine in a minute

    def __init__(
        self,
        folder: Path,
        catalogs: Mapping[str, Mapping[str, str]],
        *,
        variables: Mapping[str, str] | None = None,
        hidden: Iterable[str] = (),
        lasting: bool = False,
    ) -> None:
        super().__init__(folder, lasting=lasting)
        self._catalogs = catalogs
        self._hidden = hidden
        self._variables = variables or {}

    @property
    def address(self) -> str:
        """What a project's ``[trino] url`` says."""
        return f"http://{HOST}:{self.ports['TRINO_PORT']}"

    def prepare(self) -> None:
        """Write catalogs and rules, and give the reader of Iceberg the driver of SQLite."""
        folder = self.folder / "catalog"
        folder.mkdir(exist_ok=True)
        for old in folder.glob("*.properties"):
            old.unlink()
        for name, properties in self._catalogs.items():
            (folder / f"{name}.properties").write_text(properties_file(properties), "utf-8")
        self._rules.write_text(with_hidden(self.file("trino/rules.json"), self._hidden), "utf-8")
        (driver,) = (jar for jar in fetch(["core"]) if jar.name.startswith(SQLITE))
        beside = _home() / "plugin" / "iceberg" / driver.name
        if not beside.exists():
            beside.symlink_to(driver)

    def environment(self) -> dict[str, str]:
        """Return what the configuration files ask for."""
        return super().environment() | {
            "TRINO_HOST": HOST,
            "TRINO_CATALOGS": str(self.folder / "catalog"),
            "TRINO_RULES": str(self._rules),
            **self._variables,
        }

    @property
    def _rules(self) -> Path:
        return self.folder / "rules.json"

    def command(self) -> Sequence[str | Path]:
        """Return the command line of the server, as its launcher makes it."""
        config, node, access, log, jvm, _ = map(self.file, self.files)
        home = _home()
        return [
            _java(),
            f"@{jvm}",
            *("-cp", f"{home}/lib/*"),
            f"-Dconfig={config}",
            f"-Dlog.levels-file={log}",
            f"-Daccess-control.config-files={access}",
            f"-Dplugin.dir={home}/plugin",
            f"-Dnode.data-dir={self.folder}",
            *self._node(node),
            "io.trino.server.TrinoServer",
        ]

    def answers(self) -> bool:
        """Return whether it takes queries."""
        if ask(f"{self.address}/v1/info").get("starting") is not False:
            return False
        # it says so before it has announced itself as the node that runs queries
        user = {"X-Trino-User": SOURCE}
        page = ask(f"{self.address}/v1/statement", "SELECT 1", headers=user)
        while address := page.get("nextUri"):
            page = ask(address, headers=user)
        return "error" not in page

    def _node(self, file: Path) -> list[str]:
        """The lines of a file that only Trino's own launcher reads."""
        variables = os.environ | self.environment()
        lines = file.read_text(encoding="utf-8").splitlines()
        said = [line for line in lines if "=" in line and not line.startswith("#")]
        return [
            "-D" + re.sub(r"\$\{ENV:(\w+)\}", lambda found: variables[found[1]], line)
            for line in said
        ]


def _java() -> Path:
    """Return an installed Java, or that of the package in an environment of its own."""
    try:
        return find_java(oldest=JAVA).executable
    except ServiceError:
        python = environment("java-for-trino", JAVA_LOCK)
        (runtime,) = python.parents[1].glob(f"lib/*/site-packages/{PACKAGE}/java-runtime")
        return java_home(runtime) / "bin" / "java"


def _home() -> Path:
    with progress_line() as progress:
        (archive,) = fetch(["trino"], progress=progress)
    (lib,) = unpacked(archive, PARTS).glob("*/lib")
    return lib.parent
