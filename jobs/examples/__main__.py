"""``make examples``: generate, run, verify and test every example below ``sql/``."""

import statistics
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path

import click

from headwater.project import load_project
from headwater.serve.commits import commits_table
from headwater.serve.lake_reader import LakeReader
from jobs.examples.generate import HERE, SQL, generate

NAMES = tuple(sorted(path.stem for path in HERE.glob("*.sql") if path.stem != "macros"))
HEADWATER = (sys.executable, "-m", "headwater")


def headwater(project: Path, *arguments: str) -> tuple[float, bool]:
    """Run a command on a project; return its seconds and whether it said yes."""
    started = time.monotonic()
    command = [*HEADWATER, "--project", str(project), *arguments]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        click.echo(f"{done.stdout}{done.stderr}", err=True)
    return time.monotonic() - started, done.returncode == 0


def delays(project: Path) -> str:
    """Return p50 and p95 of the seconds from what a view has read to its own commit."""
    loaded = load_project(project)
    commits = commits_table(LakeReader(loaded.config)).to_pylist()
    found = [
        each["freshness"]
        for each in commits
        if each["view"] in loaded.catalog.views and each["freshness"] is not None
    ]
    if len(found) < 2:
        return "-"
    return f"{statistics.median(found):.1f} / {statistics.quantiles(found, n=20)[-1]:.1f}"


@click.command()
@click.argument("names", nargs=-1, type=click.Choice(NAMES), metavar="[NAME]...")
@click.option("--size", type=click.Choice(["small", "full"]), default="small", show_default=True)
@click.option("--seed", type=int, default=1, show_default=True, help="Seed of the events.")
def examples(names: Sequence[str], size: str, seed: int) -> None:
    """Generate the events of the examples, run their views, verify and test them.

    The lake of an example is in its own folder; a second run goes on from there. Exits with 1 if
    a view differs from its SELECT or a test fails.
    """
    chosen = names or NAMES
    verified = tested = 0
    heads = f"{'run s':>8}{'verify s':>10}{'test s':>8}{'delay s*':>14}"
    click.echo(f"{'project':<20}{'rows':>10}{heads}  result")
    for name in chosen:
        rows = generate(name, size, seed)
        run, ran = headwater(SQL / name, "run", "--once", "--end-of-input", "--no-console")
        verify, equal = headwater(SQL / name, "verify")
        test, passed = headwater(SQL / name, "test")
        verified += ran and equal
        tested += passed
        result = "ok" if ran and equal and passed else "FAILED"
        times = f"{run:>8.1f}{verify:>10.1f}{test:>8.1f}{delays(SQL / name):>14}"
        click.echo(f"{name:<20}{rows:>10,}{times}  {result}")
    click.echo("* from what a view has read to its own commit: p50 / p95")
    click.echo(f"projects={len(chosen)} verified={verified} tests={tested}")
    sys.exit(not len(chosen) == verified == tested)


if __name__ == "__main__":
    examples()
