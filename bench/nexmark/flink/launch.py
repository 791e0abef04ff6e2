"""The command that answers queries of NEXMark with Flink SQL.

In: the jars of ``pom.xml``, which ``make`` fetches, and a JDK. Out: a command that prints a line of
JSON per query: the CPU seconds of its process and the folder of the answer, or why there is none.
"""

from __future__ import annotations

import os
import subprocess
from collections.abc import Sequence
from pathlib import Path

from bench.measure import ROOT
from headwater.errors import ServiceError
from headwater.machine.java import find_java

HERE = Path(__file__).parent
JARS = ROOT / "build" / "nexmark-flink"
HEAP = "2g"
"""Twice the heap of the sessions of Spark, whose state is in RocksDB and not on the heap."""
_OPENED = ("lang", "util", "nio")


def missing() -> str:
    """Return what Flink needs and is not there, empty if nothing is missing."""
    if not (JARS / ".installed").exists():
        return "Maven has not fetched its jars into build/nexmark-flink"
    try:
        compiler = find_java().home / "bin" / "javac"
    except ServiceError as error:
        return error.message
    return "" if compiler.exists() else "this Java has no compiler"


def command(folder: Path, inputs: Sequence[Path]) -> list[str]:
    """Compile the program; return how to run it.

    Args:
        folder: gets the classes and the tables; it need not exist.
        inputs: folders of events, answered one after another.
    """
    binaries = find_java().home / "bin"
    classes = folder / "classes"
    path = f"{classes}:{JARS}/*"
    # Flink gives classes to its workers by name, so a file that java compiles itself is not enough.
    compiling = [str(binaries / "javac"), "-d", str(classes), "-cp", path]
    subprocess.run([*compiling, str(HERE / "Answer.java")], check=True)
    cores = len(os.sched_getaffinity(0))
    options = [f"-Xmx{HEAP}", *(["-XX:+UseSerialGC"] if cores <= 2 else [])]
    options += [f"--add-opens=java.base/java.{each}=ALL-UNNAMED" for each in _OPENED]
    arguments = [HERE / "queries.sql", cores, folder, *inputs]
    return [str(binaries / "java"), *options, "-cp", path, "Answer", *map(str, arguments)]
