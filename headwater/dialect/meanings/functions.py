"""Functions of other dialects that are others of Trino, or compositions of them.

In: nodes as the parser of a dialect left them. Out: nodes with Trino's meaning; what the text does
not say enough about is left to the binder, which refuses it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from sqlglot import exp

from headwater.dialect.meanings.text import refuse, text
from headwater.dialect.syntax import DIALECT

Meaning = Callable[[exp.Expr], exp.Expr]


def named(name: str, *keys: str) -> Meaning:
    """A node as a call of Trino's function, if it says nothing else.

    Args:
        keys: the arguments of the node, in the order of the call.
    """

    def call(node: exp.Expr) -> exp.Expr:
        if any(value for key, value in node.args.items() if key not in keys):
            return node
        given = [node.args[key].copy() for key in keys if node.args.get(key) is not None]
        return exp.Anonymous(this=name, expressions=given)

    return call


def called_otherwise(names: Mapping[str, str]) -> Meaning:
    """Calls that sqlglot has no node for, under Trino's names.

    Args:
        names: Trino's names by those of the dialect, lower case.
    """

    def call(node: exp.Expr) -> exp.Expr:
        name = names.get(str(node.this).lower())
        return exp.Anonymous(this=name, expressions=node.expressions) if name else node

    return call


def any_element(node: exp.Expr) -> exp.Expr:
    """``exists(array, lambda)``, which sqlglot reads as the same node as ``EXISTS (query)``."""
    condition = node.args.get("expression")
    if condition is None:
        return node
    given = [node.this.copy(), condition.copy()]
    return exp.Anonymous(this="any_match", expressions=given)


def any_row(node: exp.Expr) -> exp.Expr:
    """``any(x)`` as an aggregate; behind a comparison it stands for the values compared with."""
    around = node.parent
    compares = isinstance(around, exp.Binary) and not isinstance(around, exp.Connector)
    if isinstance(node.this, exp.Query) or (compares and node.arg_key == "expression"):
        return node
    return exp.LogicalOr(this=node.this.unnest().copy())


def beginning(node: exp.Expr) -> exp.Expr:
    """``left(x, n)``."""
    count = _count(node)
    if count is None:
        return node
    first = exp.Literal.number(1)
    return exp.Substring(this=node.this.copy(), start=first, length=exp.Literal.number(count))


def end(node: exp.Expr) -> exp.Expr:
    """``right(x, n)``: all of a text that is shorter."""
    count = _count(node)
    if not count:
        return node
    start = exp.Neg(this=exp.Literal.number(count))
    cut = exp.Substring(this=node.this.copy(), start=start)
    short = exp.LT(this=exp.Length(this=node.this.copy()), expression=exp.Literal.number(count))
    return exp.Case(ifs=[exp.If(this=short, true=node.this.copy())], default=cut)


def _count(node: exp.Expr) -> int | None:
    number = node.expression
    return int(number.name) if isinstance(number, exp.Literal) and number.is_int else None


def alike(node: exp.Expr) -> exp.Expr:
    """``ILIKE``: both sides in lower case."""
    if isinstance(node.parent, exp.Escape):
        return node
    pattern = node.expression
    lowered = text(pattern.name.lower()) if pattern.is_string else exp.Lower(this=pattern.copy())
    made: exp.Expr = exp.Like(this=exp.Lower(this=node.this.copy()), expression=lowered)
    return exp.Not(this=made) if node.args.get("negate") else made


def common_logarithm(node: exp.Expr) -> exp.Expr:
    """``log`` that is to base 10 if it has one argument."""
    base, value = node.this, node.args.get("expression")
    if value is None:
        return exp.Anonymous(this="log10", expressions=[base.copy()])
    if base.name in ("2", "10"):  # rounded once
        return exp.Anonymous(this=f"log{base.name}", expressions=[value.copy()])
    return exp.Anonymous(this="log", expressions=[base.copy(), value.copy()])


def of_positive(node: exp.Expr) -> exp.Expr:
    """A logarithm that is NULL for what has none."""
    value = node.args.get("expression") or node.this
    positive = exp.GT(this=value.copy(), expression=exp.Literal.number(0))
    call = common_logarithm(node) if isinstance(node, exp.Log) else node.copy()
    return exp.Case(ifs=[exp.If(this=positive, true=call)])


def day_of_week(sunday: int) -> Meaning:
    """``dayofweek``, by the number of Sunday."""

    def day(node: exp.Expr) -> exp.Expr:
        iso = exp.DayOfWeekIso(this=node.this.copy())
        found: exp.Expr = exp.Mod(this=iso, expression=exp.Literal.number(7))
        if sunday:
            found = exp.Add(this=found, expression=exp.Literal.number(sunday))
        return exp.paren(found, copy=False)

    return day


def length_or_null(node: exp.Expr) -> exp.Expr:
    """``array_length(x, 1)`` of PostgreSQL, which is NULL for an empty array."""
    dimension = node.args.get("expression")
    if dimension is None or dimension.name != "1":
        return node
    size = exp.ArraySize(this=node.this.copy())
    return exp.Nullif(this=size, expression=exp.Literal.number(0))


def exact_letters(node: exp.Expr) -> exp.Expr:
    """``date_format`` whose letters stand for all of their digits; sqlglot marks them."""
    if isinstance(node.this, exp.TimeStrToTime):  # sqlglot takes every time for a text
        node.set("this", node.this.this.copy())
    pattern = node.args.get("format")
    if pattern is not None and pattern.is_string and "strict" in pattern.name:
        node.set("format", text(pattern.name.replace("strict", "")))
    return node


def gathered(node: exp.Expr) -> exp.Expr:
    """``collect_list`` and ``collect_set``: no NULLs, and an empty array of nothing."""
    distinct = isinstance(node, exp.ArrayUniqueAgg)
    if isinstance(node.parent, (exp.Filter, exp.Window)) or not isinstance(node.this, exp.Column):
        return node
    if not distinct and not node.args.get("nulls_excluded"):
        return node
    value = node.this.copy()
    given = exp.Not(this=exp.Is(this=value.copy(), expression=exp.Null()))
    call = exp.ArrayAgg(this=exp.Distinct(expressions=[value]) if distinct else value)
    kept = exp.Filter(this=call, expression=exp.Where(this=given))
    return exp.Coalesce(this=kept, expressions=[exp.Array(expressions=[])])


def bytes_apart(node: exp.Expr) -> exp.Expr:
    """``levenshtein`` of DuckDB."""
    hint = "leave the header out, and write levenshtein_distance(x, y), which counts characters"
    refuse(node, "levenshtein of DuckDB counts bytes", hint)


def element(first: int, *, fails: bool) -> Meaning:
    """``x[n]``, by the place of the first element.

    Args:
        fails: whether it fails if an array has no such element; the value of a key is NULL.
    """

    def found(node: exp.Expr) -> exp.Expr:
        at = node.expressions[0]
        if node.args.get("safe") or not isinstance(at, exp.Literal) or len(node.expressions) > 1:
            return node
        place = int(at.name) + 1 - first if at.is_int else 1
        if place < 1:
            return node
        if at.is_int:
            node.set("expressions", [exp.Literal.number(place)])
        if at.is_string or not fails:
            node.set("safe", True)
            node.set("offset", 1)
        node.meta.pop(DIALECT, None)
        return node

    return found


def digest(name: str) -> Meaning:
    """A hash of a text as hexadecimal digits; Trino's is one of bytes."""

    def hashed(node: exp.Expr) -> exp.Expr:
        size = node.args.get("length")
        if size is not None and size.name not in ("0", "256"):
            refuse(node, f"SHA-2 of {size.name} bits is not in the language", "use 256")
        made: exp.Expr = node.this.copy()
        for each in ("to_utf8", name, "to_hex"):
            made = exp.Anonymous(this=each, expressions=[made])
        return exp.Lower(this=made)

    return hashed
