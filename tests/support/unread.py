"""Which parts of a parsed view nobody reads: without them the same view is bound.

In: a parsed ``CREATE STREAMING VIEW`` and the definitions that it reads. Out: the arguments of its
query's nodes whose loss changes neither the bound view nor what is said of it. A pass that forgets
an argument is seen whatever the argument is: nothing here knows the passes.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import dataclass
from random import Random

from sqlglot import exp

from headwater.analyze.ddl.views import bind_view
from headwater.analyze.definitions import Catalog
from headwater.analyze.diagnostics import Diagnostics
from headwater.analyze.time.recent import RECENT
from headwater.dialect import syntax, to_sql

NO_MEANING: dict[tuple[str, str], str] = {
    ("Identifier", "quoted"): "names have no case",
    ("Join", "kind"): "INNER and CROSS say what a join without a condition is anyway",
    ("CTE", "materialized"): "how an engine computes, not what",
    ("Fetch", "direction"): "FIRST and NEXT are one word",
    ("RespectNulls", "this"): "it is what holds without it",
    ("Ordered", "nulls_first"): "NULLS LAST is what holds without it",
    ("Ordered", "desc"): "ASC is what holds without it",
    ("Fetch", "count"): "FETCH FIRST ROW is one row",
    ("LimitOptions", "rows"): "ROWS says nothing more",
    ("Fetch", "limit_options"): "ROWS ONLY says nothing more",
    ("Version", "kind"): "AS OF is the only kind",
}
"""Node and argument → why nothing changes if it is left out."""


@dataclass(frozen=True, slots=True)
class Part:
    """An argument of a node that is set.

    Attributes:
        path: the way from the query to the node: argument and place of each child.
        key: the argument.
        at: the place in it, if it is a list with several.
        name: the node's class and the argument.
        text: of the argument.
    """

    path: tuple[tuple[str, int | None], ...]
    key: str
    at: int | None
    name: tuple[str, str]
    text: str


def parts(query: exp.Expr) -> list[Part]:
    """Return every argument of every node of a query that is set."""
    return list(_parts(query, ()))


def _parts(node: exp.Expr, path: tuple[tuple[str, int | None], ...]) -> Iterator[Part]:
    for key, value in node.args.items():
        if value in (None, False, []):
            continue
        name = (type(node).__name__, key)
        bare = isinstance(node, (exp.Order, exp.Ordered)) and _orders_nothing(node)
        values = value if isinstance(value, list) else [value]
        places = [None] if not isinstance(value, list) else [None, *range(len(values))]
        for at in () if bare else places if len(values) > 1 else places[:1]:
            if at is not None and _is_key_of_distinct(values[at]):
                continue
            yield Part(path, key, at, name, _text(value if at is None else values[at]))
        for at, each in enumerate(values):
            if isinstance(each, exp.Expr):
                place = at if isinstance(value, list) else None
                yield from _parts(each, (*path, (key, place)))


def _orders_nothing(node: exp.Expr) -> bool:
    """Return whether it is ORDER BY of a table, which has no order: only its names are read."""
    around = node.find_ancestor(exp.Query, exp.Window, exp.Func)
    if not isinstance(around, exp.Query):
        return False
    return not (around.args.get("limit") or around.args.get("offset") or _on(around))


def _is_key_of_distinct(value: object) -> bool:
    """Return whether an item of ORDER BY is what DISTINCT ON takes the first row of anyway."""
    if not isinstance(value, exp.Ordered):
        return False
    around = value.find_ancestor(exp.Query, exp.Window, exp.Func)
    return isinstance(around, exp.Query) and value.this in _on(around)


def _on(query: exp.Query) -> list[exp.Expr]:
    """The keys of DISTINCT ON."""
    distinct = query.args.get("distinct")
    on = distinct.args.get("on") if isinstance(distinct, exp.Distinct) else None
    return [] if on is None else list(on.expressions or [on.unnest()])


def _text(value: object) -> str:
    return to_sql(value, pretty=False) if isinstance(value, exp.Expr) else str(value)


def without(statement: syntax.CreateStreamingView, part: Part) -> syntax.CreateStreamingView:
    """Return a copy of a statement without a part; a name or number is another one."""
    copy = statement.copy()
    node: exp.Expr = copy.expression
    for key, at in part.path:
        node = node.args[key] if at is None else node.args[key][at]
    value = node.args[part.key]
    if part.at is not None:
        node.set(part.key, [each for at, each in enumerate(value) if at != part.at])
    elif isinstance(value, str):
        node.set(part.key, "987" if value.isdigit() else f"{value}_other")
    else:
        node.args.pop(part.key)
    return copy


def outcome(statement: syntax.CreateStreamingView, catalog: Catalog) -> object:
    """Return all that the binder makes of a statement, in a form that can be compared."""
    report = Diagnostics(statement)
    try:
        view = bind_view(statement, catalog, frozenset(), report)
    except Exception as error:  # noqa: BLE001  a tree that no parser gives
        return repr(error)
    if view is None:
        return [(error.condition, error.message) for error in report.errors]
    fields = [(each.name, repr(each.type)) for each in view.fields]
    recent = [repr(node.meta.get(RECENT)) for node in view.query.find_all(exp.Table)]
    return repr(view.query), fields, recent, view.ordered


def unread(
    statement: syntax.CreateStreamingView,
    catalog: Catalog,
    rnd: Random,
    most: int,
    only: Collection[str] = (),
) -> list[Part]:
    """Return parts of a view that nobody reads.

    Args:
        statement: as parsed.
        catalog: what it reads.
        rnd: draws the parts that are tried.
        most: how many parts are tried.
        only: the classes of the nodes whose arguments are tried; all without it.
    """
    whole = outcome(statement, catalog)
    tried = [part for part in parts(statement.expression) if part.name not in NO_MEANING]
    tried = [part for part in tried if not only or part.name[0] in only]
    if len(tried) > most:
        tried = rnd.sample(tried, most)
    return [part for part in tried if outcome(without(statement, part), catalog) == whole]
