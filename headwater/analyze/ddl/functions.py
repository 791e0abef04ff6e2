"""``CREATE FUNCTION … RETURN expression`` → a macro, and its calls → the expression.

In: statements as parsed. Out: functions whose body is typed once against their parameters, and
statements in which no call of them is left, so that every engine runs plain SQL. A call becomes a
copy of the body with its arguments in place of the parameters. What a parameter or the result
converts implicitly is a cast that carries :data:`~headwater.dialect.syntax.CONVERSION`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from operator import mul

from sqlglot import exp

from headwater.analyze.bind.passes import rewrite_date_add
from headwater.analyze.connectors.options import bind_options
from headwater.analyze.definitions import Field
from headwater.analyze.diagnostics import Diagnostics, check_name
from headwater.analyze.inference.infer import infer
from headwater.analyze.names.function_names import read_names
from headwater.analyze.names.scope import Relation, as_fields, resolve
from headwater.analyze.rules.allowed_syntax import drop_comments, only_allowed
from headwater.analyze.typing import functions as built_in
from headwater.analyze.typing import types as t
from headwater.analyze.typing.determinism import REFUSED
from headwater.dialect import syntax
from headwater.dialect.normalize import is_too_deep
from headwater.dialect.parser import known_functions
from headwater.dialect.position import offsets_of
from headwater.errors.nearest import did_you_mean
from headwater.errors.words import count

MAX_CALL, MAX_CALLS = 2_000, 10_000
"""So many nodes of a syntax tree one call may become, and all calls of a statement together: the
condition that finds the rows on which an expression fails is larger than the expression."""

_RESERVED = frozenset(
    ("tumble", "hop", "cumulate", "session", "descriptor", "watermark")
    + ("bucket", "truncate", "hour", "day", "month", "year")
    + ("classifier", "match_number", "prev", "next", "running", "final")
)
"""Words that stand where a function's name stands and are none of the allow-list."""

_AROUND = (exp.Filter, exp.Window, exp.IgnoreNulls, exp.RespectNulls, exp.WithinGroup)
_NO_VALUES = (exp.Distinct, exp.Order, exp.Star, exp.Kwarg, exp.PropertyEQ, exp.Lambda)
_BARE = (exp.Column, exp.Literal, exp.Null, exp.Boolean, exp.Cast, exp.Paren)


@dataclass(frozen=True, slots=True)
class UserFunction:
    """A ``CREATE FUNCTION`` after binding.

    Attributes:
        name: lower-case name.
        parameters: its parameters in order, typed.
        returns: the type of its result.
        body: what a call stands for; each column in it is a parameter. Not typed.
        size: number of nodes of the body.
        uses: by parameter, how often it stands in the body.
    """

    name: str
    parameters: tuple[Field, ...]
    returns: exp.DataType
    body: exp.Expr
    size: int
    uses: Mapping[str, int]

    @property
    def signature(self) -> str:
        """How it is called, as messages show it: ``f(x BIGINT, y DOUBLE)``."""
        listed = ", ".join(f"{each.name} {t.sql_type(each.type)}" for each in self.parameters)
        return f"{self.name}({listed})"


def called(statement: exp.Expr) -> list[str]:
    """Return the names of the functions that a statement calls and that SQL does not know."""
    return list(dict.fromkeys(call.name for call in _calls(statement)))


def bind_function(
    statement: syntax.CreateFunction, functions: Mapping[str, UserFunction], report: Diagnostics
) -> UserFunction | None:
    """Bind and check one function.

    Args:
        statement: as parsed; not changed.
        functions: the functions that it may call.

    Returns:
        The function, or None if it has errors.
    """
    name = statement.this.name
    if name in known_functions() | REFUSED.keys() | _RESERVED or name in built_in.names():
        message = f'"{name}" is a function or a word of SQL itself'
        report.add("INVALID_FUNCTION", message, statement.this, "choose another name")
    if statement.args.get("body") is not None or statement.args.get("language") == "python":
        python = statement.args["language"] == "python"
        words = "a function in LANGUAGE PYTHON" if python else "AS with the text of a function"
        report.not_yet(words, statement, "write its body in SQL: RETURN expression")
        return None
    bind_options(statement.args.get("options"), {}, "a function", statement, report)
    parameters = _parameters(statement, report)
    returns = _type(statement.args["returns"], report)
    root = _body(statement, functions, parameters, report)
    if root is None or report.errors:
        return None
    root.set("this", _conversion(root.this, returns, f"the result of {name}"))
    body = root.this.copy()
    uses = Counter(column.name for column in body.find_all(exp.Column))
    _check_use(statement, uses, report)
    infer(root, report)
    if not report.errors:
        only_allowed(root, report)
    if report.errors:
        return None
    return UserFunction(name, parameters, returns, body, _size(body), uses)


