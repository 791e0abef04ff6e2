"""Superset with its own Python environment: dashboards in the browser.

In: ``superset/*.py``, the lock file of its packages. Out: a server with one administrator, whose
password is made for the folder and said once.
"""

from __future__ import annotations

import urllib.request
from collections.abc import Sequence
from pathlib import Path

from headwater.config.secrets import private_folder
from headwater.errors import ServiceError
from headwater.machine.environments import environment, find_python
from headwater.machine.system_packages import install_command
from headwater.servers.service import HOST, LocalServer

LOCK = Path(__file__).with_name("files") / "superset" / "requirements.lock"
"""Its packages, pinned by hash: Superset's own ranges let in versions that break it."""

PYTHONS = ("3.12", "3.11")
"""The Pythons that it runs on: on newer ones it asks for a pandas that has no wheel for them."""


class SupersetServer(LocalServer):
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
        config = self.file(self.files[0])
        return super().environment() | {
            "SUPERSET_HOME": str(self.home),
            "SUPERSET_USERNAME": self.username,
            "SUPERSET_CONFIG_PATH": str(config),
            "FLASK_APP": "superset",
        }

    def prepare(self) -> None:
        """Install it once, and make database, administrator and secrets once."""
        private_folder(self.home)
        self.run([environment_python(), self.file(self.files[2])], shown=True)

    def command(self) -> Sequence[str | Path]:
        """Return the command line of the web server."""
        gunicorn = environment_python().with_name("gunicorn")
        return [gunicorn, "--config", self.file(self.files[1]), "superset.app:create_app()"]

    def answers(self) -> bool:
        """Return whether the server says that it is well."""
        opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
        with opener.open(f"{self.address}/health", timeout=10) as answer:
            return bool(answer.read() == b"OK")


def environment_python() -> Path:
    """Return the Python that has Superset, in an environment of its own beside the jars.

    Raises:
        ServiceError: ``SUPERSET_PYTHON`` if no Python that runs Superset is installed; and what
            :func:`headwater.machine.environments.environment` raises.
    """
    python = find_python(PYTHONS)
    if python is None:
        message = f"Superset needs Python {' or '.join(PYTHONS)}, and none is installed"
        hint = install_command("python-3.12") or "install Python 3.12, so that it is on PATH"
        raise ServiceError("SUPERSET_PYTHON", message, hint=hint)
    return environment("superset", LOCK, python)
