"""One line per function: its signature, what it returns, an example, its text for each engine.

In: ``line("levenshtein_distance(x: text, y: text) -> BIGINT", …)``. Out: a node class and the
:class:`~headwater.analyze.typing.functions.entry.Function` that describes it. A kind of argument is
a word of :data:`~headwater.analyze.typing.functions.entry.KINDS`; behind it ``?`` stands for an
argument that may be absent, ``*`` for one or more, ``!`` for a literal.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from functools import cache
from types import MappingProxyType
from typing import Literal

from sqlglot import exp

from headwater.analyze.typing import types as t
from headwater.analyze.typing.functions.entry import (
    Arguments,
    Example,
    Function,
    Result,
    always,
    array_of,
    common,
    first,
)

Line = tuple[type[exp.Expr], Function]

_SIGNATURE = re.compile(r"(?P<name>\w+)\((?P<arguments>.*)\) -> (?P<result>.+)")
_ARGUMENT = re.compile(r"(?P<label>\w+): (?P<kind>\w+)(?P<marks>[?*!]*)")


def element(arguments: Arguments) -> exp.DataType:
    """The type of the elements of the first argument."""
    return t.held(arguments[0])[0]


def _mapping(arguments: Arguments) -> exp.DataType:
    """A `MAP` of the types of the elements."""
    return t.mapping(*(t.held(each)[0] for each in arguments[:2]))


def _keys(arguments: Arguments) -> exp.DataType:
    """An `ARRAY` of the type of the keys."""
    return t.array(t.held(arguments[0])[0])


def _values(arguments: Arguments) -> exp.DataType:
    """An `ARRAY` of the type of the values."""
    return t.array(t.held(arguments[0])[-1])


def _mapped(arguments: Arguments) -> exp.DataType:
    """An `ARRAY` of the type of the lambda's value."""
    return t.array(arguments[-1])


def _last(arguments: Arguments) -> exp.DataType:
    """The type of the last lambda's value."""
    return arguments[-1]


_RESULTS: Mapping[str, Result] = MappingProxyType(
    {
        "type of x": first,
        "type of elements": element,
        "array of x": array_of,
        "map of x and y": _mapping,
        "array of keys": _keys,
        "array of values": _values,
        "common type": common,
        "array of values of f": _mapped,
        "type of f": _last,
        "span": always(t.INTERVAL),
    }
)


def named(name: str, aggregate: bool = False) -> type[exp.Func]:
    """Return the node class of a function that sqlglot has no node for, or reads otherwise.

    Args:
        name: lower case.
    """
    return _class_of(name, aggregate)


@cache
def _class_of(name: str, aggregate: bool) -> type[exp.Func]:
    base = exp.AggFunc if aggregate else exp.Func
    members = {
        "arg_types": {"expressions": False},
        "is_var_len_args": True,
        "_sql_names": [name.upper()],
        "__module__": __name__,
    }
    # sqlglot's generators have methods by the names of classes: none of them is for this one
    made: type[exp.Func] = type(f"Called_{name}", (exp.Expression, base), members)
    return made


def line(
    signature: str,
    about: str,
    *examples: str,
    spark: str = "",
    duckdb: str = "",
    trino: str = "",
    language: str = "",
    fails: str | Callable[[exp.Expr], str] = "",
    node: type[exp.Expr] | None = None,
    kind: Literal["scalar", "aggregate"] = "scalar",
    nullable: Literal["never", "always", "arguments"] | None = None,
    aliases: str = "",
    dialects: str = "",
    engines: str = "",
) -> Line:
    """Return a function as a line of its family's table.

    Args:
        signature: ``name(label: kind, …) -> result``.
        about: what it returns, in one sentence.
        examples: calls with their results, ``call -> result``.
        spark: the call as Spark's SQL; by default the function of the same name.
        duckdb: the same for DuckDB.
        trino: the same for Trino.
        language: what a call is made of in the language, for Spark and DuckDB.
        fails: as in :class:`~headwater.analyze.typing.functions.entry.Function`.
        node: the node class of sqlglot, if it reads the function as Trino does in every dialect.
        nullable: as there; by default ``arguments``, of an aggregate ``always``.
        aliases: other names, with spaces between them.
        dialects: in which, beside Trino's, a call by name means the same.
    """
    found = _SIGNATURE.fullmatch(signature)
    assert found, signature
    listed = [each for each in found["arguments"].split(", ") if each]
    arguments = [argument for each in listed if (argument := _ARGUMENT.fullmatch(each))]
    assert len(arguments) == len(listed), signature
    aggregate = kind == "aggregate"
    texts = {"spark": spark, "duckdb": duckdb, "trino": trino, "language": language}
    function = Function(
        found["name"],
        f"{found['name']}({_usage(arguments)})",
        about,
        tuple(map(_example, examples)),
        engines,
        params=tuple(each["kind"] + each["marks"].replace("!", "") for each in arguments),
        result=_result(found["result"]),
        kind=kind,
        constant=tuple(at for at, each in enumerate(arguments) if "!" in each["marks"]),
        nullable=nullable or ("always" if aggregate else "arguments"),
        aliases=tuple(aliases.split()),
        dialects=tuple(dialects.split()),
        texts={engine: text for engine, text in texts.items() if text},
        fails=fails,
    )
    return node or named(found["name"], aggregate), function


def _usage(arguments: list[re.Match[str]]) -> str:
    words = ""
    for each in arguments:
        label = f"{each['label']}, …" if "*" in each["marks"] else each["label"]
        separated = f", {label}" if words else label
        words += f"[{separated}]" if "?" in each["marks"] else separated
    return words


def _example(text: str) -> Example:
    call, result = text.rsplit(" -> ", 1)
    return call, result


def _result(text: str) -> Result:
    if text in _RESULTS:
        return _RESULTS[text]
    return always(t.canonical(exp.DataType.build(text, dialect="trino")))
