"""Why no row of a view has some values: how many rows each step of its SELECT leaves of them.

In: a project, its plans, a view and values by column. Out: the steps of its SELECT at rest in
order, with the rows before and after each, up to the one that leaves none. The steps run in DuckDB,
at the cut that the view's newest commit has recorded.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from headwater.analyze.definitions import CHANGE_COLUMN, DELETED, WATERMARK_COLUMN
from headwater.dialect.syntax import PatternRows
from headwater.dialect.vocabulary import is_system_column
from headwater.errors import SqlError
from headwater.lake.reserved_names import quarantine_of
from headwater.serve.connection import duckdb_connection, literal, quoted, rows_of
from headwater.serve.embedded import translated_errors
from headwater.serve.lake_reader import LakeReader
from headwater.serve.why.conditions import condition
from headwater.serve.why.deciding import (
    PLACES,
    at_rest_query,
    column_types,
    count_of,
    create_inputs,
    readable_case,
    shown_columns,
    view_of_table,
)
from headwater.serve.why.stages import Stage, Stages, Wanted

if TYPE_CHECKING:
    import duckdb

    from headwater.plan.view_plan import ViewPlan
    from headwater.project import Project
    from headwater.serve.verify import Case

EXAMPLES = 3
"""Rows shown of those that a step removes."""
DELETION, QUARANTINED, FINAL = "deleted", "quarantine", "not final yet"

_OWN = (*PLACES, CHANGE_COLUMN, WATERMARK_COLUMN)
"""Columns of Headwater's own that say where a row is from, or why it is late or deleted."""

Rows = tuple[Mapping[str, object], ...]


@dataclass(frozen=True, slots=True)
class CountedStep:
    """One step of a SELECT, and what it leaves of the rows with the values asked for.

    Attributes:
        name: ``input``, ``late``, ``filter``, ``join``, …
        on: the input or the condition, as SQL.
        before: rows before the step; None for an input.
        after: rows after it.
        examples: of a step that leaves nothing, some rows that it removes: values by column.
    """

    name: str
    on: str
    before: int | None
    after: int
    examples: Rows = ()


@dataclass(frozen=True, slots=True)
class Missing:
    """Why no row of a view has some values.

    Attributes:
        view: the view.
        epoch: the commit that was looked at.
        snapshot: its snapshot.
        values: texts of the values asked for, by column.
        present: how many rows have the values after all.
        branches: the steps of each branch of the SELECT.
        below: the same of views that have no row with the values, if it was asked for.
    """

    view: str
    epoch: int
    snapshot: int
    values: Mapping[str, str]
    present: int
    branches: tuple[tuple[CountedStep, ...], ...] = ()
    below: tuple[Missing, ...] = ()


class Absent:
    """Says why rows of the views of a project are missing.

    Args:
        plans: by name the plans of the views.
        deep: whether a row that a view lacks is asked of that view too.
    """

    def __init__(
        self, project: Project, plans: Mapping[str, ViewPlan], *, deep: bool = False
    ) -> None:
        self._project, self._plans, self._deep = project, plans, deep
        self._lake = LakeReader(project.config, project.catalog.external)

    def explain(self, view: str, pairs: Mapping[str, str], snapshot: int | None = None) -> Missing:
        """Say which step removes the rows of a view that would have some values.

        Args:
            view: name of the view.
            pairs: texts of values by column.
            snapshot: the snapshot of the view that is meant; its newest commit by default.

        Raises:
            ConfigError: ``UNKNOWN_COLUMN``, ``NO_DATA_YET``, ``NOT_EXPLAINED``.
            ServiceError: something cannot be read.
            SqlError: ``NOT_YET``, ``QUERY_REFUSED``.
        """
        case = readable_case(self._project, self._lake, self._plans[view], snapshot)
        of = (view, case.commit.marker.epoch, case.commit.snapshot_id, pairs)
        with duckdb_connection() as connection, translated_errors():
            view_of_table(connection, case)
            types = column_types(connection, "@table")
            where = condition(connection, view, pairs, types)
            if present := count_of(connection, f'FROM "@table" WHERE {where}'):
                return Missing(*of, present)
            if case.plan.view.query.find(PatternRows):
                message = "not supported: why MATCH_RECOGNIZE has no such row"
                hint = "query the rows of the partition with: headwater sql"
                raise SqlError("NOT_YET", message, hint=hint)
            create_inputs(connection, case)
            wanted = {name: (text, types[name]) for name, text in pairs.items()}
            run, branches, below = _Run(connection, case), [], []
            for stages in run.branches(at_rest_query(case, final=False), wanted):
                branches.append(self._branch(run, stages, wanted))
                name, values = run.lacking
                if self._deep and name in self._plans and values:
                    below.append(self.explain(name, values, case.inputs[name][1]))
            return Missing(*of, 0, tuple(branches), tuple(below))

    def _branch(
        self, run: _Run, stages: Iterable[Stage], wanted: Wanted
    ) -> tuple[CountedStep, ...]:
        """The steps of a branch, and where else a row could be that no input has."""
        steps = list(run.steps(stages))
        last = steps[-1] if steps else CountedStep("", "", None, 0)
        if not steps or last.after:
            return (*steps, run.unfinished(wanted, last.after))
        more: list[CountedStep] = []
        name, values = run.lacking
        if name:
            more += self._quarantined(name, values)
        keyed = run.case.plan.view.name if run.case.plan.view.changes else name
        if keyed in self._plans and self._plans[keyed].view.changes:
            texts = values or {column: text for column, (text, _) in wanted.items()}
            if deleted := list(self._deleted(keyed, texts)):
                # of a keyed table, the step before looks for the newest change of a key
                return (*(steps[:-1] if not name else steps), *more, *deleted)
        return (*steps, *more)

    def _deleted(self, name: str, values: Mapping[str, str]) -> Iterator[CountedStep]:
        """Yield the deletion of a row of a keyed table, if that is its newest change."""
        case = readable_case(self._project, self._lake, self._plans[name])
        keys = {key: values[key] for key in case.plan.view.primary_key if key in values}
        log = case.plan.view.changes
        source = self._project.catalog.sources[log]
        if not keys:
            return
        with duckdb_connection() as connection, translated_errors():
            create_inputs(connection, case)
            types = column_types(connection, f"{log}@cut")
            where = condition(connection, name, keys, types)
            order = ", ".join(f"{quoted(field.name)} DESC" for field in source.position)
            shown = [CHANGE_COLUMN, *shown_columns(self._project, log, list(types))]
            columns = ", ".join(map(quoted, dict.fromkeys(shown)))
            query = f"SELECT {columns} FROM {quoted(log + '@cut')} WHERE {where}"
            newest = some(connection, f"{query} ORDER BY {order} LIMIT 1")
        if newest and newest[0][CHANGE_COLUMN] == DELETED:
            yield CountedStep(DELETION, f"newest change of the key in {name}", 1, 0, newest)

    def _quarantined(self, name: str, values: Mapping[str, str]) -> Iterator[CountedStep]:
        """Yield the quarantined records of an input in which all values stand as text."""
        table = self._lake.table(quarantine_of(name))
        texts = [text for text in values.values() if text]
        if table is None or not texts:
            return
        columns = list(table.columns())
        with duckdb_connection() as connection, translated_errors():
            table.create_view(connection, "kept", table.snapshot_id(), columns)
            raw = "coalesce(TRY(decode(raw)), CAST(raw AS VARCHAR))"
            where = " AND ".join(f"contains({raw}, {literal(text)})" for text in texts)
            count = count_of(connection, f"FROM kept WHERE {where}")
            places = [quoted(c) for c in ("_path", "_row") if c in columns]
            shown = ", ".join([*places, "reason", f"{raw} AS raw"])
            if count:
                query = f"SELECT {shown} FROM kept WHERE {where} LIMIT {EXAMPLES}"
                yield CountedStep(
                    QUARANTINED,
                    f"records of {name} with these texts",
                    count,
                    0,
                    some(connection, query),
                )


