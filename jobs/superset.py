"""Superset until Ctrl-C, its dashboards kept for the next time: ``make superset``."""

import signal
import sys
from pathlib import Path

from docker.local.superset import Superset
from headwater.errors import HeadwaterError

FOLDER = Path(__file__).parents[1] / ".services"
LINES = """Superset runs at {url}, its administrator is {username}. Ctrl-C stops it.
  export HEADWATER_SUPERSET_URL={url}
  export HEADWATER_SUPERSET_PASSWORD='${{env:SUPERSET_PASSWORD}}'
  export SUPERSET_PASSWORD=$(cat {file})
  headwater --project DIR dashboards push
"""


def main() -> None:
    """Start Superset, say where it is, and wait."""
    with Superset(FOLDER) as server:
        place = {"url": server.address, "username": server.username}
        print(LINES.format(**place, file=server.home / "admin_password"), flush=True)
        signal.pause()


if __name__ == "__main__":
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(128 + signal.SIGTERM))
    try:
        main()
    except HeadwaterError as error:
        sys.exit(error.render())
    except KeyboardInterrupt:
        sys.exit(130)
