"""The Jinja of a model that can be read without running it.

In: the text of a model. Out: SQL with as many lines, the settings of ``config()``, and the names
that it refers to. Headwater does not depend on Jinja: loops and macros are for ``dbt compile``.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from headwater.importing.contract import LeftOut
from headwater.importing.dbt.mapping import COMPILE

_TAG = re.compile(r"\{\{-?(?P<value>.*?)-?\}\}|\{%-?(?P<block>.*?)-?%\}|\{#.*?#\}", re.DOTALL)
_CALL = re.compile(r"\s*(?P<name>[\w.]+)\s*(?:\((?P<arguments>.*)\))?\s*", re.DOTALL)
_INCREMENTAL = re.compile(r"\s*if\s+(?P<not>not\s+)?is_incremental\(\)\s*")


@dataclass
class Model:
    """A model under way.

    Attributes:
        sql: its query.
        config: arguments of ``config()``.
        incremental: whether it asks ``is_incremental()``.
    """

    sql: str = ""
    config: dict[str, Any] = field(default_factory=dict)
    incremental: bool = False


def read_model(
    text: str,
    name: str,
    source: Callable[[str, str], str],
    variables: Mapping[str, Any],
) -> Model:
    """Read a model.

    Args:
        text: its file.
        name: its name.
        source: returns the table of a source.
        variables: values of ``var()``.

    Raises:
        LeftOut: it holds Jinja that is not read.
    """
    model, at, shown = Model(), 0, [True]
    for tag in _TAG.finditer(text):
        model.sql += _piece(text[at : tag.start()], shown[-1])
        at = tag.end()
        if tag["block"] is not None:
            _block(tag["block"], model, shown, tag.start())
        elif tag["value"] is not None and shown[-1]:
            model.sql += _value(tag["value"], model, name, source, variables, tag.start())
        model.sql += "\n" * tag[0].count("\n")
    if len(shown) > 1:
        raise LeftOut("an if of Jinja is not closed", COMPILE)
    model.sql += text[at:]
    return model


def _piece(text: str, shown: bool) -> str:
    return text if shown else "\n" * text.count("\n")


def _block(text: str, model: Model, shown: list[bool], at: int) -> None:
    words = " ".join(text.split())
    if found := _INCREMENTAL.fullmatch(text):
        model.incremental = True
        shown.append(bool(found["not"]) and shown[-1])
    elif words == "else" and len(shown) > 1:
        shown[-1] = not shown[-1] and shown[-2]
    elif words == "endif" and len(shown) > 1:
        shown.pop()
    else:
        raise LeftOut(f"Jinja is not run: {{% {words[:40]} %}}", COMPILE, at)


def _value(
    text: str,
    model: Model,
    name: str,
    source: Callable[[str, str], str],
    variables: Mapping[str, Any],
    at: int,
) -> str:
    call = _CALL.fullmatch(text)
    word = call["name"] if call else ""
    if call is None or (word != "this" and call["arguments"] is None):
        raise LeftOut(f"Jinja is not run: {{{{ {' '.join(text.split())[:40]} }}}}", COMPILE, at)
    if word == "this":
        return name
    positional, named = _arguments(call["arguments"], at)
    match word:
        case "ref":
            return str(positional[-1])
        case "source" if len(positional) == 2:
            return source(str(positional[0]), str(positional[1]))
        case "config":
            model.config |= named
            return ""
        case "var":
            key = str(positional[0])
            if key in variables or len(positional) > 1:
                return str(variables.get(key, positional[-1]))
            raise LeftOut(f'the variable "{key}" has no value', f"add --set {key}=VALUE", at)
    raise LeftOut(f"the macro {word} is not run", COMPILE, at)


def _arguments(text: str, at: int) -> tuple[list[Any], dict[str, Any]]:
    """Read literals between brackets, with Python's rules, which are Jinja's."""
    try:
        call = ast.parse(f"f({text.strip()})", mode="eval").body
        assert isinstance(call, ast.Call)
        named = {each.arg: _literal(each.value) for each in call.keywords if each.arg}
        return [ast.literal_eval(each) for each in call.args], named
    except (SyntaxError, AssertionError, ValueError, RecursionError) as error:
        raise LeftOut("an argument of Jinja is no literal", COMPILE, at) from error


def _literal(node: ast.expr) -> Any:  # noqa: ANN401
    """Return a literal; words of Jinja are lower case, and what is no literal is nothing."""
    if isinstance(node, ast.Name):
        return {"true": True, "false": False, "none": None}.get(node.id.lower())
    try:
        return ast.literal_eval(node)
    except ValueError:
        return None
