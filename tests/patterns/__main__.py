"""Patterns against Trino: ``python -m tests.patterns record``, ``check``, ``fuzz``, ``views``.

``record`` asks Trino every case and writes its answers; with ``--missing`` only new ones. ``check``
compares them with ours, without Trino. ``fuzz`` makes random clauses and compares both; ``views``
makes random views, and compares their SELECT at rest at the marks of commits. Trino starts unless
an address is given.
"""

from __future__ import annotations

import sys
from argparse import ArgumentParser, Namespace
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory

from headwater.servers.trino import TrinoServer
from tests.patterns import record
from tests.patterns.at_rest import differences, untold
from tests.patterns.cases import CASES, REFUSED
from tests.patterns.judge import ERROR, Trino, ours, same
from tests.patterns.random_clauses import random_case
from tests.patterns.views import random_view


def main() -> int:
    """Return 0 if all is as expected."""
    parser = ArgumentParser(prog="python -m tests.patterns", description=__doc__)
    commands = parser.add_subparsers(required=True)
    recording = commands.add_parser("record")
    recording.add_argument("--address")
    recording.add_argument("--missing", action="store_true")
    recording.set_defaults(run=_record)
    commands.add_parser("check").set_defaults(run=_check)
    for name, run, count in (("fuzz", _fuzz, 300), ("views", _views, 60)):
        fuzzing = commands.add_parser(name)
        fuzzing.add_argument("--address")
        fuzzing.add_argument("--seed", type=int, default=1)
        fuzzing.add_argument("--queries", type=int, default=count)
        fuzzing.set_defaults(run=run)
    asked = parser.parse_args()
    return int(asked.run(asked))


@contextmanager
def _trino(address: str | None) -> Iterator[Trino]:
    if address:
        yield Trino(address)
        return
    with TemporaryDirectory() as folder, TrinoServer(Path(folder), {}) as server:
        yield Trino(server.address)


def _record(asked: Namespace) -> int:
    known = record.read() if asked.missing else {}
    cases = [case for case in (*CASES, *REFUSED) if str(case) not in known]
    with _trino(asked.address) as trino:
        found = {str(case): trino.answer(case) for case in cases}
    record.write({str(case): (known | found)[str(case)] for case in (*CASES, *REFUSED)})
    sys.stdout.write(f"recorded {len(found)} of {len(CASES) + len(REFUSED)} answers\n")
    return 0


def _check(_asked: Namespace) -> int:
    known, wrong = record.read(), 0
    for case in (*CASES, *REFUSED):
        found = ours(case)
        if str(case) not in known or not same(known[str(case)], found):
            wrong += 1
            sys.stdout.write(f"{case}\n  Trino: {known.get(str(case))}\n  ours:  {found}\n")
    sys.stdout.write(f"cases={len(CASES) + len(REFUSED)} wrong={wrong}\n")
    return 1 if wrong else 0


def _fuzz(asked: Namespace) -> int:
    equal = failed = refused = wrong = 0
    with _trino(asked.address) as trino:
        for number in range(asked.queries):
            case = random_case(f"{asked.seed}/{number}")
            theirs, found = trino.answer(case), ours(case)
            if isinstance(found, dict) and found[ERROR] in ("NOT_YET", "TOO_COMPLEX"):
                refused += 1
            elif not same(theirs, found):
                wrong += 1
                text = f"  Trino: {theirs}\n  ours:  {found}\n"
                sys.stdout.write(f"{number}: {case.text}\n  {case.rows}\n{text}")
            elif isinstance(found, dict):
                failed += 1
            else:
                equal += 1
    counts = f"equal={equal} failed={failed} refused={refused} wrong={wrong}"
    sys.stdout.write(f"queries={asked.queries} {counts}\n")
    return 1 if wrong else 0


def _views(asked: Namespace) -> int:
    counts, number = Counter[str](), 0
    with _trino(asked.address) as trino:
        while counts["views"] < asked.queries:
            number += 1
            random = Random(f"{asked.seed}/{number}")
            view = random_view(random, f"{asked.seed}/{number}")
            if view is None or untold(view):
                counts["not told" if view else "refused"] += 1
                continue
            counts["views"] += 1
            for rows, wrong in differences(view, trino, random):
                counts["wrong" if wrong else "equal" if rows else "empty"] += 1
                sys.stdout.write(wrong and f"{number}: {wrong}\n")
    sys.stdout.write(f"{dict(counts)}\n")
    return 1 if counts["wrong"] else 0


if __name__ == "__main__":
    sys.exit(main())
