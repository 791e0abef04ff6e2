"""GROUPING SETS, ROLLUP and CUBE → a UNION ALL of one SELECT per set.

In: a query as parsed. Out: one in which every GROUP BY is a plain one: a key that is not in a set
is NULL there, and ``grouping(a, b)`` a number. Each set is then kept as any other SELECT. What
looks at the rows of all sets together, OVER and DISTINCT, stands above them::

    SELECT k, rank() OVER (ORDER BY sum(x)) AS n FROM t GROUP BY ROLLUP (k)
    SELECT _sets.k1 AS k, rank() OVER (ORDER BY _sets.v2) AS n
    FROM (SELECT k AS k1, sum(x) AS v2 FROM t GROUP BY ROLLUP (k)) AS _sets
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence

from sqlglot import exp

from headwater.analyze.diagnostics import Diagnostics
from headwater.analyze.query_parts import (
    is_limited,
    is_over,
    relations,
    unused_alias,
    window_calls,
    written_name,
)
from headwater.dialect.vocabulary import unnamed_column

MAX_SETS = 64
_SETS = (exp.GroupingSets, exp.Rollup, exp.Cube)
_OF_ROWS = (exp.AggFunc, exp.Filter, exp.WithinGroup)

Keys = tuple[exp.Expr, ...]


def expand_grouping_sets(query: exp.Query, report: Diagnostics) -> exp.Query:
    """Return a query without GROUPING SETS, ROLLUP and CUBE.

    Args:
        query: a query as parsed; changed in place if possible.
    """
    root = exp.Paren(this=query)
    for select in reversed(list(root.find_all(exp.Select))):
        group = select.args.get("group")
        if group is None or not any(isinstance(item, _SETS) for item in group.expressions):
            continue
        _unqualify(select)
        above = select.args.get("qualify") or select.args.get("distinct") or window_calls(select)
        _expand(_Below(select).select if above else select, group, report)
    found = root.this
    assert isinstance(found, exp.Query)
    return found


def _unqualify(select: exp.Select) -> None:
    """Let ``t.a`` and ``a`` be one key if FROM has one item, and no output has the name."""
    read = relations(select)
    if len(read) != 1 or not (alias := read[0].alias_or_name):
        return
    outputs = {each.alias for each in select.selects if isinstance(each, exp.Alias)}
    heads = [*select.selects, select.args["group"], select.args.get("having")]
    for head in filter(None, heads):
        for column in head.find_all(exp.Column):
            own = column.find_ancestor(exp.Query) is select
            if own and column.table == alias and column.name not in outputs:
                column.set("table", None)


class _Below:
    """The groups of a SELECT, put into a subquery of it.

    Attributes:
        select: the SELECT that groups.
    """

    def __init__(self, above: exp.Select) -> None:
        self.select = exp.Select()
        self._alias = unused_alias(above, "_sets")
        self._columns: dict[exp.Expr, exp.Column] = {}
        for item in list(above.args["group"].expressions):
            _name_no_output(item, above)
            for key in itertools.chain(*_sets_of(item, above)):
                if key not in self._columns:
                    self._add(key, "k")
        self._read_from(above)
        for clause in ("from_", "joins", "laterals", "where", "group", "having"):
            self.select.set(clause, above.args.get(clause))
            above.set(clause, None)
        above.set("from_", exp.From(this=self.select.subquery(self._alias, copy=False)))

    def _read_from(self, above: exp.Select) -> None:
        items = [
            exp.alias_(each.unalias(), written_name(each) or unnamed_column(at), quoted=True)
            for at, each in enumerate(above.selects)
        ]
        above.set("expressions", items)
        for item in items:
            self._read(item)
        for clause in ("qualify", "windows", "order"):
            found = above.args.get(clause) or []
            for head in found if isinstance(found, list) else [found]:
                self._read(head, above.named_selects if clause == "order" else ())

    def _read(self, head: exp.Expr, outputs: Sequence[str] = ()) -> None:
        """Replace keys, aggregates and ``grouping`` by columns, in place."""
        stack = list(head.iter_expressions())
        while stack:
            node = stack.pop()
            is_output = isinstance(node, exp.Column) and not node.table and node.name in outputs
            if node in self._columns and not is_output:
                node.replace(self._columns[node].copy())
            elif isinstance(node, exp.Grouping) or (
                isinstance(node, _OF_ROWS) and not is_over(node)
            ):
                node.replace(self._add(node.copy(), "v").copy())
            elif not isinstance(node, exp.Query):
                stack.extend(node.iter_expressions())

    def _add(self, node: exp.Expr, prefix: str) -> exp.Column:
        name = f"{prefix}{len(self._columns) + 1}"
        self._columns[node] = exp.column(name, self._alias)
        self.select.select(exp.alias_(node.copy(), name, copy=False), copy=False)
        return self._columns[node]


def _name_no_output(item: exp.Expr, select: exp.Select) -> None:
    """Write the expressions of keys that are positions and names of outputs, in place."""
    if isinstance(item, (*_SETS, exp.Tuple, exp.Paren)):
        for each in list(item.iter_expressions()):
            _name_no_output(each, select)
    else:
        (key,) = _keys(item, select)
        item.replace(key.copy())


def _expand(select: exp.Select, group: exp.Expr, report: Diagnostics) -> None:
    choices = [_sets_of(item, select) for item in group.expressions]
    sets = [tuple(itertools.chain(*chosen)) for chosen in itertools.product(*choices)]
    if group.args.get("all") is False:  # GROUP BY DISTINCT
        sets = list({frozenset(each): each for each in reversed(sets)}.values())[::-1]
    if len(sets) > MAX_SETS:
        message = f"{len(sets)} grouping sets; the maximum is {MAX_SETS}"
        report.add("TOO_COMPLEX", message, group, "write the sets that are needed")
        return
    keys = list(dict.fromkeys(key for each in sets for key in each))
    sets.sort(key=lambda each: -len(set(each)))  # the first names and types the columns
    # without LIMIT, ORDER BY stays: each branch looks up the names in it
    moved = ("order", "limit", "offset") if is_limited(select) else ()
    clauses = {key: select.args.get(key) for key in moved}
    for clause in clauses:
        select.set(clause, None)
    branches = [_branch(select, chosen, keys) for chosen in sets]
    union: exp.Expr = branches[0]
    for branch in branches[1:]:
        union = exp.Union(this=union, expression=branch, distinct=False)
    for name, value in clauses.items():
        union.set(name, value)
    # EXCEPT and INTERSECT would take only the first SELECT of a UNION ALL without brackets
    operand = isinstance(select.parent, exp.SetOperation)
    select.replace(exp.Subquery(this=union) if operand else union)


def _sets_of(item: exp.Expr, select: exp.Select) -> list[Keys]:
    if isinstance(item, exp.GroupingSets):
        return [found for each in item.expressions for found in _sets_of(each, select)]
    if isinstance(item, exp.Rollup):
        parts = [_keys(each, select) for each in item.expressions]
        return [tuple(itertools.chain(*parts[:n])) for n in range(len(parts), -1, -1)]
    if isinstance(item, exp.Cube):
        parts = [_keys(each, select) for each in item.expressions]
        chosen = itertools.product((True, False), repeat=len(parts))
        return [tuple(itertools.chain(*itertools.compress(parts, each))) for each in chosen]
    return [_keys(item, select)]


def _keys(item: exp.Expr, select: exp.Select) -> Keys:
    """The expressions of a set; a position or an output name stands for its expression."""
    if isinstance(item, (exp.Tuple, exp.Paren)):
        inner = item.expressions if isinstance(item, exp.Tuple) else [item.this]
        return tuple(key for each in inner for key in _keys(each, select))
    if isinstance(item, exp.Literal) and item.is_int:
        at = int(item.name) - 1
        return (select.selects[at].unalias(),) if 0 <= at < len(select.selects) else (item,)
    outputs = {each.alias: each.this for each in select.selects if isinstance(each, exp.Alias)}
    if isinstance(item, exp.Column) and not item.table and item.name in outputs:
        return (outputs[item.name],)
    return (item,)


def _branch(select: exp.Select, chosen: Sequence[exp.Expr], keys: Sequence[exp.Expr]) -> exp.Select:
    copy = select.copy()
    group = exp.Group(expressions=[key.copy() for key in dict.fromkeys(chosen)])
    copy.set("group", group if chosen else None)
    gone = [key for key in keys if key not in chosen]
    copy.set("expressions", [_named(item, gone, chosen) for item in select.selects])
    if having := select.args.get("having"):
        copy.set("having", exp.Having(this=_without(having.this, gone, chosen)))
    if not chosen:  # one row even where nothing is aggregated
        anything = exp.GTE(this=exp.Count(this=exp.Star()), expression=exp.Literal.number(0))
        copy.having(anything, copy=False)
    return copy


def _named(item: exp.Expr, gone: Sequence[exp.Expr], chosen: Sequence[exp.Expr]) -> exp.Expr:
    name = written_name(item)
    value = _without(item.unalias(), gone, chosen)
    # not alias_: a subquery would take the name for that of a FROM item
    return exp.Alias(this=value, alias=exp.to_identifier(name)) if name else value


def _without(value: exp.Expr, gone: Sequence[exp.Expr], chosen: Sequence[exp.Expr]) -> exp.Expr:
    """An expression over the groups of a set: keys that are not in it are NULL."""
    root = exp.Paren(this=value.copy())
    stack: list[exp.Expr] = [root.this]
    while stack:
        node = stack.pop()
        if node in gone:
            node.replace(exp.Null())
        elif isinstance(node, exp.Grouping) and node not in chosen:
            bits = "".join("0" if key in chosen else "1" for key in node.expressions)
            node.replace(exp.cast(exp.Literal.number(int(bits or "0", 2)), "INT"))
        elif not _is_of_rows(node) and node not in chosen:  # whatever keys it is made of
            stack.extend(node.iter_expressions())
    found = root.this
    assert isinstance(found, exp.Expr)
    return found.pop()


def _is_of_rows(node: exp.Expr) -> bool:
    """Return whether a node looks at rows, whose keys are all known: an aggregate or FILTER."""
    return isinstance(node, (*_OF_ROWS, exp.Query)) and not is_over(node)
