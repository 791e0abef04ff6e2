"""``sql/REFERENCE.md`` lists exactly the functions, connector options and metrics that there are.

``HEADWATER_REWRITE_GOLDEN=1`` writes the generated sections anew.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

from headwater.analyze.connectors.registry import CONNECTORS, ENCODINGS, FORMATS, Option
from headwater.analyze.ddl.sinks import SINKS
from headwater.analyze.typing.functions import FUNCTIONS
from headwater.lake.protocol.commits import COLUMNS
from headwater.plan.rules.folds import FOLDS, SIGNED_FOLDS
from headwater.project import load_project
from headwater.runtime.metrics import Metrics
from headwater.runtime.run_metrics import Tally
from tests.golden_files import check_golden

ROOT = Path(__file__).parents[2]
REFERENCE, SHOP = ROOT / "sql" / "REFERENCE.md", ROOT / "sql" / "shop"


def functions() -> Iterator[str]:
    """Yield the lines of the section on functions."""
    for kind in ("scalar", "aggregate"):
        names = sorted({item.name for item in FUNCTIONS.values() if item.kind == kind})
        yield f"**{kind.capitalize()}:** " + ", ".join(f"`{name}`" for name in names) + "."
        yield ""
    for rows, folds in (("", FOLDS), (", rows that go", SIGNED_FOLDS)):
        names = sorted(item.name for node, item in FUNCTIONS.items() if node in folds)
        yield f"Aggregates that fold (rule 2{rows}): " + ", ".join(f"`{n}`" for n in names) + "."


def connectors() -> Iterator[str]:
    """Yield the lines of the section on connectors."""
    for name, connector in CONNECTORS.items():
        if connector.built:
            yield from _options(f"`connector = '{name}'`", connector.options)
            if connector.fields:
                yield from _options("`fields.<column>.…`", connector.fields)
    for name, options in ENCODINGS.items():
        if options:
            yield from _options(f"`ENCODE {name.upper()} (…)`", options)
    for name, form in FORMATS.items():
        if form.options:
            yield from _options(f"`FORMAT {name.upper()} ENCODE … (…)`", form.options)


def sinks() -> Iterator[str]:
    """Yield the lines of the section on sinks."""
    for name, connector in SINKS.items():
        yield from _options(f"Sink, `connector = '{name}'`", connector.options)


def commits() -> Iterator[str]:
    """Yield the lines of the table on ``commits``."""
    yield "| column of `commits` | |"
    yield "|---|---|"
    for name, _, comment in COLUMNS:
        yield f"| `{name}` | {comment} |"


def metrics() -> Iterator[str]:
    """Yield the lines of the section on metrics."""
    yield "| metric | type | |"
    yield "|---|---|---|"
    project = load_project(SHOP)
    for family in Metrics(project, Tally(project.catalog)).collect():
        end = {"counter": "_total", "info": "_info"}.get(family.type, "")
        yield f"| `{family.name}{end}` | {family.type} | {family.documentation} |"


def _options(title: str, options: dict[str, Option]) -> Iterator[str]:
    yield f"| {title} | |"
    yield "|---|---|"
    for name, option in options.items():
        extra = " (required)" if option.required else ""
        extra = f" (default {option.default})" if option.default else extra
        yield f"| `{name}` | {option.description}{extra} |"
    yield ""


def test_reference_lists_what_there_is() -> None:
    text = REFERENCE.read_text()
    generated = {
        "functions": functions(), "connectors": connectors(), "sinks": sinks(),
        "commits": commits(), "metrics": metrics(),
    }  # fmt: skip
    for section, lines in generated.items():
        body = "\n".join(lines).rstrip()
        text = re.sub(
            f"<!-- {section} -->\n.*?<!-- /{section} -->",
            lambda _, s=section, b=body: f"<!-- {s} -->\n{b}\n<!-- /{s} -->",
            text,
            flags=re.DOTALL,
        )
    check_golden(REFERENCE, text)
