"""What the tables of functions hold: one :class:`Function` per function, and what they share.

In: nothing. Out: the record of a function, the kinds of arguments, the types of results.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal

from sqlglot import exp

from headwater.analyze.typing import types as t

Arguments = Sequence[exp.DataType]
Result = Callable[[Arguments], exp.DataType]
Example = tuple[str, str]
"""A call, and its result as the reference shows it; a test runs it."""


@dataclass(frozen=True, slots=True)
class Described:
    """What the reference says of a function, or of an expression that looks like one.

    Attributes:
        name: Trino's name.
        usage: how it is written, optional parts in brackets.
        about: what it returns, in one sentence.
        examples: calls with their results.
        engines: what Spark, Trino or DuckDB would do otherwise without Headwater's translation.
        aliases: other names of it, in Trino or in other systems.
    """

    name: str
    usage: str
    about: str
    examples: tuple[Example, ...]
    engines: str = ""
    aliases: tuple[str, ...] = field(default=(), kw_only=True)


@dataclass(frozen=True, slots=True, kw_only=True)
class Function(Described):
    """One function of the allow-list.

    Attributes:
        params: what each argument must be: a word of :data:`KINDS`; ``?`` at the end: may be
            absent, ``*``: once or more.
        result: type of the result from the types of the arguments.
        kind: ``scalar`` or ``aggregate``.
        constant: positions of arguments that must be literals.
        nullable: ``never``, ``always`` or ``arguments`` (NULL only if an argument is).
        approximate: whether two engines may give slightly different results.
        one_type: whether the arguments must have a type in common, which is the result's.
        dialects: in which, beside Trino's, a call by name means the same.
        texts: by engine, the SQL of a call with ``_1``, ``_2`` for its arguments; an engine that
            is missing has the function under Trino's name; ``language`` is the SQL of the language
            that Spark's and DuckDB's are made of. None if
            :mod:`headwater.analyze.portable.rewrites` translates the calls.
        fails: a condition over ``_1``, ``_2`` under which Trino fails on a row, or what returns it
            for a call; empty if it never does.
    """

    params: tuple[str, ...]
    result: Result
    kind: Literal["scalar", "aggregate"] = "scalar"
    constant: tuple[int, ...] = ()
    nullable: Literal["never", "always", "arguments"] = "arguments"
    approximate: bool = False
    one_type: bool = False
    dialects: tuple[str, ...] = ()
    texts: Mapping[str, str] | None = None
    fails: str | Callable[[exp.Expr], str] = ""


EVERYWHERE = ("spark", "duckdb", "postgres", "snowflake", "bigquery")
"""The dialects beside Trino's."""

Table = Mapping[type[exp.Expr], Function]


def _is_in_json(kind: exp.DataType) -> bool:
    """Return whether values of a type have one text in JSON, also within arrays and rows."""
    if kind.this in (t.Type.ARRAY, t.Type.STRUCT):
        return all(map(_is_in_json, t.elements(kind)))
    return t.family(kind) in ("text", "boolean") or t.is_integer(kind) or kind == t.DATE


KINDS: Mapping[str, Callable[[exp.DataType], bool]] = {
    "any": lambda kind: True,
    "comparable": lambda kind: t.family(kind) in (*t.SCALARS, "interval"),
    "collected": lambda kind: (
        KINDS["comparable"](kind)
        or (kind.this is t.Type.STRUCT and all(map(KINDS["collected"], t.elements(kind))))
    ),
    "number": lambda kind: t.family(kind) == "number",
    "integer": t.is_integer,
    "float": lambda kind: t.is_integer(kind) or t.is_float(kind),
    "text": lambda kind: t.family(kind) == "text",
    "boolean": lambda kind: t.family(kind) == "boolean",
    "timestamp": t.is_timestamp,
    "datetime": lambda kind: t.family(kind) == "time",
    "date": lambda kind: kind == t.DATE,
    "clock": lambda kind: kind == t.TIME,
    "span": lambda kind: kind == t.INTERVAL,
    "uuid": lambda kind: kind == t.UUID,
    "summable": lambda kind: t.family(kind) in ("number", "interval"),
    "jsonable": lambda kind: kind.this is t.Type.DECIMAL or _is_in_json(kind),
    "array": lambda kind: t.family(kind) == "array",
    "collection": lambda kind: t.family(kind) in ("array", "map"),
    "map": lambda kind: t.family(kind) == "map",
    "binary": lambda kind: t.family(kind) == "binary",
    "string": lambda kind: t.family(kind) in ("text", "binary"),
    "double": lambda kind: t.family(kind) == "number",
    "bigint": t.is_integer,
    "int": lambda kind: kind == t.INTEGER,
    "long": lambda kind: kind == t.BIGINT,
    "comparables": lambda kind: (
        t.family(kind) == "array" and KINDS["comparable"](t.elements(kind)[0])
    ),
    "exacts": lambda kind: KINDS["comparables"](kind) and not t.is_float(t.elements(kind)[0]),
    "arrays": lambda kind: t.family(kind) == "array" and t.family(t.elements(kind)[0]) == "array",
    "lambda": lambda kind: True,
    "element": lambda kind: True,
    "same": lambda kind: True,
    "texts": lambda kind: kind == t.array(t.VARCHAR),
}
"""``float`` takes no decimals: what comes of them has another scale in every engine. ``double`` and
``bigint`` are converted to these types, ``element`` to the type of the elements of the first
argument, ``same`` to its type."""

