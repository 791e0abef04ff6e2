"""``headwater dashboards``: the views in the browser."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from headwater.cli.context import Command, Context, pass_context, plans_of
from headwater.errors import ConfigError

if TYPE_CHECKING:
    from headwater.config.settings import Config

PUSHED = ("dashboard", "charts", "address")


@click.group(short_help="Push datasets, charts and dashboards to Superset.")
def dashboards() -> None:
    """Show views in Superset as datasets, charts and dashboards, read through Trino."""


@dashboards.command(
    cls=Command,
    short_help="Create or update the project's dashboards.",
    examples=(
        "headwater dashboards push",
        "headwater dashboards push --url http://127.0.0.1:8088",
        "headwater dashboards push --write shop.zip --trino-url http://trino:8080",
    ),
)
@click.option("--url", metavar="URL", help="Address of Superset. [default: superset.url]")
@click.option(
    "--username", metavar="NAME", help="User name for Superset. [default: superset.username]"
)
@click.option(
    "--trino-url",
    metavar="URL",
    help="Address at which Superset reaches Trino. [default: trino.url]",
)
@click.option(
    "--write",
    "target",
    type=click.Path(path_type=Path),
    metavar="DIR|FILE.zip",
    help="Write the bundle to this folder or file; contact no server.",
)
@pass_context
def push(
    context: Context,
    url: str | None,
    username: str | None,
    trino_url: str | None,
    target: Path | None,
) -> None:
    """Create a dataset of each view, its charts, a dashboard of them and one of the pipeline.

    The charts are the YAML files in the project's folder dashboards/ ([superset] charts). A view
    without a chart there gets starter charts: big numbers for a single row, bars for the first
    rows, lines over time, otherwise a table.

    A second push updates what the first one created and removes what the project no longer has. It
    leaves what people made in Superset, and a chart of the project in a dashboard of theirs.

    The password is [superset] password, a reference such as ${env:SUPERSET_PASSWORD}.
    """
    from headwater.serve.superset.bundle import write
    from headwater.serve.superset.project import project_bundle
    from headwater.serve.superset.push import Pushed, Superset

    project = context.project()
    bundle = project_bundle(project, plans_of(project), trino_url)
    if target is not None:
        write(bundle.files, target)
        done = Pushed((str(target),) * len(bundle.dashboards))
    else:
        where, user, password, trino_password = _access(project.config, url, username)
        done = Superset(where, user, password).push(bundle, trino_password)
    if done.removed:
        context.output.note(f"removed, because not in the project: {', '.join(done.removed)}")
    if done.left:
        context.output.note(f"retained, because people use them: {', '.join(done.left)}")
    found = zip(bundle.dashboards, done.addresses, strict=True)
    context.output.rows(PUSHED, [(page.title, len(page.charts), where) for page, where in found])


def _access(
    config: Config, url: str | None, username: str | None
) -> tuple[str, str, str, str | None]:
    """Where Superset is, and the secrets that a push needs."""
    from headwater.config.settings import Secret

    said, trino = config.superset, config.trino
    if not (url or said.url):
        hint = 'write url = "http://127.0.0.1:8088" below [superset], or use --url'
        raise ConfigError("SUPERSET_URL", "the project does not name Superset's address", hint=hint)
    if not said.password:
        hint = 'write password = "${env:SUPERSET_PASSWORD}" below [superset], and set the variable'
        raise ConfigError("SUPERSET_LOGIN", "there is no password for Superset", hint=hint)
    return (
        url or said.url or "",
        username or said.username,
        Secret(said.password).reveal(),
        Secret(trino.password).reveal() if trino.password else None,
    )
