"""``python -m tests.stored_lakes PROJECT ARCHIVE``: store the lake of a project that has run.

To make one of an earlier format, run the project of ``project/`` by a checkout of that time, in a
folder whose path has 200 characters, then store it by this one.
"""

from __future__ import annotations

import sys
from pathlib import Path

from tests.stored_lakes import store

store(Path(sys.argv[1]), Path(sys.argv[2]))
