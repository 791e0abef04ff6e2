"""How Superset's web server runs: one worker with threads, which is enough beside one SQLite file.

In: ``LISTEN`` and ``SUPERSET_PORT``. Out: names that gunicorn reads.
"""

from __future__ import annotations

import os

bind = f"{os.environ['LISTEN']}:{os.environ['SUPERSET_PORT']}"
workers = 1
worker_class = "gthread"
threads = 16  # those of charts wait for Trino; others have to answer meanwhile
timeout = 120  # seconds
control_socket_disable = True  # it would lie in the home folder of whoever starts the server