def _parameters(statement: syntax.CreateFunction, report: Diagnostics) -> tuple[Field, ...]:
    seen: set[str] = set()
    for node in statement.args["parameters"]:
        check_name(report, node.this.name, node.this, "parameter")
        if node.this.name in seen:
            message = f'parameter "{node.this.name}" is defined twice'
            report.add("DUPLICATE_COLUMN", message, node.this, "rename one of them")
        seen.add(node.this.name)
    nodes = statement.args["parameters"]
    return tuple(Field(node.this.name, _type(node.args["kind"], report)) for node in nodes)


def _type(node: exp.DataType, report: Diagnostics) -> exp.DataType:
    try:
        return t.canonical(node)
    except t.TypeRefused as refused:
        report.add("UNSUPPORTED_TYPE", str(refused), node, refused.hint)
        return t.UNKNOWN


def _body(
    statement: syntax.CreateFunction,
    functions: Mapping[str, UserFunction],
    parameters: tuple[Field, ...],
    report: Diagnostics,
) -> exp.Paren | None:
    """Return the body in brackets, its calls expanded and its columns resolved."""
    bound = statement.copy()
    read_names(bound)
    if not expand_calls(bound, functions, report):
        return None
    root = exp.Paren(this=bound.args["expression"])
    drop_comments(root)
    name = statement.this.name
    if not _is_scalar(root, report) or not _knows_columns(root, name, parameters, report):
        return None
    relation = Relation(name, as_fields(parameters), statement)
    for column in list(root.find_all(exp.Column)):
        resolve(column, [relation], report)
    rewrite_date_add(root)
    return root


def _is_scalar(root: exp.Expr, report: Diagnostics) -> bool:
    """Refuse what reads more than one row; return whether there was none."""
    before = len(report.errors)
    if query := root.find(exp.Query):
        hint = "join in the view, and pass the column to the function"
        report.add("UNSUPPORTED_SYNTAX", "a function cannot hold a subquery", query, hint)
    elif window := root.find(exp.Window):
        hint = "write OVER in the view, around or inside the call"
        report.add("MISPLACED_WINDOW", "OVER cannot stand in a function", window, hint)
    elif aggregate := root.find(exp.AggFunc):
        hint = "aggregate in the view, around or inside the call"
        report.add("MISPLACED_AGGREGATE", "a function cannot aggregate", aggregate, hint)
    return len(report.errors) == before


def _knows_columns(
    root: exp.Expr, name: str, parameters: tuple[Field, ...], report: Diagnostics
) -> bool:
    known = [each.name for each in parameters]
    unknown = [each for each in root.find_all(exp.Column) if each.parts[0].name not in known]
    for column in unknown:
        hint = did_you_mean(column.parts[0].name, known, "parameters")
        message = f'"{column.sql("trino")}" is not a parameter of {name}'
        report.add("UNKNOWN_COLUMN", message, column, hint)
    return not unknown


def _check_use(
    statement: syntax.CreateFunction, uses: Mapping[str, int], report: Diagnostics
) -> None:
    """Refuse a parameter that is not used: nothing would check what a call gives for it."""
    for node in statement.args["parameters"]:
        if not uses.get(node.this.name):
            message = f'the body of {statement.this.name} does not use "{node.this.name}"'
            report.add("INVALID_FUNCTION", message, node.this, "remove the parameter")


