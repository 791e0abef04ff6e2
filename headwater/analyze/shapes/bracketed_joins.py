"""Brackets in FROM → items and joins one after another, or one item that the binder reads.

In: a query as parsed, whose joins hang on tables, subqueries and VALUES in brackets. Out: the same
rows from a query in which joins hang on SELECTs only::

    FROM ((a AS x)) AS y                     FROM a AS y
    FROM ((a LEFT JOIN b ON p) JOIN c ON q)  FROM a LEFT JOIN b ON p JOIN c ON q
    FROM a JOIN (b JOIN c ON p) ON q         FROM a CROSS JOIN b JOIN c ON p AND q
    FROM (a JOIN b ON p) AS y (k, n)         FROM (SELECT * FROM a JOIN b ON p) AS y (k, n)
    FROM (a MATCH_RECOGNIZE (…) AS m)        FROM (SELECT * FROM a MATCH_RECOGNIZE (…) AS m) AS m

Where joins one after another would mean something else, as behind LEFT JOIN, a bracket stays: a
subquery without a name whose SELECT has no list (:func:`is_bracket`). The names in it are visible
outside, and :class:`~headwater.analyze.bind.relations.RelationBinder` makes it a derived table.
"""

from __future__ import annotations

from collections.abc import Sequence

from sqlglot import exp

WITHIN = "within"
"""Key of ``Column.meta``: the FROM items whose columns a plain name in brackets can mean."""
_MORE_THAN_A_COMMA = ("side", "kind", "method", "on", "using")
_PLAIN = ("", "INNER", "CROSS")
_STRICT = (
    *(exp.Column, exp.Identifier, exp.Literal, exp.Paren),
    *(exp.Add, exp.Sub, exp.Mul, exp.Neg),
)
_ITEMS = (exp.Table, exp.Values, exp.Unnest, exp.Lateral)


def is_bracket(node: exp.Expr) -> bool:
    """Return whether a FROM item is joins in brackets whose names are visible outside."""
    return (
        isinstance(node, exp.Subquery)
        and isinstance(node.this, exp.Select)
        and not node.this.expressions
    )


def is_comma(join: exp.Join) -> bool:
    """Return whether a join is written as a comma."""
    return not any(join.args.get(key) for key in _MORE_THAN_A_COMMA)


def with_names(table: exp.Table) -> exp.Subquery:
    """Replace a table whose alias names its columns by a subquery that does, and return that."""
    alias = table.args["alias"]
    rows = exp.Select(expressions=[exp.Star()])
    subquery = exp.Subquery(this=rows, alias=alias.copy())
    table.replace(subquery)
    alias.set("columns", None)
    rows.set("from_", exp.From(this=table))
    return subquery


def without_brackets(query: exp.Query) -> None:
    """Take every FROM item out of its brackets, in place."""
    for select in reversed(list(query.find_all(exp.Select))):
        source = select.args.get("from_")
        if source is None:
            continue
        joins: list[exp.Join] = list(select.args.get("joins") or [])
        first, within = _opened(source.this)
        if joins and not is_comma(joins[0]) and not _one_group(within):
            first, within = _bracket(first, within), []
        _fill(select, first, [*within, *joins])


def _fill(select: exp.Select, first: exp.Expr, joins: list[exp.Join]) -> None:
    """Let a SELECT read an item and what is joined to it, in place."""
    joins = _in_a_row(joins)
    match = first.args.get("match")
    if match is not None and not joins and not select.args.get("match"):
        first.set("match", None)
        select.set("match", match)
    first = _rows_of_matches(first)
    # behind RIGHT and FULL JOIN, what LATERAL computes is NULL, whatever it is of NULL
    while (at := _outer_join_of_computed(joins)) is not None:
        first, joins = _bracket(first, joins[:at]), joins[at:]
    select.set("from_", exp.From(this=first))
    select.set("joins", joins or None)


def _outer_join_of_computed(joins: Sequence[exp.Join]) -> int | None:
    """The place of the first RIGHT or FULL JOIN whose left side has what LATERAL computes."""
    computes = False
    for at, join in enumerate(joins):
        if is_comma(join):
            return None
        if computes and join.side in ("RIGHT", "FULL"):
            return at
        computes = computes or _computes(join)
    return None


def _computes(join: exp.Join) -> bool:
    """Whether a join is a LATERAL without FROM of which a value is not NULL where all is NULL."""
    lateral = join.this
    query = lateral.this if isinstance(lateral, exp.Lateral) else None
    while isinstance(query, exp.Subquery):
        query = query.this
    if not isinstance(query, exp.Select) or query.args.get("from_") is not None:
        return False
    return not all(is_strict(item.unalias()) for item in query.selects)


def is_strict(value: exp.Expr) -> bool:
    """Return whether a value is NULL where its columns are."""
    return value.find(exp.Column) is not None and all(
        isinstance(node, _STRICT) for node in value.walk()
    )


