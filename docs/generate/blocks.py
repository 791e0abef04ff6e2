"""What is generated, by name: a new part of the reference is one line here."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

from docs.generate import conformance, flink
from docs.generate.commands import commands
from docs.generate.functions import folds, functions, refused
from docs.generate.markdown import code, listed, sentence, table
from docs.generate.options import option_blocks
from docs.generate.settings import configuration
from headwater.analyze.typing import types as t
from headwater.errors.catalogue import families
from headwater.lake.protocol.commit import CRASH_POINTS
from headwater.lake.protocol.commits import COLUMNS, TYPES

ROOT = Path(__file__).parents[2]


def errors() -> Iterator[str]:
    """Yield every condition with cause and remedy, by family."""
    for family in families():
        yield f"## {family.title}"
        yield ""
        yield family.about
        yield ""
        for each in family.conditions:
            yield f"### `{each.condition}`"
            yield ""
            yield f"- **Cause:** {each.cause}"
            yield f"- **Remedy:** {each.remedy}"
            yield ""


def commits() -> Iterator[str]:
    """Yield the columns of ``commits``."""
    rows = [(code(name), code(TYPES[kind]), sentence(comment)) for name, kind, comment in COLUMNS]
    yield from table(("column", "type", "meaning"), rows)


def crash_points() -> Iterator[str]:
    """Yield the points at which a test can kill a commit."""
    yield f"{listed(CRASH_POINTS)}."


def metrics() -> Iterator[str]:
    """Yield the metrics of a running project."""
    from headwater.project import load_project
    from headwater.runtime.metrics import Metrics
    from headwater.runtime.run_metrics import Tally

    project = load_project(ROOT / "sql" / "shop")
    rows = []
    for family in Metrics(project, Tally(project.catalog)).collect():
        end = {"counter": "_total", "info": "_info"}.get(family.type, "")
        rows.append((code(f"{family.name}{end}"), family.type, sentence(family.documentation)))
    yield from table(("metric", "type", "meaning"), rows)


def types() -> Iterator[str]:
    """Yield the types, with what each engine calls them."""
    rows = [
        tuple(map(code, (names.sql, names.spark, names.iceberg, names.duckdb)))
        for names in t.NAMES.values()
    ]
    yield from table(("type", "Spark", "Iceberg", "DuckDB"), rows)


BLOCKS: Mapping[str, Callable[[], Iterator[str]]] = {
    "commands": commands,
    "commits": commits,
    "configuration": configuration,
    "flink-constructs": flink.constructs,
    "conformance": conformance.results,
    "conformance.different": conformance.different,
    "conformance.wrong": conformance.wrong,
    "crash-points": crash_points,
    "errors": errors,
    "folds": folds,
    "functions": functions,
    "functions.refused": refused,
    "metrics": metrics,
    "types": types,
    **option_blocks(),
}
"""Every block, by the name that stands in its comments."""
