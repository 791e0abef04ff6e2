"""The lock (which jars, what they must contain) and the cache folder that holds verified ones.

In: ``jars.lock`` and a folder. Out: which jars of a configuration are there and unchanged.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

from headwater.errors import ServiceError

LOCK = Path(__file__).with_name("jars.lock")

_HEADER = "# configuration file size sha256; written by headwater.jars.fetch --write-lock\n"
_RECORD = ".verified.json"


@dataclass(frozen=True, slots=True, order=True)
class LockedJar:
    """One line of the lock.

    Attributes:
        configuration: the Ivy configuration that it belongs to, for example ``core``.
        name: file name, with artifact and version.
        size: in bytes.
        sha256: of the content, as 64 hexadecimal digits.
    """

    configuration: str
    name: str
    size: int
    sha256: str


def read_lock(path: Path = LOCK) -> tuple[LockedJar, ...]:
    """Return the jars of a lock file, in its order.

    Raises:
        ServiceError: ``JAR_LOCK`` if the file is missing or a line is not four fields.
    """
    try:
        lines = path.read_text(encoding="utf-8").splitlines()
        rows = [line.split() for line in lines if line and not line.startswith("#")]
        return tuple(LockedJar(conf, name, int(size), digest) for conf, name, size, digest in rows)
    except (OSError, ValueError) as error:
        hint = "install Headwater again: pip install --force-reinstall headwater"
        raise ServiceError("JAR_LOCK", f"cannot read {path}: {error}", hint=hint) from error


def write_lock(jars: Iterable[LockedJar], path: Path = LOCK) -> None:
    """Replace a lock file.

    Args:
        jars: what it shall hold; written in sorted order.
        path: the file.
    """
    rows = (f"{jar.configuration} {jar.name} {jar.size} {jar.sha256}\n" for jar in sorted(jars))
    path.write_text(_HEADER + "".join(rows), encoding="utf-8")


def select(jars: Iterable[LockedJar], configurations: Iterable[str]) -> list[LockedJar]:
    """Return the jars of some configurations.

    Raises:
        ServiceError: ``JAR_LOCK`` if the lock has no jar of one of them.
    """
    jars = list(jars)
    known = {jar.configuration for jar in jars}
    if missing := [name for name in configurations if name not in known]:
        hint = f"configurations are {', '.join(sorted(known))}"
        raise ServiceError("JAR_LOCK", f"no configuration named {missing[0]!r}", hint=hint)
    return [jar for jar in jars if jar.configuration in set(configurations)]


def measure(path: Path) -> tuple[int, str]:
    """Return size in bytes and sha256 of a file."""
    with path.open("rb") as stream:
        digest = hashlib.file_digest(stream, "sha256").hexdigest()
    return path.stat().st_size, digest


class Cache:
    """A folder of jars that remembers which ones it has verified.

    Hashing 60 MB at every start would cost more than the start itself, so a jar is hashed when it
    arrives and again only if its size or modification time has changed since.

    Attributes:
        folder: where the jars are; need not exist yet.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def path(self, jar: LockedJar) -> Path:
        """Return where a jar is, or would be."""
        return self.folder / jar.name

    def missing(self, jars: Iterable[LockedJar]) -> list[LockedJar]:
        """Return the jars that are absent or do not hold what the lock says."""
        record = self._read()
        fresh: dict[str, list[object]] = {}
        absent = []
        for jar in jars:
            entry = self._entry(jar)
            if entry is None:
                absent.append(jar)
            elif record.get(jar.name) != entry:
                if measure(self.path(jar)) == (jar.size, jar.sha256):
                    fresh[jar.name] = entry
                else:
                    absent.append(jar)
        if fresh:
            self._write(record | fresh)
        return absent

    def adopt(self, jar: LockedJar, verified: Path) -> None:
        """Move a file that has been verified into the folder, in one step.

        Args:
            jar: the jar that it is.
            verified: a file on the same file system as the folder.
        """
        os.replace(verified, self.path(jar))
        if (entry := self._entry(jar)) is not None:
            self._write(self._read() | {jar.name: entry})

    def _entry(self, jar: LockedJar) -> list[object] | None:
        """What the record says of a verified jar; None if the file cannot be that jar."""
        try:
            stat = self.path(jar).stat()
        except FileNotFoundError:
            return None
        return [jar.size, stat.st_mtime_ns, jar.sha256] if stat.st_size == jar.size else None

    def _read(self) -> dict[str, list[object]]:
        try:
            record = json.loads((self.folder / _RECORD).read_text(encoding="utf-8"))
        except (OSError, ValueError):
            return {}  # only a memory of work done: without it the jars are hashed again
        return record if isinstance(record, dict) else {}

    def _write(self, record: Mapping[str, list[object]]) -> None:
        draft = self.folder / f"{_RECORD}.{os.getpid()}"
        try:
            draft.write_text(json.dumps(record, indent=1, sort_keys=True), encoding="utf-8")
            os.replace(draft, self.folder / _RECORD)
        except OSError:
            # A read-only cache is as good as another, it is only hashed at every start.
            draft.unlink(missing_ok=True)
