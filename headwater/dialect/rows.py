"""Rows made of values, whose fields have names.

In: the tree of a body. Out: the same tree, changed in place::

    CAST(ROW(a, b) AS ROW(x DATE, y REAL))  ROW(CAST(a AS DATE) AS x, CAST(b AS REAL) AS y)
    named_struct('x', a, 'y', b)            ROW(a AS x, b AS y)
    {'x': a, 'y': b}                        ROW(a AS x, b AS y)
    ROW(a, b)                               ROW(a AS field0, b AS field1)
    ROW(a, b) in PostgreSQL's dialect       ROW(a AS f1, b AS f2)
    SELECT (a, b), array_agg((a, b))        SELECT ROW(a, b), array_agg(ROW(a, b))
"""

from __future__ import annotations

from sqlglot import exp

from headwater.dialect.normalize import fail_at
from headwater.dialect.splitter import MEANT_AS


def name_fields(statement: exp.Expr, dialect: str) -> None:
    """Give the fields of rows the names that a cast says, or that engines show, in place.

    Args:
        dialect: one of :data:`~headwater.dialect.splitter.BODY_DIALECTS`.

    Raises:
        DialectError: TYPE_CLASH, a cast names another number of fields.
    """
    meant = MEANT_AS.get(dialect, dialect)
    prefix, first = ("f", 1) if meant == "postgres" else ("field", 0)
    stack = [statement]
    while stack:
        node = stack.pop()
        if meant != "spark":  # there, the names of columns are those of fields: struct(a, b)
            node = _row_of(node)
        if isinstance(node, exp.Struct):
            _name_unnamed(node, prefix, first)
        if type(node) is exp.Cast and node.to.this is exp.DType.STRUCT:
            row = node.this.unnest()
            if isinstance(row, (exp.Struct, exp.Tuple)):
                node = _named(node, row)
        stack.extend(node.iter_expressions())


def _row_of(node: exp.Expr) -> exp.Expr:
    """A call of ``row``, or a tuple that is a value, as a row; anything else as it is."""
    called = isinstance(node, exp.Anonymous) and node.name.lower() == "row" and node.expressions
    if not called and not (isinstance(node, exp.Tuple) and _is_value(node)):
        return node
    row = exp.Struct(expressions=[each.copy() for each in node.expressions])
    row.meta.update(node.meta)
    node.replace(row)
    return row


def _is_value(node: exp.Expr) -> bool:
    around = node.parent
    if isinstance(around, (exp.Alias, exp.Order)):
        around = around.parent if node.arg_key == "this" else None
    return isinstance(around, (exp.Select, exp.ArrayAgg)) and len(node.expressions) > 1


def _name_unnamed(row: exp.Struct, prefix: str, first: int) -> None:
    """Name the fields of a row of which none has a name, unless its values are compared."""
    around = row.parent
    while isinstance(around, (exp.Paren, exp.Tuple)):
        around = around.parent
    counted = isinstance(around, exp.Distinct) and isinstance(around.parent, exp.Count)
    if counted or isinstance(around, exp.Predicate):
        return
    if any(isinstance(each, (exp.PropertyEQ, exp.Star)) for each in row.expressions):
        return
    fields = [
        exp.PropertyEQ(this=exp.to_identifier(f"{prefix}{at}"), expression=each)
        for at, each in enumerate(row.expressions, first)
    ]
    row.set("expressions", fields)


def values_of(row: exp.Expr) -> list[exp.Expr]:
    """Return the values of a row or tuple."""
    named = (exp.PropertyEQ,)
    return [each.expression if isinstance(each, named) else each for each in row.expressions]


def _named(node: exp.Cast, row: exp.Expr) -> exp.Expr:
    fields = [each for each in node.to.expressions if isinstance(each, exp.ColumnDef)]
    values = values_of(row)
    if len(fields) != len(values):
        message = f"the row has {len(values)} values, the type {len(fields)} named fields"
        fail_at(node, "TYPE_CLASH", message, "write CAST(ROW(a, b) AS ROW(x BIGINT, y VARCHAR))")
    named = [
        exp.PropertyEQ(this=field.this, expression=exp.Cast(this=value, to=field.args["kind"]))
        for field, value in zip(fields, values, strict=True)
    ]
    made = exp.Struct(expressions=named)
    made.meta.update(node.meta)
    node.replace(made)
    return made
