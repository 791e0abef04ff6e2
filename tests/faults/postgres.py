"""A PostgreSQL server of our own, for as long as a test needs it."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager

from headwater.servers.leftover import temporary_stack
from jobs.demos.servers.postgres import Postgres

PASSWORD = "canary-5f1c'% /@:x"
"""Password of the superuser; with everything in it that an address could trip over."""


@contextmanager
def postgres() -> Iterator[Postgres]:
    """Start a server, and stop it in the end; its password stands in two variables."""
    os.environ["POSTGRES_PASSWORD"] = os.environ["LAKE_CATALOG_PASSWORD"] = PASSWORD
    with temporary_stack() as folder, Postgres(folder, password=PASSWORD) as server:
        yield server
