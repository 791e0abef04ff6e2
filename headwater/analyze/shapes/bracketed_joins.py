"""Joins in brackets → joins one after another.

In: a query as parsed. Out: the same rows::

    FROM (a)                                 FROM a
    FROM (a LEFT JOIN b ON p) JOIN c ON q    FROM a LEFT JOIN b ON p JOIN c ON q
    FROM a JOIN (b JOIN c ON p) ON q         FROM a CROSS JOIN b JOIN c ON p AND q
"""

from __future__ import annotations

from sqlglot import exp

_PLAIN = ("", "INNER", "CROSS")


def without_brackets(query: exp.Query) -> None:
    """Write joins that stand in brackets as joins of the SELECT around, in place."""
    for select in query.find_all(exp.Select):
        source = select.args.get("from_")
        if source is None:
            continue
        joins = list(select.args.get("joins") or [])
        _unwrap(source)
        while first := _bracketed(source.this):
            joins = [*_taken(first), *joins]
            source.set("this", first)
        flat: list[exp.Join] = []
        while joins:
            join = joins.pop(0)
            _unwrap(join)
            inner = _bracketed(join.this) if _is_plain(join) else None
            if inner is None or not all(map(_is_plain, inner.args["joins"])):
                flat.append(join)
                continue
            within = _taken(inner)
            _add_condition(within[-1], join.args.get("on"))
            joins = [exp.Join(this=inner, kind="CROSS"), *within, *joins]
        select.set("joins", flat or None)


def _bracketed(item: exp.Expr) -> exp.Table | None:
    """Return the first table of joins in brackets that have no name of their own."""
    if not isinstance(item, exp.Subquery) or item.alias:
        return None
    inner = item.this
    if isinstance(inner, exp.Subquery):
        return _bracketed(inner)
    return inner if isinstance(inner, exp.Table) and inner.args.get("joins") else None


def _unwrap(item: exp.Expr) -> None:
    """Take a table that stands in brackets by itself out of them, in place."""
    inner = item.this.this if isinstance(item.this, exp.Subquery) and not item.this.alias else None
    if isinstance(inner, exp.Table) and not inner.args.get("joins"):
        item.set("this", inner)


def _taken(first: exp.Table) -> list[exp.Join]:
    joins = list(first.args["joins"])
    first.set("joins", None)
    return joins


def _is_plain(join: exp.Join) -> bool:
    more = join.side or join.method or join.args.get("using")
    return not more and join.kind.upper() in _PLAIN


def _add_condition(join: exp.Join, condition: exp.Expr | None) -> None:
    if condition is not None:
        own = [each for each in (join.args.get("on"), condition) if each is not None]
        wrapped = [exp.paren(each.copy(), copy=False) for each in own]
        join.set("on", exp.and_(*wrapped, copy=False))
        join.set("kind", None)
