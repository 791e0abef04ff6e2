"""The demo of changes out of PostgreSQL (``make demo-cdc``): reads the command line, runs it."""

import argparse
import signal
import sys
from pathlib import Path

from headwater.errors import HeadwaterError
from jobs.demos.cdc.demo import RANDOM, Options, positive, run
from jobs.demos.cdc.pipeline import SERVERS


def main() -> int:
    parser = argparse.ArgumentParser(prog="demo-cdc", description=__doc__)
    parser.add_argument("--seconds", type=positive, default=60.0, help="how long there is load: 60")
    parser.add_argument("--rate", type=positive, default=50.0, help="transactions a second: 50")
    parser.add_argument("--seed", type=int, default=1, help="another seed, other transactions")
    parser.add_argument(
        "--kill", action="append", default=[], choices=[*SERVERS, RANDOM],
        help="SIGKILL in the middle; several: one after the other",
    )  # fmt: skip
    parser.add_argument("--keep", type=Path, metavar="FOLDER", help="leave everything running")
    given = parser.parse_args()
    options = Options(given.seconds, given.rate, given.seed, tuple(given.kill), given.keep)
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(128 + signal.SIGTERM))
    try:
        return run(options)
    except HeadwaterError as error:
        print(error.render(), file=sys.stderr)
        return error.exit_code
    except KeyboardInterrupt:
        return 130


if __name__ == "__main__":
    sys.exit(main())
