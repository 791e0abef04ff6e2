"""Functions over text with one meaning in three engines: Trino's.

In: typed calls. Out: expressions that say what happens at the edges: a start of 0, an empty search,
a part that is not there, white space beyond the blank, letters whose capital is two letters.
"""

from __future__ import annotations

from sqlglot import exp

from headwater.analyze.portable.patterns import call, spark_split, text

WHITE_SPACE = (
    "\t\n\x0b\x0c\r\x1c\x1d\x1e\x1f \u1680\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2008"
    "\u2009\u200a\u2028\u2029\u205f\u3000"
)
"""What Trino's trim removes; no-break spaces are not among it."""

_LARGE = 2**31 - 1
_IOTA = {code: code + 8 for first in (0x1F80, 0x1F90, 0x1FA0) for code in range(first, first + 8)}
_IOTA |= {0x1FB3: 0x1FBC, 0x1FC3: 0x1FCC, 0x1FF3: 0x1FFC}
"""Greek letters with a small iota: their capitals are one letter in Trino, two in Spark."""
_YOUNG = {code: code - 32 for code in range(0x10D70, 0x10D86)}
_YOUNG |= {0x19B: 0xA7DC, 0x264: 0xA7CB, 0x1C8A: 0x1C89, 0xA7CD: 0xA7CC, 0xA7DB: 0xA7DA}
"""Letters and their capitals that DuckDB 2.0's tables lack."""


def trimmed(node: exp.Expr) -> exp.Expr:
    """Let trim remove what Trino takes for white space.

    Args:
        node: a typed call; changed in place.
    """
    if not node.args.get("expression"):
        node.set("expression", text(WHITE_SPACE))
        node.set("position", node.args.get("position") or "BOTH")
    return node


def part_of(node: exp.Expr) -> exp.Expr:
    """``substr``: empty at 0, before the first character and for a length below 1."""
    value, start, length = node.this, node.args["start"], node.args.get("length")
    if isinstance(start, exp.Literal) or (
        isinstance(start, exp.Neg) and isinstance(start.this, exp.Literal)
    ):
        return _from_known(value, int(start.to_py()), length)
    size = call("LENGTH", value)
    before = exp.LT(this=exp.paren(start.copy()), expression=exp.Neg(this=size))
    zero = exp.EQ(this=exp.paren(start.copy()), expression=exp.Literal.number(0))
    cut = call("SUBSTRING", value, _in_range(start), *_lengths(length))
    present = exp.Not(this=_is_null(value))
    return _unless(exp.and_(present, exp.or_(zero, before)), cut)


def _from_known(value: exp.Expr, start: int, length: exp.Expr | None) -> exp.Expr:
    if start == 0 or abs(start) > _LARGE:
        # NULL for NULL, of the text and of the length
        nothing = call("SUBSTRING", value, exp.Literal.number(1), exp.Literal.number(0))
        return nothing if length is None else _unless(_is_null(length), exp.Null(), nothing)
    place = exp.Literal.number(start)
    cut = call("SUBSTRING", value, place, *_lengths(length))
    if start > 0:
        return cut
    return _unless(exp.LT(this=call("LENGTH", value), expression=exp.Literal.number(-start)), cut)


def _lengths(length: exp.Expr | None) -> list[exp.Expr]:
    return [] if length is None else [_in_range(length, least=0)]


def _in_range(number: exp.Expr, least: int = -_LARGE) -> exp.Expr:
    """A number of characters as an INTEGER; no text is longer."""
    literal = number.this if isinstance(number, exp.Neg) else number
    if isinstance(literal, exp.Literal):
        return exp.Literal.number(max(least, min(int(number.to_py()), _LARGE)))
    most = call("LEAST", number, exp.Literal.number(_LARGE))
    bounded: exp.Expr = call("GREATEST", most, exp.Literal.number(least))
    given = exp.Not(this=_is_null(number))  # Spark's own leave NULL out
    bounded = exp.Case(ifs=[exp.If(this=given, true=bounded)])
    return exp.Cast(this=bounded, to=exp.DataType.build("INT"))


