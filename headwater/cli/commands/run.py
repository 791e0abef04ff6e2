"""``headwater run``: keep the views of a project."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext
from pathlib import Path
from typing import TYPE_CHECKING

import click

from headwater.cli.commands.apply import apply_task, definitions_to_run
from headwater.cli.commands.maintain import maintain_task
from headwater.cli.commands.quarantine import replay_task
from headwater.cli.commands.versions import rollback_task
from headwater.cli.context import NAME, Command, Context, pass_context, require_view
from headwater.cli.handover import Task, answer_request
from headwater.cli.progress import shown_progress
from headwater.cli.warnings import show_everything

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from headwater.project import Project
    from headwater.runtime.events import Event, Progress


_TASKS: Mapping[str, Task] = {
    "apply": apply_task,
    "rollback": rollback_task,
    "maintain": maintain_task,
    "quarantine replay": replay_task,
}
"""What other commands may ask a run for."""


@click.command(
    cls=Command,
    short_help="Land inputs, maintain views, deliver sinks.",
    examples=(
        "headwater run --once",
        "headwater run --once --end-of-input",
        "headwater run",
        "headwater run --view departures_per_hour",
        "headwater run --apply",
        "headwater run --metrics-port 9464",
        "headwater run --once --profile trace.json",
    ),
)
@click.option(
    "--once", is_flag=True, help="Process everything that is there, then exit. Windows stay open."
)
@click.option(
    "--end-of-input",
    is_flag=True,
    help="With --once: close all windows, since no more input will come.",
)
@click.option(
    "--view",
    "views",
    type=NAME,
    multiple=True,
    metavar="VIEW",
    help="Maintain only this view and its inputs; can be repeated.",
)
@click.option(
    "--apply",
    "first",
    is_flag=True,
    help="Apply changed definitions first, as `headwater apply --auto-approve` does.",
)
@click.option(
    "--metrics-port",
    type=click.IntRange(1, 65535),
    metavar="PORT",
    help="Serve metrics on this port. [default: metrics.port, or none]",
)
@click.option("--no-console", is_flag=True, help="Serve no page about the run.")
@click.option(
    "--profile",
    "trace",
    type=click.Path(dir_okay=False, writable=True, path_type=Path),
    metavar="FILE",
    help="Write a trace of the run, which Perfetto and Chrome open, and a flame graph beside it.",
)
@pass_context
def run(
    context: Context,
    once: bool,
    end_of_input: bool,
    views: tuple[str, ...],
    first: bool,
    metrics_port: int | None,
    no_console: bool,
    trace: Path | None,
) -> int:
    """Land tables, maintain views and deliver sinks until stopped.

    SIGTERM and Ctrl-C finish the running batch and exit with 0. A view that fails is started again
    after a growing pause, and the other views go on. Exits with 3 if a view failed for good.

    A project with an error is not started. A view whose definition is another one than the lake
    has keeps the old one until it is applied: see headwater plan. In a project that nobody has ever
    applied, --once applies it first. When SQL files change meanwhile, the run says which
    definitions are new or changed, and goes on with those that it began with.
    """
    from headwater.machine.java import find_java

    if end_of_input and not once:
        raise click.UsageError("--end-of-input needs --once")
    if trace and not trace.parent.is_dir():
        raise click.UsageError(f"--profile: folder {trace.parent} does not exist")
    if trace and trace.suffix == ".html":
        raise click.UsageError("--profile: the flame graph gets this name; end it in .json")
    if context.debug:
        show_everything()
    project = context.project()
    for name in views:
        require_view(project, name)
    find_java()
    project = definitions_to_run(context, project, first, once)
    from headwater.deploy.requests import Requests
    from headwater.runtime.definition_watch import watched
    from headwater.runtime.supervisor import Supervisor

    requests = Requests(project.config.state)
    with _console(context, project, wanted=not (once or no_console)):
        while True:
            with (
                shown_progress(context.output) as progress,
                _counted(context, project, metrics_port, progress) as tell,
                nullcontext() if once else watched(project, tell),
                _profiled(context, project, views, trace, tell) as (spark, told),
            ):
                supervisor = Supervisor(project, spark=spark, views=views, progress=told)
                with nullcontext() if once else requests.heard(supervisor.interrupt):
                    code = supervisor.run(once=once, end_of_input=end_of_input)
            if not requests.asked:
                return code
            project = answer_request(context, requests, project, _TASKS)


@contextmanager
def _console(context: Context, project: Project, wanted: bool) -> Iterator[None]:
    """Serve the console until the block ends, if it is wanted."""
    if not wanted:
        yield
        return
    from headwater.console.listening import console_on_demand

    with console_on_demand(project.root, project.config.console.port) as address:
        context.output.note(f"console: {address}")
        yield


@contextmanager
def _profiled(
    context: Context, project: Project, views: Sequence[str], trace: Path | None, tell: Progress
) -> Iterator[tuple[SparkSession | None, Progress]]:
    """Open a session that is profiled, if a trace was asked for, and say what it found."""
    if trace is None:
        yield None, tell
        return
    from headwater.profile.session import profiled_session
    from headwater.runtime.supervisor import Supervisor

    jars = Supervisor(project, views=views).jars
    with profiled_session(project, jars, trace, tell) as (spark, told, profile):
        yield spark, told
    columns = ("work", "starting_cpu_s", "after_cpu_s", "cpu_ms_per_commit")
    context.output.rows(columns, profile.rows())
    context.output.note(f"{profile.commits} commits after the first of everything")
    context.output.note(f"{profile.calls} calls from Python to the JVM")
    context.output.note(f"trace: {profile.trace}; flame graph: {profile.flame_graph}")


@contextmanager
def _counted(
    context: Context, project: Project, port: int | None, progress: Progress
) -> Iterator[Progress]:
    """Give what is to be told of the run; serve metrics until the block ends, if asked to."""
    settings = project.config.metrics
    port = port or settings.port
    if port is None:
        yield progress
        return
    from headwater.runtime.metrics import Metrics, served
    from headwater.runtime.run_metrics import Tally

    tally = Tally(project.catalog)

    def tell(event: Event) -> None:
        tally(event)
        progress(event)

    with served(Metrics(project, tally), settings.host, port) as address:
        context.output.note(f"metrics: {address}")
        yield tell
