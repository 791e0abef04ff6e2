"""Functions and patterns of text that other dialects read otherwise than Trino.

In: nodes as the parser of a dialect left them. Out: nodes with Trino's meaning, or a refusal.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from functools import reduce
from typing import NoReturn

from sqlglot import exp

from headwater.dialect.normalize import fail_at
from headwater.dialect.syntax import GIVEN

Meaning = Callable[[exp.Expr], exp.Expr]


def refuse(node: exp.Expr, message: str, hint: str) -> NoReturn:
    """Raise NOT_PORTABLE at a node."""
    fail_at(node, "NOT_PORTABLE", message, hint)


def text(value: str) -> exp.Literal:
    """Return a literal of text."""
    return exp.Literal.string(value)


def is_null(node: exp.Expr) -> exp.Is:
    """Return the test whether a value is NULL; the value is copied."""
    return exp.Is(this=node.copy(), expression=exp.Null())


def _whole_number(node: exp.Expr | None) -> int | None:
    """Return the value of a whole number as written, or None."""
    inner = node.this if isinstance(node, exp.Neg) else node
    if not isinstance(inner, exp.Literal) or not inner.is_int:
        return None
    return -int(inner.name) if inner is not node else int(inner.name)


def counted_from_end(*, shorter: bool) -> Meaning:
    """``substr`` that takes 0 for 1, and begins with the text if a negative start is before it.

    Args:
        shorter: whether the characters before the text count for the length.
    """

    def cut(node: exp.Expr) -> exp.Expr:
        start, length = _whole_number(node.args.get("start")), node.args.get("length")
        if start == 0:
            node.set("start", exp.Literal.number(1))
        node.set("zero_start", None)
        if start is None or start >= 0:
            return node
        size = exp.Length(this=node.this.copy())
        if length is not None and shorter:
            beyond = exp.Sub(this=exp.Literal.number(-start), expression=size.copy())
            length = _less(length, exp.paren(beyond, copy=False))
        whole = exp.Substring(this=node.this.copy(), start=exp.Literal.number(1), length=length)
        before = exp.LT(this=size, expression=exp.Literal.number(-start))
        return exp.Case(ifs=[exp.If(this=before, true=whole)], default=node.copy())

    return cut


def _less(length: exp.Expr, missing: exp.Expr) -> exp.Expr:
    """A length without what is missing, but not below 0."""
    known, gone = _whole_number(length), _whole_number(missing)
    if known is not None and gone is not None:
        return exp.Literal.number(max(known - gone, 0))
    rest = exp.Sub(this=length.copy(), expression=missing)
    return exp.Greatest(this=rest, expressions=[exp.Literal.number(0)])


def zero_is_a_place(node: exp.Expr) -> exp.Expr:
    """``substr`` of DuckDB: 0 is the place before the first character."""
    if _whole_number(node.args.get("start")) == 0:
        return placed(node)
    return counted_from_end(shorter=True)(node)


def placed(node: exp.Expr) -> exp.Expr:
    """``substr`` of PostgreSQL: places before the first character count, none from the end."""
    start, length = _whole_number(node.args.get("start")), node.args.get("length")
    if start is not None and start <= 0:
        node.set("start", exp.Literal.number(1))
        if length is not None:
            node.set("length", _less(length, exp.Literal.number(1 - start)))
    return node


def part(node: exp.Expr) -> exp.Expr:
    """``split_part`` that is empty beyond the last part, and counts negative parts from the end."""
    number, delimiter = _whole_number(node.args.get("part_index")), node.args.get("delimiter")
    if delimiter is not None and delimiter.is_string and delimiter.name:
        node.set("empty_delimiter_returns_whole", None)
    if number is not None and number > 0:
        node.set("part_index_zero_as_one", None)
    elif number is not None:
        refuse(node, "split_part counts parts from 1", "count from the start")
    return or_empty(node)


def or_empty(node: exp.Expr) -> exp.Expr:
    """An empty text if nothing is found in a text that is not NULL."""
    found = exp.Coalesce(this=node.copy(), expressions=[text("")])
    return exp.Case(ifs=[exp.If(this=exp.Not(this=is_null(node.this)), true=found)])


def among(like: Meaning = lambda node: node) -> Meaning:
    """``LIKE ANY`` and ``LIKE ALL`` of a list.

    Args:
        like: what LIKE of a single pattern means.
    """

    def meant(node: exp.Expr) -> exp.Expr:
        quantifier = node.expression
        if not isinstance(quantifier, (exp.Any, exp.All)):
            return like(node)
        listed = quantifier.this.unnest()
        if isinstance(listed, exp.Literal):
            listed = exp.Tuple(expressions=[listed.copy()])
        if not isinstance(listed, (exp.Tuple, exp.Array)) or not listed.expressions:
            return node
        terms = [
            like(type(node)(**{**node.args, "this": node.this.copy(), "expression": each.copy()}))
            for each in listed.expressions
        ]
        join = exp.Or if isinstance(quantifier, exp.Any) else exp.And
        return exp.paren(reduce(lambda a, b: join(this=a, expression=b), terms), copy=False)

    return meant


def escaped(node: exp.Expr) -> exp.Expr:
    """``LIKE`` in whose patterns a backslash escapes."""
    pattern = node.expression
    plain = pattern.is_string and "\\" not in pattern.name
    if plain or isinstance(node.parent, exp.Escape):
        return node
    negate = node.args.get("negate")
    node.set("negate", None)
    escape: exp.Expr = exp.Escape(this=node.copy(), expression=text("\\"))
    return exp.Not(this=escape) if negate else escape


def blanks(node: exp.Expr) -> exp.Expr:
    """``trim`` that removes blanks, no tabs and line ends, unless it says what."""
    if not node.args.get("expression"):
        node.set("expression", text(" "))
    return node


def trimmed(node: exp.Expr) -> exp.Expr:
    """``btrim(x[, characters])``, a call by name."""
    value, *characters = node.expressions
    cut = characters[0].copy() if characters else text(" ")
    return exp.Trim(this=value.copy(), expression=cut, position="BOTH")


def replaced(node: exp.Expr) -> exp.Expr:
    """``replace`` that does not find an empty text."""
    search = node.expression
    if not node.args.get("replacement"):
        node.set("replacement", text(""))
    if search.is_string and search.name:
        return node
    empty = exp.EQ(this=search.copy(), expression=text(""))
    return exp.Case(ifs=[exp.If(this=empty, true=node.this.copy())], default=node.copy())


def ends_with(node: exp.Expr) -> exp.Expr:
    """``ends_with(x, suffix)``."""
    return turned(node.this, node.expression)


def turned(value: exp.Expr, suffix: exp.Expr) -> exp.Expr:
    """Whether a text ends with another: turned round, it begins with it."""
    return begins_with(exp.Reverse(this=value.copy()), exp.Reverse(this=suffix.copy()))


def begins_with(value: exp.Expr, prefix: exp.Expr) -> exp.Expr:
    """Whether a text begins with another."""
    return exp.StartsWith(this=value.copy(), expression=prefix.copy())


def held(node: exp.Expr) -> exp.Expr:
    """``contains`` of texts."""
    place = exp.StrPosition(this=node.this.copy(), substr=node.expression.copy())
    return exp.paren(exp.GT(this=place, expression=exp.Literal.number(0)), copy=False)


def separated(separator: str) -> Meaning:
    """``listagg`` and the like, with the separator of those that name none."""

    def joined(node: exp.Expr) -> exp.Expr:
        if not node.args.get("separator"):
            node.set("separator", text(separator))
        return node

    return joined


# -- patterns


def replaced_once(node: exp.Expr) -> exp.Expr:
    """``regexp_replace`` that replaces the first match unless it has the flag g."""
    flags = node.args.get("modifiers")
    if flags is None or flags.name != "g":
        message = "regexp_replace without the flag 'g' replaces the first match only"
        refuse(node, message, "add 'g' to replace every match")
    node.set("modifiers", None)
    node.set("single_replace", None)
    node.meta.pop(GIVEN, None)
    return references(node)


def references(node: exp.Expr) -> exp.Expr:
    r"""Groups in a replacement are ``\1``; in Trino they are ``$1``."""
    replacement = node.args.get("replacement")
    if replacement is not None and replacement.is_string:
        node.set("replacement", text("".join(_dollars(replacement.name))))
    return node


def _dollars(written: str) -> Iterator[str]:
    at = 0
    while at < len(written):
        letter, after = written[at], written[at + 1 : at + 2]
        if letter == "\\" and after.isdigit():
            yield f"${after}"
            at += 1
        elif letter == "\\" and after == "&":
            yield "$0"
            at += 1
        elif letter == "\\" and after == "\\":
            yield "\\\\"
            at += 1
        else:
            yield f"\\{letter}" if letter in "$\\" else letter
        at += 1


def first_match(node: exp.Expr) -> exp.Expr:
    """``regexp_substr(x, pattern)``."""
    if any(value for key, value in node.args.items() if key not in ("this", "expression")):
        return node
    return exp.RegexpExtract(this=node.this.copy(), expression=node.expression.copy())


def matches_all(node: exp.Expr) -> exp.Expr:
    """``regexp_like`` of Snowflake, whose pattern is the whole text."""
    if not node.expression.is_string:
        refuse(node, "the pattern of regexp_like is no literal", "write the pattern itself")
    node.set("expression", text(f"^(?:{node.expression.name})$"))
    node.set("full_match", None)
    return node


TEXTS: Mapping[type[exp.Expr], Meaning] = {
    exp.EndsWith: ends_with,
    exp.RegexpSubstr: first_match,
    exp.Replace: replaced,
    exp.Trim: blanks,
}
"""What Spark, DuckDB and PostgreSQL mean by the same functions."""
