"""A project as its user runs it: commands in processes of their own."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path


def headwater(folder: Path, *arguments: str, **environ: str) -> subprocess.CompletedProcess[str]:
    """Run a command over a project."""
    command = [sys.executable, "-m", "headwater", *arguments, "--project", str(folder)]
    return subprocess.run(
        command,
        env=os.environ | environ,
        capture_output=True,
        text=True,
        timeout=300,
        start_new_session=True,  # a crash point may kill the whole group
    )


def rows(folder: Path, query: str) -> list[dict[str, object]]:
    """What a query over a project gives."""
    done = headwater(folder, "sql", query, "--output", "json")
    assert done.returncode == 0, done.stderr
    return list(json.loads(done.stdout))
