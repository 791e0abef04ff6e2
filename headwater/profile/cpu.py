"""CPU seconds by kind of work: of the JVM from samples of its stacks, of Python as a whole.

In: a JVM with async-profiler in its class path. Out: seconds by kind, and a flame graph. A sample
belongs to the kind of its innermost frame that has one: Iceberg called by Spark is Iceberg's.
"""

from __future__ import annotations

import re
import resource
import shutil
from collections import Counter
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from headwater.lake.java import java_class

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

INTERVAL_MS = 1
"""Between two samples of one thread, of its CPU time; many systems give fewer. So samples only say
how the CPU seconds of the process are divided."""

KINDS: tuple[tuple[str, str], ...] = (
    ("compiling bytecode (JIT)", r"CompileBroker|C1_MacroAssembler|C2Compiler|Compile::"),
    ("garbage collection", r"VM_Gen|VM_Collect|GenCollect|G1|GCTask|DefNewGeneration|VM_Serial"),
    ("generating code", r"org/codehaus/(janino|commons)|CodeGenerator|doCodeGen"),
    ("loading classes", r"ClassLoader|SystemDictionary|ClassFileParser|java/util/(zip|jar)/.*Zip"),
    ("catalog (SQL)", r"org/sqlite|org/postgresql|org/apache/iceberg/(jdbc|rest)"),
    ("Parquet and Avro", r"(org|shaded)/apache/(parquet|avro)|org/apache/iceberg/(parquet|avro)"),
    ("Iceberg metadata", r"org/apache/iceberg"),
    ("Delta", r"io/delta|org/apache/spark/sql/delta"),
    ("serialising", r"java/io/Object|java/io/Data|spark/serializer"),
    ("files", r"java/io/(File|Random)|java/nio/(file|channels)|sun/nio|org/apache/hadoop/fs"),
    (
        "planning",
        r"sql/catalyst/(parser|analysis|optimizer|planning|rules|plans|trees|expressions/codegen)"
        r"|sql/execution/(adaptive|QueryExecution|SparkPlanner|datasources/v2)",
    ),
    ("scheduling", r"spark/(scheduler|storage|broadcast|rpc|MapOutput|shuffle|util/Closure)"),
    ("tasks", r"spark/(executor|sql/(execution|catalyst)|rdd|unsafe|util)|GeneratedIterator"),
    ("calls from Python", r"py4j"),
)
"""Kind → what of a frame tells it, in order: the first that fits a frame."""
OTHER = "other work of the JVM"
PYTHON = "Python"

Seconds = Mapping[str, float]
"""CPU seconds by kind."""

_PATTERNS = [(kind, re.compile(pattern)) for kind, pattern in KINDS]


class CpuProfile:
    """Samples the stacks of a JVM from now on."""

    def __init__(self, spark: SparkSession) -> None:
        self._profiler = java_class(spark, "one.profiler.AsyncProfilerLoader").load()
        self._handles = java_class(spark, "java.lang.ProcessHandle")
        self._profiler.execute(f"start,event=ctimer,interval={INTERVAL_MS}ms")
        self._before = (self._jvm_seconds(), _python_seconds())

    def read(self, folder: Path) -> Seconds:
        """Return CPU seconds by kind since the start.

        Args:
            folder: for the samples, which are not kept.
        """
        path = folder / "samples.txt"
        self._profiler.execute(f"dump,collapsed,file={path}")
        with path.open(encoding="utf-8", errors="replace") as lines:
            samples = by_kind(lines)
        jvm, python = self._jvm_seconds() - self._before[0], _python_seconds() - self._before[1]
        each = jvm / max(sum(samples.values()), 1)
        return {**{kind: count * each for kind, count in samples.items()}, PYTHON: python}

    def _jvm_seconds(self) -> float:
        return float(self._handles.current().info().totalCpuDuration().get().toMillis()) / 1000

    def finish(self, flame_graph: Path, folder: Path) -> Seconds:
        """Stop, write the flame graph and return CPU seconds by kind.

        Args:
            flame_graph: an HTML file.
            folder: as for :meth:`read`.
        """
        self._profiler.execute("stop")
        drawn = folder / "flame.html"  # a name of which no part is a command
        self._profiler.execute(f"dump,flamegraph,file={drawn}")
        shutil.copyfile(drawn, flame_graph)
        return self.read(folder)


def by_kind(stacks: Iterable[str]) -> Mapping[str, int]:
    """Return the samples of each kind.

    Args:
        stacks: collapsed stacks, each with its number of samples at the end.
    """
    samples: Counter[str] = Counter()
    known: dict[str, str] = {}
    for line in stacks:
        stack, _, count = line.rpartition(" ")
        samples[_kind(stack, known)] += int(count)
    return samples


def _kind(stack: str, known: dict[str, str]) -> str:
    for frame in reversed(stack.split(";")):
        if frame not in known:
            known[frame] = next((kind for kind, told in _PATTERNS if told.search(frame)), "")
        if known[frame]:
            return known[frame]
    return OTHER


def _python_seconds() -> float:
    used = resource.getrusage(resource.RUSAGE_SELF)
    return used.ru_utime + used.ru_stime
