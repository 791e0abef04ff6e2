"""``MATCH_RECOGNIZE`` in FROM → the rows of its matches, typed.

In: the clause and the bound rows that it reads. Out: a
:class:`~headwater.dialect.syntax.PatternRows`, and what stands for the columns of the clause:
expressions over what the matcher gives. Rows of one time are ordered by all columns that can be
compared, so that two runs and two engines find the same matches.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from sqlglot import exp

from headwater.analyze.definitions import Field
from headwater.analyze.diagnostics import Diagnostics
from headwater.analyze.inference.infer import infer
from headwater.analyze.inference.nullable import nullable
from headwater.analyze.names.ordering import check_sortable, columns_of, is_comparable
from headwater.analyze.names.scope import NULLABLE, Relation, as_fields, resolve
from headwater.analyze.patterns.checks import check_clause, check_conditions
from headwater.analyze.patterns.rows import PLACE
from headwater.analyze.typing import types as t
from headwater.analyze.typing.common_type import named, type_of
from headwater.dialect.syntax import SHOWN, MatchRecognize, PatternRows
from headwater.errors import SqlError
from headwater.patterns import MatchClause, read_clause
from headwater.patterns.clause import CLOSE, MATCH
from headwater.patterns.navigation import CLASSIFIER, Aggregation, Navigation, Reference

_FUNCTIONS: Mapping[str, type[exp.Expr]] = {
    "sum": exp.Sum,
    "avg": exp.Avg,
    "array_agg": exp.ArrayAgg,
}
"""Aggregates whose type is not that of their argument."""
_NEVER_NULL = ("count", "count_if")


def pattern_rows(
    node: MatchRecognize,
    rows: exp.Subquery,
    fields: Sequence[Field],
    alias: str,
    report: Diagnostics,
) -> Relation | None:
    """Return what a clause gives as a FROM item; None after an error.

    Args:
        node: the clause, as parsed.
        rows: the bound rows that it reads, with an alias.
        fields: its columns.
        alias: the name of the clause in FROM.
        report: where errors go.
    """
    before = len(report.errors)
    inner = Relation(rows.alias, as_fields(fields), rows)
    columns = {column.name: column for column in columns_of([inner])}
    clause = _read(node, columns, report)
    if clause is None:
        return None
    binder = _Binder(node, clause, inner, columns, alias, report)
    if len(report.errors) > before:
        return None
    found = binder.relation(rows)
    return None if len(report.errors) > before else found


def _read(
    node: MatchRecognize, columns: Mapping[str, exp.Expr], report: Diagnostics
) -> MatchClause | None:
    ordered = {item.this.name for item in _order(node)}
    rest = [
        exp.column(name)
        for name, column in columns.items()
        if name not in ordered and is_comparable(column)
    ]
    try:
        clause = read_clause(node, rest)
    except SqlError as error:
        span = error.span or report.place(node)
        report.note(error.condition, error.message, error.hint, span)
        return None
    check_clause(node, clause, report)
    return clause


def _order(node: MatchRecognize) -> list[exp.Expr]:
    return list(node.args["order"].expressions) if node.args.get("order") else []


class _Binder:
    """Binds one clause over rows that are bound."""

    def __init__(
        self,
        node: MatchRecognize,
        clause: MatchClause,
        inner: Relation,
        columns: Mapping[str, exp.Expr],
        alias: str,
        report: Diagnostics,
    ) -> None:
        self._node, self._clause, self._inner = node, clause, inner
        self._columns, self._alias, self._report = columns, alias, report
        self._places = {
            column.name: column.this for column in reversed(list(node.find_all(exp.Column)))
        }
        self._numbered = any(each.find(exp.Window) for each in clause.inputs.values())
        self._inputs = {name: self._input(each) for name, each in clause.inputs.items()}
        self._results = {name: self._result(each) for name, each in clause.results.items()}
        for item in _order(node)[1:]:
            holder = item.copy()
            for column in list(holder.find_all(exp.Column)):
                resolve(column, [inner], report)
            check_sortable(holder, report)

    def relation(self, rows: exp.Subquery) -> Relation:
        """Return the FROM item."""
        check_conditions(self._node, self._clause, self._inputs, self._report)
        computed = self._computed()
        given = {MATCH: t.BIGINT, CLOSE: t.TIMESTAMPTZ, **self._results}
        shown = self._inputs if not self._clause.all_rows else {**self._columns, **self._inputs}
        if not self._clause.all_rows:
            shown = {name: self._inputs[name] for name in self._clause.partition}
        carried = {name: type_of(value) for name, value in shown.items()}
        found = PatternRows(
            this=self._rows(rows),
            order=self._sorted(),
            clause=self._clause,
            fields=tuple({**carried, **given}.items()),
            alias=exp.TableAlias(this=exp.to_identifier(self._alias)),
        )
        found.meta.update(self._node.args["pattern"].meta)
        fields = [Field(name, type_of(each), _can_be_null(each)) for name, each in computed.items()]
        return Relation(self._alias, as_fields(fields), found, computed=computed)

    def _input(self, expression: exp.Expr) -> exp.Expr:
        holder = exp.Paren(this=expression.copy())
        for column in list(holder.find_all(exp.Column)):
            known = column.this.meta or column.name not in self._places
            place = column.this if known else self._places[column.name]
            column.replace(named := exp.Column(this=place.copy()))
            resolve(named, [self._inner], self._report)
        for window in holder.find_all(exp.Window):
            order = exp.Ordered(this=self._place(), nulls_first=False)
            window.set("order", exp.Order(expressions=[order]))
        infer(holder, self._report)
        found: exp.Expr = holder.this.pop()
        return found

    def _result(self, reference: Reference) -> exp.DataType:
        """The type of what the matcher gives for a reference."""
        if isinstance(reference, Navigation):
            return self._argument(reference.column)
        if not isinstance(reference, Aggregation) or reference.function in _NEVER_NULL:
            return t.BIGINT
        kind = self._argument(reference.arguments[0])
        function = _FUNCTIONS.get(reference.function)
        if function is None:
            return kind
        column = exp.column("x")
        column.type = kind.copy()
        return infer(function(this=column), self._report)

    def _argument(self, column: str) -> exp.DataType:
        if column == CLASSIFIER:
            return t.VARCHAR
        value = self._inputs.get(column, self._columns.get(column))
        return type_of(value)

    def _rows(self, rows: exp.Subquery) -> exp.Subquery:
        """The rows with all input columns of the clause."""
        shown = {**self._columns, **self._inputs}
        if self._numbered:
            rows = self._with_places(rows)
            shown[PLACE] = self._place()
        return exp.Subquery(this=_select(shown, rows))

    def _with_places(self, rows: exp.Subquery) -> exp.Subquery:
        """The rows with their places: rows alike must stand where ``LAG`` and ``LEAD`` saw them."""
        place = exp.Window(
            this=exp.RowNumber(),
            partition_by=[self._columns[name].copy() for name in self._clause.partition] or None,
            order=exp.Order(expressions=[self._of_rows(item) for item in self._ordered()]),
            over="OVER",
        )
        infer(place, self._report)
        alias = exp.TableAlias(this=exp.to_identifier(rows.alias))
        found = exp.Subquery(this=_select({**self._columns, PLACE: place}, rows), alias=alias)
        found.meta[PLACE] = True
        return found

    def _place(self) -> exp.Column:
        column = exp.column(PLACE, table=self._inner.alias)
        column.type = t.BIGINT
        return column

    def _of_rows(self, item: exp.Expr) -> exp.Expr:
        found = item.copy()
        found.set("this", self._columns[item.this.name].copy())
        return found

    def _sorted(self) -> exp.Order:
        """The partition, and within it the place or the order of a row."""
        items = [_ascending(name) for name in self._clause.partition]
        more = [_ascending(PLACE)] if self._numbered else self._ordered()
        found = exp.Order(expressions=[*items, *more])
        if ordered := _order(self._node):
            found.meta.update(ordered[0].this.this.meta)
        return found

    def _ordered(self) -> list[exp.Expr]:
        """The order of the clause, and every other column that can be compared."""
        items: list[exp.Expr] = []
        for item in _order(self._node):
            ordered = exp.Ordered(
                this=exp.Column(this=item.this.this.copy()),
                desc=bool(item.args.get("desc")),
                nulls_first=bool(item.args.get("nulls_first")),
            )
            items.append(ordered)
        known = {item.this.name for item in items} | {*self._clause.partition}
        items += [
            _ascending(name)
            for name, column in self._columns.items()
            if name not in known and is_comparable(column)
        ]
        return items

    def _computed(self) -> dict[str, exp.Expr]:
        """What stands for the columns of the clause, in Trino's order."""
        found = {name: self._carried(name) for name in self._clause.partition}
        if self._clause.all_rows:
            found |= {item.this.name: self._carried(item.this.name) for item in _order(self._node)}
        for (name, value), measure in zip(
            self._clause.outputs, self._node.args.get("measures") or [], strict=True
        ):
            if name in found or (self._clause.all_rows and name in self._columns):
                message = f'column "{name}" of MATCH_RECOGNIZE is there twice'
                self._report.add("DUPLICATE_COLUMN", message, measure.this, "rename the measure")
            found[name] = self._output(value, measure.this)
        if self._clause.all_rows:
            found |= {n: self._carried(n) for n in self._columns if n not in found}
        return found

    def _carried(self, name: str) -> exp.Expr:
        column = exp.column(name, table=self._alias)
        origin = self._columns.get(name)
        column.type = type_of(origin).copy()
        column.meta[NULLABLE] = origin is None or origin.meta.get(NULLABLE, True)
        return column

    def _output(self, value: exp.Expr, measure: exp.Expr) -> exp.Expr:
        holder = exp.Paren(this=value.copy())
        for column in list(holder.find_all(exp.Column)):
            column.set("table", exp.to_identifier(self._alias))
            kind = t.BIGINT if column.name == MATCH else self._results[column.name]
            column.type = kind.copy()
            column.meta[NULLABLE] = self._clause.show_unmatched or not self._counts(column.name)
            column.meta[SHOWN] = _text(self._clause.results.get(column.name), self._clause)
        infer(holder, self._report)
        found: exp.Expr = holder.this.pop()
        found.meta.update({**measure.meta, **found.meta})
        return found

    def _counts(self, name: str) -> bool:
        """Whether a value is there for every match."""
        reference = self._clause.results.get(name)
        if isinstance(reference, Aggregation):
            return reference.function in _NEVER_NULL
        return not isinstance(reference, Navigation)


def _select(shown: Mapping[str, exp.Expr], rows: exp.Subquery) -> exp.Select:
    items = [named(value, name) for name, value in shown.items()]
    return exp.Select(expressions=items, from_=exp.From(this=rows))


def _ascending(name: str) -> exp.Ordered:
    return exp.Ordered(this=exp.column(name), nulls_first=False)


def _text(reference: Reference | None, clause: MatchClause) -> str:
    """What a person calls a value of a match."""
    if isinstance(reference, Navigation):
        if reference.column == CLASSIFIER:
            return "CLASSIFIER()"
        variables = [clause.names[each] for each in sorted(reference.labels or ())]
        return ".".join([*variables[:1], reference.column]).lower()
    if isinstance(reference, Aggregation):
        return f"{reference.function}(…)"
    return "MATCH_NUMBER()"


def _can_be_null(value: exp.Expr) -> bool:
    return nullable(value, False)
