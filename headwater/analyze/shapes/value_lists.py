"""VALUES in FROM → UNNEST of an array for each column.

In: a list of rows, and the condition of its join. Out: an UNNEST that gives the rows, of which only
those that fit are in the arrays::

    FROM t JOIN (VALUES (1, 'a'), (2, 'b')) AS v (k, n) ON t.k = v.k
    FROM t CROSS JOIN UNNEST(
      flatten(ARRAY[CASE WHEN t.k = 1 THEN ARRAY[1] ELSE ARRAY[] END, CASE WHEN t.k = 2 …]),
      flatten(ARRAY[CASE WHEN t.k = 1 THEN ARRAY['a'] ELSE ARRAY[] END, …])) AS v (k, n)
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from sqlglot import exp

from headwater.analyze.diagnostics import Diagnostics
from headwater.analyze.query_parts import stand_for
from headwater.analyze.typing.functions.lines import named
from headwater.dialect.vocabulary import unnamed_column

FLATTEN = named("flatten")

_MOST = 500
"""Values of a list: larger ones are tables."""
_ALL = {"expressions", "from_"}
"""The clauses of ``SELECT * FROM …`` without others."""
_OF_USING = "of_using"
"""Key of ``Column.meta``: whether it is the left column of a pair of USING."""


def values_of(node: exp.Expr) -> exp.Values | None:
    """Return the list of rows that a FROM item is, by itself or as all that a subquery reads."""
    inner, found = node, node
    while isinstance(inner, (exp.Subquery, exp.Select)):
        if isinstance(inner, exp.Select):
            if not inner.is_star or {key for key, each in inner.args.items() if each} != _ALL:
                return None
            inner = inner.args["from_"].this
        else:
            inner = inner.this
    if not isinstance(inner, exp.Values):
        return None
    found = inner.copy()
    if inner is not node:
        stand_for(found, node)
        alias = (node.args.get("alias") or exp.TableAlias()).copy()
        if not alias.columns:
            alias.set("columns", [each.copy() for each in _columns(inner)])
        found.set("alias", alias)
    return found


def values_query(values: exp.Values, alias: str) -> exp.Subquery:
    """Return a list of rows as a query of its own, whose rows stand whatever a join says of them.

    Args:
        values: the list of rows, with the names of its columns if it has some.
        alias: its name.
    """
    width = len(_row(values.expressions[0]))
    names = values.alias_column_names or [unnamed_column(at) for at in range(width)]
    columns = [exp.column(name) for name in names]
    rows = exp.Select(expressions=columns, from_=exp.From(this=values))
    found = exp.Subquery(this=rows, alias=exp.TableAlias(this=exp.to_identifier(alias)))
    found.meta.update(values.meta)
    return found


def _row(row: exp.Expr) -> list[exp.Expr]:
    return row.expressions if isinstance(row, exp.Tuple) else [row]


def _columns(values: exp.Expr) -> list[exp.Expr]:
    alias = values.args.get("alias")
    return list(alias.columns) if alias is not None else []


def unnested(
    values: exp.Values,
    alias: str,
    join: exp.Join | None,
    elsewhere: Callable[[exp.Column], bool],
    report: Diagnostics,
) -> exp.Unnest | None:
    """Return an UNNEST of the rows that fit the condition of a join; None after an error.

    Args:
        values: the list of rows.
        alias: its name.
        join: what it stands in, which loses its condition; None if it begins FROM.
        elsewhere: whether a column is one of what stands before.
        report: where errors go.
    """
    rows = [_row(each) for each in values.expressions]
    width = len(rows[0])
    names = values.alias_column_names or [unnamed_column(at) for at in range(width)]
    message = ""
    if any(len(row) != width for row in rows) or len(names) != width:
        message = "the rows of VALUES have another number of columns than names"
        report.add("WRONG_ARGUMENTS", message, rows[0][0], "give each row as many values as names")
    elif width * len(rows) > _MOST:
        message = f"VALUES with {width * len(rows)} values"
        report.not_yet(message, rows[0][0], f"make it a table: the maximum is {_MOST}")
    if message:
        return None
    condition = _condition(join, alias)
    if condition is None:
        arrays: list[exp.Expr] = [
            exp.Array(expressions=[row[at].copy() for row in rows]) for at in range(width)
        ]
    else:
        fits = [
            _of_row(condition, dict(zip(names, row, strict=True)), alias, elsewhere, report)
            for row in rows
        ]
        arrays = [_fitting(fits, [row[at] for row in rows]) for at in range(width)]
    if join is not None:
        left = join.side == "LEFT"
        join.set("kind", None if left else "CROSS")
        join.set("on", exp.true() if left else None)
        join.set("using", None)
    columns = [exp.to_identifier(name) for name in names]
    found = exp.Unnest(
        expressions=arrays,
        alias=exp.TableAlias(this=exp.to_identifier(alias), columns=columns),
    )
    found.meta.update(values.meta)
    return found


def _condition(join: exp.Join | None, alias: str) -> exp.Expr | None:
    """The condition of a join, also of one with USING."""
    if join is None:
        return None
    pairs = []
    for each in join.args.get("using") or ():
        left = exp.column(each.name)
        left.meta[_OF_USING] = True
        pairs.append(exp.EQ(this=left, expression=exp.column(each.name, table=alias)))
    found: exp.Expr | None = exp.and_(*pairs, copy=False) if pairs else join.args.get("on")
    return found


def _of_row(
    condition: exp.Expr,
    row: dict[str, exp.Expr],
    alias: str,
    elsewhere: Callable[[exp.Column], bool],
    report: Diagnostics,
) -> exp.Expr:
    """A condition with the values of a row in place of its columns."""
    root = exp.Paren(this=condition.copy())
    for column in list(root.find_all(exp.Column)):
        if column.name not in row or column.table not in ("", alias) or column.meta.get(_OF_USING):
            continue
        if not column.table and elsewhere(column):
            hint = f"write {alias}.{column.name}, or the name of the other table"
            report.add("AMBIGUOUS_COLUMN", f'column "{column.name}" is ambiguous', column, hint)
        column.replace(exp.paren(row[column.name].copy(), copy=False))
    found: exp.Expr = root.this
    return found.pop()


def _fitting(fits: Sequence[exp.Expr], values: Sequence[exp.Expr]) -> exp.Expr:
    """An array of the values whose condition is true."""
    parts: list[exp.Expr] = [
        exp.Case(
            ifs=[exp.If(this=fit.copy(), true=exp.Array(expressions=[value.copy()]))],
            default=exp.Array(expressions=[]),
        )
        for fit, value in zip(fits, values, strict=True)
    ]
    return FLATTEN(expressions=[exp.Array(expressions=parts)])
