"""Files of a checkpoint that are there whole after a crash.

In: a text. Out: the file that held another one before.
"""

from __future__ import annotations

import os
import uuid
from pathlib import Path


def put(path: Path, text: str) -> None:
    """Write a file so that a crash leaves the old one or the new one, whole and on the disk."""
    hidden = path.with_name(f".{path.name}.{uuid.uuid4().hex}.tmp")
    with hidden.open("w", encoding="utf-8") as file:
        file.write(text)
        file.flush()
        os.fsync(file.fileno())
    hidden.replace(path)