WANTED: Mapping[str, str] = {
    "comparable": "a number, text, boolean or time",
    "collected": "a number, text, boolean or time, or a row of them",
    "number": "a number",
    "integer": "an integer",
    "float": "an integer or floating point number",
    "text": "text",
    "boolean": "a boolean",
    "timestamp": "a timestamp",
    "datetime": "a date or timestamp",
    "date": "a date",
    "clock": "a time of day",
    "span": "an interval",
    "uuid": "a UUID",
    "summable": "a number",
    "jsonable": "a text, exact number, boolean or date, or an array or a row without decimals",
    "array": "an array",
    "collection": "an array or a map",
    "map": "a map",
    "binary": "bytes",
    "string": "text or bytes",
    "double": "a number",
    "bigint": "an integer",
    "int": "an INTEGER",
    "long": "a BIGINT",
    "comparables": "an array of numbers, texts, booleans or times",
    "exacts": "an array of texts, booleans, times or exact numbers",
    "arrays": "an array of arrays",
    "lambda": "a lambda",
    "element": "a value of the type of its elements",
    "same": "a value of the same type",
    "texts": "an array of texts",
}


# What a result's type is, if it depends on the arguments: the docstrings are in the reference.


def always(kind: exp.DataType) -> Result:
    """Return the rule of a result that has one type."""
    return lambda arguments: kind


def first(arguments: Arguments) -> exp.DataType:
    """The type of the first argument."""
    return arguments[0]


def array_of(arguments: Arguments) -> exp.DataType:
    """An `ARRAY` of the type of the argument."""
    return t.array(arguments[0])


def common(arguments: Arguments) -> exp.DataType:
    """The type that the arguments have in common."""
    return t.common_type(arguments) or t.UNKNOWN


def whole(arguments: Arguments) -> exp.DataType:
    """The type of the argument; of a `DECIMAL`, one without digits after the point."""
    kind = arguments[0]
    if kind.this is t.Type.DECIMAL:
        precision, scale = t.digits(kind)
        return t.decimal(precision - scale + min(scale, 1), 0)
    return kind


def rounded(arguments: Arguments) -> exp.DataType:
    """The type of the argument; of a `DECIMAL`, one with a digit more."""
    kind = arguments[0]
    if kind.this is t.Type.DECIMAL:
        precision, scale = t.digits(kind)
        if len(arguments) == 1:
            return whole(arguments)
        return t.decimal(precision + 1, scale)
    return kind


def total(arguments: Arguments) -> exp.DataType:
    """`BIGINT` of integers, `DECIMAL(38, s)` of decimals, otherwise the type of the argument."""
    kind = arguments[0]
    if t.is_integer(kind):
        return t.BIGINT
    return t.decimal(t.MAX_PRECISION, t.digits(kind)[1]) if t.is_exact(kind) else kind


def mean(arguments: Arguments) -> exp.DataType:
    """The type of the argument if it is a `DECIMAL` or `REAL`, otherwise `DOUBLE`."""
    kind = arguments[0]
    return kind if kind.this in (t.Type.DECIMAL, t.Type.FLOAT) else t.DOUBLE


def ranked(arguments: Arguments) -> exp.DataType:
    """`BIGINT` of integers, `REAL` of decimals, otherwise the type of the argument."""
    kind = arguments[0]
    if t.is_integer(kind):
        return t.BIGINT
    return t.REAL if kind.this is t.Type.DECIMAL else kind


def cut(arguments: Arguments) -> exp.DataType:
    """The type of the argument; of an integer, a `DECIMAL` of as many digits."""
    kind = arguments[0]
    return t.decimal(*t.digits(kind)) if t.is_integer(kind) else kind
