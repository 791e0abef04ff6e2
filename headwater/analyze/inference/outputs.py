"""The SELECT list: stars expanded, every output an alias, and the columns of the result.

In: a SELECT and the relations of its FROM. Out: the same SELECT, changed in place; its fields.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

from sqlglot import exp

from headwater.analyze.definitions import Field
from headwater.analyze.diagnostics import Diagnostics
from headwater.analyze.fallibility.bounds import bound_of
from headwater.analyze.inference.nullable import nullable
from headwater.analyze.names.scope import OF_STAR, Relation, knows, output_named, resolve
from headwater.analyze.query_parts import union_branches, written_name
from headwater.analyze.typing import types as t
from headwater.analyze.typing.common_type import named, type_of
from headwater.dialect.vocabulary import is_repeated, name_shown, told_apart, unnamed_column
from headwater.errors.nearest import did_you_mean

NAMELESS = "_unnamed"
"""The name of an output that has none, where nobody sees it."""


def expand_stars(select: exp.Select, relations: Sequence[Relation], report: Diagnostics) -> None:
    """Replace stars in the SELECT list by the columns that they stand for, in place."""
    items: list[exp.Expr] = []
    for item in select.expressions:
        if isinstance(item, exp.Star):
            if not relations:
                hint = "name a table to show the columns of: SELECT * FROM name"
                report.add("NO_INPUT", "* stands for the columns of FROM", item, hint)
            items += _listed(item, _columns_of(relations), report)
        elif row := _row_of_star(item, relations):
            items += _fields_of_row(row, relations, report)
        elif isinstance(item, exp.Column) and isinstance(item.this, exp.Star):
            items += _listed(item.this, _star_of(item, relations, report), report)
        else:
            items.append(item)
    select.set("expressions", items)


def list_columns(select: exp.Select, relations: Sequence[Relation]) -> None:
    """Let a SELECT without a list show every column of FROM, by numbers, in place."""
    columns = [exp.column(name, table=each.alias) for each in relations for name in each.fields]
    items = [exp.alias_(column, f"c{at}") for at, column in enumerate(columns, start=1)]
    select.set("expressions", items)


def leave_out_unread(bracket: exp.Subquery, select: exp.Select) -> None:
    """Remove the columns of a derived table that nothing in a SELECT reads, in place."""
    if bracket.parent is None or not isinstance(bracket.this, exp.Select):
        return  # merged into the SELECT
    read = {each.name for each in select.find_all(exp.Column) if each.table == bracket.alias}
    shown = [item for item in bracket.this.selects if item.alias in read]
    bracket.this.set("expressions", shown or [named(exp.true(), "c1")])


def _row_of_star(item: exp.Expr, relations: Sequence[Relation]) -> exp.Column | None:
    """Return the column whose fields ``(r).*`` shows, or ``r.*`` if no relation has that name."""
    if isinstance(item, exp.Dot) and isinstance(item.expression, exp.Star):
        row = item.this.unnest()
        return row if isinstance(row, exp.Column) else None
    if not isinstance(item, exp.Column) or not isinstance(item.this, exp.Star):
        return None
    if any(each.alias == item.table for each in relations):
        return None
    row = exp.column(item.args["table"], table=item.args.get("db"))
    row.meta.update(item.meta)
    return row if knows(row, relations) and not any(item.this.args.values()) else None


def _fields_of_row(
    row: exp.Column, relations: Sequence[Relation], report: Diagnostics
) -> list[exp.Expr]:
    found = exp.Paren(this=row.copy())
    errors = len(report.errors)
    resolve(found.this, relations, report)
    kind = type_of(found.this)
    if kind.this is not t.Type.STRUCT:
        if len(report.errors) == errors and not t.is_unknown(kind):
            message = f"* needs a row, not {t.sql_type(kind)}"
            report.add("TYPE_CLASH", message, row, "select the column without .*")
        return []
    items: list[exp.Expr] = []
    for field in kind.expressions:
        item = exp.Dot(this=exp.Paren(this=row.copy()), expression=exp.to_identifier(field.name))
        item.meta[OF_STAR] = row.name
        items.append(item)
    return items


def _listed(star: exp.Star, columns: list[exp.Expr], report: Diagnostics) -> list[exp.Expr]:
    """The columns of a star with its lists: EXCEPT or EXCLUDE, and REPLACE."""
    if star.args.get("rename") or star.args.get("ilike"):
        report.add("UNSUPPORTED_SYNTAX", "* takes no list of names", star, "name the columns")
    without = {each.name: each for each in star.args.get("except_") or []}
    instead = {each.alias: each for each in star.args.get("replace") or []}
    names = [name_shown(column.name) for column in columns]
    for name, node in {**without, **instead}.items():
        if name not in names:
            hint = did_you_mean(name, names, "columns")
            report.add("UNKNOWN_COLUMN", f'column "{name}" is not in *', node, hint)
        elif any(is_repeated(each.name) and name_shown(each.name) == name for each in columns):
            hint = "rename one of them with AS in the subquery"
            report.add("AMBIGUOUS_COLUMN", f'column "{name}" is in * twice', node, hint)
    kept = [each for each in columns if name_shown(each.name) not in without]
    return [instead[each.name].copy() if each.name in instead else each for each in kept]


def _star_of(
    item: exp.Column, relations: Sequence[Relation], report: Diagnostics
) -> list[exp.Expr]:
    found = [relation for relation in relations if relation.alias == item.table]
    if not found:
        names = ", ".join(relation.alias for relation in relations)
        hint = f"relations are: {names}"
        report.add("UNKNOWN_TABLE", f'"{item.table}" is not in FROM', item, hint)
    return _columns_of(found)


def _columns_of(relations: Sequence[Relation]) -> list[exp.Expr]:
    found: list[exp.Expr] = []
    for relation in relations:
        for name in relation.shown:
            column = exp.column(name, table=relation.alias)
            column.meta[OF_STAR] = relation.alias
            found.append(column)
    return found


def name_outputs(select: exp.Select, named: bool) -> None:
    """Make every output an alias; a UNION ALL takes the names of its first SELECT.

    An expression without a name gets Trino's, ``_col0`` for the first output. If ``*`` shows a name
    twice, or ``t.id, u.id`` does, the later column also bears the name of its relation: ``u_id``.
    Other columns of one name are told apart: what reads the query may never ask for them by name.
    """
    given = {name for item in select.expressions if (name := written_name(item))}
    names: list[str] = []
    for at, item in enumerate(select.expressions):
        name = written_name(item) or (unnamed_column(at) if named else NAMELESS)
        around = item.meta.get(OF_STAR) or (isinstance(item, exp.Column) and item.table)
        longer = f"{around}_{name}"
        if around and name in names and longer not in given and not is_repeated(item.name):
            name = longer
            given.add(name)
        names.append(name)
    apart = named or select.args.get("order")  # ORDER BY goes on with each output
    items: list[exp.Expr] = []
    for name, item in zip(told_apart(names) if apart else names, select.expressions, strict=True):
        if not isinstance(item, exp.Alias):
            item = exp.Alias(this=item, alias=exp.to_identifier(name))
        elif item.alias != name:
            item.args["alias"].set("this", name)
        items.append(item)
    select.set("expressions", items)


def refuse_repeated(query: exp.Query, report: Diagnostics) -> None:
    """Refuse columns of one name, which a table cannot have.

    Args:
        query: bound.
    """
    for item in union_branches(query)[0].selects:
        if is_repeated(item.alias):
            message = f'column "{name_shown(item.alias)}" is selected twice'
            report.add("DUPLICATE_COLUMN", message, item, "rename one of them with AS")


def name_in_qualify(select: exp.Select, columns: Collection[str], report: Diagnostics) -> None:
    """Replace output names in QUALIFY by what they stand for, unless FROM has such a column."""
    for column in list((select.args.get("qualify") or exp.Null()).find_all(exp.Column)):
        if not column.table and column.name not in columns:
            output = output_named(select, column, report)
            if output is not None:
                column.replace(exp.paren(output.this.copy(), copy=False))


def comment_of(output: exp.Expr, relations: Sequence[Relation]) -> str:
    """Return the comment of the column that an output is, if it is one."""
    column = output.unnest()
    if not isinstance(column, exp.Column):
        return ""
    found = (each.fields.get(column.name) for each in relations if each.alias == column.table)
    return next((field.comment for field in found if field), "")


def fields_of(select: exp.Select, comments: Mapping[str, str]) -> tuple[Field, ...]:
    """Return the columns of a typed SELECT."""
    grouped = bool(select.args.get("group"))
    return tuple(
        Field(
            item.alias,
            type_of(item.this),
            nullable(item.this, grouped),
            comments[item.alias],
            bound=bound_of(item.this) if type_of(item.this).this is t.Type.DECIMAL else None,
        )
        for item in select.expressions
    )
