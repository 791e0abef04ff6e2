"""LATERAL → a join with the rows of all values that it reads.

In: a join with LATERAL, as parsed, of a shape that has no plainer form. Out: the same rows by a
join with a subquery that reads nothing of what stands before it::

    FROM a JOIN LATERAL (SELECT b.v FROM b WHERE b.v > a.x ORDER BY b.v LIMIT 2) AS l ON true
    FROM a JOIN (SELECT b.v, _d1._k1 FROM (SELECT DISTINCT a.x AS _k1 FROM a) AS _d1 CROSS JOIN b
                 WHERE b.v > _d1._k1
                 QUALIFY row_number() OVER (PARTITION BY _d1._k1 ORDER BY b.v) <= 2) AS l
         ON l._k1 = a.x
"""

from __future__ import annotations

from sqlglot import exp

from headwater.analyze.correlated.domain import Domain, NoDomain
from headwater.analyze.shapes.first_rows import windowed_order


def lateral_query(join: exp.Join) -> exp.Query:
    """Return the query of a LATERAL, whose ORDER BY with LIMIT is a window from then on.

    Args:
        join: a join with LATERAL, as parsed; changed in place.

    Raises:
        NoDomain: it has none, or the join is a RIGHT or FULL one.
    """
    inner = join.this.this
    if not isinstance(inner, exp.Subquery) or join.side not in ("", "LEFT"):
        raise NoDomain
    query = inner.unnest()
    assert isinstance(query, exp.Query)
    if isinstance(query, exp.Select):
        windowed_order(query)
    return query


def join_values(join: exp.Join, alias: str, domain: Domain) -> exp.Join:
    """Return the join that stands for a join with LATERAL.

    Args:
        join: from :func:`lateral_query`; changed.
        alias: the name of the LATERAL.
        domain: the values of the columns that it reads.

    Raises:
        NoDomain: it has a shape for which that is not done.
    """
    item, to = join.this.this, join.this.args.get("alias")
    domain.spread(item.unnest())
    names = [column.copy() for column in to.columns] if to is not None else []
    if names:
        names += [exp.to_identifier(key.name) for key in domain.keys]
    named = exp.TableAlias(this=exp.to_identifier(alias), columns=names or None)
    own = exp.Subquery(this=item.unnest(), alias=named)
    terms = [key.same(exp.column(key.name, table=alias), key.outer) for key in domain.keys]
    on = join.args.get("on")
    terms = [*([exp.paren(on.copy())] if on is not None else []), *terms]
    return exp.Join(this=own, side=join.side or None, on=exp.and_(*terms, copy=False))
