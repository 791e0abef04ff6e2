"""Kafka: one process that is broker and controller.

In: ``kafka/server.properties``. Out: a broker at an address, with its topics in the folder.
"""

from __future__ import annotations

import base64
import os
import socket
import struct
import uuid
from collections.abc import Sequence
from pathlib import Path

from headwater.machine.java import find_java
from jobs.demos.servers.packages import packages
from jobs.demos.servers.service import CONFIGURATION, HOST, Service, java_options

JAVA = 17
"""The oldest Java that runs Kafka and Connect."""

_TIMEOUT = 2.0  # seconds for an answer of a broker that is ready

# Kafka's request for the versions it speaks: the one that every version answers. Its number,
# its version, our number for it, no name of the client.
_API_VERSIONS = struct.pack(">hhih", 18, 0, 1, -1)


LOG = "kafka/log4j2.properties"
"""What the broker and Connect print."""


class Kafka(Service):
    """A broker."""

    name = "kafka"
    files = ("kafka/server.properties", LOG)
    port_names = ("BROKER_PORT", "BROKER_CLIENT_PORT", "CONTROLLER_PORT")

    @property
    def address(self) -> str:
        """What clients on this machine take for ``bootstrap.servers``."""
        return f"{HOST}:{self.ports['BROKER_CLIENT_PORT']}"

    def environment(self) -> dict[str, str]:
        """Return the names that the configuration asks for."""
        return super().environment() | {"BROKER_HOST": HOST}

    def prepare(self) -> None:
        """Give the folder its format and an identity, once."""
        if not (self.folder / "data" / "meta.properties").exists():
            identity = base64.urlsafe_b64encode(uuid.uuid4().bytes).rstrip(b"=").decode()
            # "=" because an identity may begin with "-"
            tool = [*kafka_java(packages("kafka"), 64), "kafka.tools.StorageTool", "format"]
            self.run([*tool, "--standalone", f"--cluster-id={identity}", "-c", self._properties])

    def command(self) -> Sequence[str | Path]:
        """Return the command line of the broker."""
        return [*kafka_java(packages("kafka"), 384), "kafka.Kafka", self._properties]

    def answers(self) -> bool:
        """Return whether the broker says which requests it understands.

        It accepts connections earlier, but reads none of them before it has its metadata.
        """
        address = (HOST, self.ports["BROKER_CLIENT_PORT"])
        with socket.create_connection(address, timeout=_TIMEOUT) as connection:
            connection.sendall(struct.pack(">i", len(_API_VERSIONS)) + _API_VERSIONS)
            head = connection.recv(10, socket.MSG_WAITALL)  # length, our number, error
        return len(head) == 10 and struct.unpack(">iih", head)[1:] == (1, 0)

    @property
    def _properties(self) -> Path:
        return CONFIGURATION / self.files[0]


def kafka_java(jars: Sequence[Path], heap: int) -> list[str | Path]:
    """Return the command line of a JVM with the classes of Kafka or Connect, and their log.

    Args:
        jars: the classes.
        heap: the largest heap in MB.

    Raises:
        ServiceError: ``JAVA_MISSING`` or ``JAVA_VERSION``.
    """
    classes = os.pathsep.join(map(str, jars))
    options = [*java_options(heap), f"-Dlog4j2.configurationFile={CONFIGURATION / LOG}"]
    return [find_java(oldest=JAVA).executable, *options, "-cp", classes]
