"""A system's table of functions → builders for the parser of its dialect.

In: SQL with ``_1``, ``_2`` in the place of arguments. Out: a builder per function, which puts the
arguments in; what differs or is refused is noted on the node, for
:mod:`~headwater.importing.bodies` to collect.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from typing import Any

from sqlglot import exp

from headwater.dialect.meanings.templates import template
from headwater.dialect.parser import Headwater, HeadwaterRules
from headwater.importing.contract import CallMapping, Functions, RefusedCall

NOTE = "import.note"
REFUSED = "import.refused"
"""Keys of ``meta``: what differs of a function, and why it is refused."""

_ARGUMENT = re.compile(r"_(\d)")


def dialect_of(base: type[Any], functions: Functions, *, backticks: bool = False) -> type[Any]:
    """Return a dialect of sqlglot that reads a system's functions as Headwater's.

    Args:
        base: the nearest dialect; Headwater's own for systems without one in sqlglot.
        functions: the system's functions.
        backticks: whether names may stand in backticks.
    """
    parser = base.parser_class
    rules = (parser,) if issubclass(parser, HeadwaterRules) else (HeadwaterRules, parser)
    own = {
        "FUNCTIONS": {**parser.FUNCTIONS, **dict(_builders(functions))},
        "FUNCTION_PARSERS": {
            key: value for key, value in parser.FUNCTION_PARSERS.items() if key not in functions
        },
    }
    made: dict[str, Any] = {
        "Parser": type("Parser", rules, own),
        "STRICT_JSON_PATH_SYNTAX": False,
        "INDEX_OFFSET": 0,
    }
    if backticks:
        quotes = {"IDENTIFIERS": ['"', "`"]}
        made["Tokenizer"] = type("Tokenizer", (base.tokenizer_class,), quotes)
    return type(f"Imported{base.__name__}", (base,), made)


def _builders(functions: Functions) -> Iterator[tuple[str, Callable[[list[exp.Expr]], exp.Expr]]]:
    for name, entry in functions.items():
        yield name, _builder(name, entry)


def _builder(name: str, entry: Any) -> Callable[[list[exp.Expr]], exp.Expr]:  # noqa: ANN401
    if callable(entry):
        own: Callable[[list[exp.Expr]], exp.Expr] = entry
        return own

    def build(arguments: list[exp.Expr], **_: object) -> exp.Expr:
        found = entry.get(len(arguments)) if isinstance(entry, Mapping) else entry
        if isinstance(found, RefusedCall):
            return refused(name, arguments, found)
        call = CallMapping(found) if isinstance(found, str) else found
        if call is None or len(arguments) < arity(call.sql):
            return exp.Anonymous(this=name.lower(), expressions=arguments)
        made = filled(call.sql, arguments)
        if call.note:
            made.meta[NOTE] = call.note
        return made

    return build


def refused(name: str, arguments: list[exp.Expr], why: RefusedCall) -> exp.Expr:
    """Return the call of a function that has no equal here."""
    node = exp.Anonymous(this=name.lower(), expressions=arguments)
    node.meta[REFUSED] = replace(why, reason=f"{node.name}: {why.reason}")
    return node


def arity(sql: str) -> int:
    """Return how many arguments an expression needs."""
    return max((int(number) for number in _ARGUMENT.findall(sql)), default=0)


def filled(sql: str, arguments: list[exp.Expr]) -> exp.Expr:
    """Return an expression with the arguments in their places."""
    root = exp.Paren(this=template(sql).copy())
    for node in list(root.find_all(exp.Column)):
        if found := _ARGUMENT.fullmatch(node.name):
            value = arguments[int(found[1]) - 1].copy()
            inside = isinstance(node.parent, exp.Binary | exp.Unary)
            inside = inside and not isinstance(node.parent, exp.Paren)
            node.replace(exp.paren(value) if inside and _binds(value) else value)
    for sum_ in list(root.find_all(exp.Add, exp.Sub)):
        _fold(sum_)
    inner = root.this
    return root if _binds(inner) else inner.pop()


def _binds(node: exp.Expr) -> bool:
    """Whether an expression needs brackets beside an operator."""
    return isinstance(node, exp.Binary | exp.Unary) and not isinstance(node, exp.Func | exp.Paren)


def _fold(node: exp.Expr) -> None:
    """Add two whole numbers, since some arguments must be literals."""
    left, right = node.this, node.args["expression"]
    if all(isinstance(each, exp.Literal) and each.is_int for each in (left, right)):
        sign = 1 if isinstance(node, exp.Add) else -1
        node.replace(exp.Literal.number(int(left.name) + sign * int(right.name)))


def headwater_dialect(functions: Functions) -> type[Any]:
    """Return Headwater's dialect with a system's functions, and with names in backticks."""
    return dialect_of(Headwater, functions, backticks=True)


# -- patterns of times

_JAVA = {
    "yyyy": "%Y", "yy": "%y", "MMMM": "%M", "MMM": "%b", "MM": "%m", "dd": "%d", "HH": "%H",
    "hh": "%h", "mm": "%i", "ss": "%s", "a": "%p", "EEEE": "%W", "EEE": "%a",
}  # fmt: skip
_MILLIS = ".SSS"
_WITH_MILLIS = (
    "concat(_1, '.', lpad(CAST(CAST(truncate(to_unixtime(_2) * 1000) AS BIGINT) % 1000 AS VARCHAR),"
    " 3, '0'))"
)
_JAVA_PARTS = re.compile(r"'([^']*)'|([A-Za-z])\2*|[^A-Za-z']+")


def java_pattern(pattern: str) -> str:
    """Return a pattern of Java as one of Trino; empty if a part of it has no equal."""
    found = ""
    for part in _JAVA_PARTS.finditer(pattern):
        text = part[0]
        if part[2]:
            if text not in _JAVA:
                return ""
            found += _JAVA[text]
        else:
            found += part[1] if text.startswith("'") else text
    return found


def formatted(name: str, sql: str = "date_format(_1, _2)") -> Callable[[list[exp.Expr]], exp.Expr]:
    """Return the builder of a function that writes a time by a pattern of Java."""

    def build(arguments: list[exp.Expr]) -> exp.Expr:
        pattern = arguments[1] if len(arguments) > 1 else None
        written = pattern.name if pattern is not None and pattern.is_string else ""
        turned = java_pattern(written.removesuffix(_MILLIS))
        if not turned or len(arguments) > 2:
            why = RefusedCall("the pattern of the time has no equal here", "write it in UTC")
            return refused(name, arguments, why)
        text = filled(sql, [arguments[0], exp.Literal.string(turned)])
        return filled(_WITH_MILLIS, [text, arguments[0]]) if written.endswith(_MILLIS) else text

    return build


MILLISECONDS = (
    "CAST(concat(date_format(from_unixtime(_1 / 1000), '%Y-%m-%d %H:%i:%s'), '.',"
    " lpad(CAST(_1 % 1000 AS VARCHAR), 3, '0'), ' UTC') AS TIMESTAMP WITH TIME ZONE)"
)
"""The time that lies so many milliseconds after 1970-01-01 00:00:00 UTC."""
UNIX_MILLISECONDS = "CAST(truncate(to_unixtime(_1) * 1000) AS BIGINT)"
"""The milliseconds between 1970-01-01 00:00:00 UTC and a time."""
