"""Group windows, as Flink SQL wrote them at first → windows in FROM.

In: a query in canonical form. Out: the same query, changed in place::

    SELECT TUMBLE_START(ts, INTERVAL '1' HOUR) AS began, count(*) AS n
    FROM t GROUP BY TUMBLE(ts, INTERVAL '1' HOUR)

    SELECT window_start AS began, count(*) AS n
    FROM TUMBLE(t, ts, INTERVAL '1' HOUR) AS t GROUP BY window_start, window_end
"""

from __future__ import annotations

import re

from sqlglot import exp

from headwater.dialect.meanings.text import refuse
from headwater.dialect.syntax import WindowTable

_INTERVALS = {"tumble": 1, "hop": 2, "session": 1}
"""By group window, its number of intervals."""
_PARTS = {
    "start": "window_start",
    "end": "window_end",
    "rowtime": "window_end - INTERVAL '1' MILLISECOND",
}
_AUXILIARY = re.compile(r"(tumble|hop|session)_(start|end|rowtime)")
_HINT = "write it in FROM: FROM TUMBLE(t, ts, INTERVAL '1' HOUR)"


def move_group_windows(query: exp.Query) -> None:
    """Replace ``GROUP BY TUMBLE(ts, …)`` and its like by windows in FROM, in place.

    Raises:
        DialectError: NOT_PORTABLE, the window does not say what it is of.
    """
    for select in reversed(list(query.find_all(exp.Select))):  # the inner ones first
        group = select.args.get("group")
        if isinstance(group, exp.Group):
            for call in [each for each in group.expressions if _is_window(each)][:1]:
                _move(select, group, call)


def _is_window(node: exp.Expr) -> bool:
    return isinstance(node, exp.Anonymous) and node.name in _INTERVALS


def _move(select: exp.Select, group: exp.Group, call: exp.Expr) -> None:
    kind, (time, *intervals) = call.name, call.expressions
    if not isinstance(time, exp.Column) or len(intervals) != _INTERVALS[kind]:
        refuse(call, f"the group window {kind.upper()} takes a column and its lengths", _HINT)
    source = _windowed(select, time, call)
    keys = [each.copy() for each in group.expressions if each is not call]
    if kind == "session" and not all(isinstance(each, exp.Column) for each in keys):
        refuse(call, "the sessions of groups are of columns", _HINT)
    relation = source.copy()
    relation.set("alias", None)
    window = WindowTable(
        kind=kind,
        this=relation,
        time=exp.column(time.name),
        size=intervals[-1],
        slide=intervals[0] if kind == "hop" else None,
        partition_by=[exp.column(each.name) for each in keys] if kind == "session" else None,
    )
    alias = exp.TableAlias(this=exp.to_identifier(source.alias_or_name or "w"))
    source.replace(exp.Table(this=window, alias=alias))
    group.set("expressions", [*keys, exp.column("window_start"), exp.column("window_end")])
    for node in list(select.find_all(exp.Anonymous)):
        part = _AUXILIARY.fullmatch(node.name)
        if part and (part[1] != kind or not _is_same(node, call)):
            refuse(
                node, "this is no window of GROUP BY", f"write {kind.upper()}_START as in GROUP BY"
            )
        if part:
            node.replace(exp.maybe_parse(_PARTS[part[2]]))


def _is_same(node: exp.Expr, call: exp.Expr) -> bool:
    """Return whether two calls are of the same time and lengths."""
    (time, *intervals), (other, *others) = node.expressions or [node], call.expressions
    return bool(time.name == other.name and intervals == others)


def _windowed(select: exp.Select, time: exp.Column, call: exp.Expr) -> exp.Expr:
    """Return the relation in FROM that has the time."""
    joins = select.args.get("joins") or []
    relations: list[exp.Expr] = [select.args["from_"].this, *(join.this for join in joins)]
    for each in relations:
        if len(relations) == 1 or (time.table and each.alias_or_name == time.table):
            return each
    return refuse(call, "a group window over a join does not say whose time it is", _HINT)
