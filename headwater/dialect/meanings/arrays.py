"""Arrays and maps of other dialects by Trino's functions.

In: nodes as the parser of a dialect left them. Out: nodes with Trino's meaning; what the text does
not say enough about is left to the binder, which refuses it.
"""

from __future__ import annotations

from collections.abc import Mapping

from sqlglot import exp

from headwater.dialect.meanings import functions
from headwater.dialect.meanings.text import Meaning, is_null, refuse
from headwater.dialect.meanings.text import text as literal

_ELEMENT = "e"
_ELEMENT_FROM_1 = functions.element(1, fails=False)


def call(name: str, *given: exp.Expr) -> exp.Anonymous:
    """Return a call of Trino's function; the arguments are copied."""
    return exp.Anonymous(this=name, expressions=[each.copy() for each in given])


def _those(array: exp.Expr, *, null: bool) -> exp.Anonymous:
    """The elements that are NULL, or those that are not."""
    test: exp.Expr = is_null(exp.column(_ELEMENT))
    return call("filter", array, _of_element(test if null else exp.Not(this=test)))


def _of_element(body: exp.Expr) -> exp.Lambda:
    body = body.transform(lambda node: node.this if isinstance(node, exp.Column) else node)
    return exp.Lambda(this=body, expressions=[exp.to_identifier(_ELEMENT)])


def most(name: str) -> Meaning:
    """``array_max`` and ``array_min`` that leave NULLs out."""
    return lambda node: call(name, _those(node.this, null=False))


def nulls_first(node: exp.Expr) -> exp.Expr:
    """``array_sort`` of which NULLs come first, unless it says otherwise."""
    upwards = node.args.get("expression") or node.args.get("asc")
    first = node.args.get("nulls_first")
    if isinstance(upwards, exp.Boolean) and not upwards.this:
        refuse(node, "an array is sorted upwards only", "leave FALSE out")
    if any(each is not None and not isinstance(each, exp.Boolean) for each in (upwards, first)):
        refuse(node, "how the array is sorted is no literal", "write TRUE or FALSE")
    if isinstance(first, exp.Boolean) and not first.this:
        return call("array_sort", node.this)
    given = call("array_sort", _those(node.this, null=False))
    return exp.paren(exp.DPipe(this=_those(node.this, null=True), expression=given), copy=False)


def sorted_so(node: exp.Expr) -> exp.Expr:
    """``sort_array`` of Spark, of which NULLs come first, and ``array_sort``."""
    if "nulls_first" in node.args:
        return nulls_first(node)
    return node if node.args.get("expression") else call("array_sort", node.this)


def holds(node: exp.Expr) -> exp.Expr:
    """``array_contains`` that finds NULL, and is false of an array without the value."""
    value: exp.Expr = node.expression
    otherwise: exp.Expr = exp.false()
    if not isinstance(value, exp.Literal):
        nulls = exp.ArraySize(this=_those(node.this, null=True))
        some = exp.GT(this=nulls, expression=exp.Literal.number(0))
        otherwise = exp.And(this=is_null(value), expression=some)
    found = exp.Coalesce(this=node.copy(), expressions=[otherwise])
    return exp.Case(ifs=[exp.If(this=exp.Not(this=is_null(node.this)), true=found)])


def removed(node: exp.Expr) -> exp.Expr:
    """``array_remove`` that is NULL if the value is."""
    return call("array_remove", node.this, node.expression)


def piece(node: exp.Expr) -> exp.Expr:
    """``slice(x, first, length)``."""
    return call("slice", node.this, node.args["start"], node.args["end"])


def without(node: exp.Expr) -> exp.Expr:
    """``array_remove`` that removes NULL as it does any value."""
    if isinstance(node.expression, exp.Literal):
        return removed(node)
    null = exp.If(this=is_null(node.expression), true=_those(node.this, null=False))
    return exp.Case(ifs=[null], default=removed(node))


