"""The reference of the command line, from click."""

from __future__ import annotations

import inspect
from collections.abc import Iterator

import click

from docs.generate.markdown import code, table
from headwater.cli.context import global_options
from headwater.cli.main import cli

_GLOBAL = {parameter.name for parameter in global_options()}


def commands() -> Iterator[str]:
    """Yield the global options, then every command that works."""
    yield "## Options of every command"
    yield ""
    yield from _options(cli, of_all=True)
    for name, command in cli.commands.items():
        if not command.hidden:
            yield from _command(command, f"headwater {name}", 2)


def _command(command: click.Command, path: str, level: int) -> Iterator[str]:
    yield f"{'#' * level} `{path}`"
    yield ""
    yield _prose(command)
    yield ""
    if isinstance(command, click.Group):
        for name, inner in command.commands.items():
            yield from _command(inner, f"{path} {name}", level + 1)
        return
    # click remembers a command's help option from the first context that asks for it
    above = click.Context(cli, **cli.context_settings)
    context = click.Context(command, parent=above, info_name=path)
    yield f"`{path} {' '.join(command.collect_usage_pieces(context))}`"
    yield ""
    yield from _options(command)
    if examples := getattr(command, "examples", ()):
        yield "```sh"
        yield from examples
        yield "```"
        yield ""


def _prose(command: click.Command) -> str:
    text = inspect.cleandoc(command.help or command.short_help or "").replace("\b", "")
    return "\n\n".join(" ".join(part.split()) for part in text.split("\n\n"))


def _options(command: click.Command, *, of_all: bool = False) -> Iterator[str]:
    rows = []
    for parameter in command.params:
        if not isinstance(parameter, click.Option) or parameter.hidden:
            continue
        if of_all or parameter.name not in _GLOBAL:
            rows.append((_written(parameter), parameter.help or ""))
    if rows:
        yield from table(("option", "meaning"), rows)


def _written(option: click.Option) -> str:
    names = ", ".join((*option.opts, *option.secondary_opts))
    if option.is_flag:
        return code(names)
    if isinstance(option.type, click.Choice):
        return code(f"{names} {{{','.join(map(str, option.type.choices))}}}")
    context = click.Context(click.Command("x"))
    return code(f"{names} {option.make_metavar(context)}").replace("|", "` or `")
