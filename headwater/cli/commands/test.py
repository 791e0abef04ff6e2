"""``headwater test``: the SQL tests of a project."""

from __future__ import annotations

import os
import time
from pathlib import Path

import click

from headwater.cli.context import Command, Context, pass_context
from headwater.errors import EXIT_NO, EXIT_OK, ConfigError

COLUMNS = ("file", "result", "seconds")
REWRITE = "HEADWATER_REWRITE_GOLDEN"


@click.command(
    cls=Command,
    short_help="Run the SQL tests of the project.",
    examples=("headwater test", "headwater test tests/late_orders.slt"),
)
@click.argument(
    "paths", nargs=-1, type=click.Path(exists=True, path_type=Path), metavar="[PATH]..."
)
@pass_context
def test(context: Context, paths: tuple[Path, ...]) -> int:
    """Run the .slt files in the folder tests/ of the project, or the given files and folders.

    Every file starts with an empty lake and the definitions of the project. Of these, only the
    tables and views run that the file names, with what they read; a file that asks for no view runs
    all. Tables read the rows that the file ingests. HEADWATER_REWRITE_GOLDEN=1 writes the actual
    results into the files. Exits with 1 if a test failed or a definition has an error.
    """
    project, _ = context.survey()
    files = slt_files(paths or (project.root / "tests",))
    from headwater.machine.java import find_java

    find_java()
    from headwater.testing.harness import run_file, shared_session

    rows, failures = [], []
    with shared_session() as spark:
        for number, path in enumerate(files, 1):
            started = time.monotonic()
            context.output.step(f"running {path} ({number} of {len(files)})")
            failed = run_file(
                path, spark, base=project.files, rewrite=os.environ.get(REWRITE) == "1"
            )
            failures += failed
            rows.append(
                (str(path), "failed" if failed else "ok", round(time.monotonic() - started, 1))
            )
            context.output.note(f"{rows[-1][1]:>6}  {path}")
    context.output.rows(COLUMNS, rows)
    for failure in failures:
        context.output.note(f"\n{failure}")
    return EXIT_NO if failures else EXIT_OK


def slt_files(paths: tuple[Path, ...]) -> list[Path]:
    """Return the ``.slt`` files among files and below folders, in order.

    Raises:
        ConfigError: ``NO_TESTS`` if there are none.
    """
    files = [
        file
        for path in paths
        for file in (sorted(path.rglob("*.slt")) if path.is_dir() or not path.exists() else [path])
    ]
    if not files:
        where = ", ".join(str(path) for path in paths)
        raise ConfigError(
            "NO_TESTS", f"there is no .slt file in {where}", hint="see: headwater init"
        )
    return files
