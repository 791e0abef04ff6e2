"""Fetch the jars that Spark loads, by the Ivy inside PySpark, and check them against the lock.

In: names of Ivy configurations (``ivy.xml``). Out: paths of verified jars in the cache folder.
Command line: ``python -m headwater.jars.fetch [--conf core] [--write-lock]``.
"""

from __future__ import annotations

import argparse
import importlib.util
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TextIO

from headwater.errors import HeadwaterError, ServiceError
from headwater.jars.store import (
    LOCK,
    Cache,
    LockedJar,
    measure,
    read_lock,
    select,
    write_lock,
)
from headwater.machine.cache import cache_folder
from headwater.machine.java import find_java
from headwater.machine.progress import ProgressLine

Progress = Callable[[int, int], None]
"""Called with bytes fetched so far and bytes in all."""

IvyRunner = Callable[[Sequence[str], Path, Callable[[], None]], None]
"""Puts the jars of some configurations below ``<staging>/jars/<configuration>/``.

Calls its last argument some times a second."""

IVY_FILE = Path(__file__).with_name("ivy.xml")
SETTINGS = Path(__file__).with_name("ivysettings.xml")
"""Where Ivy looks unless ``HEADWATER_IVY_SETTINGS`` names another file."""
TRIES = 3

_POLL = 0.25  # seconds between two looks at what Ivy has downloaded
_STALE = 3600.0  # seconds after which a staging folder is taken for a killed run's
_FETCH_HINT = (
    "check the network; behind a mirror, name its Ivy settings file in HEADWATER_IVY_SETTINGS"
)


def fetch(
    configurations: Sequence[str] = ("core",),
    cache: Path | None = None,
    progress: Progress | None = None,
    *,
    lock: Path = LOCK,
    run_ivy: IvyRunner | None = None,
) -> list[Path]:
    """Make sure that the jars of some configurations are in the cache, and return them.

    With all of them there this needs neither Java nor a network. Otherwise they are downloaded into
    a staging folder, compared with the lock, and only then moved into the cache, each in one step:
    a process that is killed, or two at a time, never leave a half-written jar under its name.

    Args:
        configurations: Ivy configurations, see ``ivy.xml``.
        cache: folder of the jars; by default ``HEADWATER_JARS`` or ``~/.cache/headwater/jars``.
        progress: told how many bytes are there, some times a second while fetching.
        lock: the lock file.
        run_ivy: what downloads; by default the Ivy inside PySpark.

    Raises:
        ServiceError: ``JAR_CHECKSUM`` if what was fetched is not what the lock says, ``JAR_FETCH``
            if it could not be fetched, ``JAR_CACHE`` if the folder cannot be written,
            ``JAVA_MISSING`` or ``JAVA_VERSION`` if there is no Java to run Ivy with,
            ``JAR_FETCH_TOOL`` if PySpark's Ivy is not there.
    """
    jars = select(read_lock(lock), configurations)
    store = Cache(cache or cache_folder())
    with _cache_errors(store.folder):
        absent = store.missing(jars)
        if absent:
            store.folder.mkdir(parents=True, exist_ok=True)
            _fetch_absent(store, absent, progress or _silent, run_ivy or run_pyspark_ivy)
    return [store.path(jar) for jar in jars]


def _fetch_absent(
    store: Cache, absent: Sequence[LockedJar], progress: Progress, run_ivy: IvyRunner
) -> None:
    from tenacity import Retrying, retry_if_exception, stop_after_attempt, wait_exponential

    total = sum(jar.size for jar in absent)
    configurations = sorted({jar.configuration for jar in absent})
    attempts = Retrying(
        stop=stop_after_attempt(TRIES),
        wait=wait_exponential(multiplier=0.5, max=5),
        retry=retry_if_exception(_may_pass),
        reraise=True,
    )
    for attempt in attempts:
        # A new folder for each try: what a broken one left behind is not trusted.
        with attempt, _staging(store.folder) as staging:
            run_ivy(configurations, staging, lambda: progress(_arrived(staging, absent), total))
            for jar in absent:
                fetched = staging / "jars" / jar.configuration / jar.name
                _verify(jar, fetched)
                store.adopt(jar, fetched)
    progress(total, total)


