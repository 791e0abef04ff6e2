"""Apicurio Registry: schemas of Avro, JSON and Protobuf under numbers.

In: ``registry/application.properties``. Out: a registry with the interface of Confluent's.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from headwater.machine.java import find_java
from headwater.servers.web import ask
from jobs.demos.servers.packages import unpacked_package
from jobs.demos.servers.service import CONFIGURATION, HOST, Service, java_options

JAVA = 21
"""The oldest Java that runs it."""


class Registry(Service):
    """A schema registry."""

    name = "registry"
    files = ("registry/application.properties",)
    port_names = ("REGISTRY_PORT", "REGISTRY_MANAGEMENT_PORT")

    @property
    def address(self) -> str:
        """What clients of Confluent's registry take for ``schema.registry.url``."""
        return f"http://{HOST}:{self.ports['REGISTRY_PORT']}/apis/ccompat/v7"

    def command(self) -> Sequence[str | Path]:
        """Return the command line of the registry."""
        (jar,) = unpacked_package("registry").rglob("quarkus-run.jar")
        settings = f"-Dquarkus.config.locations={CONFIGURATION / self.files[0]}"
        java = find_java(oldest=JAVA).executable
        return [java, *java_options(256), settings, "-jar", jar]

    def answers(self) -> bool:
        """Return whether the registry lists its subjects."""
        return isinstance(ask(f"{self.address}/subjects"), list)
