"""The command line: ``headwater COMMAND``.

In: arguments. Out: exit code 0 (ok), 1 (the answer is no), 2 (bad input) or 3 (a service failed);
results on standard output, errors as rendered text on standard error.
"""

from __future__ import annotations

import os
import sys
import traceback
from collections.abc import Sequence

import click

from headwater import __version__
from headwater.cli.commands.apply import apply
from headwater.cli.commands.check import check
from headwater.cli.commands.create.import_ import import_
from headwater.cli.commands.create.init import init
from headwater.cli.commands.cut import cut
from headwater.cli.commands.dashboards import dashboards
from headwater.cli.commands.dev import dev
from headwater.cli.commands.doctor import doctor
from headwater.cli.commands.explain import explain
from headwater.cli.commands.explain_error import explain_error
from headwater.cli.commands.jars import jars
from headwater.cli.commands.look_up.functions import functions
from headwater.cli.commands.maintain import maintain
from headwater.cli.commands.plan import plan
from headwater.cli.commands.quarantine import quarantine
from headwater.cli.commands.relocate import relocate
from headwater.cli.commands.run import run
from headwater.cli.commands.servers import console, stack, superset, trino
from headwater.cli.commands.sql import sql
from headwater.cli.commands.status import status
from headwater.cli.commands.test import test
from headwater.cli.commands.verify import verify
from headwater.cli.commands.versions import rollback, versions
from headwater.cli.commands.views.pause import pause, resume
from headwater.cli.commands.why import why
from headwater.cli.context import Context, global_options
from headwater.cli.warnings import shown_warnings
from headwater.errors import EXIT_BAD_INPUT, EXIT_SERVICE, ConfigError, HeadwaterError, ServiceError
from headwater.errors.plain import is_bug, plain
from headwater.errors.steps import told
from headwater.redact import clean_streams

EXIT_INTERRUPTED = 130
_PROMISE = (
    "A patch version keeps commit markers, the relation commits and the command line as they are; "
    "before 1.0.0 a minor version may change them."
)
_STARTERS = (
    init, dev, check, explain, plan, apply, rollback, versions, cut, run, pause, resume, status,
    sql, verify, why, test, maintain, doctor, relocate, quarantine, console, dashboards, trino,
    superset, stack, jars, import_, explain_error, functions,
)  # fmt: skip


class _Group(click.Group):
    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(self.commands)


@click.group(
    cls=_Group,
    params=list(global_options()),
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
    epilog="Exit codes: 0 ok, 1 the answer is no, 2 bad input, 3 a service failed.",
)
@click.version_option(__version__, message=f"headwater %(version)s\n{_PROMISE}")
def cli() -> None:
    """Streaming views for the lakehouse: tables that always equal their SELECT.

    Start with: headwater init DIR
    """


for _command in _STARTERS:
    cli.add_command(_command)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command.

    Args:
        arguments: the command line after the program's name; ``sys.argv`` by default.

    Returns:
        The exit code.
    """
    context = Context()
    with clean_streams(sys), shown_warnings(context):
        return _main(arguments, context)


def _main(arguments: Sequence[str] | None, context: Context) -> int:
    try:
        with told(context.step):
            result = cli.main(
                args=list(arguments) if arguments is not None else None,
                prog_name="headwater",
                standalone_mode=False,
                obj=context,
            )
        context.output.end_step()
        sys.stdout.flush()
        return result if isinstance(result, int) else 0
    except HeadwaterError as error:
        return _report(context, error)
    except click.exceptions.NoArgsIsHelpError as error:
        context.output.note(error.format_message())
        return EXIT_BAD_INPUT
    except click.UsageError as error:
        return _report(context, _usage(error))
    except (KeyboardInterrupt, click.Abort):
        context.output.end_step()
        return EXIT_INTERRUPTED
    except BrokenPipeError:
        # The reader of our output went away (``headwater sql … | head``): nobody is left to tell.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    except MemoryError:
        return _report(context, ServiceError("OUT_OF_MEMORY", "there is not enough memory"))
    except RecursionError:
        return _report(context, ConfigError("TOO_DEEP", "the input is nested too deeply"))
    except Exception as error:
        return _report(context, _unexpected(error))


def _report(context: Context, error: HeadwaterError) -> int:
    context.output.end_step()
    if context.debug:
        traceback.print_exc(file=context.output.err)
    context.output.error(error)
    return error.exit_code


def _usage(error: click.UsageError) -> HeadwaterError:
    message = error.format_message().rstrip(".").replace("'", '"')
    path = error.ctx.command_path if error.ctx else "headwater"
    return ConfigError("USAGE", message[:1].lower() + message[1:], hint=f"see: {path} --help")


def _unexpected(error: Exception) -> HeadwaterError:
    said = plain(error)
    if isinstance(error, OSError):
        return ServiceError("IO_FAILED", said)
    found = ServiceError(
        "INTERNAL_ERROR",
        said if is_bug(error) else f"an unexpected error: {said}",
        hint="this is a bug in Headwater; run the command again with --debug and report it",
    )
    found.exit_code = EXIT_SERVICE
    return found


if __name__ == "__main__":
    sys.exit(main())
