"""The classes of a JVM as it has them in memory, in a file: the next start reads no jars for them.

In: a Java and the jars that it runs with. Out: options for the JVM, which maps the file, or writes
it when it ends. Java itself checks whether a file fits, and goes on without one that does not.
"""

from __future__ import annotations

import hashlib
import os
import time
from collections.abc import Sequence
from contextlib import suppress
from importlib.metadata import version
from pathlib import Path

from headwater.machine.cache import cache_folder
from headwater.machine.java import Java

CLAIM = 3600.0
"""Seconds for which one process is left to write the file: it does that when it ends."""

UNUSED = 30 * 86400.0
"""Seconds after which an archive that nobody has used goes, when another one is written."""

_QUIET = "-Xlog:cds*=error"


def archive_options(java: Java, jars: Sequence[Path], folder: Path | None = None) -> list[str]:
    """Return the options by which a JVM reads the archive of its classes, or writes it.

    Args:
        java: what will run.
        jars: what is on its class path before Spark's own jars.
        folder: where archives are; by default beside the jars that were fetched.
    """
    folder = folder or cache_folder() / "classes"
    archive = folder / f"{_key(java, jars)}.jsa"
    unfinished = archive.with_suffix(".making")
    try:
        if _is_complete(unfinished):
            os.replace(unfinished, archive)
        if archive.exists():
            with suppress(PermissionError):  # of a folder that is shared
                archive.touch()
            return [f"-XX:SharedArchiveFile={archive}", _QUIET]
        if _is_claimed(unfinished):
            return []
        folder.mkdir(parents=True, exist_ok=True)
        for other in folder.glob("*.*"):
            if _age(other) > UNUSED:
                other.unlink()
        unfinished.touch()
    except OSError:
        return []  # a start without is slower, and right
    return [f"-XX:ArchiveClassesAtExit={unfinished}", _QUIET]


def _key(java: Java, jars: Sequence[Path]) -> str:
    """What an archive depends on; of the rest Java finds out."""
    release = java.home / "release"
    parts = [str(java.home), version("pyspark"), *map(str, jars)]
    parts.append(release.read_text(errors="replace") if release.is_file() else str(java.version))
    return hashlib.sha256("\n".join(parts).encode()).hexdigest()[:16]


def _is_complete(file: Path) -> bool:
    """Whether the JVM has finished a file: it writes the beginning last."""
    if not file.exists():
        return False
    with file.open("rb") as begun:
        return any(begun.read(4))


def _is_claimed(file: Path) -> bool:
    return file.exists() and _age(file) < CLAIM


def _age(file: Path) -> float:
    return time.time() - file.stat().st_mtime