def _in_a_row(joins: Sequence[exp.Join]) -> list[exp.Join]:
    """Joins whose items are out of their brackets."""
    found: list[exp.Join] = []
    for join in joins:
        item, within = _opened(join.this)
        item = _rows_of_matches(item)
        within = _in_a_row(within)
        condition = join.args.get("on")
        if within and _is_flat(join, item, within):
            for each in within:
                _keep_names(each, [item, *(other.this for other in within)])
            _add_condition(within[-1], condition)
            kind = None if is_comma(join) else "CROSS"
            found += [exp.Join(this=item, kind=kind), *within]
        else:
            join.set("this", _bracket(item, within) if within else item)
            found.append(join)
    return found


def _is_flat(join: exp.Join, first: exp.Expr, within: Sequence[exp.Join]) -> bool:
    """Whether the joins in the brackets behind a join can follow one after another."""
    if not is_plain(join) or not _one_group(within):
        return False
    condition = join.args.get("on")
    if not all(is_plain(each) or (condition is None and _is_left(each)) for each in within):
        return False
    named = all(item.alias_or_name for item in (first, *(each.this for each in within)))
    return named or not any(_plain_names(each) for each in within)


def is_plain(join: exp.Join) -> bool:
    """Return whether an inner join has no other condition than ON."""
    return not join.side and join.kind.upper() in _PLAIN and not _shares(join)


def _is_left(join: exp.Join) -> bool:
    return join.side == "LEFT" and not join.kind and not _shares(join)


def _shares(join: exp.Join) -> bool:
    return bool(join.method or join.args.get("using"))


def _one_group(within: Sequence[exp.Join]) -> bool:
    """Whether each join in brackets follows all before it; commas that divide none become CROSS."""
    commas = [is_comma(join) for join in within]
    if True not in commas:
        return True
    if not all(commas[commas.index(True) :]):
        return False
    for join in within[commas.index(True) :]:
        join.set("kind", "CROSS")
    return True


def _plain_names(join: exp.Join) -> list[exp.Column]:
    condition = join.args.get("on")
    columns = condition.find_all(exp.Column) if condition is not None else ()
    return [column for column in columns if not column.table]


def _keep_names(join: exp.Join, items: Sequence[exp.Expr]) -> None:
    """Let plain names of a condition mean what they mean in the brackets."""
    names = [item.alias_or_name for item in items]
    for column in _plain_names(join):
        column.meta.setdefault(WITHIN, names)


def _add_condition(join: exp.Join, condition: exp.Expr | None) -> None:
    if condition is not None:
        own = [each for each in (join.args.get("on"), condition) if each is not None]
        wrapped = [exp.paren(each.copy(), copy=False) for each in own]
        join.set("on", exp.and_(*wrapped, copy=False))
        join.set("kind", None)


def _opened(node: exp.Expr) -> tuple[exp.Expr, list[exp.Join]]:
    """Take a FROM item out of its brackets; return it and the joins behind it in them."""
    joins: list[exp.Join] = list(node.args.get("joins") or [])
    if joins:
        node.set("joins", None)
    if node.args.get("match"):  # which sqlglot hangs on a table in brackets
        return node, joins
    if {key for key, each in node.args.items() if each} - {"this", "alias"}:
        return node, joins  # TABLESAMPLE and the like are of the brackets
    alias = node.args.get("alias")
    holds_rows = isinstance(node, exp.Table) and isinstance(node.this, exp.Values)
    if not holds_rows and not (isinstance(node, exp.Subquery) and _holds_item(node.this)):
        return node, joins
    item, within = _opened(node.this)
    if alias is None:
        return item, [*within, *joins]
    return _named(item, within, alias), joins


def _rows_of_matches(item: exp.Expr) -> exp.Expr:
    """The rows of MATCH_RECOGNIZE as a subquery, if an item has one."""
    match = item.args.get("match")
    if match is None:
        return item
    item.set("match", None)
    alias = match.args.get("alias") or item.args.get("alias") or exp.TableAlias(this=item.this)
    rows = exp.Select(expressions=[exp.Star()], from_=exp.From(this=item), match=match)
    return exp.Subquery(this=rows, alias=alias.copy())


def _holds_item(node: exp.Expr) -> bool:
    """Whether brackets around a node are those of a FROM item, not those of a query."""
    if not isinstance(node, exp.Subquery):
        return isinstance(node, _ITEMS)
    return bool(node.alias or node.args.get("joins")) or _holds_item(node.this)


def _named(item: exp.Expr, within: list[exp.Join], alias: exp.Expr) -> exp.Expr:
    """An item, or joins, under the name of the brackets around."""
    if within:
        rows = _rows(item, within)
        rows.set("expressions", [exp.Star()])
        return exp.Subquery(this=rows, alias=alias)
    named = item.args.get("match") or item
    own = named.args.get("alias")
    if own is not None and own.columns and not alias.args.get("columns"):
        alias.set("columns", [each.copy() for each in own.columns])
    named.set("alias", alias)
    return item


def _bracket(first: exp.Expr, joins: list[exp.Join]) -> exp.Subquery:
    return exp.Subquery(this=_rows(first, joins))


def _rows(first: exp.Expr, joins: list[exp.Join]) -> exp.Select:
    select = exp.Select()
    _fill(select, first, joins)
    return select
