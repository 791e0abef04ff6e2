"""Which columns of a subquery belong to the query around it.

In: a subquery as parsed, whose columns get marks; then the relations around it, which know what was
read of them when a copy of the subquery was bound. Out: a key for each column that was read.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from sqlglot import exp

from headwater.analyze.correlated.domain import Domain, Key, NoDomain, read_of
from headwater.analyze.names.scope import MARK, Relation
from headwater.analyze.typing import types as t

_MOST = 10_000
"""Numbers that one statement may use: each level of subqueries is bound several times."""


def mark_columns(query: exp.Expr, number: Callable[[], int]) -> None:
    """Give every column of a query that has no mark one of its own, in place.

    Args:
        query: as parsed.
        number: gives a number that no other column has.
    """
    for column in query.find_all(exp.Column):
        column.meta.setdefault(MARK, number())


def from_items(select: exp.Select) -> list[exp.Expr]:
    """Return copies of FROM and the joins behind it.

    Args:
        select: as parsed.
    """
    source = select.args.get("from_")
    parts = [source, *(select.args.get("joins") or [])] if source is not None else []
    return [part.copy() for part in parts]


def domain_of(
    around: Sequence[Relation], written: Sequence[exp.Expr], number: Callable[[], int]
) -> Domain:
    """Return the values of what was read of the relations around a subquery.

    Args:
        around: the relations of the query around.
        written: FROM and the joins that they stand for, as parsed.
        number: gives a number that no other alias has.

    Raises:
        NoDomain: nothing was read, the nesting is too deep, or a value that is read has parts.
    """
    used, first = [relation for relation in around if relation.reads], number()
    if not used or not written or first > _MOST:
        raise NoDomain
    prefix, marked, names = f"_k{first}_", dict[int, Key](), dict[exp.Expr, str]()
    for relation in used:
        for mark, column in relation.reads.items():
            outer = _qualified(column, relation)
            name = names.setdefault(outer, f"{prefix}{len(names) + 1}")
            field = relation.fields.get(outer.name)
            if field is None or t.family(field.type) not in t.SCALARS:
                raise NoDomain
            marked[mark] = Key(name, outer, field.type, field.nullable)
    return Domain(marked, read_of(written, used), number)


def _qualified(column: exp.Column, relation: Relation) -> exp.Column:
    names = [part.name for part in column.parts]
    if names[0] == relation.alias and len(names) > 1:
        del names[0]
    if len(names) > 1:
        raise NoDomain
    return exp.column(names[0], table=relation.alias)
