"""What an ``.slt`` file reads: the part of a project that its steps need.

In: the records of a file. Out: the names of tables and views that it mentions, and the part of a
catalog that these need: what they read, directly or not.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import replace

from sqlglot import exp

from headwater.analyze.definitions import CHANGES, Catalog
from headwater.analyze.project import reads
from headwater.dialect import parse_all
from headwater.lake.reserved_names import QUARANTINE
from headwater.serve.snapshots import SNAPSHOTS
from headwater.testing.slt import Record

_ASKS = ("query", "explain", "statement")
_ENDINGS = (SNAPSHOTS, QUARANTINE, CHANGES)


def mentioned(records: Sequence[Record]) -> frozenset[str] | None:
    """Return the names that a file mentions; None if it asks for no view, which means for all.

    A ``verify`` without names is about the views that run.
    """
    found: set[str] = set()
    asked = False
    for record in records:
        asked |= record.verb in _ASKS or (record.verb == "verify" and bool(record.arguments))
        match record.verb:
            case "ingest" | "explain":
                found.add(record.arguments[0])
            case "verify":
                found.update(record.arguments)
            case "statement" | "query":
                found.update(_names(record.sql))
    return frozenset(found) if asked else None


def _names(sql: str) -> Iterator[str]:
    for statement in parse_all(sql)[0]:
        if isinstance(statement, exp.Query):
            names = [table.name for table in statement.find_all(exp.Table)]
        else:
            names = [statement.name, *reads(statement)]
        for name in names:
            yield name
            for ending in _ENDINGS:
                if name.endswith(ending):
                    yield name.removesuffix(ending)


def needed(catalog: Catalog, names: Collection[str]) -> Catalog:
    """Return what names need of a catalog: themselves, and all that they read.

    Args:
        catalog: of the whole project.
        names: of tables and views, or of the tables that views store late rows in.
    """
    wanted = set(names)
    for name, view in reversed(list(catalog.views.items())):
        stores = view.late.into if view.late else None
        if name in wanted or stores in wanted or view.changes in wanted:
            wanted |= {name, *view.inputs}
    return replace(
        catalog,
        sources={name: each for name, each in catalog.sources.items() if name in wanted},
        views={name: each for name, each in catalog.views.items() if name in wanted},
    )
