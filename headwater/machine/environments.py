"""Python environments of their own, for programs whose packages do not fit ours.

In: a lock file of packages. Out: the Python of an environment that has them, made once per user.
"""

from __future__ import annotations

import fcntl
import hashlib
import shutil
import subprocess
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

from headwater.errors import ServiceError
from headwater.machine.cache import cache_folder
from headwater.machine.pip_install import pip_install
from headwater.machine.system_packages import install_command

BUILDERS = Path(__file__).with_name("builders.lock")
"""What builds packages that come as source, pinned by hash; its pip shows its progress."""

_PROBE_TIMEOUT = 20.0  # seconds; a healthy Python answers within one


def environment(name: str, lock: Path, python: Path | None = None) -> Path:
    """Return the Python of an environment that has the packages of a lock file.

    The first caller makes it, with lines of progress, in a folder beside the jars; another lock
    file makes another one. An environment that was made in part is made anew.

    Args:
        name: of the folder, before a part that stands for the lock file.
        lock: packages with their hashes.
        python: the Python to make it with; our own by default.

    Raises:
        ServiceError: ``PYTHON_ENVIRONMENT`` if it cannot be made, ``PIP_INSTALL`` if packages
            cannot be had or do not match the lock.
    """
    digest = hashlib.sha256(lock.read_bytes()).hexdigest()[:12]
    folder = cache_folder() / f"{name}-{digest}"
    done = folder / ".installed"
    if not done.exists():
        folder.parent.mkdir(parents=True, exist_ok=True)
        with folder.with_suffix(".lock").open("w") as held:
            fcntl.flock(held, fcntl.LOCK_EX)
            if not done.exists():
                _make(folder, lock, python or Path(sys.executable))
                done.touch()
    return folder / "bin" / "python"


def _make(folder: Path, lock: Path, python: Path) -> None:
    sys.stderr.write(f"installing {folder.name.rpartition('-')[0]} in {folder}\n")
    shutil.rmtree(folder, ignore_errors=True)
    made = folder / "bin" / "python"
    builders = ["--quiet", "--require-hashes", "-r", str(BUILDERS)]
    quiet = [str(made), "-m", "pip", "--disable-pip-version-check", "--no-input", "install"]
    for command in ([str(python), "-m", "venv", str(folder)], [*quiet, *builders]):
        run = subprocess.run(command, capture_output=True, text=True, errors="replace")
        if run.returncode:
            lines = (run.stdout + run.stderr).strip().splitlines()[-4:]
            said = "".join(f"\n  | {line}" for line in lines)
            hint = install_command("venv") or "check the network and pip's settings, then try again"
            message = f"cannot make {folder}; {python.name} ends with:{said}"
            raise ServiceError("PYTHON_ENVIRONMENT", message, hint=hint)
    options = ["--require-hashes", "--no-build-isolation", "--no-compile"]
    pip_install(made, [*options, "-r", str(lock)])


def find_python(versions: Sequence[str]) -> Path | None:
    """Return a Python of one of some versions, such as ``3.12``, that can make environments.

    Our own comes first, then those on ``PATH``, then those that pyenv and uv keep.
    """
    for program in _pythons(versions):
        probe = "import ensurepip, sys; print('%d.%d' % sys.version_info[:2])"
        try:
            said = subprocess.run(
                [program, "-c", probe], capture_output=True, text=True, timeout=_PROBE_TIMEOUT
            )
        except (OSError, subprocess.TimeoutExpired):
            continue
        if said.returncode == 0 and said.stdout.strip() in versions:
            return program
    return None


def _pythons(versions: Sequence[str]) -> Iterator[Path]:
    yield Path(sys.executable)
    for version in versions:
        if found := shutil.which(f"python{version}"):
            yield Path(found)
        for folder in (".pyenv/versions/{}.*", ".local/share/uv/python/cpython-{}.*"):
            yield from sorted(Path.home().glob(folder.format(version) + f"/bin/python{version}"))
