"""``headwater functions``: the functions of the language, by name or by what they do."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from headwater.cli.context import Command, Context, pass_context
from headwater.errors import EXIT_NO, EXIT_OK

if TYPE_CHECKING:
    from headwater.analyze.inference.catalogue import FoundFunction

_FEW = 12
"""So many functions are shown with what they return and an example."""


@click.command(
    cls=Command,
    short_help="List the functions of the language.",
    examples=(
        "headwater functions",
        "headwater functions base64",
        "headwater functions to_char",
    ),
)
@click.argument("pattern", default="")
@pass_context
def functions(context: Context, pattern: str) -> int:
    """List the functions that PATTERN names, or all of them.

    PATTERN is a part of a name, a word of what a function does, or the name of such a function in
    another system. Starts no Java.
    """
    from headwater.analyze.inference.catalogue import find, instead, refused

    found, other, reason = find(pattern), instead(pattern), refused(pattern)
    lines = [_shown(each, whole=len(found) <= _FEW) for each in found]
    if reason:
        lines.append(f"{pattern} is refused: {reason}")
    if other:
        lines.append(f"{pattern} of other systems: write {other}")
    context.output.document(
        {"functions": [each.document() for each in found], "instead": other or None},
        "\n".join(lines) or f'no function is like "{pattern}"',
        prose=True,
    )
    return EXIT_OK if lines else EXIT_NO


def _shown(entry: FoundFunction, *, whole: bool) -> str:
    if not whole:
        return f"{entry.usage:<44} {entry.about}"
    lines = [entry.usage, f"  {entry.about}"]
    lines += [f"  {call} = {result}" for call, result in entry.examples]
    if entry.aliases:
        lines.append(f"  also called {', '.join(entry.aliases)}")
    lines.append(f"  engines: {', '.join(entry.engines)}")
    if entry.note:
        lines.append(f"  {entry.note}")
    return "\n".join([*lines, ""])
