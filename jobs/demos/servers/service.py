"""The servers around a lake: what ``compose.yaml`` starts as containers, as processes.

In: ``stack.env`` and the configuration files of this folder. Out: :class:`Service`.
"""

from __future__ import annotations

from pathlib import Path

from headwater.servers.service import HOST, READY_WITHIN, STOPPED_WITHIN, LocalServer, java_options

__all__ = [
    "CONFIGURATION",
    "DEFAULTS",
    "HOST",
    "READY_WITHIN",
    "STOPPED_WITHIN",
    "Service",
    "java_options",
]

CONFIGURATION = Path(__file__).parents[3] / "docker"
"""The folder of the configuration files, which ``compose.yaml`` mounts too."""

DEFAULTS = dict(
    line.split("=", 1)
    for line in (CONFIGURATION / "stack.env").read_text(encoding="utf-8").splitlines()
    if "=" in line and not line.startswith("#")
)
"""What the configuration files ask for, as ``compose.yaml`` hands it to containers."""


class Service(LocalServer):
    """A server whose configuration files are in this folder."""

    configuration = CONFIGURATION

    def environment(self) -> dict[str, str]:
        """Return what the configuration files ask for: ``stack.env``, with our own address."""
        return DEFAULTS | super().environment()
