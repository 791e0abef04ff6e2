"""Function calls against the allow-list.

In: a call whose arguments are typed. Out: its type, or an error that says what the function takes.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import cast

from sqlglot import exp

from headwater.analyze.decimals.averages import check_average
from headwater.analyze.diagnostics import Diagnostics
from headwater.analyze.inference import clock_hints
from headwater.analyze.inference.lists import LISTS, check_list
from headwater.analyze.inference.literals import CHECKS
from headwater.analyze.query_parts import aggregates, is_over
from headwater.analyze.typing import functions as f
from headwater.analyze.typing import types as t
from headwater.analyze.typing.common_type import cast_to, clash, coerce, merge, type_of
from headwater.analyze.typing.determinism import CLOCK, REFUSED
from headwater.analyze.typing.unknown_functions import hint_for
from headwater.dialect.syntax import DIALECT, GIVEN, SHOWN
from headwater.errors.nearest import did_you_mean

_CONVERTED = {"double": t.DOUBLE, "bigint": t.BIGINT}
_MATH = "cast one side: CAST(x AS DOUBLE)"
_MEANS = (*(exp.Avg, exp.Stddev, exp.StddevPop, exp.StddevSamp, exp.Variance, exp.VariancePop),)
"""Of whole numbers and decimals Flink gives them other digits than Trino."""


def call(node: exp.Expr, report: Diagnostics) -> exp.DataType:
    """Return the type of a function call; report a call that is not allowed or does not fit.

    Args:
        node: the call, its arguments typed.
    """
    func = cast(exp.Func, node)
    known = f.FUNCTIONS.get(type(func))
    if known is None:
        return _refuse_function(func, report)
    if type(func) in LISTS and not check_list(func, report):
        return t.UNKNOWN
    if type(func) not in LISTS and _is_ordered(func):
        report.not_yet(f"{known.name} with ORDER BY", node, "leave the order out")
    nested = known.kind == "aggregate" and not is_over(func)
    if nested and any(inner is not func for inner in aggregates(func)):
        report.add("UNSUPPORTED_SYNTAX", "aggregates cannot be nested", node, "use a subquery")
    given = f.arguments(func)
    kinds = [type_of(item) for item in given]
    if isinstance(func, exp.Count):
        return t.BIGINT
    written = func.meta.get(GIVEN, 0) - _consumed(func)
    if not _arity_fits(known, len(given)) or written > len(given):
        report.add("WRONG_ARGUMENTS", f"{known.name} takes {_signature(known)}", node, "")
        return t.UNKNOWN
    fits = [_argument(known, at, item, report) for at, item in enumerate(given)]
    if not all(fits):
        return t.UNKNOWN
    if isinstance(func, exp.Nullif):
        return _null_if(given, report)
    if known.one_type:
        return merge(given, f"arguments of {known.name}", report)
    if not _meet(func, known, report):
        return t.UNKNOWN
    _coerce_arguments(func, known, f.arguments(func))
    kinds = [type_of(item) for item in f.arguments(func)] if known.texts is not None else kinds
    if _is_other(func, known, kinds[0] if kinds else t.UNKNOWN, report):
        return t.UNKNOWN
    if isinstance(func, exp.Avg):
        check_average(func, report)
    if check := CHECKS.get(type(func)):
        check(func, report)
    if not _units(func, report) or any(t.is_unknown(kind) for kind in kinds):
        return t.UNKNOWN
    return known.result(kinds)


def _is_other(func: exp.Func, known: f.Function, kind: exp.DataType, report: Diagnostics) -> bool:
    """Report a call whose dialect computes something else of its type; return whether it does."""
    dialect = func.meta.get(DIALECT)
    if dialect == "flink" and isinstance(func, _MEANS) and not t.is_float(kind):
        hint = f"write {known.name}(CAST(x AS DOUBLE)), or sum(x) / count(x)"
        message = f"{known.name} of {t.sql_type(kind)} has other digits in Flink"
    elif dialect == "postgres" and _is_whole_round(func) and t.is_float(kind):
        hint = "cast it first: round(CAST(x AS DECIMAL(18, 6)))"
        message = f"round of {t.sql_type(kind)} rounds halves to even numbers in PostgreSQL"
    else:
        return False
    report.add("NOT_PORTABLE", message, func, hint)
    return True


def _is_whole_round(func: exp.Func) -> bool:
    """Whether a call rounds to whole numbers: with digits PostgreSQL rounds decimals only."""
    return isinstance(func, exp.Round) and func.args.get("decimals") is None


def _null_if(given: Sequence[exp.Expr], report: Diagnostics) -> exp.DataType:
    """Return the type of the first argument; each engine's SQL says how both are compared."""
    kinds = [type_of(item) for item in given]
    if t.common_type(kinds) is None:
        clash(given[0], given[1], "arguments of nullif have the types", given[1], report)
        return t.UNKNOWN
    return kinds[0]


