"""The folder that keeps what is fetched or made once per user.

In: the environment. Out: the folder's path.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path


def cache_folder(environ: Mapping[str, str] | None = None) -> Path:
    """Return the folder that keeps jars: ``HEADWATER_JARS``, or one below the user's cache."""
    environ = os.environ if environ is None else environ
    if named := environ.get("HEADWATER_JARS"):
        return Path(named).expanduser()
    base = environ.get("XDG_CACHE_HOME") or "~/.cache"
    return Path(base).expanduser() / "headwater" / "jars"
