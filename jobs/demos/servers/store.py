"""S3Proxy: an object store with S3's interface over a folder of plain files.

In: ``store/s3proxy.conf``. Out: a store at an endpoint; a bucket is a folder below ``data``.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from urllib.error import HTTPError

from headwater.machine.java import find_java
from headwater.servers.web import ask
from jobs.demos.servers.packages import packages
from jobs.demos.servers.service import CONFIGURATION, HOST, Service, java_options

JAVA = 17
"""The oldest Java that runs it."""


ACCESS_KEY, SECRET_KEY = "headwater", "headwater-store"
"""Who clients are, and how they prove it; as in the configuration."""


class Store(Service):
    """An object store."""

    name = "store"
    files = ("store/s3proxy.conf",)
    port_names = ("STORE_PORT",)

    @property
    def address(self) -> str:
        """Its address; clients name buckets in the path."""
        return f"http://{HOST}:{self.ports['STORE_PORT']}"

    def prepare(self) -> None:
        """Make the folder of the buckets."""
        (self.folder / "data").mkdir(exist_ok=True)

    def command(self) -> Sequence[str | Path]:
        """Return the command line of the store."""
        (jar,) = packages("store")
        options = [
            *java_options(256),
            f"-Ds3proxy.endpoint={self.address}",
            f"-Djclouds.filesystem.basedir={self.folder / 'data'}",
        ]
        java = find_java(oldest=JAVA).executable
        properties = CONFIGURATION / self.files[0]
        return [java, *options, "-jar", jar, "--properties", properties]

    def answers(self) -> bool:
        """Return whether the store refuses a request without a signature."""
        try:
            ask(self.address)
        except HTTPError as refused:
            return refused.code == 403
        return False
