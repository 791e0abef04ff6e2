"""Subqueries in expressions: IN, EXISTS, and scalar ones.

In: a SELECT whose own columns are resolved, and what it reads. Out: its subqueries bound; columns
of the SELECT around are found in their WHERE. A relation of a subquery gets another alias if the
SELECT around uses its own, so that an alias names one relation wherever it stands.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from contextlib import suppress

from sqlglot import exp

from headwater.algebra.scalars import conjuncts
from headwater.analyze.correlated.attempts import BindingAttempt, SubqueryBinder, SubqueryPlace
from headwater.analyze.correlated.domain import NoDomain
from headwater.analyze.correlated.outer import domain_of, mark_columns
from headwater.analyze.correlated.predicates import is_single, over_values, plainer
from headwater.analyze.definitions import Field
from headwater.analyze.diagnostics import Diagnostics
from headwater.analyze.names.scope import Relation
from headwater.analyze.query_parts import is_aggregate, is_over, relations, window_calls
from headwater.analyze.shapes.common_terms import take_common_terms
from headwater.analyze.shapes.single_rows import aggregate_single_row, is_one_row
from headwater.analyze.typing import types as t
from headwater.analyze.typing.common_type import type_of
from headwater.dialect.syntax import WindowTable

HINT = "write it as a join, or make the subquery a view of its own"


def predicates(root: exp.Expr | None) -> Iterator[exp.Expr]:
    """Yield the subqueries of an expression as it uses them: IN, EXISTS or a scalar one.

    Args:
        root: an expression; subqueries within subqueries have their own.
    """
    stack = [root] if root is not None else []
    while stack:
        node = stack.pop()
        if is_predicate(node):
            yield node
            if isinstance(node, exp.In):
                stack.append(node.this)
        elif isinstance(node, exp.Query):
            yield node
        else:
            stack.extend(node.iter_expressions())


def is_predicate(node: exp.Expr) -> bool:
    """Return whether a node is EXISTS or IN of a query."""
    if isinstance(node, exp.Exists):
        return isinstance(node.this, exp.Query)
    return isinstance(node, exp.In) and node.args.get("query") is not None


def query_of(predicate: exp.Expr) -> exp.Query:
    """Return the query of a predicate, without brackets around it.

    Args:
        predicate: from :func:`predicates`.
    """
    found = predicate
    if isinstance(predicate, exp.Exists):
        found = predicate.this
    elif isinstance(predicate, exp.In):
        found = predicate.args["query"]
    while isinstance(found, exp.Subquery):
        found = found.this
    assert isinstance(found, exp.Query)
    return found


def has_predicates(select: exp.Select) -> bool:
    """Return whether a SELECT has subqueries outside FROM."""
    clauses = (select.args.get(key) for key in ("where", "having", "qualify"))
    return any(True for root in (*select.selects, *clauses) for _ in predicates(root))


def outer_columns(query: exp.Query) -> list[exp.Column]:
    """Return the columns in a bound query that belong to the SELECT around it."""
    own = {
        item.alias_or_name for select in query.find_all(exp.Select) for item in relations(select)
    }
    own.update(window.this.alias_or_name for window in query.find_all(WindowTable))
    return [column for column in query.find_all(exp.Column) if column.table not in {*own, ""}]


def bind_predicates(
    select: exp.Select,
    around: Sequence[Relation],
    written: Sequence[exp.Expr],
    binder: SubqueryBinder,
) -> None:
    """Bind the subqueries in the expressions of a SELECT, in place.

    Args:
        select: a SELECT whose own columns are resolved.
        around: what it reads.
        written: its FROM and joins, as parsed.
        binder: binds a subquery with these relations around it.
    """
    group = select.args.get("group")
    joins = select.args.get("joins") or []
    places = {
        "a subquery in QUALIFY or ORDER BY": [select.args.get("qualify"), select.args.get("order")],
        "a subquery in GROUP BY of this query": [group],
        "a subquery in ON of this join": [join.args.get("on") for join in joins],
    }
    for words, roots in places.items():
        for found in (each for root in roots for each in predicates(root)):
            if not binder.report.errors:  # it can have an error that says more
                binder.report.not_yet(words, found, HINT)
            return
    group_keys = list(group.expressions) if group is not None else []
    keys_of_outputs = group_keys if is_aggregate(select) else None
    for root in [*select.selects, select.args.get("where"), select.args.get("having")]:
        keys = None if isinstance(root, exp.Where) else keys_of_outputs
        for found in list(predicates(root)):
            _Predicate(found, keys, around, written, binder).bind()


class _Predicate:
    """One subquery of an expression; ``keys`` of the groups it is asked of, if it is."""

    def __init__(
        self,
        found: exp.Expr,
        keys: Sequence[exp.Expr] | None,
        around: Sequence[Relation],
        written: Sequence[exp.Expr],
        binder: SubqueryBinder,
    ) -> None:
        self.found, self.keys, self.around = found, keys, around
        self.written, self.binder, self.report = written, binder, binder.report
        self.columns = 0

    def bind(self) -> None:
        """Bind it as it is, or else one that says the same over the values of outer columns."""
        query = query_of(self.found)
        mark_columns(query, self.binder.number)
        kept, place, single = query.copy(), SubqueryPlace(self.found), is_single(query)
        attempt = BindingAttempt(self.binder, self.around)
        if attempt.holds(self._plain):
            return
        only_rows = isinstance(self.found, exp.Exists) and attempt.is_sound
        if (shaped := plainer(kept, only_rows=only_rows)) is not None:
            kept = shaped
            self.found = place.put(kept.copy())
            if attempt.holds(self._plain):
                return
        with suppress(NoDomain):
            values = domain_of(self.around, self.written, self.binder.number)
            query = over_values(self.found, kept, self.columns, values, single=single)
            self.found = place.put(query)
            if attempt.holds(self._plain):
                return
        attempt.give_up()

    def _plain(self) -> None:
        query = query_of(self.found)
        _rename(query, {relation.alias for relation in self.around})
        fields = self.binder.bind_within(self.around, query)
        self.columns = len(fields)
        if isinstance(query, exp.Select) and outer_columns(query):
            take_common_terms(query)
        if isinstance(self.found, exp.Query):
            self.found = aggregate_single_row(self.found, self.binder.catalog)
        _check(self.found, query_of(self.found), fields, self.keys, self.report)


def _rename(query: exp.Query, taken: Collection[str]) -> None:
    """Give relations of a subquery other aliases than those around it."""
    for select in list(query.find_all(exp.Select)):
        for item in relations(select):
            old = item.alias_or_name
            if old not in taken:
                continue
            new = next(name for n in range(2, 1000) if (name := f"{old}_{n}") not in taken)
            named = item.args.get("alias")  # maybe with names of columns: UNNEST(x) AS t(v)
            columns = named.args.get("columns") if named else None
            item.set("alias", exp.TableAlias(this=exp.to_identifier(new), columns=columns))
            for column in select.find_all(exp.Column):
                if column.table == old:
                    column.set("table", exp.to_identifier(new))


def _check(
    predicate: exp.Expr,
    query: exp.Query,
    fields: Sequence[Field],
    keys: Sequence[exp.Expr] | None,
    report: Diagnostics,
) -> None:
    """Refuse a subquery that cannot stand here; ``keys`` of the groups it is asked of, if it is."""
    scalar = isinstance(predicate, exp.Query)
    if report.errors or not fields:
        return
    if not isinstance(predicate, exp.Exists) and len(fields) != 1:
        message = f"the subquery has {len(fields)} columns"
        report.add("WRONG_ARGUMENTS", message, predicate, "select one column")
    elif keys is not None and in_aggregate(predicate):
        hint = "compute its argument in a subquery in FROM"
        report.not_yet("a subquery within an aggregate of this query", predicate, hint)
    elif scalar and not is_one_row(query):
        hint = "aggregate it: SELECT max(x) FROM …"
        words = "a scalar subquery of arrays, maps or rows, or one that can fail"
        report.not_yet(words, predicate, hint)
    elif outer_columns(query):
        _check_correlated(predicate, query, keys, report)


def in_aggregate(node: exp.Expr) -> bool:
    """Return whether a part of a SELECT is within an aggregate of it."""
    inner = node.parent
    while inner is not None and not isinstance(inner, exp.Query):
        if isinstance(inner, (exp.AggFunc, exp.Filter)) and not is_over(inner):
            return True
        inner = inner.parent
    return False


def _check_correlated(
    predicate: exp.Expr, query: exp.Query, keys: Sequence[exp.Expr] | None, report: Diagnostics
) -> None:
    """Refuse columns of the SELECT around where not every engine takes them."""
    scalar = isinstance(predicate, exp.Query)
    words = ""
    outer = outer_columns(query)
    where = query.args.get("where") if isinstance(query, exp.Select) else None
    for column in outer:
        if keys is not None and column not in keys:
            message = f'column "{column.name}" is not a group key'
            hint = f"add {column.name} to GROUP BY, or aggregate in a subquery in FROM"
            report.add("NOT_GROUPED", message, column, hint)
            return
    inside = [column for column in outer if _stands_in(column, where)]
    if len(inside) < len(outer):
        words = "a column of the query around, outside the subquery's WHERE,"
    elif not isinstance(query, exp.Select) or (is_aggregate(query) and not scalar):
        words = "a subquery with GROUP BY that reads columns of the query around"
    elif window_calls(query) or query.args.get("limit"):
        words = "a subquery with OVER or LIMIT that reads columns of the query around"
    elif scalar and not all(map(_is_equality, _correlations(where, outer))):
        words = "a scalar subquery that compares with the query around by more than ="
    if words:
        report.not_yet(words, predicate, HINT)


def _stands_in(column: exp.Column, where: exp.Expr | None) -> bool:
    node: exp.Expr | None = column
    while node is not None and node is not where:
        node = node.parent
    return node is not None


def _correlations(where: exp.Expr | None, outer: Sequence[exp.Column]) -> list[exp.Expr]:
    terms = conjuncts(where.this if where is not None else None)
    ids = {id(column) for column in outer}
    return [term for term in terms if any(id(c) in ids for c in term.find_all(exp.Column))]


def _is_equality(term: exp.Expr) -> bool:
    return isinstance(term, exp.EQ) and t.family(type_of(term)) == "boolean"
