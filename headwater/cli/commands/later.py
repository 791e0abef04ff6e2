"""The commands of the fixed interface that do not work yet: they say so."""

from __future__ import annotations

from collections.abc import Callable

import click

from headwater.cli.context import Command
from headwater.errors import ConfigError

_NAMES = ("rollback",)


def _later(name: str) -> click.Command:
    return Command(
        name,
        callback=_refuse(name),
        params=[click.Argument(["arguments"], nargs=-1, type=click.UNPROCESSED)],
        context_settings={"ignore_unknown_options": True},
        short_help="(not yet)",
        help="This command does not work yet.",
        hidden=True,
    )


def _refuse(name: str) -> Callable[[tuple[str, ...]], None]:
    def callback(arguments: tuple[str, ...]) -> None:
        raise ConfigError("NOT_YET", f'command "{name}" does not work yet')

    return callback


LATER = tuple(_later(name) for name in _NAMES)
"""Hidden from the list of commands, so that it shows only what works."""