def _may_pass(error: BaseException) -> bool:
    return isinstance(error, ServiceError) and error.condition in ("JAR_FETCH", "JAR_CHECKSUM")


def _verify(jar: LockedJar, fetched: Path) -> None:
    if not fetched.exists():
        raise ServiceError("JAR_FETCH", f"Ivy did not deliver {jar.name}", hint=_FETCH_HINT)
    size, digest = measure(fetched)
    if (size, digest) != (jar.size, jar.sha256):
        raise ServiceError(
            "JAR_CHECKSUM",
            f"{jar.name}: wanted sha256 {jar.sha256} ({jar.size} bytes),"
            f" got {digest} ({size} bytes)",
            hint="fetch again from a repository that you trust; do not use this file",
        )


def run_pyspark_ivy(
    configurations: Sequence[str],
    staging: Path,
    tick: Callable[[], None],
    *,
    ivy_file: Path = IVY_FILE,
) -> None:
    """Retrieve the jars of some configurations with the Ivy inside PySpark.

    Args:
        configurations: Ivy configurations of ``ivy.xml``.
        staging: an empty folder; the jars arrive in ``<staging>/jars/<configuration>/``.
        tick: called some times a second while Ivy runs.
        ivy_file: where the configurations are defined; by default the ``ivy.xml`` beside us.

    Raises:
        ServiceError: ``JAR_FETCH`` with the reason that Ivy gave.
    """
    cache, log = staging / "ivy", staging / "ivy.log"
    command = [str(find_java().executable), "-jar", str(_ivy_jar())]
    command += ["-ivy", str(ivy_file)]
    command += ["-settings", os.environ.get("HEADWATER_IVY_SETTINGS") or str(SETTINGS)]
    command += ["-cache", str(cache), "-confs", *configurations]
    command += ["-retrieve", f"{staging}/jars/[conf]/[artifact]-[revision](-[classifier]).[ext]"]
    with log.open("wb") as sink:
        ivy = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=sink, stderr=sink)
        try:
            while ivy.poll() is None:
                time.sleep(_POLL)
                tick()
        finally:
            ivy.kill()
            ivy.wait()
    if ivy.returncode:
        reason = _reason(log.read_text(encoding="utf-8", errors="replace"))
        raise ServiceError("JAR_FETCH", f"Ivy failed: {reason}", hint=_FETCH_HINT)


def _ivy_jar() -> Path:
    spec = importlib.util.find_spec("pyspark")
    folder = Path(spec.origin).parent / "jars" if spec and spec.origin else Path("pyspark/jars")
    found = sorted(folder.glob("ivy-*.jar"))
    if not found:
        hint = "install PySpark again: pip install --force-reinstall pyspark"
        raise ServiceError("JAR_FETCH_TOOL", f"no ivy-*.jar in {folder}", hint=hint)
    return found[-1]


def _arrived(staging: Path, jars: Iterable[LockedJar]) -> int:
    """Return how many bytes of some jars have arrived.

    Ivy downloads into its cache, into a file with the suffix ``.part`` that it renames when it is
    whole, and then copies it. So a jar may be in several files, and a file may vanish meanwhile.
    """
    sizes = {jar.name: 0 for jar in jars}
    for folder, _, names in os.walk(staging):
        for name in names:
            jar = name.removesuffix(".part")
            if jar in sizes:
                with suppress(FileNotFoundError):
                    size = os.stat(os.path.join(folder, name)).st_size
                    sizes[jar] = max(sizes[jar], size)
    return sum(sizes.values())


