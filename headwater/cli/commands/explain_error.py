"""``headwater explain-error``: what a condition means."""

from __future__ import annotations

import re

import click

from headwater.cli.context import Command, Context, pass_context

_LINK = re.compile(r"\[([^]]+)\]\([^)]*\)")
"""The catalogue is Markdown, for the reference."""


@click.command(
    "explain-error",
    cls=Command,
    short_help="Show cause and remedy of an error.",
    examples=("headwater explain-error DATA_LOSS",),
)
@click.argument("condition")
@pass_context
def explain_error(context: Context, condition: str) -> None:
    """Show cause and remedy of CONDITION, the upper-case name in an error message."""
    from headwater.errors import ConfigError
    from headwater.errors.catalogue import explanations
    from headwater.errors.nearest import did_you_mean

    name = condition.upper()
    known = explanations()
    if name not in known:
        hint = did_you_mean(name, known, "conditions")
        raise ConfigError("UNKNOWN_CONDITION", f'condition "{name}" does not exist', hint=hint)
    cause, remedy = (_LINK.sub(r"\1", text) for text in (known[name].cause, known[name].remedy))
    context.output.document(
        {"condition": name, "cause": cause, "remedy": remedy},
        f"{name}\n  cause   {cause}\n  remedy  {remedy}",
        prose=True,
    )
