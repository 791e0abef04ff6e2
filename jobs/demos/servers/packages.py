"""What the servers are made of: jars and archives, pinned like those of the core.

In: a configuration of ``ivy.xml``. Out: verified files in the cache of jars, archives unpacked.
"""

from __future__ import annotations

from functools import partial
from pathlib import Path

from headwater.jars.archives import unpacked
from headwater.jars.fetch import (
    fetch,
    ivy_configurations,
    lock_jars,
    progress_line,
    run_pyspark_ivy,
)

IVY_FILE = Path(__file__).with_name("ivy.xml")
LOCK = Path(__file__).with_name("servers.lock")

_run_ivy = partial(run_pyspark_ivy, ivy_file=IVY_FILE)


def packages(configuration: str) -> list[Path]:
    """Return the files of a server, fetched if they are not there yet, with a line of progress.

    Args:
        configuration: its name in ``ivy.xml``.

    Raises:
        ServiceError: as :func:`headwater.jars.fetch.fetch` does.
    """
    with progress_line() as progress:
        return fetch([configuration], progress=progress, lock=LOCK, run_ivy=_run_ivy)


def unpacked_package(configuration: str) -> Path:
    """Return the folder of a server that comes as one archive, unpacked beside the archive.

    Args:
        configuration: its name in ``ivy.xml``.

    Raises:
        ServiceError: as :func:`packages` and :func:`headwater.jars.archives.unpacked` do.
    """
    (archive,) = packages(configuration)
    return unpacked(archive)


def configurations() -> list[str]:
    """Return the names of all configurations of ``ivy.xml``."""
    return ivy_configurations(IVY_FILE)


def write_lock() -> int:
    """Fetch all servers and write ``servers.lock`` from what came; return how many files."""
    return lock_jars(LOCK, configurations=configurations(), run_ivy=_run_ivy)