def _reason(log: str) -> str:
    """Pick the line of Ivy's log that says what went wrong; the network before what it broke."""
    lines = [" ".join(line.strip(" \t:").split()) for line in log.splitlines()]
    for telling in ("access error", "Exception", "[FAILED", "not found", "[NOT FOUND"):
        for line in lines:
            if telling in line:
                return line
    return next((line for line in reversed(lines) if line), "it said nothing")


@contextmanager
def _staging(folder: Path) -> Iterator[Path]:
    for left in folder.glob(".staging-*"):
        # A killed run could not clean up; a younger folder may be another run at work.
        if time.time() - left.stat().st_mtime > _STALE:
            shutil.rmtree(left, ignore_errors=True)
    path = Path(tempfile.mkdtemp(prefix=".staging-", dir=folder))
    try:
        yield path
    finally:
        shutil.rmtree(path, ignore_errors=True)


@contextmanager
def _cache_errors(folder: Path) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        reason = error.strerror or str(error)
        hint = "free space there, or name another folder in HEADWATER_JARS"
        raise ServiceError("JAR_CACHE", f"cannot use {folder}: {reason}", hint=hint) from error


def _silent(*_: int) -> None:
    pass


def lock_jars(
    lock: Path = LOCK,
    *,
    configurations: Sequence[str] | None = None,
    run_ivy: IvyRunner = run_pyspark_ivy,
) -> int:
    """Fetch every configuration of an Ivy file and write the lock from what came.

    Args:
        lock: the file to write.
        configurations: which ones; by default all that our ``ivy.xml`` has.
        run_ivy: what downloads.

    Returns:
        How many jars the lock holds now.
    """
    configurations = configurations or ivy_configurations()
    with tempfile.TemporaryDirectory(prefix="headwater-lock-") as folder:
        run_ivy(configurations, Path(folder), _silent)
        found = sorted(Path(folder, "jars").glob("*/*"))
        jars = [LockedJar(path.parent.name, path.name, *measure(path)) for path in found]
    write_lock(jars, lock)
    return len(jars)


def ivy_configurations(path: Path = IVY_FILE) -> list[str]:
    """Return the names of the configurations of an Ivy file, in its order."""
    from xml.etree import ElementTree

    return [conf.attrib["name"] for conf in ElementTree.parse(path).iter("conf")]


def main(arguments: Sequence[str] | None = None) -> int:
    """Fetch jars, or write the lock, from the command line.

    Args:
        arguments: the command line's arguments; the process's own by default.

    Returns:
        The exit code.
    """
    parser = argparse.ArgumentParser(prog="python -m headwater.jars.fetch", description=__doc__)
    parser.add_argument("--conf", action="append", help="Ivy configuration, default: core")
    parser.add_argument("--write-lock", action="store_true", help="rewrite jars.lock")
    options = parser.parse_args(arguments)
    try:
        if options.write_lock:
            count = lock_jars()
            sys.stderr.write(f"jars.lock holds {count} jars\n")
            return 0
        with progress_line() as progress:
            fetch(options.conf or ("core",), progress=progress)
    except HeadwaterError as error:
        sys.stderr.write(f"{error.render()}\n")
        return error.exit_code
    return 0


@contextmanager
def progress_line(err: TextIO | None = None) -> Iterator[Progress]:
    """Show how much has been fetched; nothing if nothing is fetched.

    Args:
        err: the stream; by default the standard error stream.
    """
    line, started = ProgressLine(err), time.monotonic()

    def report(done: int, total: int) -> None:
        if done >= total:
            line.show(f"fetched {total / 1e6:.0f} MB of jars", at_once=True)
            return
        text = f"fetching jars: {done / 1e6:.0f} of {total / 1e6:.0f} MB"
        # A repository may be slow to answer: on a terminal the line shows that we still wait.
        waited = f", {time.monotonic() - started:.0f} s" if line.terminal else ""
        line.show(text + waited)

    try:
        yield report
    finally:
        line.close()


if __name__ == "__main__":
    sys.exit(main())
