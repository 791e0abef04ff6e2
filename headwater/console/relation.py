"""What the page of one table, view or sink shows below its numbers, section by section.

In: a reading of a project, a name, what is asked for. Out: values for a template. Each function is
what a command does: ``explain``, ``sql``, ``quarantine list``, ``why``.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path

from starlette.datastructures import QueryParams

from headwater.analyze.definitions import CHANGES, Sink, Source, View
from headwater.console.checks import Checks
from headwater.console.project_reader import ProjectReading
from headwater.console.query import Answer, run_query
from headwater.console.text import written
from headwater.errors import Span
from headwater.lake.protocol.history import Commit
from headwater.lake.reserved_names import SINK, quarantine_of
from headwater.plan import explain
from headwater.serve.connection import quoted
from headwater.serve.lake_reader import LakeReader
from headwater.serve.quarantine import BadRow, WaitingRows, bad_rows, waiting
from headwater.serve.status import NEW, Status
from headwater.serve.stored_table import reading
from headwater.serve.values import as_text

COMMITS, ROWS, BAD_ROWS, WHY_ROWS = 60, 50, 20, 10
PAGES = 100
"""Pages whose content is remembered."""
SORTED = 5_000_000
"""Rows of a table that are sorted to show the newest."""
Values = Mapping[str, object]
_TIMES = ("timestamp", "timestamptz", "date")


@dataclass(frozen=True, slots=True)
class Remembered:
    """What pages have read of a table, until the table has another snapshot."""

    found: dict[tuple[str, str], tuple[object, Values]] = field(default_factory=dict)

    def get(self, key: tuple[str, str], version: object, read: Callable[[], Values]) -> Values:
        """Return what was read at this version, or read it.

        Args:
            key: section and relation.
            version: of what is read.
            read: reads it.
        """
        known = self.found.get(key)
        if known is None or known[0] != version:
            known = self.found[key] = version, read()
        if len(self.found) > PAGES:
            del self.found[next(iter(self.found))]
        return known[1]


@dataclass(frozen=True, slots=True)
class Asked:
    """What a page is asked for.

    Attributes:
        look: the project.
        name: the relation.
        query: what stands behind the ``?`` of the address.
        checks: the checks of views.
        remembered: what other pages have read.
    """

    look: ProjectReading
    name: str
    query: QueryParams = field(default_factory=QueryParams)
    checks: Checks = field(default_factory=Checks)
    remembered: Remembered = field(default_factory=Remembered)

    def unless_changed(self, section: str, table: str, read: Callable[[], Values]) -> Values:
        """Return what a section reads of a table, once for each snapshot of it."""
        with reading(table):
            found = _lake(self.look).table(table)
            snapshot = found.snapshot_id() if found else None
        version = self.look.version, snapshot
        return self.remembered.get((section, self.name), version, read)


def definition(asked: Asked) -> Values:
    """Return the statement as its file has it, and the SELECT that the table equals at rest."""
    catalog = asked.look.project.catalog
    found: View | Source | Sink | None = (
        catalog.views.get(asked.name)
        or catalog.sources.get(asked.name)
        or catalog.sinks.get(asked.name)
    )
    if found is None:
        return {"sql": "", "place": ""}
    name = catalog.shown(asked.name) if asked.name in catalog.sources else asked.name
    span = getattr(catalog.views.get(name), "span", None) or found.span
    return {
        "changed": _is_changed(asked),
        "sql": written(span) or getattr(found, "definition", ""),
        "place": _place(asked, span) if span else "",
        "columns": [(each.name, each.type.sql("trino"), each.comment) for each in found.fields],
    }


def _place(asked: Asked, span: Span) -> str:
    """File and line of a definition, as seen from the project's folder."""
    root = asked.look.project.root.resolve()
    file = Path(span.file).resolve()
    shown = file.relative_to(root) if file.is_relative_to(root) else file
    return f"{shown}:{span.line}"


def _is_changed(asked: Asked) -> bool:
    """Whether the newest commit of a view is of another definition than its file has."""
    if asked.name not in asked.look.plans:
        return False
    with reading(asked.name):
        table = _lake(asked.look).table(asked.name)
        newest = next(table.commits(asked.name), None) if table else None
    planned = asked.look.plans[asked.name]
    return newest is not None and not planned.is_of(newest.marker.fingerprint)


def plan(asked: Asked) -> Values:
    """Return what ``headwater explain`` says."""
    planned = asked.look.plans[asked.name]
    return {
        "facts": explain.facts(planned),
        "tree": "\n".join(explain.tree(planned)),
        "steps": explain.program_sql(planned.program),
    }


def commits(asked: Asked) -> Values:
    """Return the newest commits, newest first."""
    stored = asked.name + SINK if asked.name in asked.look.project.catalog.sinks else asked.name
    with reading(stored):
        table = _lake(asked.look).table(stored)
        if table is None:
            return {"commits": ()}
        external = asked.name in asked.look.project.catalog.external
        found = table.commits_of_others(asked.name) if external else table.commits(asked.name)
        newest = list(islice(found, COMMITS))
    return {"commits": newest, "bars": _bars(newest), "most": COMMITS}