def replaced(node: exp.Expr, group: str, escapes: str) -> exp.Expr:
    """``replace``: an empty search is found around every character.

    Args:
        group: how the engine's replacements write the first group.
        escapes: the characters before which they need a backslash.
    """
    search, new = node.expression, node.args.get("replacement") or text("")
    if search.is_string and search.name:
        return node
    escaped: exp.Expr = new
    for char in escapes:
        escaped = call("REPLACE", escaped, text(char), text("\\" + char))
    between = call("CONCAT", text(group), escaped)
    options = [text("g")] if group.startswith("\\") else []
    spread = call("REGEXP_REPLACE", node.this, text("((?s:.))"), between, *options)
    # || and not CONCAT: DuckDB's leaves NULL out
    around = exp.paren(exp.DPipe(this=new.copy(), expression=spread))
    usual = call("REPLACE", node.this, search, new)
    empty = exp.EQ(this=search.copy(), expression=text(""))
    return exp.Case(ifs=[exp.If(this=empty, true=around)], default=usual)


def spark_replaced(node: exp.Expr) -> exp.Expr:
    """``replace`` for Spark."""
    return replaced(node, "$1", "\\$")


def duckdb_replaced(node: exp.Expr) -> exp.Expr:
    """``replace`` for DuckDB."""
    return replaced(node, "\\1", "\\")


def spark_part(node: exp.Expr) -> exp.Expr:
    """``split_part`` for Spark: NULL behind the last part."""
    parts = spark_split(exp.Split(this=node.this, expression=node.args["delimiter"]))
    return call("GET", parts, exp.Literal.number(int(node.args["part_index"].to_py()) - 1))


def duckdb_part(node: exp.Expr) -> exp.Expr:
    """``split_part`` for DuckDB: NULL behind the last part."""
    parts = call("STR_SPLIT", node.this, node.args["delimiter"])
    return call("LIST_EXTRACT", parts, node.args["part_index"])


def spark_upper(node: exp.Expr) -> exp.Expr:
    """``upper`` for Spark: one capital for each letter, so that ``ß`` stays."""
    # only letters whose capital is several letters make the text longer
    letter = exp.to_identifier("c")
    capital = call("UPPER", letter)
    one = exp.EQ(this=call("LENGTH", capital), expression=exp.Literal.number(1))
    kept = _translated(letter, _IOTA)
    each = exp.Case(ifs=[exp.If(this=one, true=capital)], default=kept)
    letters = call(
        "TRANSFORM", call("SPLIT", node.this, text("")), exp.Lambda(this=each, expressions=[letter])
    )
    whole = call("UPPER", node.this)
    same = exp.EQ(this=call("LENGTH", whole), expression=call("LENGTH", node.this))
    spelled = call("ARRAY_JOIN", letters, text(""))
    return exp.Case(ifs=[exp.If(this=same, true=whole)], default=spelled)


def spark_lower(node: exp.Expr) -> exp.Expr:
    """``lower`` for Spark: one small letter for each, wherever in the word."""
    return call("LOWER", call("TRANSLATE", node.this, text("İΣ"), text("iσ")))


def duckdb_upper(node: exp.Expr) -> exp.Expr:
    """``upper`` for DuckDB: ``ß`` stays."""
    parts = call("STR_SPLIT", _translated(node.this, _YOUNG), text("ß"))
    letters = exp.to_identifier("c")
    upper = exp.Lambda(this=call("UPPER", letters), expressions=[letters])
    return call("ARRAY_TO_STRING", call("LIST_TRANSFORM", parts, upper), text("ß"))


def duckdb_lower(node: exp.Expr) -> exp.Expr:
    """``lower`` for DuckDB, with the letters that its tables lack."""
    return call("LOWER", _translated(node.this, {big: small for small, big in _YOUNG.items()}))


def duckdb_reverse(node: exp.Expr) -> exp.Expr:
    """Reverse code points as other engines do: DuckDB keeps accents behind their letters."""
    points = call("REGEXP_EXTRACT_ALL", node.this, text("(?s)."))
    return call("ARRAY_TO_STRING", call("LIST_REVERSE", points), text(""))


def _translated(value: exp.Expr, codes: dict[int, int]) -> exp.Expr:
    letters = ("".join(map(chr, each)) for each in (codes.keys(), codes.values()))
    return call("TRANSLATE", value, *map(text, letters))


def _is_null(node: exp.Expr) -> exp.Expr:
    return exp.Is(this=exp.paren(node.copy()), expression=exp.Null())


def _unless(condition: exp.Expr, value: exp.Expr, otherwise: exp.Expr | None = None) -> exp.Expr:
    """A value; if a condition is true, another one, by default an empty text."""
    if otherwise is not None:
        return exp.Case(ifs=[exp.If(this=condition, true=value)], default=otherwise)
    return exp.Case(ifs=[exp.If(this=condition, true=text(""))], default=value)
