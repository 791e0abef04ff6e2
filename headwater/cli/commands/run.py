"""``headwater run``: keep the views of a project."""

from __future__ import annotations

import logging

import click

from headwater.cli.context import Command, Context, pass_context, plans_of, require_view
from headwater.cli.progress import shown_progress


@click.command(
    cls=Command,
    short_help="Keep the views up to date, or catch up once.",
    examples=("headwater run --once", "headwater run", "headwater run --view departures_per_hour"),
)
@click.option(
    "--once", is_flag=True, help="Process all that is there, close every window, then exit."
)
@click.option(
    "--view", "views", multiple=True, metavar="VIEW", help="Only this view; can be repeated."
)
@pass_context
def run(context: Context, once: bool, views: tuple[str, ...]) -> int:
    """Land the sources, keep the views and deliver the sinks until stopped.

    SIGTERM and Ctrl-C finish the running batch and exit with 0. A view that fails is started again
    after a growing pause and does not disturb the others. Exits with 3 if a view failed for good.
    """
    from headwater.jars.java import find_java

    if context.debug:
        logging.basicConfig(level=logging.INFO, format="%(asctime)s %(name)s: %(message)s")
        logging.getLogger("py4j").setLevel(logging.WARNING)
    project = context.project()
    for name in views:
        require_view(project, name)
    plans_of(project)
    find_java()
    from headwater.runtime.supervisor import Supervisor

    with shown_progress(context.output) as progress:
        return Supervisor(project, views=views, progress=progress).run(once=once)