def expand_calls(
    statement: exp.Expr, functions: Mapping[str, UserFunction], report: Diagnostics
) -> bool:
    """Replace the calls of functions by what they stand for, in place.

    A call that is wrong becomes NULL, so that the errors around it are found as well.

    Args:
        statement: a view, source or function; not typed yet.
        functions: what may be called.

    Returns:
        Whether the statement can be bound.
    """
    left = MAX_CALLS
    calls = [call for call in _calls(statement) if call.name in functions]
    for call in calls:
        function = functions[call.name]
        if left < 0 or not _fits(call, function, report):
            _leave_out(call)
            continue
        sizes = [_size(value) for value in call.expressions]
        uses = (function.uses[each.name] for each in function.parameters)
        size = function.size + sum(map(mul, uses, sizes))
        left -= size - sum(sizes)
        if size > MAX_CALL or left < 0:
            limit = MAX_CALL if size > MAX_CALL else MAX_CALLS
            many = f"a call of {function.name} expands" if size > MAX_CALL else "all calls expand"
            message = f"{many} to more than {limit:,} parts"
            hint = "compute a part of it in a view, and read its column"
            report.add("TOO_COMPLEX", message, call, hint)
            left = -1
            _leave_out(call)
        else:
            call.replace(_expanded(function, call))
    if calls and is_too_deep(statement):
        hint = "compute the inner part in a view, and read its column"
        report.add("TOO_DEEP", "the calls of functions nest too deeply", calls[0], hint)
        return False
    return True


def _leave_out(call: exp.Expr) -> None:
    whole = call
    while isinstance(whole.parent, _AROUND) and whole.arg_key == "this":
        whole = whole.parent
    whole.replace(_place(exp.Null(), call))


def _calls(statement: exp.Expr) -> list[exp.Anonymous]:
    """The calls of what is no function of SQL, the inner ones first."""
    return [
        node
        for root in _expressions(statement)
        for node in reversed(list(root.find_all(exp.Anonymous, bfs=False)))
        if not isinstance(node.parent, exp.Dot)
    ]


def _expressions(statement: exp.Expr) -> Iterator[exp.Expr]:
    """The parts of a statement in which functions may be called."""
    if isinstance(statement, (syntax.CreateStreamingView, syntax.CreateFunction)):
        if (body := statement.args.get("expression")) is not None:
            yield body
        yield from statement.args.get("constraints") or ()
    elif isinstance(statement, syntax.CreateSource):
        columns = statement.args.get("columns") or ()
        yield from (each.args["computed"] for each in columns if each.args.get("computed"))


def _fits(call: exp.Anonymous, function: UserFunction, report: Diagnostics) -> bool:
    given, wanted = call.expressions, len(function.parameters)
    around = isinstance(call.parent, _AROUND) and call.arg_key == "this"
    if around or any(isinstance(each, _NO_VALUES) for each in given):
        message = f"{function.name} takes values by position and nothing else"
        hint = f"call it as {function.signature}"
        report.add("WRONG_ARGUMENTS", message, call, hint)
    elif len(given) != wanted:
        message = f"{function.signature} takes {count(wanted, 'argument')}, not {len(given)}"
        report.add("WRONG_ARGUMENTS", message, call, "")
    else:
        return True
    return False


def _expanded(function: UserFunction, call: exp.Anonymous) -> exp.Expr:
    body = function.body.copy()
    for node in body.walk():
        _place(node, call)
        # of the whole, an error says that it may not stand there, not what is wrong inside
        if node is not body and (node is not body.this or not isinstance(node, exp.Paren)):
            node.meta[syntax.FUNCTION] = function.name
    given = {
        parameter.name: (value, parameter.type)
        for parameter, value in zip(function.parameters, call.expressions, strict=True)
    }
    for column in list(body.find_all(exp.Column)):
        value, kind = given[column.name]
        what = f'argument "{column.name}" of {function.name}'
        column.replace(_conversion(value.copy(), kind, what))
    return body


def _place(node: exp.Expr, call: exp.Expr) -> exp.Expr:
    """Let a node stand where the call stands."""
    if offsets := offsets_of(call):
        node.meta["start"], node.meta["end"] = offsets[0], offsets[1] - 1
    return node


def _conversion(value: exp.Expr, kind: exp.DataType, what: str) -> exp.Cast:
    inner = value if isinstance(value, _BARE) else exp.Paren(this=value)
    cast = exp.Cast(this=inner, to=kind.copy())
    cast.meta[syntax.CONVERSION] = what
    return cast


def _size(node: exp.Expr) -> int:
    return sum(1 for _ in node.walk())