def _bars(commits: Sequence[Commit]) -> Sequence[tuple[int, int, Commit]]:
    """Return height in percent of each commit's rows, oldest first."""
    most = max((each.added for each in commits), default=0) or 1
    oldest_first = commits[::-1]
    return [(n, -(-100 * each.added // most), each) for n, each in enumerate(oldest_first)]


def rows(asked: Asked) -> Values:
    """Return some rows, with the address of what decides each."""
    status = asked.look.relation(asked.name)
    if status is None or status.rows is None or status.state == NEW:
        return {"answer": None}
    return asked.unless_changed("rows", asked.name, lambda: _rows(asked, status))


def _rows(asked: Asked, status: Status) -> Values:
    time = _newest_first(asked) if (status.rows or 0) <= SORTED else ""
    query = f"SELECT * FROM {quoted(asked.name)}"
    found = run_query(
        asked.look.project, f"{query} ORDER BY {quoted(time)} DESC" if time else query, ROWS
    )
    values = {"answer": found, "order": f"the latest {time} first" if time else "in no order"}
    if asked.name not in asked.look.plans:
        return values
    return {**values, "keys": [_key(asked, found, row) for row in found.rows]}


def _newest_first(asked: Asked) -> str:
    """The first column of a relation that is a time, or an empty text."""
    catalog = asked.look.project.catalog
    found = catalog.views.get(asked.name) or catalog.sources.get(asked.name)
    fields = found.fields if found else ()
    return next((each.name for each in fields if each.type.is_type(*_TIMES)), "")


def _key(asked: Asked, answer: Answer, row: Sequence[object]) -> Mapping[str, str]:
    """The texts of the columns that say which row of a view is meant."""
    texts = {name: as_text(value) for name, value in zip(answer.columns, row, strict=True)}
    key = [name for name in asked.look.plans[asked.name].stream_key if name in texts]
    return {name: texts[name] for name in key} or texts


def quarantine(asked: Asked) -> Values:
    """Return what waits in the quarantine by reason, and the newest rows."""
    catalog = asked.look.project.catalog
    name = catalog.shown(asked.name) if asked.name in catalog.sources else asked.name

    def read() -> Values:
        reasons: Sequence[WaitingRows] = waiting(asked.look.project, [name])
        newest: Sequence[BadRow] = bad_rows(asked.look.project, [name], BAD_ROWS)
        return {"reasons": reasons, "bad_rows": newest}

    return asked.unless_changed("quarantine", quarantine_of(name), read)


def why(asked: Asked) -> Values:
    """Return the input rows that decide a row, or the step that removes it."""
    from headwater.serve.why.deciding import Deciding
    from headwater.serve.why.missing import Absent

    planned = asked.look.plans[asked.name]
    columns = [each.name for each in planned.view.fields]
    pairs = {name: asked.query[name] for name in columns if asked.query.get(name)}
    found: dict[str, object] = {
        "columns": [name for name in planned.stream_key if name in columns] or columns,
        "all_columns": columns,
        "pairs": pairs,
        "absent": asked.query.get("-not") == "1",
    }
    project, plans = asked.look.project, asked.look.plans
    if pairs and found["absent"]:
        found["missing"] = Absent(project, plans).explain(asked.name, pairs)
    elif pairs:
        deciding = Deciding(project, plans, rows=WHY_ROWS)
        found["explained"] = deciding.explain(asked.name, pairs)
    return found


def verify(asked: Asked) -> Values:
    """Return the last check of a view."""
    return {"check": asked.checks.last(asked.name), "busy": asked.checks.busy}


SECTIONS: Mapping[str, Callable[[Asked], Values]] = {
    "definition": definition,
    "plan": plan,
    "commits": commits,
    "rows": rows,
    "quarantine": quarantine,
    "why": why,
    "verify": verify,
}
READING = ("rows", "quarantine", "why")
"""Sections that read data files."""
LIVE = ("commits", "rows", "quarantine", "verify")
"""Sections that change while somebody looks."""


def quarantined(look: ProjectReading, name: str) -> int | None:
    """Return how many rows of a relation are quarantined, of a keyed table also those of its log.

    Returns:
        None for a sink, and if a quarantine cannot be read.
    """
    found = [each for each in (look.relation(name), look.relation(name + CHANGES)) if each]
    counts = [each.quarantined for each in found if each.kind != "sink"]
    known = [each for each in counts if each is not None]
    return sum(known) if counts and len(known) == len(counts) else None


def sections_of(look: ProjectReading, name: str) -> tuple[str, ...]:
    """Return the sections that a relation has."""
    catalog = look.project.catalog
    if name in look.plans:
        return tuple(SECTIONS)
    if name in catalog.sinks:
        return ("definition", "commits")
    source = catalog.sources.get(name)
    if source is None:
        return ()
    if not source.kept:
        return ("definition", "quarantine")
    if source.external:
        return ("definition", "commits", "rows")
    return ("definition", "commits", "rows", "quarantine")


def _lake(look: ProjectReading) -> LakeReader:
    return LakeReader(look.project.config, look.project.catalog.external)