class _Run:
    """The steps of one view, counted.

    Attributes:
        lacking: the input that has no row with the values, and the texts of the values by column;
            empty if rows are lost later.
    """

    def __init__(self, connection: duckdb.DuckDBPyConnection, case: Case) -> None:
        self._connection, self.case = connection, case
        self.lacking: tuple[str, Mapping[str, str]] = ("", {})
        bare = at_rest_query(case, final=False, guarded=False)
        self._stages = Stages(bare, self._columns, _reasons(case))
        self.branches = self._stages.branches

    def steps(self, stages: Iterable[Stage]) -> Iterator[CountedStep]:
        """Yield the steps that remove rows, up to the one that leaves none."""
        before: int | None = None
        for stage in stages:
            before = None if stage.input else before
            after = self._count(stage)
            self.lacking = (stage.input, stage.values) if not after else ("", {})
            if before is None or after < before:
                query = stage.lost if not after and before else None
                rows = query.limit(EXAMPLES).sql("duckdb", identify=True) if query else ""
                examples = some(self._connection, rows) if rows else ()
                yield CountedStep(stage.name, stage.on, before, after, examples)
            before = after
            if not after:
                return

    def unfinished(self, wanted: Wanted, before: int) -> CountedStep:
        """Rows that are right, and that the watermark has not made final yet."""
        mark = self.case.commit.marker.watermark
        after = self._count(self._stages.whole(at_rest_query(self.case), wanted))
        at = "there is none" if mark is None else self._moment(mark)
        return CountedStep(FINAL, f"watermark of the view: {at}", before, after)

    def _moment(self, micros: int) -> str:
        query = f"SELECT CAST(make_timestamptz({micros}) AS VARCHAR)"
        return str(self._connection.sql(query).fetchall()[0][0])

    def _columns(self, name: str, late: bool) -> list[str]:
        held = list(column_types(self._connection, f"{name}@cut"))
        marks = [WATERMARK_COLUMN] if late and WATERMARK_COLUMN in held else []
        return [*shown_columns(self.case.project, name, held), *marks]

    def _count(self, stage: Stage) -> int:
        text = stage.query.sql("duckdb", identify=True)
        return count_of(self._connection, f"FROM ({text})")


def _reasons(case: Case) -> str:
    """Why rows of the view are quarantined."""
    guard = case.plan.guard
    causes = [why for each in guard.bad for _, why in each.causes] if guard else []
    return "; ".join(dict.fromkeys(causes))


def some(connection: duckdb.DuckDBPyConnection, query: str) -> Rows:
    """Return the rows of a query, values by column; of Headwater's own, only those that explain."""
    relation = connection.sql(query)
    columns: Sequence[str] = relation.columns
    shown = [name for name in columns if not is_system_column(name) or name in _OWN]
    listed = relation.project(", ".join(map(quoted, shown))) if shown else relation
    return tuple(dict(zip(listed.columns, row, strict=True)) for row in rows_of(listed))
