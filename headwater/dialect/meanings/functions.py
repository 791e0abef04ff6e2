"""Functions of other dialects that are others of Trino, or compositions of them.

In: nodes as the parser of a dialect left them. Out: nodes with Trino's meaning; what the text does
not say enough about is left to the binder, which refuses it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from sqlglot import exp

from headwater.dialect.meanings.text import refuse, text
from headwater.dialect.syntax import BY_PATTERN, DIALECT
from headwater.dialect.time_patterns import is_torn

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


def same(*names: str, otherwise: Meaning = lambda node: node) -> Meaning:
    """Calls by name that are Trino's.

    Args:
        names: of the functions, in lower case.
        otherwise: what the others mean.
    """

    def called(node: exp.Expr) -> exp.Expr:
        if str(node.this).lower() not in names:
            return otherwise(node)
        node.meta.pop(DIALECT, None)
        return node

    return called


Calls = Mapping[str, tuple[int, int, Meaning]]
"""By name of a function in lower case: how many arguments it takes at least and at most, and what a
call means."""


def by_name(calls: Calls, otherwise: Meaning = lambda node: node) -> Meaning:
    """Calls by name; one with another number of arguments is left to the binder."""

    def called(node: exp.Expr) -> exp.Expr:
        least, most, meaning = calls.get(str(node.this).lower(), (0, 0, None))
        if meaning is None:
            return otherwise(node)
        return meaning(node) if least <= len(node.expressions) <= most else node

    return called


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
    if pattern is not None and pattern.is_string:
        letters = pattern.name.replace("strict", "")
        if is_torn(letters):
            hint = "repeat a letter up to four times, as in yyyy-MM-dd"
            refuse(node, "the pattern repeats a letter more often than others read it", hint)
        if letters != pattern.name:
            node.set("format", text(letters))
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
        begin = node.args.get("offset", first)  # element_at of Spark counts from 1
        place = int(at.name) + 1 - begin if at.is_int else 1
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


def of_text(*names: str) -> Meaning:
    """A function of bytes, called with a text: ``hex(x)`` as ``to_hex(to_utf8(x))``."""

    def made(node: exp.Expr) -> exp.Expr:
        value: exp.Expr = node.this.copy()
        for each in names:
            value = exp.Anonymous(this=each, expressions=[value])
        return value

    return made


def in_utf8(name: str) -> Meaning:
    """``encode(text, 'UTF-8')`` and ``decode(bytes, 'UTF-8')``; other character sets are left."""

    def made(node: exp.Expr) -> exp.Expr:
        charset = node.args.get("charset")
        known = charset is not None and charset.name.lower() in ("utf-8", "utf8")
        return exp.Anonymous(this=name, expressions=[node.this.copy()]) if known else node

    return made


def character(most: int) -> Meaning:
    """``chr(n)``; beyond the greatest number, the dialect counts from 0 again."""

    def made(node: exp.Expr) -> exp.Expr:
        number = node.expressions[0]
        plain = isinstance(number, exp.Literal) and number.is_int
        if most and not (plain and int(number.name) <= most):
            refuse(node, f"chr takes a number up to {most} as written", "write the character")
        return exp.Anonymous(this="chr", expressions=[number.copy()])

    return made


def called(name: str) -> Meaning:
    """A call by name as one of Trino's function with the same arguments."""

    def made(node: exp.Expr) -> exp.Expr:
        return exp.Anonymous(this=name, expressions=[each.copy() for each in node.expressions])

    return made


def any_row(node: exp.Expr) -> exp.Expr:
    """``any(x)`` as an aggregate; behind a comparison it stands for the values compared with."""
    around = node.parent
    compares = isinstance(around, exp.Binary) and not isinstance(around, exp.Connector)
    if isinstance(node.this, exp.Query) or (compares and node.arg_key == "expression"):
        return node
    return exp.LogicalOr(this=node.this.unnest().copy())


def any_match(node: exp.Expr) -> exp.Expr:
    """``exists(x, test)`` of an array; a subquery is left."""
    if not isinstance(node.expression, exp.Lambda):
        return node
    given = [node.this.copy(), node.expression.copy()]
    return exp.Anonymous(this="any_match", expressions=given)


def reduced(node: exp.Expr) -> exp.Expr:
    """``aggregate(x, first, merge[, finish])`` and ``reduce``."""
    name = exp.to_identifier("r")
    whole = node.args.get("finish") or exp.Lambda(this=name, expressions=[name.copy()])
    given = [node.this, node.args["initial"], node.args["merge"], whole]
    return exp.Anonymous(this="reduce", expressions=[each.copy() for each in given])


