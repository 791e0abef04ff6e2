"""``make dialects``: what Flink answers, against what is recorded of it.

In: the cases of :mod:`tests.dialects.cases`, the jars of ``pom.xml``. Out: the answers that differ;
an exit code.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
from datetime import datetime
from pathlib import Path

import click

from tests.dialects.cases import CASES, COLUMNS

HERE = Path(__file__).parent
JARS = HERE.parents[1] / "build" / "flink"
_OPENED = ("lang", "util", "nio")


def answers(expressions: list[str]) -> list[str]:
    """Ask Flink for expressions over the one row."""
    row = ", ".join(COLUMNS.values())
    source = f"(VALUES ({row})) AS t ({', '.join(COLUMNS)})"
    queries = [f"SELECT {each} FROM {source}" for each in expressions]
    opened = [f"--add-opens=java.base/java.{each}=ALL-UNNAMED" for each in _OPENED]
    with tempfile.NamedTemporaryFile("w", suffix=".sql", encoding="utf-8") as file:
        file.write("\n".join(queries))
        file.flush()
        command = ["java", *opened, "-cp", f"{JARS}/*", str(HERE / "Ask.java"), file.name]
        done = subprocess.run(command, capture_output=True, text=True, check=True)
    return done.stdout.splitlines()


def written(value: object) -> str:
    """Return a value as Flink prints it."""
    if value is None:
        return "null"
    if isinstance(value, list):
        return f"[{', '.join(map(written, value))}]"
    if isinstance(value, datetime):  # Java leaves out seconds of 0
        return value.isoformat(timespec="milliseconds" if value.microsecond else "minutes")
    return str(value).lower() if isinstance(value, bool) else str(value)


def main() -> int:
    """Print what differs; 1 if anything does."""
    asked = [(text, value) for dialects, text, value in CASES if "flink" in dialects.split()]
    found = answers([text for text, _ in asked])
    wrong = 0
    for (text, value), answer in zip(asked, found, strict=True):
        if answer != written(value):
            wrong += 1
            click.echo(f"{text}: recorded {written(value)}, Flink says {answer}")
    click.echo(f"asked={len(asked)} wrong={wrong}")
    return int(wrong > 0)


if __name__ == "__main__":
    sys.exit(main())
