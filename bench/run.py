"""``make bench``: Headwater against Spark written by hand and DuckDB, over the same bytes.

In: sizes on the command line. Out: a table of ratios, also in a file with ``--save``; ``--json``
writes every single run. The runs of the ways alternate, each way in a warm process of its own, and
the numbers are medians of paired runs.

Overhead per micro-batch, from the same job over many small files, one per batch, as medians:
own steps: what Headwater does in a batch besides the write by Spark and Iceberg (staging, checks,
publishing, the marker); between commits: the time from commit to commit, minus that of the job
written by hand, which also counts what Spark spends on ``foreachBatch`` and on the larger plan.
"""

from __future__ import annotations

import argparse
import json
import shlex
import statistics
import sys
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import duckdb

from bench.measure import Sample, Worker, commits_of, machine
from bench.workloads import FILTER, WINDOW, WORKLOADS, Input, Workload, make_input

OURS, THEIRS, BATCH, LANDED = "headwater", "by hand", "duckdb", "landed"
ORDER = (BATCH, OURS, THEIRS, LANDED)
THROUGHPUT, OVERHEAD = 0.9, 0.050


@dataclass(frozen=True, slots=True)
class Case:
    """One workload at one size.

    Attributes:
        title: its name in the table.
        workload: the workload.
        given: its files.
        warm_up: fewer files of the same kind.
        ways: who answers it.
    """

    title: str
    workload: Workload
    given: Input
    warm_up: Input
    ways: tuple[str, ...]


