"""``WITH`` and ``ENCODE`` options against their allow-lists.

In: option nodes and a table of :class:`~headwater.analyze.connectors.contract.Option`. Out: option
values as text, or errors that name the nearest option.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from datetime import datetime
from math import isfinite

from sqlglot import exp

from headwater.analyze.connectors.contract import Option
from headwater.analyze.diagnostics import Diagnostics
from headwater.config.secrets import REFERENCE
from headwater.dialect import syntax
from headwater.errors.nearest import did_you_mean
from headwater.redact import remember

SPAN = re.compile(
    r"\s*(\d+(?:\.\d+)?)\s*(microsecond|millisecond|second|minute|hour|day|week)s?\s*", re.I
)


def bind_options(
    nodes: Sequence[syntax.OptionClause] | None,
    allowed: Mapping[str, Option],
    owner: str,
    at: exp.Expr,
    report: Diagnostics,
    elsewhere: Mapping[str, str] | None = None,
) -> dict[str, str]:
    """Return options as text by name; report unknown, missing and ill-formed ones.

    Args:
        owner: whose options they are, for messages, for example ``connector files``.
        at: where to report a missing option.
        elsewhere: for an option that stands elsewhere, the hint that says where.
    """
    found: dict[str, str] = {}
    for node in nodes or []:
        name = str(node.this)
        option = allowed.get(name)
        if option is None:
            message = f'{owner} has no option "{name}"'
            hint = (elsewhere or {}).get(name) or did_you_mean(name, allowed, "options")
            report.add("UNKNOWN_OPTION", message, node, hint)
            continue
        found[name] = _text(node.expression)
        if option.kind not in ("secret", "template") and REFERENCE.search(found[name]):
            hint = "write the value itself; only secrets are read from the environment"
            report.add("INVALID_OPTION", f'option "{name}" is not a secret', node, hint)
        elif wrong := check_value(found[name], option):
            report.add("INVALID_OPTION", f'option "{name}" {wrong[0]}', node, wrong[1])
    for name, option in allowed.items():
        if option.required and name not in found:
            hint = f"add {name} = '…': {option.description}"
            report.add("MISSING_OPTION", f'{owner} needs the option "{name}"', at, hint)
    return found


def with_named(
    allowed: Mapping[str, Option],
    named: Mapping[str, Option],
    nodes: Sequence[syntax.OptionClause],
) -> dict[str, Option]:
    """Return options together with those of a prefix that are written, ``<prefix>.<name>``.

    Args:
        allowed: options by name.
        named: options by prefix.
    """
    written = ((str(node.this), str(node.this).partition(".")) for node in nodes)
    further = {
        whole: named[prefix] for whole, (prefix, _, name) in written if name and prefix in named
    }
    return {**allowed, **further}


def option_node(statement: exp.Expr, name: str) -> exp.Expr:
    """Return the node of an option; the statement if the option is not written."""
    nodes: list[syntax.OptionClause] = statement.args["options"]
    return next((node for node in nodes if node.this == name), statement)


def check_value(text: str, option: Option) -> tuple[str, str] | None:
    """Return what is wrong with an option's text and a hint, or None."""
    if option.kind == "secret" and not REFERENCE.fullmatch(text):
        remember(text)  # errors show the line it stands in
        return "contains a secret", "write '${env:NAME}' and set NAME outside"
    if option.kind == "template" and "${" in REFERENCE.sub("", text):
        return "has a reference that cannot be read", "write ${env:NAME}"
    if option.kind == "choice" and text not in option.choices:
        return f"cannot be {text}", did_you_mean(text, option.choices, "choices")
    if option.kind == "boolean" and text not in ("true", "false"):
        return "is not a boolean", "write true or false"
    if option.kind == "interval" and not SPAN.fullmatch(text):
        return "is not an interval", "write it like '90 seconds' or '1 hour'"
    if option.kind in ("integer", "number"):
        return _check_number(text, option)
    if option.kind == "time" and not _is_time(text):
        return "is neither a time nor a number", "write it like '2024-01-01 00:00:00' or 10"
    if option.kind == "text" and option.required and not text:
        return "is empty", f"write the {option.description}"
    return None


def _check_number(text: str, option: Option) -> tuple[str, str] | None:
    try:
        value = int(text) if option.kind == "integer" else float(text)
        if isinstance(value, float) and not isfinite(value):
            raise ValueError
    except ValueError:
        return f"is not a{'n integer' if option.kind == 'integer' else ' number'}", "write digits"
    if option.minimum is not None and value < option.minimum:
        return f"is below {option.minimum:g}", f"write {option.minimum:g} or more"
    return None


def _is_time(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        try:
            datetime.fromisoformat(text)
        except ValueError:
            return False
    return True


def _text(value: exp.Expr) -> str:
    if isinstance(value, exp.Boolean):
        return "true" if value.this else "false"
    if isinstance(value, exp.Neg):
        return f"-{value.this.name}"
    return value.name
