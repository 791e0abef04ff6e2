"""What to write instead of a function that is not in the language.

In: its name and arguments. Out: a hint: the function that does it, the dialect that has the word,
or the name that is spelled most like it.
"""

from __future__ import annotations

from collections.abc import Iterable

from sqlglot import exp

from headwater.analyze.typing import functions as f
from headwater.analyze.typing.functions.elsewhere import ELSEWHERE
from headwater.dialect import BODY_DIALECTS, parse_all
from headwater.dialect.splitter import MEANT_AS
from headwater.dialect.syntax import DIALECT
from headwater.errors.nearest import did_you_mean


def hint_for(call: exp.Func, name: str, others: Iterable[str]) -> str:
    """Return the hint of an unknown function.

    Args:
        call: the call.
        name: as it is shown.
        others: names of the functions of the project.
    """
    written = call.meta.get(DIALECT, "trino")
    same = ELSEWHERE.get(name)
    dialects = _dialects_with(call, name) if written == "trino" else []
    if f.by_name(name) is not None and written != "trino":
        return f"{name} is Trino's: remove the header -- dialect: {written}"
    if dialects:
        listed = " or ".join(f"-- dialect: {each}" for each in dialects[:2])
        header = f"put {listed} at the top of the file"
        return f"write {same}, or {header}" if same else header
    if same:
        return f"write {same}"
    in_trino = f.written_name(call)
    meant = next((each for each in f.FUNCTIONS.values() if each.name == in_trino), None)
    if meant is not None and _is_one_call(call):
        return f"write {meant.usage} in Trino's SQL"
    return did_you_mean(name, [*f.names(), *others], "functions")


def _is_one_call(call: exp.Func) -> bool:
    """Return whether Trino has one function for a call, not a composition of several."""
    inner = sum(each.sql("trino").count("(") for each in f.arguments(call))
    return call.sql("trino").count("(") == inner + 1


def _dialects_with(call: exp.Func, name: str) -> list[str]:
    """The dialects in which the call is one of this language."""
    if not isinstance(call, exp.Anonymous):
        return []
    arguments = ", ".join(each.sql("trino") for each in call.expressions)
    view = f"CREATE STREAMING VIEW v AS SELECT {name}({arguments}) AS x FROM t"
    others = (each for each in BODY_DIALECTS if each != "trino" and each not in MEANT_AS)
    return [dialect for dialect in others if _is_known(view, dialect)]


def _is_known(view: str, dialect: str) -> bool:
    statements, errors = parse_all(view, default_dialect=dialect)
    if errors or not statements:
        return False
    value = statements[0].args["expression"].selects[0].unalias()
    calls = [node for node in value.find_all(exp.Func) if not isinstance(node, exp.Connector)]
    known = (exp.Cast, exp.Case, exp.If)
    return all(
        type(node) in f.FUNCTIONS
        or isinstance(node, known)
        or (isinstance(node, exp.Anonymous) and DIALECT not in node.meta and f.by_name(node.name))
        for node in calls
    )