def throughput_cases(options: argparse.Namespace, folder: Path) -> Iterator[Case]:
    """Yield the workloads at full size."""
    for name in options.workloads:
        workload = WORKLOADS[name]
        rows, files = int(options.rows * workload.share), options.files
        given = make_input(folder, workload, rows, files, options.per_batch)
        warm_up = make_input(folder, workload, rows // 10, files // 2, options.per_batch)
        yield Case(workload.name, workload, given, warm_up, ORDER)


def overhead_cases(options: argparse.Namespace, folder: Path) -> Iterator[Case]:
    """Yield a job without and a job with state over many small files."""
    for workload in (FILTER, WINDOW):
        if options.batches and workload.name in options.workloads:
            given = make_input(folder, workload, 500 * options.batches, options.batches, 1)
            warm_up = make_input(folder, workload, 5000, 10, 1)
            yield Case(f"{workload.name}, small", workload, given, warm_up, (BATCH, OURS, THEIRS))


def measure(case: Case, repeat: int, scratch: Path) -> list[Sample]:
    """Run all ways of a case in turn, several times; the first, small round is not counted."""
    workers = {}
    folder = scratch / case.title.replace(", ", "-")
    folder.mkdir()
    samples = []
    try:
        for way in case.ways:
            workers[way] = Worker(way, folder)
        for number in range(repeat + 1):
            given = case.given if number else case.warm_up
            shift = number % len(case.ways)
            rest = case.ways[1:]
            answers = {}
            # DuckDB's answer is what the others are checked against
            for way in (case.ways[0], *rest[shift:], *rest[:shift]):
                which = f"run {number} of {repeat}" if number else "warm-up"
                print(f"{case.title}, {way}, {which}", file=sys.stderr)
                answers[way] = workers[way].run(case.workload, given, number)
            if number:
                samples += [_sample(case, way, answers) for way in case.ways]
    finally:
        for worker in workers.values():
            worker.stop()
    return samples


def _sample(case: Case, way: str, answers: dict[str, dict[str, Any]]) -> Sample:
    found, expected = answers[way], f"read_parquet('{answers[case.ways[0]]['file']}')"
    complete, per_batch, wrong = found["ended"], None, 0
    with duckdb.connect() as db:
        db.execute("SET TimeZone = 'UTC'")
        right = f"SELECT * FROM {expected} WHERE {case.workload.comparable}"
        if way != BATCH:
            commits = commits_of(found["warehouse"], found["table"])
            answer = f"SELECT * FROM read_parquet({commits.files}) WHERE {case.workload.comparable}"
            differing = f"({answer} EXCEPT ALL {right}) UNION ALL ({right} EXCEPT ALL {answer})"
            wrong = _count(db, differing)
            complete, per_batch = commits.complete(_count(db, right)), commits.per_batch()
    return Sample(
        way,
        case.title,
        complete - found["begun"],
        found["cpu"],
        found["memory"],
        per_batch,
        found.get("own"),
        wrong,
        found["ended"] - found["begun"],
        found["load"],
    )


def _count(db: duckdb.DuckDBPyConnection, query: str) -> int:
    row = db.execute(f"SELECT count(*) FROM ({query})").fetchone()
    assert row is not None
    return int(row[0])


def ratio(samples: Sequence[Sample], case: str, base: str, what: str = "seconds") -> float:
    """Return another way's time in units of Headwater's: the median over the paired runs.

    Args:
        samples: all runs.
        case: which case.
        base: the other way.
        what: ``seconds`` on the clock or of the processors (``cpu``).
    """
    pairs = zip(_of(samples, case, base), _of(samples, case, OURS), strict=True)
    return statistics.median(float(getattr(a, what) / getattr(b, what)) for a, b in pairs)


def overhead(samples: Sequence[Sample], case: str) -> float:
    """Return the seconds by which a micro-batch of Headwater is longer: the median of the pairs."""
    pairs = zip(_of(samples, case, OURS), _of(samples, case, THEIRS), strict=True)
    return statistics.median((a.per_batch or 0) - (b.per_batch or 0) for a, b in pairs)


def _of(samples: Sequence[Sample], case: str, way: str) -> list[Sample]:
    return [each for each in samples if each.workload == case and each.way == way]


def report(
    about: dict[str, Any], cases: Sequence[Case], samples: Sequence[Sample]
) -> Iterator[str]:
    """Yield the lines of the table, below what :func:`machine` said when the run began."""
    yield f"date      {datetime.now(UTC):%Y-%m-%d %H:%M} UTC"
    yield f"machine   {about['cores']} cores, {about['memory'] / 2**30:.0f} GiB, {about['cpu']}"
    yield f"system    {about['system']}"
    yield f"commit    {about['commit']}"
    yield f"command   {shlex.join(['bench.run', *sys.argv[1:]])}"
    yield f"load      {max(each.load for each in samples):.1f} at most when a run began"
    yield ""
    yield (
        f"{'':22}{'rows':>10}{'batches':>8}  {'way':10}{'seconds':>8}{'rows/s':>10}"
        f"{'s/batch':>8}{'cpu s':>8}{'memory':>9}  answer"
    )
    for case in cases:
        for way in case.ways:
            yield _line(case, way, _of(samples, case.title, way))
    yield ""
    for case in cases:
        yield _conclusion(case, samples)


def _line(case: Case, way: str, runs: Sequence[Sample]) -> str:
    seconds = statistics.median(each.seconds for each in runs)
    cpu = statistics.median(each.cpu for each in runs)
    gaps = [each.per_batch for each in runs if each.per_batch is not None]
    per_batch = f"{statistics.median(gaps):.3f}" if gaps else ""
    memory = f"{max(each.memory for each in runs) / 2**20:.0f} MiB"
    wrong = sum(each.wrong for each in runs)
    return (
        f"{case.title:22}{case.given.rows:>10,}{case.given.batches:>8}  {way:10}{seconds:>8.2f}"
        f"{case.given.rows / seconds:>10,.0f}{per_batch:>8}{cpu:>8.2f}{memory:>9}"
        f"  {f'{wrong} ROWS DIFFER' if wrong else 'same'}"
    )


def _conclusion(case: Case, samples: Sequence[Sample]) -> str:
    if LANDED not in case.ways:
        runs = _of(samples, case.title, OURS)
        own = statistics.median(each.own or 0 for each in runs)
        extra = overhead(samples, case.title)
        return (
            f"{case.title:22}per micro-batch, at most {OVERHEAD * 1000:.0f} ms wanted:"
            f" own steps {own * 1000:.0f} ms ({_verdict(own <= OVERHEAD)}),"
            f" {extra * 1000:.0f} ms more between commits than by hand"
            f" ({_verdict(extra <= OVERHEAD)})"
        )
    found = ratio(samples, case.title, THEIRS)
    return (
        f"{case.title:22}throughput {found:.2f} x by hand"
        f" ({_verdict(found >= THROUGHPUT)}: at least {THROUGHPUT}),"
        f" {ratio(samples, case.title, THEIRS, 'cpu'):.2f} x per processor second,"
        f" {ratio(samples, case.title, BATCH):.3f} x DuckDB in batch"
    )


def _verdict(reached: bool) -> str:
    return "reached" if reached else "MISSED"


def parse() -> argparse.Namespace:
    """Read the command line."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0] if __doc__ else None)
    add = parser.add_argument
    add("--rows", type=int, default=2_000_000, help="rows per stream, before a workload's share")
    add("--files", type=int, default=24, help="files per stream")
    add("--per-batch", type=int, default=4, help="files per micro-batch")
    add("--batches", type=int, default=60, help="small batches for the overhead; 0 for none")
    add("--repeat", type=int, default=3, help="runs of each way that count")
    add("--workloads", nargs="+", default=list(WORKLOADS), choices=list(WORKLOADS))
    add("--json", type=Path, help="file for every single run")
    add("--save", type=Path, help="file for the table")
    return parser.parse_args()


def main() -> int:
    """Measure and print; exit with 1 if an answer is wrong."""
    options = parse()
    about = machine()
    samples: list[Sample] = []
    with tempfile.TemporaryDirectory(prefix="headwater-bench-") as name:
        scratch = Path(name)
        inputs = scratch / "input"
        inputs.mkdir()
        cases = [*throughput_cases(options, inputs), *overhead_cases(options, inputs)]
        for case in cases:
            samples += measure(case, options.repeat, scratch)
    lines = "\n".join(report(about, cases, samples))
    print(lines)
    if options.save:
        options.save.parent.mkdir(parents=True, exist_ok=True)
        options.save.write_text(lines + "\n")
    if options.json:
        options.json.write_text(json.dumps([asdict(each) for each in samples], indent=1))
    return 1 if any(each.wrong for each in samples) else 0


if __name__ == "__main__":
    sys.exit(main())
