"""Superset's settings, for the container and for the local process alike.

In: ``SUPERSET_HOME``, the folder that ``first_start.py`` fills. Out: names that Superset reads.
"""

from __future__ import annotations

import os
import time
from pathlib import Path

# What a chart calls “now” is the local time of this process; the lake's times are UTC.
os.environ["TZ"] = "UTC"
time.tzset()

_HOME = Path(os.environ["SUPERSET_HOME"])

APP_NAME = "Headwater"
SECRET_KEY = (_HOME / "secret_key").read_text(encoding="utf-8")
SQLALCHEMY_DATABASE_URI = f"sqlite:///{_HOME / 'superset.db'}?check_same_thread=false"
WTF_CSRF_ENABLED = True
# Pages are plain HTTP, on this machine only; Talisman would send browsers to HTTPS.
TALISMAN_ENABLED = False
# Its pages have a pixel by which its makers count installations: pictures come from here only.
DEFAULT_HTTP_HEADERS = {"Content-Security-Policy": "img-src 'self' data: blob:"}
CONTENT_SECURITY_POLICY_WARNING = False
# The first queries of a Trino that has just started take longer than the default of 60 seconds on
# a busy machine. As long as gunicorn waits (gunicorn.conf.py).
SUPERSET_WEBSERVER_TIMEOUT = 120
