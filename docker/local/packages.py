"""What the servers are made of: jars and archives, pinned like those of the core.

In: a configuration of ``ivy.xml``. Out: verified files in the cache of jars, archives unpacked.
"""

from __future__ import annotations

import os
import shutil
import tarfile
import tempfile
from collections.abc import Sequence
from functools import partial
from pathlib import Path

from headwater.errors import ServiceError
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


def unpacked(configuration: str, parts: Sequence[str] = ()) -> Path:
    """Return the folder of a server that comes as one archive, unpacked beside the archive.

    Args:
        configuration: its name in ``ivy.xml``.
        parts: folders of the archive's own folder that are needed; all by default.

    Raises:
        ServiceError: as :func:`packages` does; ``JAR_CACHE`` if it cannot be unpacked.
    """
    (archive,) = packages(configuration)
    folder = archive.with_name(archive.name.removesuffix(".tar.gz"))
    if not _is_whole(folder, parts):
        try:
            _unpack(archive, folder, parts)
        except (OSError, tarfile.TarError) as error:
            hint = "free space there, or name another folder in HEADWATER_JARS"
            message = f"cannot unpack {archive}: {error}"
            raise ServiceError("JAR_CACHE", message, hint=hint) from error
    return folder


def _unpack(archive: Path, folder: Path, parts: Sequence[str]) -> None:
    """Unpack beside the place, then rename: a half-unpacked folder never has the name."""
    draft = Path(tempfile.mkdtemp(prefix=".staging-", dir=folder.parent))
    try:
        with tarfile.open(archive) as tar:
            # all of it: its files may be links to each other, and seeking in it takes minutes
            tar.extractall(draft / "all", filter="data")
        if not _is_whole(folder, parts):
            if folder.exists():
                os.rename(folder, draft / "old")
            os.rename(_only(parts, draft) if parts else draft / "all", folder)
    finally:
        shutil.rmtree(draft, ignore_errors=True)


def _is_whole(folder: Path, parts: Sequence[str]) -> bool:
    """Whether it was unpacked, with all that is needed now."""
    return folder.exists() and all(any(folder.glob(f"*/{part}")) for part in parts)


def _only(parts: Sequence[str], draft: Path) -> Path:
    (home,) = (draft / "all").iterdir()
    for part in parts:
        kept = draft / "parts" / home.name / part
        kept.parent.mkdir(parents=True, exist_ok=True)
        os.rename(home / part, kept)
    return draft / "parts"


def configurations() -> list[str]:
    """Return the names of all configurations of ``ivy.xml``."""
    return ivy_configurations(IVY_FILE)


def write_lock() -> int:
    """Fetch all servers and write ``servers.lock`` from what came; return how many files."""
    return lock_jars(LOCK, configurations=configurations(), run_ivy=_run_ivy)
