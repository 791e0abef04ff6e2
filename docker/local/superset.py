"""Superset with its own Python environment: dashboards in the browser.

In: ``superset/*.py``, the lock file of its packages. Out: a server with one administrator, whose
password is made for the folder and said once.
"""

from __future__ import annotations

import fcntl
import hashlib
import shutil
import subprocess
import sys
import urllib.request
import venv
from collections.abc import Iterable, Sequence
from pathlib import Path

from docker.local.service import CONFIGURATION, HOST, Service
from headwater.config.secrets import private_folder
from headwater.errors import ServiceError
from headwater.jars.store import cache_folder

LOCK = CONFIGURATION / "superset" / "requirements.lock"
"""Its packages, pinned by hash: Superset's own ranges let in versions that break it."""

BUILDERS = CONFIGURATION.parent / "requirements-build.lock"
"""What builds those of its packages that come as source only, pinned too."""


class Superset(Service):
    """A server with its metadata in SQLite.

    Args:
        folder: of the stack.
        lasting: whether the server outlives this program.

    Attributes:
        username: the administrator.
    """

    name = "superset"
    files = ("superset/superset_config.py", "superset/gunicorn.conf.py", "superset/first_start.py")
    port_names = ("SUPERSET_PORT",)
    username = "admin"

    @property
    def address(self) -> str:
        """Where its pages and its REST interface are."""
        return f"http://{HOST}:{self.ports['SUPERSET_PORT']}"

    @property
    def password(self) -> str:
        """The administrator's password, made at the first start.

        Raises:
            OSError: it has never been started.
        """
        return (self.home / "admin_password").read_text(encoding="utf-8")

    @property
    def home(self) -> Path:
        """Its database and its secrets."""
        return self.folder / "home"

    def environment(self) -> dict[str, str]:
        """Return the names that the configuration asks for."""
        config = CONFIGURATION / self.files[0]
        return super().environment() | {
            "SUPERSET_HOME": str(self.home),
            "SUPERSET_USERNAME": self.username,
            "SUPERSET_CONFIG_PATH": str(config),
            "FLASK_APP": "superset",
        }

    def prepare(self) -> None:
        """Install it once, and make database, administrator and secrets once."""
        private_folder(self.home)
        self.run([environment_python(), CONFIGURATION / self.files[2]], shown=True)

    def command(self) -> Sequence[str | Path]:
        """Return the command line of the web server."""
        gunicorn = environment_python().with_name("gunicorn")
        return [gunicorn, "--config", CONFIGURATION / self.files[1], "superset.app:create_app()"]

    def answers(self) -> bool:
        """Return whether the server says that it is well."""
        opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
        with opener.open(f"{self.address}/health", timeout=10) as answer:
            return bool(answer.read() == b"OK")


def environment_python() -> Path:
    """Return the Python that has Superset, in a folder of its own beside the jars.

    It is installed by the first caller, with lines of progress, and anew when the lock file is
    another one; a half-installed environment is never taken for a whole one.

    Raises:
        ServiceError: ``SUPERSET_INSTALL`` if packages cannot be had or do not match the lock.
    """
    digest = hashlib.sha256(LOCK.read_bytes()).hexdigest()[:12]
    folder = cache_folder() / f"superset-{digest}"
    python, done = folder / "bin" / "python", folder / ".installed"
    if not done.exists():
        folder.parent.mkdir(parents=True, exist_ok=True)
        with folder.with_suffix(".lock").open("w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            if not done.exists():
                _install(folder, python)
                done.touch()
    return python


def _install(folder: Path, python: Path) -> None:
    sys.stderr.write(f"installing Superset in {folder} (about 850 MB, two minutes)\n")
    shutil.rmtree(folder, ignore_errors=True)
    venv.create(folder, with_pip=True)
    pip = [str(python), "-m", "pip", "--disable-pip-version-check", "--no-input", "install"]
    # its builders first, by hash: pip would fetch whichever are newest that day
    for options in (["-r", str(BUILDERS)], ["--no-build-isolation", "-r", str(LOCK)]):
        command = [*pip, "--require-hashes", *options]
        with subprocess.Popen(
            command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
        ) as running:
            assert running.stdout is not None
            last = _show(running.stdout)
        if running.returncode:
            message = "Superset cannot be installed; pip ends so:" + "".join(
                f"\n  | {line}" for line in last
            )
            hint = "check the network and pip's settings, then start it again"
            raise ServiceError("SUPERSET_INSTALL", message, hint=hint)


def _show(lines: Iterable[str], kept: int = 8) -> list[str]:
    """Say which package pip is at, on one line of a terminal; return its last lines."""
    last: list[str] = []
    start, end = ("\r\033[K", "") if sys.stderr.isatty() else ("", "\n")
    count = 0
    for line in lines:
        last = [*last, line.rstrip()][-kept:]
        word, _, rest = line.partition(" ")
        if word == "Collecting":
            count += 1
            sys.stderr.write(f"{start}  [{count}] {rest.split()[0].partition('==')[0]}{end}")
        elif line.startswith("Installing collected"):
            sys.stderr.write(f"{start}  installing {count} packages\n")
        sys.stderr.flush()
    return last
