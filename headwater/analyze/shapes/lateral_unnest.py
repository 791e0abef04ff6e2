"""LATERAL and CROSS APPLY before UNNEST → UNNEST, which reads what stands before it anyway.

In: a query as parsed. Out: the same rows::

    FROM t, LATERAL unnest(t.xs) AS u (x)         FROM t, UNNEST(t.xs) AS u (x)
    FROM t CROSS APPLY unnest(t.xs) AS u (x)      FROM t CROSS JOIN UNNEST(t.xs) AS u (x)
"""

from __future__ import annotations

from sqlglot import exp


def without_lateral_unnest(query: exp.Query) -> None:
    """Take LATERAL away from UNNEST, in place."""
    for join in list(query.find_all(exp.Join)):
        lateral = join.this
        plain = isinstance(lateral, exp.Lateral) and isinstance(lateral.this, exp.Unnest)
        if not plain or lateral.args.get("cross_apply") is False:
            continue
        if lateral.args.get("cross_apply"):
            join.set("kind", "CROSS")
        unnest = lateral.this
        unnest.set("alias", lateral.args.get("alias"))
        join.set("this", unnest)
