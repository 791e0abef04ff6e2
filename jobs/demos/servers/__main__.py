"""The command line: ``python -m jobs.demos.servers up | down | status | fetch | lock``."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterable
from pathlib import Path

from headwater.errors import EXIT_NO, EXIT_OK, HeadwaterError
from jobs.demos.servers.connect import Connect
from jobs.demos.servers.kafka import Kafka
from jobs.demos.servers.packages import configurations, packages, write_lock
from jobs.demos.servers.stack import Stack

_FOLDER = Path(__file__).parents[3] / ".services"


def main() -> int:
    """Do what the command line says; return the exit code."""
    parser = argparse.ArgumentParser(prog="python -m jobs.demos.servers", description=__doc__)
    parser.add_argument(
        "command",
        choices=("up", "down", "status", "fetch", "lock"),
        help="start | stop | show what runs | only fetch packages | rewrite servers.lock",
    )
    parser.add_argument(
        "service", nargs="*", help="which servers (fetch: which parts of ivy.xml), default: all"
    )
    parser.add_argument("--folder", type=Path, default=_FOLDER, help="data and logs: .services")
    options = parser.parse_args()
    try:
        return _run(options.command, Stack(options.folder), options.service)
    except HeadwaterError as error:
        sys.stderr.write(f"{error.render()}\n")
        return error.exit_code


def _run(command: str, stack: Stack, names: list[str]) -> int:
    if command == "up":
        _say(stack.up(names))
    elif command == "down":
        _say(stack.down(names))
    elif command == "status":
        chosen = stack.choose(names)
        _say(stack.describe(service) for service in chosen)
        return EXIT_OK if all(service.process for service in chosen) else EXIT_NO
    elif command == "fetch":
        for configuration in names or configurations():
            packages(configuration)
        Connect(stack.folder, Kafka(stack.folder)).prepare()
    else:
        _say([f"servers.lock holds {write_lock()} files"])
    return EXIT_OK


def _say(lines: Iterable[str]) -> None:
    for line in lines:
        sys.stdout.write(f"{line}\n")
        sys.stdout.flush()


if __name__ == "__main__":
    sys.exit(main())
