"""A parsed query → a bound query in canonical form.

In: a query and the catalog of what it may read. Out: the same tree, changed in place: FROM items
with an alias each, stars expanded, columns qualified and typed, every output an alias,
``date_trunc`` keys on an event time as ``TUMBLE`` windows, GROUP BY holding expressions (both
bounds of a window if it holds one). Each SELECT goes through
:data:`headwater.analyze.bind.passes.PASSES`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from itertools import count

from sqlglot import exp

from headwater.analyze.bind import passes
from headwater.analyze.definitions import Catalog, Field, View
from headwater.analyze.diagnostics import Diagnostics
from headwater.analyze.fallibility.bounds import greatest
from headwater.analyze.names.ordering import cast_outputs
from headwater.analyze.names.scope import Relation, as_fields, column_of
from headwater.analyze.query_parts import rename_outputs, union_branches
from headwater.analyze.typing import types as t
from headwater.dialect.syntax import RecursiveRows


class QueryBinder:
    """Binds one statement's query.

    Attributes:
        catalog: sources and views bound so far.
        broken: names that are defined but have errors of their own; what reads them is not blamed.
        report: where errors go.
        inputs: what the query reads, in order of first use (the values are unused).
        tainted: whether it reads something broken, so that its result means nothing.
        working: by name, the columns of the working tables of recursive queries.
        beyond: what the queries around read, if a subquery of an expression is being bound.
        below: gives the query to read in place of a view, if there is one.
    """

    def __init__(
        self,
        catalog: Catalog,
        broken: frozenset[str],
        report: Diagnostics,
        below: Callable[[View], exp.Query | None],
    ) -> None:
        self.catalog = catalog
        self.broken = broken
        self.report = report
        self.below = below
        self.inputs: dict[str, None] = {}
        self.tainted = False
        self.working: dict[str, Sequence[Field]] = {}
        self.beyond: Sequence[Relation] = ()
        self._outer: Sequence[Relation] = ()
        self._numbers = count(1)
        self._bases: dict[int, tuple[exp.Select, Relation]] = {}

    def number(self) -> int:
        """Return a number that it returned never before."""
        return next(self._numbers)

    def bind(self, query: exp.Expr, *, named: bool = True) -> tuple[Field, ...]:
        """Bind a query in place and return the columns of its result.

        Args:
            query: SELECT, a set operation or either in brackets, WITH already inlined.
            named: whether its columns need names.
        """
        if isinstance(query, exp.Subquery):
            return self.bind(query.this, named=named)
        if isinstance(query, exp.SetOperation):
            return self._union(query, named=named)
        if isinstance(query, exp.Select):
            return self._select(query, named=named)
        self.report.add("UNSUPPORTED_SYNTAX", f"{query.key.upper()} is not a query", query)
        return ()

    def _union(self, union: exp.SetOperation, *, named: bool) -> tuple[Field, ...]:
        branches = union_branches(union)
        first_named = [named and branch is branches[0] for branch in branches]
        pairs = zip(branches, first_named, strict=True)
        bound = [self._select(branch, named=needed) for branch, needed in pairs]
        first = bound[0]
        for branch, fields in zip(branches[1:], bound[1:], strict=True):
            if self.tainted:
                return first
            if len(fields) != len(first):
                message = f"{_words(union)} joins {len(first)} and {len(fields)} columns"
                hint = "select the same columns in the same order"
                self.report.add("TYPE_CLASH", message, branch, hint)
                return first
        columns = [self._union_column(at, branches, bound) for at in range(len(first))]
        names, kinds = [each.name for each in columns], [each.type for each in columns]
        for branch, fields in zip(branches, bound, strict=True):
            rename_outputs(branch, names)
            named_fields = [
                replace(field, name=column.name)
                for field, column in zip(fields, columns, strict=True)
            ]
            cast_outputs(branch, named_fields, kinds)
        return tuple(columns)

    def _union_column(
        self, at: int, branches: Sequence[exp.Select], bound: Sequence[tuple[Field, ...]]
    ) -> Field:
        fields = [branch[at] for branch in bound]
        name = fields[0].name
        kind = fields[0].type
        for branch, field in zip(branches[1:], fields[1:], strict=True):
            common = t.common_type([kind, field.type])
            if common is None:
                names = f"{t.sql_type(kind)} and {t.sql_type(field.type)}"
                message = f'column "{name}" of a set operation would be {names}'
                self.report.add("TYPE_CLASH", message, branch.selects[at], "cast one side")
                return Field(name, t.UNKNOWN)
            kind = common
        said = {field.comment for field in fields if field.type.this is not t.Type.NULL}
        comment = said.pop() if len(said) == 1 else ""
        nullable = any(field.nullable for field in fields)
        bounds = [field.bound for field in fields if field.type.this is not t.Type.NULL]
        return Field(name, kind, nullable, comment, bound=greatest(bounds))

    def _select(self, select: exp.Select, *, named: bool) -> tuple[Field, ...]:
        outer, self._outer = self._outer, ()
        binding = passes.SelectBinding(self, select, named, outer, self._bases)
        for each in passes.PASSES:
            each.run(binding)
        self._outer = outer
        return binding.fields

    def bind_bracket(self, rows: exp.Select, alias: str, before: int) -> list[Relation]:
        """Bind joins in brackets in place, as a derived table with a column for each that is there.

        Args:
            rows: a SELECT without a list.
            alias: the name of the derived table.
            before: the number of relations that stand outside, before it.

        Returns:
            The derived table, whose columns have numbers, and what stands for its FROM items.
        """
        binding = passes.SelectBinding(self, rows, False, (), self._bases, before)
        for each in passes.PASSES:
            each.run(binding)
        columns = iter(binding.fields)
        within = [
            replace(
                each,
                computed={name: column_of(alias, next(columns)) for name in each.fields},
                reads={},
            )
            for each in binding.listed
        ]
        names = frozenset(field.name for field in binding.fields)
        return [Relation(alias, as_fields(binding.fields), rows, hidden=names), *within]

    def bind_within(self, around: Sequence[Relation], query: exp.Query) -> tuple[Field, ...]:
        """Bind a subquery of an expression, which may name columns of the SELECT around it."""
        if rows := query.find(RecursiveRows):
            hint = "read it in FROM, or make it a view of its own"
            self.report.not_yet("WITH RECURSIVE in a subquery of an expression", rows, hint)
            self.tainted = True
            return ()
        outer, self._outer = self._outer, around
        beyond, self.beyond = self.beyond, (*self.beyond, *around)
        fields = self.bind(query, named=False)
        self._outer, self.beyond = outer, beyond
        return fields


def _words(node: exp.SetOperation) -> str:
    return node.key.upper() + ("" if node.args.get("distinct") else " ALL")
