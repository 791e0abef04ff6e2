"""Statements of all files → one catalog.

In: the statements of each file. Out: a :class:`~headwater.analyze.definitions.Catalog` of what is
sound, whose views come after what they read, and every error of every file.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from graphlib import CycleError, TopologicalSorter
from typing import TypeGuard, TypeVar

from sqlglot import exp

from headwater.analyze.ddl.functions import UserFunction, bind_function, called, expand_calls
from headwater.analyze.ddl.keyed_tables import check_keyed, is_keyed, log_of, newest_rows
from headwater.analyze.ddl.sinks import bind_sink
from headwater.analyze.ddl.sources import bind_source
from headwater.analyze.ddl.views import bind_view
from headwater.analyze.definitions import CHANGES, Catalog, Sink, Source, View
from headwater.analyze.diagnostics import Diagnostics
from headwater.analyze.names.function_names import has_names, read_names
from headwater.dialect import syntax
from headwater.errors import SqlError, raise_all

Statement = TypeVar("Statement", bound=exp.Expression)

_LATER: Mapping[type[exp.Expression], str] = {syntax.DropStatement: "DROP"}
_DEFINITIONS = (
    *(syntax.CreateSource, syntax.CreateStreamingView, syntax.CreateSink),
    syntax.CreateFunction,
)


@dataclass(frozen=True, slots=True)
class Bound:
    """What came of the statements of a project.

    Attributes:
        catalog: the definitions without an error, of which nothing that they read has one.
        errors: all errors, each once, in the order of finding.
        faults: by name, the first error of a definition that has one itself.
        kinds: by name, what each statement defines: ``table``, ``source``, ``view``, ``sink`` or
            ``function``.
        reads: by name, the names in the FROM of each definition, and of the functions that it
            calls.
    """

    catalog: Catalog
    errors: Sequence[SqlError]
    faults: Mapping[str, SqlError]
    kinds: Mapping[str, str]
    reads: Mapping[str, Sequence[str]]


def bind(statements_by_file: Mapping[str, Sequence[exp.Expression]]) -> Catalog:
    """Bind the statements of a project.

    Args:
        statements_by_file: parsed statements by file, in the order the files are read.

    Raises:
        SqlError: there is one error.
        ErrorGroup: there are several, of all files, sorted by place.
    """
    catalog, errors = bind_all(statements_by_file)
    raise_all(errors)
    return catalog


def bind_all(
    statements_by_file: Mapping[str, Sequence[exp.Expression]],
    unparsed: Collection[str] = (),
) -> tuple[Catalog, list[SqlError]]:
    """Bind the statements of a project as far as possible.

    Args:
        unparsed: names defined in files that cannot be parsed; their readers are not blamed.

    Returns:
        What could be bound, and the errors of the rest.
    """
    found = bind_sound(statements_by_file, unparsed)
    return found.catalog, list(found.errors)


def bind_sound(
    statements_by_file: Mapping[str, Sequence[exp.Expression]], unparsed: Collection[str] = ()
) -> Bound:
    """Bind what is sound of a project, and say of the rest what is wrong.

    Args:
        unparsed: names defined in files that cannot be parsed; their readers are not blamed.
    """
    binder = _Binder(frozenset(unparsed))
    for statements in statements_by_file.values():
        for statement in statements:
            binder.define(statement)
    binder.bind_functions()
    binder.bind_sources()
    binder.bind_views()
    binder.bind_sinks()
    defined = {name: each for name, each in binder.statements.items() if not name.endswith(CHANGES)}
    return Bound(
        Catalog(binder.sources, binder.views, binder.sinks),
        binder.errors,
        {name.removesuffix(CHANGES): error for name, error in binder.faults.items()},
        {
            name: "table" if name + CHANGES in binder.statements else _kind(statement)
            for name, statement in defined.items()
        },
        {
            name: [
                *reads(statement),
                *binder.calls(binder.statements.get(name + CHANGES, statement)),
            ]
            for name, statement in defined.items()
        },
    )


class _Binder:
    """Definitions by name, and what has been bound of them."""

    def __init__(self, unparsed: frozenset[str]) -> None:
        self.unparsed = unparsed
        self.statements: dict[str, exp.Expression] = {}
        self.functions: dict[str, UserFunction] = {}
        self.sources: dict[str, Source] = {}
        self.views: dict[str, View] = {}
        self.sinks: dict[str, Sink] = {}
        self.late_tables: dict[str, str] = {}
        self.broken: set[str] = set()
        self.errors: list[SqlError] = []
        self.faults: dict[str, SqlError] = {}

    def define(self, statement: exp.Expression) -> None:
        report = Diagnostics(statement)
        if words := _LATER.get(type(statement)):
            report.not_yet(words, None, "remove it until then")
        elif not isinstance(statement, _DEFINITIONS):
            hint = "write CREATE STREAMING VIEW name AS SELECT …"
            report.add("UNSUPPORTED_STATEMENT", "a project holds definitions only", statement, hint)
        elif statement.this.name in self.statements:
            first = Diagnostics(self.statements[statement.this.name]).place(None)
            message = f'"{statement.this.name}" is defined twice'
            report.add("DUPLICATE_NAME", message, statement.this, f"the other one is at {first}")
        elif is_keyed(statement):
            self._define_keyed(statement, report)
        else:
            self.statements[statement.this.name] = statement
        self.errors += report.errors

    def _define_keyed(self, statement: syntax.CreateSource, report: Diagnostics) -> None:
        check_keyed(statement, report)
        name = statement.this.name
        self.statements[name + CHANGES] = log_of(statement)
        self.statements[name] = statement if report.errors else newest_rows(statement)
        if report.errors:
            self.broken.update((name, name + CHANGES))
            self.faults[name] = report.errors[0]

    def calls(self, statement: exp.Expression) -> list[str]:
        """The functions of the project that a statement calls."""
        if not self.unparsed and not any(map(_is_function, self.statements.values())):
            return []
        names = called(statement)
        return [n for n in names if n in self.unparsed or _is_function(self.statements.get(n))]

    def bind_functions(self) -> None:
        made = {name: each for name, each in self.statements.items() if _is_function(each)}
        for name in self._order({name: self.calls(each) for name, each in made.items()}):
            statement = self.statements.get(name)
            if _is_function(statement) and not self._is_blocked(name, statement):
                report = Diagnostics(statement, self.functions)
                function = bind_function(statement, self.functions, report)
                self._blame(name, report)
                if function is not None:
                    self.functions[name] = function

    def _is_blocked(self, name: str, statement: exp.Expression) -> bool:
        """Whether a definition is broken, or calls a function that is."""
        if any(each not in self.functions for each in self.calls(statement)):
            self.broken.add(name)
        return name in self.broken

    def _expanded(self, statement: Statement, report: Diagnostics) -> Statement | None:
        """The statement without calls of functions; None if it cannot be bound."""
        if not self.calls(statement) and not has_names(statement):
            return statement
        plain = statement.copy()
        read_names(plain)
        return plain if expand_calls(plain, self.functions, report) else None

    def bind_sources(self) -> None:
        for name, statement in self.statements.items():
            if isinstance(statement, syntax.CreateSource) and not self._is_blocked(name, statement):
                report = Diagnostics(statement, self.functions)
                plain = self._expanded(statement, report)
                source = bind_source(plain, report) if plain is not None else None
                self._keep(name, source, report)

    def bind_views(self) -> None:
        for name in self._order(self._readers()):
            statement = self.statements[name]
            if name + CHANGES in self.broken:
                self.broken.add(name)
            if not isinstance(statement, syntax.CreateStreamingView):
                continue
            if self._is_blocked(name, statement):
                continue
            report = Diagnostics(statement, self.functions)
            self._check_late_table(statement, report)
            catalog = Catalog(self.sources, self.views)
            plain, view = self._expanded(statement, report), None
            try:
                if plain is not None:
                    view = bind_view(plain, catalog, frozenset(self._unbound()), report)
            except RecursionError:
                hint = "split the view into several"
                report.add("TOO_DEEP", "the query is nested too deeply", statement, hint)
            if view is not None and name + CHANGES in self.sources:
                view = _keyed(view)
            self._keep(name, view, report)

    def bind_sinks(self) -> None:
        for name, statement in self.statements.items():
            if isinstance(statement, syntax.CreateSink):
                report = Diagnostics(statement)
                if statement.args["view"].name not in self._unbound():
                    catalog = Catalog(self.sources, self.views, self.sinks)
                    sink = bind_sink(statement, catalog, report)
                    if sink is not None:
                        self.sinks[name] = sink
                self._blame(name, report)

    def _unbound(self) -> set[str]:
        """The names of tables and views that have errors; their readers are not blamed."""
        unread = (syntax.CreateSink, syntax.CreateFunction)
        others = {n for n, each in self.statements.items() if isinstance(each, unread)}
        defined = self.statements.keys() | self.unparsed
        return defined - self.sources.keys() - self.views.keys() - others

    def _blame(self, name: str, report: Diagnostics) -> None:
        self.errors += report.errors
        if report.errors:
            self.faults.setdefault(name, report.errors[0])

    def _keep(self, name: str, bound: Source | View | None, report: Diagnostics) -> None:
        self._blame(name, report)
        if report.errors or bound is None:
            self.broken.add(name)
        elif isinstance(bound, Source):
            self.sources[name] = bound
        else:
            self.views[name] = bound

    def _check_late_table(self, statement: syntax.CreateStreamingView, report: Diagnostics) -> None:
        late = statement.args.get("late")
        into = late.args.get("into") if late is not None else None
        if into is None:
            return
        if into.name in self.statements or into.name in self.late_tables:
            message = f'"{into.name}" is defined twice'
            report.add("DUPLICATE_NAME", message, into, "give the table of late rows another name")
        self.late_tables[into.name] = statement.this.name

    def _readers(self) -> dict[str, list[str]]:
        return {
            name: [other for other in reads(statement) if other in self.statements]
            for name, statement in self.statements.items()
            if not isinstance(statement, (syntax.CreateSink, syntax.CreateFunction))
        }

    def _order(self, graph: dict[str, list[str]]) -> list[str]:
        """Return all names of a graph, what is used before what uses it; report cycles."""
        while True:
            try:
                return list(TopologicalSorter(graph).static_order())
            except CycleError as cycle:
                names: list[str] = list(cycle.args[1])[::-1]
                self._report_cycle(names)
                for name in names:
                    self.broken.add(name)
                    graph[name] = []

    def _report_cycle(self, names: list[str]) -> None:
        start = min(range(len(names) - 1), key=lambda at: names[at])
        ring = names[start:-1] + names[: start + 1]
        statement = self.statements[ring[0]]
        report = Diagnostics(statement)
        words, hint = "views read each other", "remove one view from the circle"
        uses: Sequence[exp.Expr] = _tables(statement)
        if _is_function(statement):
            words, hint = (
                "functions call each other",
                "a function cannot call itself, directly or not",
            )
            uses = list(statement.find_all(exp.Anonymous))
        at = next((each for each in uses if each.name == ring[1]), None)
        report.add("CYCLE", f"{words} in a circle: {' → '.join(ring)}", at, hint)
        self.errors += report.errors
        self.faults |= dict.fromkeys(ring, report.errors[0])


def _keyed(view: View) -> View:
    """The view that is a keyed table: its keys are never NULL, even if its log has rows of none."""
    keys = view.primary_key
    fields = (
        replace(each, nullable=each.nullable and each.name not in keys) for each in view.fields
    )
    return replace(view, changes=view.name + CHANGES, fields=tuple(fields), definition="")


def _kind(statement: exp.Expression) -> str:
    if isinstance(statement, syntax.CreateSource):
        return "table" if statement.args.get("kept") else "source"
    if _is_function(statement):
        return "function"
    return "sink" if isinstance(statement, syntax.CreateSink) else "view"


def _is_function(statement: exp.Expression | None) -> TypeGuard[syntax.CreateFunction]:
    return isinstance(statement, syntax.CreateFunction)


def _tables(statement: exp.Expression) -> list[exp.Table]:
    query = statement.args.get("expression")
    found = query.find_all(exp.Table) if isinstance(query, exp.Expression) else []
    return [table for table in found if isinstance(table.this, exp.Identifier)]


def reads(statement: exp.Expression) -> list[str]:
    """Return the names in FROM that are not common table expressions visible there."""
    if isinstance(statement, syntax.CreateSink):
        return [statement.args["view"].name]
    return [table.name for table in _tables(statement) if not _names_cte(table)]


def _names_cte(table: exp.Table) -> bool:
    inside: exp.Expr = table
    while (outer := inside.parent) is not None:
        if isinstance(outer, exp.With):
            upto = outer.expressions.index(inside) + bool(outer.args.get("recursive"))
            earlier = outer.expressions[:upto]
            if any(cte.alias == table.name for cte in earlier):
                return True
            inside = outer.parent or outer  # the clause of this query has been looked at
            continue
        clause = outer.args.get("with_")
        if clause is not None and any(cte.alias == table.name for cte in clause.expressions):
            return True
        inside = outer
    return False
