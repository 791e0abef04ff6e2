"""``headwater jars``: the Java libraries that a project's Spark loads."""

from __future__ import annotations

import click

from headwater.cli.context import Command, Context, pass_context


@click.command(
    cls=Command,
    short_help="Download the jars that the project's Spark needs.",
    examples=("headwater jars",),
)
@pass_context
def jars(context: Context) -> None:
    """Download the jars of the project's catalog, formats, connectors and sinks.

    Prints their paths on one line, with commas between them. The first run does the same by itself;
    this command is for images, for machines without a network, and for spark-submit.
    """
    from headwater.jars.fetch import fetch, progress_line
    from headwater.lake.catalogs.opening import catalog_backend
    from headwater.lake.storage.warehouse import warehouse_for
    from headwater.runtime.spark_requirements import Storage
    from headwater.runtime.supervisor import Supervisor

    project = context.project()
    config = project.config
    needed = Storage(catalog_backend(config), warehouse_for(config), Supervisor(project).jars)
    with progress_line() as progress:
        paths = [str(path) for path in fetch(needed.jars, progress=progress)]
    context.output.document({"jars": paths}, ",".join(paths))
