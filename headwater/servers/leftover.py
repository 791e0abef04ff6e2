"""Servers for a program that may be killed itself: the next one finds and stops them.

In: nothing, or a folder of stacks. Out: a temporary folder for servers; none of earlier programs.
"""

from __future__ import annotations

import os
import shutil
import signal
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from headwater.servers.process import read_record
from headwater.servers.service import STOPPED_WITHIN


@contextmanager
def temporary_stack() -> Iterator[Path]:
    """Give a folder for servers that end with this program.

    Stacks that earlier programs left, since they were killed, are stopped and named first. The
    folder is below the system's one for temporary files, where PostgreSQL's user can reach it.
    """
    base = Path(tempfile.gettempdir(), f"headwater-services-{os.getuid()}")
    base.mkdir(mode=0o711, exist_ok=True)
    for line in sweep(base):
        sys.stderr.write(f"{line}\n")
    folder = Path(tempfile.mkdtemp(dir=base))
    folder.chmod(0o711)
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def sweep(base: Path) -> list[str]:
    """Kill the servers below a folder whose owner has ended, and remove their stacks.

    Args:
        base: its entries are folders of stacks.

    Returns:
        A line for each server that was killed.
    """
    killed = []
    for path in sorted(base.glob("*/*/process.json")):
        record = read_record(path)
        if record is None or record.owner is None or record.owner.alive:
            continue
        if record.server.alive:
            record.server.send(signal.SIGKILL)
            record.server.wait(STOPPED_WITHIN)
            name = path.parent.name
            killed.append(f"killed {name}, process {record.server.pid}: left by an earlier run")
        shutil.rmtree(path.parent, ignore_errors=True)
        with suppress(OSError):  # other servers of the stack are still in it
            path.parent.parent.rmdir()
    return killed
