"""Which command installs something on this system.

In: what is needed. Out: a command with a package that exists here, for a hint.
This module runs on older Pythons too (3.7): it says how to install a newer one.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

_VERSION = f"{sys.version_info[0]}.{sys.version_info[1]}"
_APT_LISTS = Path("/var/lib/apt/lists")

# For each package manager its command, and package names by need, the best one first.
_PACKAGES = {
    "apt-get": {
        "java": ["openjdk-21-jre-headless", "openjdk-17-jre-headless"],
        "python": ["python3.13", "python3.12", "python3.11"],
        "python-3.12": ["python3.12", "python3.11"],
        "venv": [f"python{_VERSION}-venv", "python3-venv"],
        "postgresql": ["postgresql"],
    },
    "dnf": {
        "java": ["java-21-openjdk-headless"],
        "python": ["python3.12"],
        "python-3.12": ["python3.12"],
        "postgresql": ["postgresql-server"],
    },
    "apk": {
        "java": ["openjdk21-jre-headless"],
        "python": ["python3"],
        "postgresql": ["postgresql"],
    },
    "zypper": {
        "java": ["java-21-openjdk-headless"],
        "python": ["python312"],
        "python-3.12": ["python312"],
        "postgresql": ["postgresql-server"],
    },
    "brew": {
        "java": ["openjdk@21"],
        "python": ["python@3.13"],
        "python-3.12": ["python@3.12"],
        "postgresql": ["postgresql@17"],
    },
}
_VERBS = {"apk": "add"}


def install_command(need: str, path: str | None = None, apt_lists: Path = _APT_LISTS) -> str | None:
    """Return the command that installs something; None if this system has no package for it.

    Args:
        need: ``java`` (17 or 21), ``python`` (3.11 or newer), ``python-3.12`` (or 3.11), ``venv``
            (for the running Python) or ``postgresql``.
        path: folders of programs, as in ``PATH``, which it is by default.
        apt_lists: where APT has its lists of packages.
    """
    for manager, packages in _PACKAGES.items():
        if shutil.which(manager, path=path) is None:
            continue
        names = packages.get(need, [])
        sudo = "sudo " if os.geteuid() and manager != "brew" else ""
        if manager == "apt-get":
            if not any(apt_lists.glob("*Packages*")):
                return f"{sudo}apt-get update"  # a fresh image: only then it knows any package
            names = [name for name in names if _apt_has(name, path)]
        verb = _VERBS.get(manager, "install")
        return f"{sudo}{manager} {verb} {names[0]}" if names else None
    return None


def _apt_has(name: str, path: str | None) -> bool:
    program = shutil.which("apt-cache", path=path)
    if program is None:
        return False
    policy = subprocess.run(
        [program, "policy", name],
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        env={**os.environ, "LC_ALL": "C"},
    )
    said = policy.stdout.decode(errors="replace")
    return "Candidate:" in said and "Candidate: (none)" not in said
