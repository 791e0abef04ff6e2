"""What a query consists of: branches, relations, aggregation, conjuncts.

In: query nodes. Out: their parts. These are the questions every later step asks of a bound query.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import cast

from sqlglot import exp

from headwater.dialect.normalize import identifier
from headwater.dialect.vocabulary import name_shown

PLACES = "places"
"""Key of ``meta`` of a FROM item: the numbers of what it stands for in the text of the query."""

_OF_SEVERAL = ("joins", "laterals", "group", "distinct")
"""Parts of a SELECT whose rows are not rows of FROM, or not once each."""


def stand_for(node: exp.Expr, written: exp.Expr) -> None:
    """Let a FROM item stand for another one, too, which it replaces."""
    node.meta[PLACES] = (*node.meta.get(PLACES, ()), *written.meta.get(PLACES, ()))


def stand_for_equal(node: exp.Expr, written: exp.Expr) -> None:
    """Let the FROM items of an expression stand for those of an equal one, which goes."""
    kinds = (exp.Table, exp.Values)
    for own, other in zip(node.find_all(*kinds), written.find_all(*kinds), strict=True):
        stand_for(own, other)


def union_branches(query: exp.Expr) -> list[exp.Select]:
    """Return the SELECTs of a tree of set operations from left to right (one for a SELECT)."""
    stack, found = [query], []
    while stack:
        node = stack.pop()
        if isinstance(node, exp.SetOperation):
            stack += [node.expression, node.this]
        elif isinstance(node, exp.Subquery):
            stack.append(node.this)
        else:
            found.append(cast(exp.Select, node))
    return found


def is_union_all(query: exp.Expr) -> bool:
    """Return whether a query has all rows of all its branches (a SELECT is its only branch)."""
    stack = [query]
    while stack:
        node = stack.pop()
        if isinstance(node, exp.SetOperation):
            if not isinstance(node, exp.Union) or node.args.get("distinct"):
                return False
            stack += [node.this, node.expression]
        elif isinstance(node, exp.Subquery):
            stack.append(node.this)
    return True


def unlike_union_all(query: exp.Expr) -> exp.Expr | None:
    """Return a set operation anywhere in a query, other than UNION ALL, if it has one."""
    found = query.find_all(exp.SetOperation)
    return next((each for each in found if not is_union_all(each)), None)


def relations(select: exp.Select) -> list[exp.Expr]:
    """Return the FROM items of a SELECT in order, joined ones included."""
    source = select.args.get("from_")
    first = [source.this] if source is not None else []
    return first + [join.this for join in select.args.get("joins") or []]


def has_constants(query: exp.Query) -> bool:
    """Return whether a part of a query reads nothing, so that its rows never change."""
    return any(not relations(select) for select in query.find_all(exp.Select))


def unused_alias(query: exp.Expr, name: str) -> str:
    """Return a name that no relation of a bound query has.

    Args:
        name: the name, to which a number is added if need be.
    """
    selects_ = query.find_all(exp.Select)
    used = {item.alias_or_name for select in selects_ for item in relations(select)}
    names = (name, *(f"{name}{number}" for number in range(2, len(used) + 3)))
    return next(each for each in names if each not in used)


def joins(select: exp.Select) -> list[exp.Join]:
    """Return the joins of a SELECT that bring in another input (UNNEST does not)."""
    found = select.args.get("joins") or []
    return [join for join in found if not isinstance(join.this, exp.Unnest)]


def optional_before(select: exp.Select) -> bool:
    """Return whether a RIGHT or FULL JOIN can leave what stands before it NULL."""
    return any(join.side in ("RIGHT", "FULL") for join in joins(select))


def optional(select: exp.Select) -> list[bool]:
    """Return for each FROM item whether an outer join can leave it NULL."""
    found = [False] if select.args.get("from_") is not None else []
    for join in select.args.get("joins") or []:
        if join.side in ("RIGHT", "FULL"):
            found = [True] * len(found)
        found.append(join.side in ("LEFT", "FULL"))
    return found


def item_named(select: exp.Select, alias: str) -> exp.Expr | None:
    """Return a FROM item by its name; None if an outer join can leave it NULL."""
    for item, may_miss in zip(relations(select), optional(select), strict=True):
        if item.alias_or_name == alias:
            return None if may_miss else item
    return None


def column_shown(select: exp.Select, name: str) -> exp.Column | None:
    """Return the column of FROM that an output is; None where rows depend on other rows.

    Args:
        name: of the output.
    """
    if is_aggregate(select) or is_distinct(select) or window_calls(select):
        return None
    if is_limited(select):
        return None
    output = next(item.unalias() for item in select.selects if item.alias_or_name == name)
    return output if isinstance(output, exp.Column) else None


def column_kept(select: exp.Select, name: str) -> exp.Column | None:
    """Return the column of FROM that an output is, if rows that differ in it stay apart.

    So it is where a SELECT groups by the column or has it beside DISTINCT.

    Args:
        name: of the output.
    """
    if window_calls(select) or is_limited(select):
        return None
    output = next(item.unalias() for item in select.selects if item.alias_or_name == name)
    if not isinstance(output, exp.Column):
        return None
    if not is_aggregate(select):
        return output
    group = select.args.get("group")
    if group is None or any(value for key, value in group.args.items() if key != "expressions"):
        return None  # GROUPING SETS and the like
    return output if output in group.expressions else None


def columns_of_one(query: exp.Expr) -> dict[str, str]:
    """Return the outputs of a bound query by the column that each is, if its rows are rows of FROM.

    Each row of one table or relation once at most; of another query nothing is returned.
    """
    if not isinstance(query, exp.Select) or any(map(query.args.get, _OF_SEVERAL)):
        return {}
    plain = [each for each in query.selects if isinstance(each.unalias(), exp.Column)]
    return {each.unalias().name: each.alias_or_name for each in plain}


def written_name(output: exp.Expr) -> str:
    """Return the name of an output as the text gives it, empty if it has none."""
    output = output.unnest()
    if isinstance(output, exp.Dot):
        return str(output.expression.name)  # a field of a row
    if not isinstance(output, (exp.Alias, exp.Column)):
        return ""
    return name_shown(str(output.alias_or_name))


def outputs_named(select: exp.Select, name: str) -> list[exp.Expr]:
    """Return the outputs of a name, each value once.

    Args:
        select: a SELECT whose outputs are named.
        name: as written.
    """
    found = {item.this: item for item in select.selects if name_shown(item.alias) == name}
    return [*found.values()]


def rename_outputs(select: exp.Select, names: Sequence[str]) -> None:
    """Give the outputs of a bound SELECT other names, also where ORDER BY has them, in place.

    Args:
        select: a SELECT whose outputs are named.
        names: one for each output.
    """
    pairs = [*zip(select.selects, names, strict=True)]
    new = {item.alias: name for item, name in pairs if not _stays(item, select, names)}
    for item, name in pairs:
        item.set("alias", identifier(name))
    order = select.args.get("order")
    for ordered in order.expressions if order is not None else ():
        output = ordered.this
        if isinstance(output, exp.Column) and not output.table and output.name in new:
            output.set("this", identifier(new[output.name]))


def _stays(item: exp.Expr, select: exp.Select, names: Sequence[str]) -> bool:
    """Return whether the old name of an output still means its value: it is the only column of it.

    Definitions that were so before keep their text, and so their fingerprint.
    """
    column, alone = item.this, not select.args.get("joins")
    return isinstance(column, exp.Column) and column.name == item.alias not in names and alone


def is_stateful(select: exp.Select) -> bool:
    """Return whether a row of a SELECT depends on more than one row of its input."""
    alone = not (is_aggregate(select) or is_distinct(select) or joins(select))
    return is_limited(select) or not alone or bool(window_calls(select))


def is_limited(query: exp.Expr) -> bool:
    """Return whether a query has LIMIT or OFFSET of its own."""
    return bool(query.args.get("limit") or query.args.get("offset"))


def is_aggregate(select: exp.Select) -> bool:
    """Return whether a SELECT groups or aggregates (its subqueries aside)."""
    if select.args.get("group"):
        return True
    heads = [*select.selects, select.args.get("having")]
    return any(aggregates(head) for head in heads)


def empty_of_nothing(query: exp.Query) -> bool:
    """Return whether a bound query certainly has no rows where no table has any.

    An aggregate without groups has one row of nothing, VALUES and UNNEST bring rows of their own.
    """
    if query.find(exp.Values, exp.Unnest, exp.GroupingSets, exp.Rollup, exp.Cube):
        return False
    return all(
        select.args.get("from_") and (_has_groups(select) or not is_aggregate(select))
        for select in query.find_all(exp.Select)
    )


def _has_groups(select: exp.Select) -> bool:
    group = select.args.get("group")
    return group is not None and any(not isinstance(key, exp.Tuple) for key in group.expressions)


def aggregates(expression: exp.Expr | None) -> list[exp.AggFunc]:
    """Return the aggregate calls in an expression; subqueries have their own.

    What stands before OVER aggregates nothing, but its arguments can.
    """
    found: list[exp.AggFunc] = []
    stack = [expression] if expression is not None else []
    while stack:
        node = stack.pop()
        if isinstance(node, (exp.Query, exp.WithinGroup)):
            continue
        if isinstance(node, exp.AggFunc) and not is_over(node):
            found.append(node)
        stack.extend(node.iter_expressions())
    return found


def own_aggregate(expression: exp.Expr) -> exp.Expr | None:
    """Return the first function of an expression that aggregates, with OVER or without.

    Subqueries have their own.
    """
    nodes = expression.walk(prune=lambda node: isinstance(node, exp.Query))
    return next((node for node in nodes if isinstance(node, exp.AggFunc)), None)


def first_aggregate(select: exp.Select) -> exp.Expr:
    """Return the first aggregate call among the outputs of a SELECT; without one the SELECT."""
    return next((node for item in select.selects for node in aggregates(item)), select)


def is_over(node: exp.Expr) -> bool:
    """Return whether a function is the one that stands before OVER."""
    inner, between = node, (exp.Filter, exp.IgnoreNulls, exp.RespectNulls)
    while isinstance(inner.parent, between) and inner.arg_key == "this":
        inner = inner.parent
    return isinstance(inner.parent, exp.Window) and inner.arg_key == "this"


def bare_call(node: exp.Expr) -> exp.Expr:
    """Return a call without its FILTER, IGNORE NULLS and OVER."""
    while isinstance(node, (exp.Window, exp.Filter, exp.IgnoreNulls, exp.RespectNulls)):
        node = node.this
    return node


def window_calls(select: exp.Select) -> list[exp.Window]:
    """Return the calls with OVER of a SELECT (its subqueries aside)."""
    roots = [*select.selects, select.args.get("qualify")]
    return [window for root in roots if root is not None for window in windows_of(root)]


def windows_of(expression: exp.Expr) -> list[exp.Window]:
    """Return the calls with OVER in an expression; subqueries have their own."""
    found: list[exp.Window] = []
    stack = [expression]
    while stack:
        node = stack.pop()
        if isinstance(node, exp.Window):
            found.append(node)
        if not isinstance(node, exp.Query):
            stack.extend(node.iter_expressions())
    return found[::-1]


def is_distinct(select: exp.Select) -> bool:
    """Return whether it is SELECT DISTINCT."""
    return bool(select.args.get("distinct"))


def is_row_by_row(query: exp.Query) -> bool:
    """Return whether each row of FROM that passes WHERE is one row of a query."""
    if not isinstance(query, exp.Select) or is_aggregate(query) or is_distinct(query):
        return False
    several = any(query.args.get(key) for key in ("having", "qualify", "limit", "offset"))
    return not several and not window_calls(query)


def selects(query: exp.Expr) -> Iterator[exp.Select]:
    """Yield every SELECT of a query, the outermost first."""
    yield from query.find_all(exp.Select, bfs=True)
