"""``python -m jobs.demos.stack up | down | status | keep``: the shop and its servers as processes.

The other commands are what some containers of ``docker/compose.yaml`` run.
"""

import argparse
import os
import sys
from pathlib import Path

from headwater.errors import HeadwaterError
from jobs.demos.cdc.stack import IN_CONTAINERS, ShopStack


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m jobs.demos.stack", description=__doc__)
    parser.add_argument("command", choices=("up", "down", "status", "keep", *IN_CONTAINERS))
    parser.add_argument("--folder", type=Path, default=Path(".stack"), help="data and logs: .stack")
    given = parser.parse_args()
    try:
        if run := IN_CONTAINERS.get(given.command):
            lines = run(os.environ)
        else:
            lines = getattr(ShopStack(given.folder), given.command)()
        for line in lines:
            print(line, flush=True)
    except HeadwaterError as error:
        print(error.render(), file=sys.stderr)
        return error.exit_code
    return 0


if __name__ == "__main__":
    sys.exit(main())
