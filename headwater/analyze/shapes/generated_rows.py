"""``unnest`` and ``explode`` in the SELECT list, and LATERAL VIEW → UNNEST in FROM.

In: a query as parsed. Out: the same rows::

    SELECT id, unnest(tags) AS tag FROM t
    SELECT id, _rows.c1 AS tag FROM t CROSS JOIN UNNEST(tags) AS _rows (c1)

    FROM t LATERAL VIEW OUTER explode(tags) e AS tag
    FROM t LEFT JOIN UNNEST(tags) AS e (tag) ON true

    FROM t LATERAL VIEW posexplode(tags) e AS n, tag
    FROM t CROSS JOIN UNNEST(sequence(0, cardinality(tags) - 1), tags) AS e (n, tag)
"""

from __future__ import annotations

from sqlglot import exp

from headwater.analyze.diagnostics import Diagnostics
from headwater.analyze.inference.language_texts import composed_untyped
from headwater.analyze.query_parts import is_aggregate, relations
from headwater.dialect.vocabulary import unnamed_column

_ALIAS = "_rows"
_VIEWED = (exp.Explode, exp.Posexplode, exp.Inline)
_PLACES = "CASE WHEN cardinality(_1) > 0 THEN sequence(0, cardinality(_1) - 1) END"
"""The places of the elements of an array, from 0."""


def generate_in_from(query: exp.Query, report: Diagnostics) -> None:
    """Move what makes rows into FROM, in place; report where it means something else."""
    for select in list(query.find_all(exp.Select)):
        _lateral_views(select)
        calls = [(at, each, _call(each)) for at, each in enumerate(select.expressions)]
        found = [(at, item, call) for at, item, call in calls if call is not None]
        if found:
            _move(select, found, report)


def _call(item: exp.Expr) -> exp.Expr | None:
    """Return the call that an output is, if it makes rows."""
    call = item.unalias()
    made = isinstance(call, (exp.Explode, exp.Unnest)) and not isinstance(call, exp.Posexplode)
    return call if made and len(_arguments(call)) == 1 else None


def _arguments(call: exp.Expr) -> list[exp.Expr]:
    return call.expressions or [call.this]


def _move(
    select: exp.Select, found: list[tuple[int, exp.Expr, exp.Expr]], report: Diagnostics
) -> None:
    outer = [isinstance(call, exp.ExplodeOuter) for _, _, call in found]
    shared = any(join.args.get("using") or join.method for join in select.args.get("joins") or [])
    words = ""
    if is_aggregate(select):
        words = "rows made of groups"
    elif any(outer) and len(outer) > 1:
        words = "several of explode_outer"
    elif select.is_star and (shared or not all(each.alias_or_name for each in relations(select))):
        words = "* beside what makes rows"
    if words:
        hint = "write CROSS JOIN UNNEST(array) AS u (x) in FROM"
        report.not_yet(words, _arguments(found[0][2])[0], hint)
        for _, _, call in found:
            call.replace(_arguments(call)[0].copy())
        return
    items: list[exp.Expr] = []
    for at, item in enumerate(select.expressions):
        place = next((n for n, each in enumerate(found, 1) if each[0] == at), None)
        if isinstance(item, exp.Star):
            items += [
                exp.column(exp.Star(), table=each.alias_or_name) for each in relations(select)
            ]
        elif place is None:
            items.append(item)
        else:
            name = item.alias or unnamed_column(at)
            column = exp.column(f"c{place}", table=_ALIAS)
            items.append(exp.Alias(this=column, alias=exp.to_identifier(name)))
    arrays = [_arguments(call)[0].copy() for _, _, call in found]
    names = [f"c{place}" for place in range(1, len(found) + 1)]
    select.set("expressions", items)
    select.append("joins", _joined(arrays, _ALIAS, names, outer=any(outer)))


def _lateral_views(select: exp.Select) -> None:
    """Write LATERAL VIEW of explode and its like as a join; others stay, and are refused."""
    views = select.args.get("laterals") or []
    if not views or not all(type(view.this) in _VIEWED for view in views):
        return
    for view in views:
        alias = view.args["alias"]
        names = [column.name for column in alias.columns]
        outer = bool(view.args.get("outer"))
        arrays = [view.this.this.copy()]
        if isinstance(view.this, exp.Posexplode):
            arrays = [composed_untyped(_PLACES, arrays), *arrays]
        select.append("joins", _joined(arrays, alias.name, names, outer=outer))
    select.set("laterals", None)


def _joined(arrays: list[exp.Expr], alias: str, names: list[str], *, outer: bool) -> exp.Join:
    columns = [exp.to_identifier(name) for name in names]
    given = exp.TableAlias(this=exp.to_identifier(alias), columns=columns)
    rows = exp.Unnest(expressions=arrays, alias=given)
    if outer:
        return exp.Join(this=rows, side="LEFT", on=exp.true())
    return exp.Join(this=rows, kind="CROSS")