def place_or_null(node: exp.Expr) -> exp.Expr:
    """``array_position`` of a literal, NULL if the array has none."""
    if not isinstance(node.expression, exp.Literal) or node.args.get("zero_based"):
        return node
    found = call("array_position", node.this, node.expression)
    return exp.Nullif(this=found, expression=exp.Literal.number(0))


def shared(node: exp.Expr) -> exp.Expr:
    """``array_intersect(x, y)``."""
    return call("array_intersect", *node.expressions) if len(node.expressions) == 2 else node


def joined(node: exp.Expr) -> exp.Expr:
    """``array_concat(x, y, …)``, which is NULL if one is."""
    made = node.this.copy()
    for each in node.expressions:
        made = exp.DPipe(this=made, expression=each.copy())
    return exp.paren(made, copy=False)


def longer(*, first: bool) -> Meaning:
    """``array_append`` and ``array_prepend``, which are NULL of NULL."""

    def made(node: exp.Expr) -> exp.Expr:
        one = exp.Array(expressions=[node.expression.copy()])
        sides = (one, node.this.copy()) if first else (node.this.copy(), one)
        return exp.paren(exp.DPipe(this=sides[0], expression=sides[1]), copy=False)

    return made


def from_to(node: exp.Expr) -> exp.Expr:
    """``array_slice(x, first, last)`` by numbers as written."""
    return _cut(node, node.this, node.args.get("start"), node.args.get("end"))


def sliced(node: exp.Expr) -> exp.Expr | None:
    """``x[first:last]``; None if it is no slice."""
    at = node.expressions[0]
    if not isinstance(at, exp.Slice) or at.args.get("step"):
        return None
    return _cut(node, node.this, at.this, at.args.get("expression"))


def element_or_part(node: exp.Expr) -> exp.Expr:
    """``x[n]``, NULL beyond the end, and ``x[first:last]``."""
    return sliced(node) or _ELEMENT_FROM_1(node)


def _cut(
    node: exp.Expr, array: exp.Expr, first: exp.Expr | None, last: exp.Expr | None
) -> exp.Expr:
    for each in (first, last):
        if each is not None and not (isinstance(each, exp.Literal) and each.is_int):
            refuse(
                node, "a part of an array has places as written", "write slice(x, first, length)"
            )
    begin = max(int(first.name), 1) if first is not None else 1
    size: exp.Expr = exp.ArraySize(this=array.copy())
    if last is not None:
        size = exp.Literal.number(max(int(last.name) - begin + 1, 0))
    return call("slice", array, exp.Literal.number(begin), size)


def parts(node: exp.Expr) -> exp.Expr:
    """``split`` of which an empty text has no parts."""
    empty = exp.EQ(this=node.this.copy(), expression=literal(""))
    split = exp.Split(this=node.this.copy(), expression=node.expression.copy())
    none = exp.If(this=empty, true=exp.Array(expressions=[]))
    return exp.Case(ifs=[none], default=split)


def map_of(node: exp.Expr) -> exp.Expr | None:
    """``MAP[key, value, …]``, which sqlglot reads as an element of a column; or None."""
    written = node.this
    plain = isinstance(written, exp.Column) and not written.table and not written.this.quoted
    if not plain or written.name.lower() != "map" or len(node.expressions) % 2:
        return None
    sides = (node.expressions[::2], node.expressions[1::2])
    return call("map", *(exp.Array(expressions=[each.copy() for each in side]) for side in sides))


OF_SPARK_AND_FLINK: Mapping[type[exp.Expr], Meaning] = {
    exp.ArrayAppend: longer(first=False),
    exp.ArrayDistinct: functions.named("array_distinct", "this"),
    exp.ArrayExcept: functions.named("array_except", "this", "expression"),
    exp.ArrayIntersect: shared,
    exp.ArrayMax: most("array_max"),
    exp.ArrayMin: most("array_min"),
    exp.ArrayPosition: functions.named("array_position", "this", "expression"),
    exp.MapKeys: functions.named("map_keys", "this"),
}
"""What both engines answer alike, by class of a node."""