def converted(node: exp.Expr) -> exp.Expr:
    """``convert_to(text, 'UTF8')`` of PostgreSQL."""
    value, charset = node.expressions
    known = charset.name.lower() in ("utf8", "utf-8")
    return exp.Anonymous(this="to_utf8", expressions=[value.copy()]) if known else node


def encoded(node: exp.Expr) -> exp.Expr:
    """``encode(bytes, 'hex' | 'base64')`` of PostgreSQL, which breaks Base64 into lines."""
    form = node.text("charset").lower()
    if form == "hex":
        return exp.Lower(this=exp.Anonymous(this="to_hex", expressions=[node.this.copy()]))
    if form != "base64":
        return node
    made = exp.Anonymous(this="to_base64", expressions=[node.this.copy()])
    lines = exp.RegexpReplace(this=made, expression=text("(.{76})"), replacement=text("$1\n"))
    return exp.Trim(this=lines, expression=text("\n"), position="TRAILING")


def decoded(node: exp.Expr) -> exp.Expr:
    """``decode(text, 'hex' | 'base64')`` of PostgreSQL."""
    form = node.text("charset").lower()
    if form not in ("hex", "base64"):
        return node
    return exp.Anonymous(this=f"from_{form}", expressions=[node.this.copy()])


def sha256(node: exp.Expr) -> exp.Expr:
    """``sha256(bytes)`` of PostgreSQL."""
    if node.text("length") != "256":
        return node
    return exp.Anonymous(this="sha256", expressions=[node.this.copy()])


def size(node: exp.Expr) -> exp.Expr:
    """``cardinality(x)``, a call by name."""
    return exp.ArraySize(this=node.expressions[0].copy())


def is_nan(node: exp.Expr) -> exp.Expr:
    """``isnan`` of Spark, false of NULL."""
    found = exp.Anonymous(this="is_nan", expressions=[node.this.copy()])
    return exp.Coalesce(this=found, expressions=[exp.false()])


def pieces(node: exp.Expr) -> exp.Expr:
    """``regexp_extract_all`` of Spark, by default of the first group."""
    group = node.args.get("group") or exp.Literal.number(1)
    given = [node.this.copy(), node.expression.copy(), group.copy()]
    return exp.Anonymous(this="regexp_extract_all", expressions=given)


def day_of_parts(node: exp.Expr) -> exp.Expr:
    """``make_date`` that sqlglot has a node for."""
    return _day_made(*(node.args[key] for key in ("year", "month", "day")))


def day(node: exp.Expr) -> exp.Expr:
    """``make_date(year, month, day)``, a call by name."""
    return _day_made(*node.expressions)


def _day_made(*parts: exp.Expr) -> exp.Expr:
    """A date of its parts, which fails if there is no such day."""
    made: exp.Expr = exp.cast(parts[0].copy(), "VARCHAR")
    for each in parts[1:]:
        made = exp.DPipe(this=made, expression=text("-"))
        made = exp.DPipe(this=made, expression=exp.cast(each.copy(), "VARCHAR"))
    cast = exp.Cast(this=made, to=exp.DataType.build("DATE"))
    cast.meta[BY_PATTERN] = True
    return cast


def whole_quotient(dialect: str) -> Meaning:
    """``x // y`` and ``x DIV y`` of integers."""

    def quotient(node: exp.Expr) -> exp.Expr:
        sides = {"this": node.this.copy(), "expression": node.expression.copy()}
        made = exp.Div(**sides, typed=True, safe=False)
        made.meta[DIALECT] = dialect
        return exp.cast(made, "BIGINT", copy=False) if dialect == "spark" else exp.paren(made)

    return quotient


def no_digits(node: exp.Expr) -> exp.Expr:
    """``truncate(x)``; with a number of digits it is refused."""
    if node.args.get("decimals") is not None:
        hint = "write x - x % 0.01 for two digits of a decimal"
        refuse(node, "truncate takes no number of digits", hint)
    return node


def no_mode(node: exp.Expr) -> exp.Expr:
    """``mode() WITHIN GROUP (…)``."""
    if isinstance(node.this, exp.Mode):
        hint = "use min(…) or max(…), or count in a subquery"
        refuse(node, "mode takes any of the values that tie", hint)
    return node


def any_given(node: exp.Expr) -> exp.Expr:
    """``any_value``, which passes over NULL; sqlglot writes that behind it."""
    return node.this.copy() if isinstance(node.this, exp.AnyValue) else node


MAP = named("map", "keys", "values")
BUCKET = named("width_bucket", "this", "min_value", "max_value", "num_buckets")
