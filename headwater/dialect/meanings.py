"""What a dialect means otherwise than Trino by the same words.

In: a statement as the parser of its dialect left it. Out: the same statement with Trino's meaning,
changed in place; or a refusal with place and hint, if the meaning depends on what the text does not
say. Names and forms that Trino lacks are translated by sqlglot, or refused by the binder.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from decimal import Decimal
from typing import NoReturn

from sqlglot import exp

from headwater.dialect.normalize import fail_at
from headwater.dialect.syntax import GIVEN

Meaning = Callable[[exp.Expr], exp.Expr]

_BITS = (exp.BitwiseAnd, exp.BitwiseOr, exp.BitwiseXor)


def give_trinos_meaning(statement: exp.Expr, dialect: str) -> None:
    """Rewrite a statement so that Trino's rules give what its dialect means.

    Args:
        statement: a parsed statement; changed in place.
        dialect: one of :data:`~headwater.dialect.splitter.BODY_DIALECTS`.

    Raises:
        DialectError: NOT_PORTABLE, the meaning cannot be kept.
    """
    meanings = MEANINGS.get(dialect, {})
    query = statement if isinstance(statement, exp.Query) else statement.args.get("expression")
    for node in reversed(list(query.walk())) if isinstance(query, exp.Query) else ():
        meaning = meanings.get(type(node))
        changed = meaning(node) if meaning else node
        if changed is not node:
            node.replace(changed)
            place = {key: value for key, value in node.meta.items() if key != GIVEN}
            changed.meta.update(place)


def _refuse(node: exp.Expr, message: str, hint: str) -> NoReturn:
    fail_at(node, "NOT_PORTABLE", message, hint)


def _text(value: str) -> exp.Literal:
    return exp.Literal.string(value)


def _is_null(node: exp.Expr) -> exp.Is:
    return exp.Is(this=node.copy(), expression=exp.Null())


def _whole_number(node: exp.Expr | None) -> int | None:
    """Return the value of a whole number as written, or None."""
    inner = node.this if isinstance(node, exp.Neg) else node
    if not isinstance(inner, exp.Literal) or not inner.is_int:
        return None
    return -int(inner.name) if inner is not node else int(inner.name)


# -- NULL among arguments


def _extreme(node: exp.Expr) -> exp.Expr:
    """``greatest`` and ``least`` that leave NULLs out: each argument stands in for a NULL."""
    if not node.args.get("ignore_nulls"):
        return node
    node.set("ignore_nulls", False)
    given = [node.this, *node.expressions]
    if len(given) > 1:
        turned = [given[at:] + given[:at] for at in range(len(given))]
        first, *others = (_first_given(each) for each in turned)
        node.set("this", first)
        node.set("expressions", others)
    return node


def _first_given(values: list[exp.Expr]) -> exp.Coalesce:
    first, *others = (value.copy() for value in values)
    return exp.Coalesce(this=first, expressions=others)


def _joined(node: exp.Expr) -> exp.Expr:
    """``concat`` that takes NULL for an empty text."""
    if node.args.get("coalesce"):
        node.set("coalesce", False)
        parts = [
            part if part.is_string else exp.Coalesce(this=part.copy(), expressions=[_text("")])
            for part in node.expressions
        ]
        node.set("expressions", parts)
    return node


def _joined_with(node: exp.Expr) -> exp.Expr:
    """``concat_ws`` that is NULL if one argument is: the operator joins the texts."""
    separator, first, *others = node.expressions
    joined = first.copy()
    for other in others:
        joined = exp.DPipe(this=joined, expression=separator.copy())
        joined = exp.DPipe(this=joined, expression=other.copy())
    return exp.paren(joined, copy=False)


# -- parts of text


def _counted_from_end(*, shorter: bool) -> Meaning:
    """``substr`` that takes 0 for 1, and begins with the text if a negative start is before it.

    Args:
        shorter: whether the characters before the text count for the length.
    """

    def cut(node: exp.Expr) -> exp.Expr:
        start, length = _whole_number(node.args.get("start")), node.args.get("length")
        if start == 0:
            node.set("start", exp.Literal.number(1))
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


def _zero_is_a_place(node: exp.Expr) -> exp.Expr:
    """``substr`` of DuckDB: 0 is the place before the first character."""
    if _whole_number(node.args.get("start")) == 0:
        return _placed(node)
    return _counted_from_end(shorter=True)(node)


def _placed(node: exp.Expr) -> exp.Expr:
    """``substr`` of PostgreSQL: places before the first character count, none from the end."""
    start, length = _whole_number(node.args.get("start")), node.args.get("length")
    if start is not None and start <= 0:
        node.set("start", exp.Literal.number(1))
        if length is not None:
            node.set("length", _less(length, exp.Literal.number(1 - start)))
    return node


def _part(node: exp.Expr) -> exp.Expr:
    """``split_part`` that is empty beyond the last part, and counts negative parts from the end."""
    number = _whole_number(node.args.get("part_index"))
    if number is not None and number < 1:
        _refuse(node, "split_part counts parts from 1", "count from the start")
    return _or_empty(node)


def _or_empty(node: exp.Expr) -> exp.Expr:
    """An empty text if nothing is found in a text that is not NULL."""
    found = exp.Coalesce(this=node.copy(), expressions=[_text("")])
    return exp.Case(ifs=[exp.If(this=exp.Not(this=_is_null(node.this)), true=found)])


def _escaped(node: exp.Expr) -> exp.Expr:
    """``LIKE`` in whose patterns a backslash escapes."""
    pattern = node.expression
    plain = pattern.is_string and "\\" not in pattern.name
    if plain or isinstance(node.parent, exp.Escape):
        return node
    negate = node.args.get("negate")
    node.set("negate", None)
    escape: exp.Expr = exp.Escape(this=node.copy(), expression=_text("\\"))
    return exp.Not(this=escape) if negate else escape


# -- patterns


def _replaced_once(node: exp.Expr) -> exp.Expr:
    """``regexp_replace`` that replaces the first match unless it has the flag g."""
    flags = node.args.get("modifiers")
    if flags is None or flags.name != "g":
        message = "regexp_replace without the flag 'g' replaces the first match only"
        _refuse(node, message, "add 'g' to replace every match")
    node.set("modifiers", None)
    node.set("single_replace", None)
    node.meta.pop(GIVEN, None)
    return _references(node)


def _references(node: exp.Expr) -> exp.Expr:
    r"""Groups in a replacement are ``\1``; in Trino they are ``$1``."""
    replacement = node.args.get("replacement")
    if replacement is not None and replacement.is_string:
        node.set("replacement", _text("".join(_dollars(replacement.name))))
    return node


def _dollars(text: str) -> Iterator[str]:
    at = 0
    while at < len(text):
        letter, after = text[at], text[at + 1 : at + 2]
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


def _matches_all(node: exp.Expr) -> exp.Expr:
    """``regexp_like`` of Snowflake, whose pattern is the whole text."""
    if not node.expression.is_string:
        _refuse(node, "the pattern of regexp_like is no literal", "write the pattern itself")
    node.set("expression", _text(f"^(?:{node.expression.name})$"))
    node.set("full_match", None)
    return node


# -- numbers and types


def _strict(node: exp.Expr) -> exp.Expr:
    """CAST of Spark, which fails (ANSI); sqlglot takes it for the one that gives NULL."""
    return node if node.args.get("safe") else exp.Cast(this=node.this.copy(), to=node.args["to"])


def _unsized(precision: int, scale: int) -> Meaning:
    """A DECIMAL without digits has those of its dialect."""

    def sized(node: exp.Expr) -> exp.Expr:
        if node.this is exp.DType.DECIMAL and not node.expressions:
            sizes = (exp.Literal.number(precision), exp.Literal.number(scale))
            node.set("expressions", [exp.DataTypeParam(this=size) for size in sizes])
        return node

    return sized


def _any_scale(node: exp.Expr) -> exp.Expr:
    """A numeric of PostgreSQL without digits keeps those of its value."""
    to = node.args["to"]
    if to.this is not exp.DType.DECIMAL or to.expressions:
        return node
    inner = node.this.unnest()
    literal = inner.this if isinstance(inner, exp.Neg) else inner
    if not isinstance(literal, exp.Literal) or "e" in literal.name.lower():
        _refuse(node, "numeric without digits keeps those of each value", "write numeric(18, 6)")
    number = Decimal(literal.name)
    scale = max(-int(number.as_tuple().exponent), 0)
    precision = max(len(number.as_tuple().digits), scale, 1)
    sizes = (exp.Literal.number(precision), exp.Literal.number(scale))
    to.set("expressions", [exp.DataTypeParam(this=size) for size in sizes])
    return node


def _real_is_double(node: exp.Expr) -> exp.Expr:
    if node.this is exp.DType.FLOAT:
        node.set("this", exp.DType.DOUBLE)
    return node


def _point_is_double(node: exp.Expr) -> exp.Expr:
    """A number with a point is a FLOAT64 in BigQuery."""
    plain = node.is_number and "." in node.name and "e" not in node.name.lower()
    if plain and not isinstance(node.parent, exp.Cast):
        node.set("this", f"{node.name}e0")
    return node


def _error_by_zero(node: exp.Expr) -> exp.Expr:
    """A division of Spark by zero fails (ANSI)."""
    node.set("safe", False)
    return node


def _bits_in_order(node: exp.Expr) -> exp.Expr:
    """``&`` binds before ``^``, and ``^`` before ``|``; sqlglot reads them from left to right."""
    for side in (node.this, node.args.get("expression")):
        if isinstance(side, _BITS) and type(side) is not type(node):
            _refuse(node, "&, ^ and | stand beside each other", "put the inner part in brackets")
    return node


# -- times


def _parts_of_week(sunday: int) -> Meaning:
    """``extract(dow)``, by the number of Sunday: 0 or 1."""

    def part(node: exp.Expr) -> exp.Expr:
        unit, value = node.this.name.lower(), node.expression
        iso = exp.DayOfWeekIso(this=value.copy())
        if unit in ("isodow", "dow_iso", "dayofweek_iso"):
            return iso
        if unit in ("dow", "dayofweek"):
            seven = exp.Literal.number(7)
            day: exp.Expr = exp.Mod(this=iso, expression=seven)
            if sunday:
                day = exp.Add(this=day, expression=exp.Literal.number(sunday))
            return exp.paren(day, copy=False)
        if unit in ("doy", "dayofyear"):
            return exp.DayOfYear(this=value.copy())
        return node

    return part


def _is_not_null(node: exp.Expr) -> exp.Expr:
    """``x IS NOT NULL`` as sqlglot reads it in other dialects."""
    if not node.args.get("negate"):
        return node
    return exp.Not(this=exp.Is(this=node.this.copy(), expression=node.expression.copy()))


_EXTREMES: Mapping[type[exp.Expr], Meaning] = {
    exp.Greatest: _extreme,
    exp.Least: _extreme,
}

MEANINGS: Mapping[str, Mapping[type[exp.Expr], Meaning]] = {
    "spark": {
        **_EXTREMES,
        exp.Substring: _counted_from_end(shorter=True),
        exp.SplitPart: _part,
        exp.Like: _escaped,
        exp.RegexpExtract: _or_empty,
        exp.TryCast: _strict,
        exp.DataType: _unsized(10, 0),
        exp.Div: _error_by_zero,
        exp.Extract: _parts_of_week(1),
        **dict.fromkeys(_BITS, _bits_in_order),
    },
    "duckdb": {
        **_EXTREMES,
        exp.Concat: _joined,
        exp.Substring: _zero_is_a_place,
        exp.SplitPart: _part,
        exp.RegexpReplace: _replaced_once,
        exp.RegexpExtract: _or_empty,
        exp.Extract: _parts_of_week(0),
    },
    "postgres": {
        **_EXTREMES,
        exp.Concat: _joined,
        exp.Substring: _placed,
        exp.SplitPart: _part,
        exp.Like: _escaped,
        exp.RegexpReplace: _replaced_once,
        exp.Cast: _any_scale,
        exp.TryCast: _any_scale,
        exp.Extract: _parts_of_week(0),
        exp.Is: _is_not_null,
    },
    "snowflake": {
        **_EXTREMES,
        exp.ConcatWs: _joined_with,
        exp.Substring: _counted_from_end(shorter=True),
        exp.SplitPart: _part,
        exp.RegexpLike: _matches_all,
        exp.RegexpReplace: _references,
        exp.DataType: _real_is_double,
    },
    "bigquery": {
        exp.Substring: _counted_from_end(shorter=False),
        exp.Like: _escaped,
        exp.RegexpReplace: _references,
        exp.DataType: _unsized(38, 9),
        exp.Literal: _point_is_double,
        exp.Extract: _parts_of_week(1),
        **dict.fromkeys(_BITS, _bits_in_order),
    },
}
"""By dialect and class of a node, what it means there."""
