"""LATERAL → plain joins.

In: a join with a subquery that reads what stands before it in FROM. Out: the same rows by a join
with a subquery that does not, on what its WHERE compares::

    FROM a CROSS JOIN LATERAL (SELECT x FROM b WHERE b.k = a.k ORDER BY x LIMIT 2) AS l
    FROM a JOIN (SELECT x, b.k AS _on1 FROM b
                 QUALIFY row_number() OVER (PARTITION BY b.k ORDER BY x) <= 2) AS l ON l._on1 = a.k

Aggregates without GROUP BY are one row for each row before them, of none as well::

    FROM a CROSS JOIN LATERAL (SELECT count(*) + 1 AS n FROM b WHERE b.k = a.k) AS l
    FROM a LEFT JOIN (SELECT count(*) AS _v1, b.k AS _on1 FROM b GROUP BY b.k) AS _l
         ON _l._on1 = a.k                                        -- l.n is coalesce(_l._v1, 0) + 1

A SELECT without FROM is expressions of what stands before it. A LATERAL within LATERAL is flattened
when the SELECT that the outer one becomes is bound. (On such rewriting in general:
Neumann and Kemper, Unnesting Arbitrary Queries, BTW 2015.)
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from sqlglot import exp

from headwater.algebra.scalars import conjuncts
from headwater.analyze.correlated.domain import take_aggregate, whole_aggregate
from headwater.analyze.diagnostics import Diagnostics
from headwater.analyze.names.scope import Relation, knows, resolve
from headwater.analyze.query_parts import aggregates, is_aggregate, window_calls, written_name
from headwater.analyze.shapes.bracketed_joins import is_strict
from headwater.dialect.vocabulary import told_apart, unnamed_column

_HINT = "write it as a join with a subquery"
_FUNCTION_HINT = "write CROSS JOIN UNNEST of an array, or for versions JOIN t FOR SYSTEM_TIME AS OF"
_DEEPEST = 3
"""LATERAL within LATERAL: each one is bound twice as often as the one around it."""


@dataclass(frozen=True, slots=True)
class Flat:
    """What stands for a LATERAL.

    Attributes:
        join: a plain join, unless there is nothing to join.
        computed: what stands for its columns, over what is in FROM by then; empty where the join
            has them.
    """

    join: exp.Join | None
    computed: Mapping[str, exp.Expr]


def flatten(
    join: exp.Join,
    alias: str,
    before: Sequence[Relation],
    reads: Callable[[exp.Select], Sequence[Relation]],
    report: Diagnostics,
) -> Flat:
    """Return what stands for a join with LATERAL.

    Args:
        join: the join as parsed; taken apart.
        alias: the name of the LATERAL.
        reads: returns what a SELECT reads, which it may change.
    """
    lateral = join.this
    query = lateral.this.this if isinstance(lateral.this, exp.Subquery) else None
    if query is None and isinstance(lateral.this, exp.Func):
        words = f"{join.side} JOIN LATERAL".lstrip()
        report.not_yet(f"{words} with a table function", lateral, _FUNCTION_HINT)
    elif query is None or join.side not in ("", "LEFT"):
        report.not_yet(f"{join.side} JOIN LATERAL".lstrip(), lateral, _HINT)
    elif _depth(query) >= _DEEPEST:
        report.not_yet(f"LATERAL more than {_DEEPEST} deep", lateral, _HINT)
    elif far := next(_beyond(query, before), None):
        report.not_yet("LATERAL within LATERAL that reads beyond the one around it", far, _HINT)
    elif isinstance(query, exp.Select):
        inside = reads(query.copy()) if query.args.get("from_") else ()
        return _Lateral(join, alias, query, before, inside, report).flat()
    else:
        join.set("this", exp.Subquery(this=query, alias=lateral.args.get("alias")))
        return Flat(join, {})
    return Flat(None, {})


class _Lateral:
    """Takes one LATERAL apart."""

    def __init__(
        self,
        join: exp.Join,
        alias: str,
        select: exp.Select,
        before: Sequence[Relation],
        inside: Sequence[Relation],
        report: Diagnostics,
    ) -> None:
        self.join, self.alias, self.select = join, alias, select
        self.before, self.inside, self.report = before, inside, report
        given = join.this.args.get("alias")
        self.names = [column.name for column in given.columns] if given is not None else []
        self.keys: dict[exp.Expr, str] = {}

    def flat(self) -> Flat:
        self._order_without_names()
        if self.inside and not any(self._outer(self.select)):
            return self._joined([], self.alias)
        if not self.inside or (is_aggregate(self.select) and not self.select.args.get("group")):
            return self._one_row()
        terms = self._terms(self.alias, plain=self._is_plain())
        for column in self._outer(self.select):
            self._refuse("that reads columns of the query around outside of WHERE", column)
        self._keep_apart()
        return self._joined(terms, self.alias)

    def _refuse(self, words: str, at: exp.Expr) -> None:
        self.report.not_yet(f"LATERAL {words}", at, _HINT)

    def _refuse_subqueries(self, root: exp.Expr) -> None:
        """Their columns are not told apart from those around."""
        if found := root.find(exp.Query):
            self._refuse("with a subquery beside columns of the query around", found)

    def _outer(self, root: exp.Expr) -> Iterator[exp.Column]:
        """Yield the columns of what stands before; subqueries within have none."""
        stack = [root]
        while stack:
            node = stack.pop()
            if isinstance(node, exp.Column):
                if not knows(node, self.inside) and knows(node, self.before):
                    yield node
            elif node is root or not isinstance(node, exp.Query):
                stack.extend(node.iter_expressions())

    def _joined(self, terms: Sequence[exp.Expr], alias: str) -> Flat:
        """The subquery as a plain one, joined on what was taken out of its WHERE."""
        self._check_names()
        for key, name in self.keys.items():
            self.select.append("expressions", exp.alias_(key.copy(), name))
        names = [*self.names, *self.keys.values()] if self.names else []
        columns = [exp.to_identifier(name) for name in names]
        to = exp.TableAlias(this=exp.to_identifier(alias), columns=columns or None)
        self.join.set("this", exp.Subquery(this=self.select, alias=to))
        if terms:
            self.join.set("kind", None)
            on = self.join.args.get("on")
            self.join.set("on", _all([on, *terms] if on is not None else terms))
        return Flat(self.join, {})

    def _one_row(self) -> Flat:
        """Values, or aggregates without GROUP BY: columns that are computed."""
        on = self.join.args.get("on")
        if on not in (None, exp.true()):
            self._refuse("of always one row with a condition in ON", on)
        refused = ["having", "qualify", "limit", "distinct", *([] if self.inside else ["where"])]
        for node in window_calls(self.select):
            self._refuse("of always one row with OVER", node)
        for node in filter(None, map(self.select.args.get, refused)):
            self._refuse(f"of always one row with {node.key.upper()}", node)
        alias = f"_{self.alias}"
        computed, values = self._computed(alias)
        if not self.inside:
            return Flat(None, computed)
        self.names = []
        self.select.set("expressions", [exp.alias_(call, name) for call, name in values.items()])
        self.select.set("order", None)
        terms = self._terms(alias, plain=False)
        if terms:
            self.select.set("group", exp.Group(expressions=[key.copy() for key in self.keys]))
        self.join.set("on", None)
        self.join.set("side", "LEFT" if terms else None)
        self.join.set("kind", "CROSS")
        return Flat(self._joined(terms, alias).join, computed)

    def _check_names(self) -> None:
        count = len(self.select.expressions)
        if self.names and not self.select.is_star and len(self.names) != count:
            message = f"{len(self.names)} names for {count} columns"
            hint = "give as many names as the subquery has columns"
            self.report.add("WRONG_ARGUMENTS", message, self.join.this, hint)

    def _computed(self, alias: str) -> tuple[dict[str, exp.Expr], dict[exp.Expr, str]]:
        """What stands for the columns, and the aggregates in it, which a join computes."""
        computed, values = dict[str, exp.Expr](), dict[exp.Expr, str]()
        self._check_names()
        items = self.select.expressions
        named = (written_name(item) or unnamed_column(at) for at, item in enumerate(items))
        names = told_apart(self.names or named)
        for item, name in zip(items, names, strict=False):
            self._refuse_subqueries(item)
            computed[name] = exp.Paren(this=item.unalias())
            for call in aggregates(computed[name]):
                self._take(call, values, alias)
            for column in list(computed[name].find_all(exp.Column)):
                if column.table != alias:
                    self._resolve(column)
        return computed, values

    def _take(self, call: exp.Expr, values: dict[exp.Expr, str], alias: str) -> None:
        """Leave an aggregate to the join, and what it is there instead of it."""
        whole = whole_aggregate(call)
        if not self.inside or any(self._outer(whole)):
            self._refuse("that aggregates columns of the query around", whole)
        take_aggregate(call, values, alias)

    def _resolve(self, column: exp.Column) -> None:
        if not self.inside or any(self._outer(column)):
            resolve(column, self.before, self.report)
        else:
            message = f'column "{column.name}" is neither a group key nor in an aggregate'
            hint = f"aggregate it: max({column.name})"
            self.report.add("NOT_GROUPED", message, column, hint)

    def _is_plain(self) -> bool:
        """Return whether each row is one of FROM: then ON can ask of it what WHERE asked."""
        shaped = any(map(self.select.args.get, ("group", "distinct", "limit")))
        return not shaped and not window_calls(self.select)

    def _terms(self, alias: str, *, plain: bool) -> list[exp.Expr]:
        """Move the terms that compare with rows before the LATERAL out of WHERE."""
        where = self.select.args.get("where")
        terms, own = list[exp.Expr](), list[exp.Expr]()
        for term in conjuncts(where.this if where is not None else None):
            held = exp.Paren(this=term.copy())
            outer = list(self._outer(held))
            (terms if outer else own).append(held)
            if not outer:
                continue
            self._refuse_subqueries(held)
            for part in self._inner(held) if plain else self._key(held.this):
                name = self.keys.setdefault(part.copy(), f"_on{len(self.keys) + 1}")
                part.replace(exp.column(name, table=alias))
            for column in outer:
                resolve(column, self.before, self.report)
        self.select.set("where", exp.Where(this=_all(own)) if own else None)
        return terms

    def _inner(self, root: exp.Expr) -> list[exp.Expr]:
        outer = [id(column) for column in self._outer(root)]
        return [column for column in root.find_all(exp.Column) if id(column) not in outer]

    def _key(self, term: exp.Expr) -> list[exp.Expr]:
        """The side of an equality with the rows before it that is of the subquery's own."""
        if isinstance(term, exp.EQ):
            for side, other in ((term.this, term.expression), (term.expression, term.this)):
                if not any(self._outer(side)) and not self._inner(other):
                    return [side]
        self._refuse("with groups, OVER or LIMIT that compares by more than =", term)
        return []

    def _keep_apart(self) -> None:
        """Groups and windows are of the rows of one key."""
        keys = [key.copy() for key in self.keys]
        if group := self.select.args.get("group"):
            group.set("expressions", [*group.expressions, *keys])
        for window in window_calls(self.select):
            by = window.args.get("partition_by") or []
            window.set("partition_by", [*by, *(key.copy() for key in keys)])
        if keys and self.select.args.get("limit"):
            self._rank(keys)

    def _rank(self, keys: Sequence[exp.Expr]) -> None:
        """The first rows of each key instead of the first rows."""
        taken = {key: self.select.args.get(key) for key in ("limit", "offset", "order")}
        first, skipped = (_count(taken[key]) for key in ("limit", "offset"))
        for key in ("qualify", "distinct"):
            if node := self.select.args.get(key):
                self._refuse(f"with LIMIT and {key.upper()}", node)
        if first is None or skipped is None:
            self._refuse("with a LIMIT or OFFSET that is no number", self.select.args["limit"])
            return
        number = exp.Window(this=exp.RowNumber(), partition_by=list(keys), order=taken["order"])
        between = exp.Between(
            this=number,
            low=exp.Literal.number(skipped + 1),
            high=exp.Literal.number(skipped + first),
        )
        self.select.set("qualify", exp.Qualify(this=between))
        for key in taken:
            self.select.set(key, None)

    def _order_without_names(self) -> None:
        """Replace names and numbers of outputs in ORDER BY by expressions, as windows need."""
        # The name of an output never means a column of what stands before the LATERAL.
        outputs = {item.alias: item.this for item in self.select.selects if item.alias}
        order = self.select.args.get("order")
        for item in order.expressions if order is not None and self.inside else ():
            by = item.this
            if isinstance(by, exp.Literal) and by.is_int:
                at = int(by.name)
                if self.select.is_star or not 0 < at <= len(self.select.selects):
                    self._refuse(f"ordered by the number {at}", by)
                    continue
                item.set("this", exp.Paren(this=self.select.selects[at - 1].unalias().copy()))
            elif isinstance(by, exp.Column) and not by.table and by.name in outputs:
                item.set("this", exp.Paren(this=outputs[by.name].copy()))


