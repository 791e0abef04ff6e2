"""Rows made of values, whose fields have names.

In: the tree of a body. Out: the same tree, changed in place::

    CAST(ROW(a, b) AS ROW(x DATE, y REAL))  ROW(CAST(a AS DATE) AS x, CAST(b AS REAL) AS y)
    named_struct('x', a, 'y', b)            ROW(a AS x, b AS y)
    {'x': a, 'y': b}                        ROW(a AS x, b AS y)
"""

from __future__ import annotations

from sqlglot import exp

from headwater.dialect.normalize import fail_at


def name_fields(statement: exp.Expr) -> None:
    """Give the fields of rows the names that a cast says, in place.

    Raises:
        DialectError: TYPE_CLASH, a cast names another number of fields.
    """
    stack = [statement]
    while stack:
        node = stack.pop()
        if type(node) is exp.Cast and node.to.this is exp.DType.STRUCT:
            row = node.this.unnest()
            if isinstance(row, (exp.Struct, exp.Tuple)):
                node = _named(node, row)
        stack.extend(node.iter_expressions())


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