def _coerce_arguments(func: exp.Func, known: f.Function, given: Sequence[exp.Expr]) -> None:
    """Write the casts of arguments to the types that the function takes."""
    kinds = [type_of(item) for item in given]
    for at, (item, kind) in enumerate(zip(given, kinds, strict=True)):
        wanted = _CONVERTED.get(known.params[min(at, len(known.params) - 1)].rstrip("?*"))
        if wanted is not None and t.is_unknown(kinds[0]):
            continue
        if wanted is not None and kind not in (wanted, t.NULL, t.UNKNOWN):
            cast_to(item, wanted)
    if isinstance(func, (exp.TimeToStr, exp.TimeToUnix)) and kinds[0] == t.DATE:
        cast_to(given[0], t.TIMESTAMP)
    elif isinstance(func, exp.DateDiff):
        coerce(given, t.common_type(kinds) or t.UNKNOWN)
    elif isinstance(func, exp.ArrayContains) and not any(map(t.is_unknown, kinds)):
        element = t.common_type([t.held(kinds[0])[0], kinds[1]])
        if element is not None and t.held(kinds[0])[0] != element:
            cast_to(given[0], t.array(element))
        if element is not None and kinds[1] not in (element, t.NULL):
            cast_to(given[1], element)
    elif known.kind == "scalar" and "number" in known.params and known.result(kinds) == t.DOUBLE:
        coerce(given, t.DOUBLE)


def _meet(func: exp.Func, known: f.Function, report: Diagnostics) -> bool:
    """Bring an array and an element, or two arrays, to one type; report it if they have none."""
    given = f.arguments(func)
    word = known.params[1] if len(known.params) > 1 else ""
    if word not in ("element", "same"):
        return True
    first, second = map(type_of, given[:2])
    if t.is_unknown(first) or t.is_unknown(second) or second == t.NULL:
        return True
    other = t.array(second) if word == "element" else second
    common = t.common_type([first, other])
    if common is None:
        clash(given[0], given[1], f"{known.name} has arguments of", func, report)
        return False
    for item, kind in ((given[0], common), (given[1], common)):
        wanted = t.held(kind)[0] if item is given[1] and word == "element" else kind
        if type_of(item) != wanted:
            cast_to(item, wanted)
    return True


def _is_ordered(func: exp.Func) -> bool:
    """Return whether a call orders its rows itself; an order in its arguments is another's."""
    others = (exp.Func, exp.Window, exp.WithinGroup, exp.Query)
    parts = func.walk(prune=lambda node: node is not func and isinstance(node, others))
    return any(isinstance(part, exp.Order) for part in parts)


def _arity_fits(known: f.Function, count: int) -> bool:
    if known.params and known.params[-1].endswith("*"):
        return count >= len(known.params)
    least = sum(1 for param in known.params if not param.endswith("?"))
    return least <= count <= len(known.params)


def _consumed(func: exp.Func) -> int:
    """How many arguments became units, formats and paths, which :func:`arguments` leaves out."""
    special = ("unit", "format") + (
        ("expression",) if isinstance(func, exp.JSONExtractScalar) else ()
    )
    return sum(1 for key in special if func.args.get(key) is not None)