def _depth(query: exp.Expr) -> int:
    """How many LATERALs stand one within the other in a query."""
    around = _around(query)
    return max((_around(each) + 1 - around for each in query.find_all(exp.Lateral)), default=0)


def _around(node: exp.Expr | None) -> int:
    """How many LATERALs stand around a node."""
    count = -1
    while node is not None:
        node, count = node.find_ancestor(exp.Lateral), count + 1
    return count


def _beyond(query: exp.Expr, before: Sequence[Relation]) -> Iterator[exp.Column]:
    """Yield what LATERALs within a query read of what stands before the query, by its full name."""
    names = {relation.alias for relation in before} - {
        table.alias_or_name for table in query.find_all(exp.Table, exp.Subquery)
    }
    for lateral in query.find_all(exp.Lateral):
        yield from (column for column in lateral.find_all(exp.Column) if column.table in names)


def _all(terms: Sequence[exp.Expr]) -> exp.Expr:
    return exp.and_(*terms, copy=False)


def _count(node: exp.Expr | None) -> int | None:
    """The number of LIMIT or OFFSET, 0 if there is none; None if it is not written as one."""
    if node is None:
        return 0
    number = node.args.get("expression")
    return int(number.name) if isinstance(number, exp.Literal) and number.is_int else None


def refuse_computed(join: exp.Join, before: Sequence[Relation], report: Diagnostics) -> None:
    """Refuse a RIGHT or FULL JOIN that would have to make NULL what LATERAL computes.

    Args:
        join: the outer join.
        before: the relations on its left side.
        report: where errors go.
    """
    made = [each for each in before if each.computed and isinstance(each.node, exp.Join)]
    values = [value for each in made for value in (each.computed or {}).values()]
    if made and (len(made) == len(before) or not all(map(is_strict, values))):
        hint = "put what follows the comma into a subquery"
        report.not_yet(f"{join.side} JOIN behind a comma and LATERAL", join.this, hint)
