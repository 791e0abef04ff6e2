"""Joins after UNNEST: what stands before them becomes a subquery.

In: a bound SELECT. Out: the same rows from one in which no join follows an UNNEST: Spark unnests
after all joins of a FROM clause::

    SELECT t.id, u.v, s.x FROM t CROSS JOIN UNNEST(t.vs) AS u(v) JOIN s ON s.v = u.v
    SELECT _unnested.c1, _unnested.c2, s.x
    FROM (SELECT t.id AS c1, u.v AS c2 FROM t CROSS JOIN UNNEST(t.vs) AS u(v)) AS _unnested
    JOIN s ON s.v = _unnested.c2
"""

from __future__ import annotations

from sqlglot import exp

from headwater.analyze.query_parts import relations, unused_alias
from headwater.analyze.typing.common_type import named


def unnest_first(select: exp.Select) -> None:
    """Put everything up to the last UNNEST that a join follows into a subquery, in place."""
    joins = select.args.get("joins") or []
    kinds = [isinstance(join.this, exp.Unnest) for join in joins]
    joined = max((at for at, unnests in enumerate(kinds) if not unnests), default=0)
    if True not in kinds[:joined]:
        return
    end = max(at for at in range(joined) if kinds[at]) + 1
    before = {item.alias_or_name for item in relations(select)[: end + 1]}
    inner = exp.Select(from_=select.args["from_"], joins=joins[:end])
    select.set("joins", joins[end:])
    select.set("from_", None)
    alias = unused_alias(select, "_unnested")
    names: dict[exp.Expr, exp.Alias] = {}
    tables = [join.this for join in joins[end:] if not isinstance(join.this, exp.Unnest)]
    foreign = {id(column) for table in tables for column in table.find_all(exp.Column)}
    outer = [each for each in select.find_all(exp.Column) if each.table in before]
    for column in [each for each in outer if id(each) not in foreign]:
        item = names.setdefault(column.copy(), named(column, f"c{len(names) + 1}"))
        column.set("this", exp.to_identifier(item.alias))
        column.set("table", exp.to_identifier(alias))
    inner.set("expressions", list(names.values()) or [named(exp.true(), "c1")])
    unnest_first(inner)
    select.set("from_", exp.From(this=inner.subquery(alias, copy=False)))
