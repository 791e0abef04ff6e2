"""``USING`` and ``NATURAL`` → ON; both columns of a pair are one afterwards.

In: a join, the relations before it and the one behind it. Out: the condition, and which columns a
plain name and ``*`` mean: of an inner and a LEFT JOIN the left column, of a RIGHT JOIN the right
one, of a FULL JOIN the first of both that is not NULL. A qualified name still means one column.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from sqlglot import exp

from headwater.analyze.definitions import Field
from headwater.analyze.diagnostics import Diagnostics
from headwater.analyze.names.scope import NULLABLE, Relation, as_fields, resolve
from headwater.analyze.typing import types as t
from headwater.analyze.typing.common_type import cast_to, type_of
from headwater.dialect.vocabulary import is_system_column


@dataclass(slots=True)
class SharedColumns:
    """What USING makes of the relations of a join.

    Attributes:
        before: the relations before the join.
        right: the relation behind it.
        conditions: the pairs that must be equal.
        merged: what stands for a column that is neither the left nor the right one.
    """

    before: list[Relation]
    right: Relation
    conditions: list[exp.Expr] = field(default_factory=list)
    merged: dict[str, exp.Expr] = field(default_factory=dict)

    def relation(self, alias: str) -> Relation:
        """Return the merged columns as a relation."""
        fields = [Field(name, type_of(value), True) for name, value in self.merged.items()]
        return Relation(alias, as_fields(fields), exp.Null(), computed=self.merged)


def one_side(items: Sequence[Relation]) -> Relation:
    """Return one relation with the columns that plain names mean on one side of a join.

    Args:
        items: a relation, or a derived table and what stands for the FROM items in it.
    """
    first, *within = items
    if not within:
        return first
    computed: dict[str, exp.Expr] = {}
    fields: list[Field] = []
    twice: set[str] = set()
    for each in within:
        for name in (name for name in each.fields if name not in each.hidden):
            if name in computed:
                twice.add(name)
            fields.append(each.fields[name])
            computed[name] = (each.computed or {})[name]
    return Relation(
        first.alias, as_fields(fields), first.node, computed=computed, twice=frozenset(twice)
    )


def natural_columns(before: Sequence[Relation], right: Relation) -> list[exp.Identifier]:
    """Return the columns that both sides of a NATURAL JOIN have."""
    seen = {name for each in before for name in each.fields if name not in each.hidden}
    return [
        exp.to_identifier(name)
        for name in right.fields
        if name in seen and not is_system_column(name)
    ]


def share_columns(
    join: exp.Join,
    names: Sequence[exp.Expr],
    before: Sequence[Relation],
    right: Relation,
    report: Diagnostics,
) -> SharedColumns:
    """Return what the names of USING make of the relations of a join; report what they cannot be.

    Args:
        join: its side decides which of two columns is shown.
        names: the columns.
        before: the relations that the join sees on its left.
        right: the relation behind it.
        report: where errors go.
    """
    shared = SharedColumns([*before], right)
    for item in names:
        holders = [
            at
            for at, each in enumerate(shared.before)
            if item.name in each.fields and item.name not in each.hidden
        ]
        found = item.name in right.fields and item.name not in right.twice
        if len(holders) != 1 or not found:
            if not any(each.broken for each in (*before, right)):
                message = f'column "{item.name}" of USING is not in both tables once'
                report.add("UNKNOWN_COLUMN", message, item, "write ON with both columns")
            continue
        _share(shared, holders[0], item, join.side, report)
    return shared


def _share(shared: SharedColumns, at: int, item: exp.Expr, side: str, report: Diagnostics) -> None:
    left, name = shared.before[at], item.name
    sides = [_column(name, each, report) for each in (left, shared.right)]
    kinds = [type_of(each) for each in sides]
    common = t.common_type(kinds)
    if common is None:
        message = f'column "{name}" of USING is {" and ".join(map(t.sql_type, kinds))}'
        report.add("TYPE_CLASH", message, item, "write ON, and cast one of both")
        return
    pair = [exp.column(name, table=each.alias) for each in (left, shared.right)]
    shared.conditions.append(exp.EQ(this=pair[0], expression=pair[1]))
    merges = side == "FULL" or kinds[0] != kinds[1]
    if merges or side == "RIGHT":
        shared.before[at] = replace(left, hidden=left.hidden | {name})
    if merges or side != "RIGHT":
        shared.right = replace(shared.right, hidden=shared.right.hidden | {name})
    if merges:
        shown = sides if side == "FULL" else [sides[side == "RIGHT"]]
        shared.merged[name] = _first_of(shown, common)


def _column(name: str, relation: Relation, report: Diagnostics) -> exp.Expr:
    """Return a column of a relation, bound; a later outer join can leave it NULL."""
    root = exp.Paren(this=exp.column(name, table=relation.alias))
    resolve(root.this, [relation], report)
    for column in root.find_all(exp.Column):
        column.meta[NULLABLE] = True
    found: exp.Expr = root.this
    return found.pop()


def _first_of(sides: Sequence[exp.Expr], kind: exp.DataType) -> exp.Expr:
    root = exp.Coalesce(this=sides[0], expressions=[*sides[1:]])
    for each in sides:
        if type_of(each) != kind:
            cast_to(each, kind)
    found: exp.Expr = root if len(sides) > 1 else root.this.pop()
    found.type = kind
    return found