def _signature(known: f.Function) -> str:
    if not known.params:
        return "no arguments"
    words = []
    for param in known.params:
        word = f.WANTED.get(param.rstrip("?*"), "a value")
        words.append(f"{word}, …" if param.endswith("*") else word)
        if param.endswith("?"):
            words[-1] += " (optional)"
    return " and ".join(words)


def _argument(known: f.Function, at: int, node: exp.Expr, report: Diagnostics) -> bool:
    param = known.params[min(at, len(known.params) - 1)].rstrip("?*")
    kind = type_of(node)
    if (param == "lambda") != isinstance(node, exp.Lambda):
        message = f"argument {at + 1} of {known.name} must be {f.WANTED.get(param, 'a value')}"
        report.add("WRONG_ARGUMENTS", message, node, "write it like x -> x > 1")
        return False
    if t.is_unknown(kind) or kind.this is t.Type.NULL:
        return True
    if not f.KINDS[param](kind):
        hint = f"cast it, or pass {f.WANTED.get(param, 'a value')}"
        if param == "float":
            hint = _MATH
        elif kind == t.INTERVAL:
            hint = "count its units: date_diff('second', a, b)"
        elif param == "binary" and t.family(kind) == "text":
            hint = "write to_utf8(x)"
        shown = str(node.parent.meta.get(SHOWN, "")) if node.parent is not None else ""
        name = shown.split("(")[0].lower() or known.name
        message = f"{name} needs {f.WANTED[param]}, not {t.sql_type(kind)}"
        report.add("TYPE_CLASH", message, node, hint)
        return False
    inner = node.this if isinstance(node, exp.Neg) else node
    if at in known.constant and not isinstance(inner, exp.Literal):
        message = f"argument {at + 1} of {known.name} must be a literal"
        report.add("WRONG_ARGUMENTS", message, node, "write the value itself")
        return False
    return True


def _units(func: exp.Func, report: Diagnostics) -> bool:
    """Check the unit of a date function against what all engines agree on."""
    allowed: tuple[str, ...]
    if isinstance(func, exp.TimestampTrunc):
        allowed, unit = f.TRUNC_UNITS, func.args.get("unit")
    elif isinstance(func, (exp.DateDiff, exp.DateAdd)):
        dates = [type_of(item) for item in f.arguments(func)[: 1 + isinstance(func, exp.DateDiff)]]
        allowed = f.DATE_UNITS if t.DATE in dates else f.DIFF_UNITS
        unit = func.args.get("unit")
    elif isinstance(func, exp.Extract):
        of_date = any(type_of(item) == t.DATE for item in f.arguments(func))
        allowed, unit = f.EXTRACT_UNITS[: 4 if of_date else None], func.this
    else:
        return True
    name = unit.name.lower() if isinstance(unit, exp.Expression) else "day"
    if name in allowed:
        return True
    report.add(
        "WRONG_ARGUMENTS",
        f"{f.function_name(func)} does not take the unit {name}",
        func,
        did_you_mean(name, allowed, "units"),
    )
    return False


def _refuse_function(func: exp.Func, report: Diagnostics) -> exp.DataType:
    name = f.function_name(func)
    hazard = REFUSED.get(name)
    if hazard and _is_ordered(func):
        report.not_yet(f"{name} with ORDER BY", func, hazard.hint)
    elif hazard:
        hint = hazard.hint
        if hazard is CLOCK and report.clock is not None:
            hint = clock_hints.hint(func, name, clock=report.clock)
        shown = report.word(func) or name
        report.add(hazard.condition, f"{shown} is refused: {hazard.reason}", func, hint)
    else:
        _refuse_unknown(func, report)
    return t.UNKNOWN


def _refuse_unknown(func: exp.Func, report: Diagnostics) -> None:
    named = isinstance(func, exp.Anonymous)
    word = func.name.lower() if named else report.word(func)
    name = word or f.written_name(func)
    hint = hint_for(func, name, report.functions)
    shown = f"function {name}" if word else report.excerpt(func)
    what = "does not exist" if named else "is not in the language"
    report.add("UNKNOWN_FUNCTION", f"{shown} {what}", func, hint)
