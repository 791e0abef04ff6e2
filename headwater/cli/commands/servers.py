"""``headwater console``, ``trino``, ``superset`` and ``stack``: servers of a project."""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import click

from headwater.cli.context import Command, Context, pass_context, plans_of

if TYPE_CHECKING:
    from threading import Event

    from headwater.config.settings import Config
    from headwater.project import Project
    from headwater.servers.superset import SupersetServer
    from headwater.servers.trino import TrinoServer

TRINO = """Trino reads the tables of {name} at {url}
Any user name is accepted, and nobody can write.
  headwater    export HEADWATER_TRINO_URL={url}
  DB-API       trino.dbapi.connect("127.0.0.1", {port}, "me", "{catalog}", "{schema}")
  SQLAlchemy   trino://me@127.0.0.1:{port}/{catalog}/{schema}
  JDBC         jdbc:trino://127.0.0.1:{port}/{catalog}/{schema}?user=me"""

SUPERSET = """Superset runs at {url}; log in as {username}, the password is in {file}
  export HEADWATER_SUPERSET_URL={url}
  export HEADWATER_SUPERSET_PASSWORD='${{env:SUPERSET_PASSWORD}}'
  export SUPERSET_PASSWORD=$(cat {file})
  headwater --project DIR dashboards push"""

_folder = click.option(
    "--folder",
    type=click.Path(path_type=Path, file_okay=False),
    metavar="DIR",
    help="Data, logs and ports of the server. [default: .headwater/servers of the project]",
)


@click.command(
    cls=Command,
    short_help="Serve a page about the project, until Ctrl-C.",
    examples=("headwater console", "headwater console --port 9000"),
)
@click.option(
    "--port",
    type=click.IntRange(1, 65535),
    metavar="PORT",
    help="Port on 127.0.0.1. [default: console.port, or the first free one from 8642]",
)
@click.option("--socket", "number", type=int, hidden=True, help="A socket of the run.")
@pass_context
def console(context: Context, port: int | None, number: int | None) -> None:
    """Serve the console: graph, status, commits, rows, quarantine, why, verify and SQL.

    The page is read-only and refreshes itself. It reads what `headwater status` reads, so the run
    may be on another machine, if this one reads the same lake. Only programs of this machine reach
    it. `headwater run` serves the same page.
    """
    import socket

    from headwater.config.settings import load_config
    from headwater.console.listening import address_of, listen
    from headwater.console.serving import served

    root = context.root()
    if number is not None:
        with served(root, socket.socket(fileno=number), parent=os.getppid()) as ended:
            _wait(ended)
        return
    config = load_config(root)
    listening = listen(port or config.console.port)
    with served(root, listening) as ended:
        address = address_of(listening)
        context.output.document({"console": address}, f"console of {config.name}: {address}")
        _say_how_to_stop(context)
        _wait(ended)


@click.command(
    cls=Command,
    short_help="Start Trino over the project's tables, until Ctrl-C.",
    examples=("headwater trino", "headwater trino --catalog iceberg > etc/catalog/lake.properties"),
)
@_folder
@click.option(
    "--catalog",
    type=click.Choice(["iceberg", "delta"]),
    help="Start nothing; print the catalog file for a Trino of your own.",
)
@pass_context
def trino(context: Context, folder: Path | None, catalog: str | None) -> None:
    """Start a Trino of one node that reads the project's tables and writes nothing.

    The first start downloads Trino (821 MB), and a Java for it unless Java 24 or newer is
    installed. A project that is started again has its Trino at the same address.
    """
    project, _ = context.survey()
    if catalog:
        _print_catalog(context, project.config, catalog)
        return
    with _trino(context, project, folder):
        _say_how_to_stop(context)
        _wait()


@click.command(
    cls=Command,
    short_help="Start Superset for dashboards, until Ctrl-C.",
    examples=("headwater superset",),
)
@_folder
@pass_context
def superset(context: Context, folder: Path | None) -> None:
    """Start a Superset with one administrator; its dashboards remain for the next start.

    The first start installs Superset (850 MB) in an environment of its own, which takes minutes
    and needs Python 3.11 or 3.12.
    """
    project, _ = context.survey()
    with _superset(context, project.config, folder):
        _say_how_to_stop(context)
        _wait()


@click.command(
    cls=Command,
    short_help="Start Trino and Superset with the project's dashboards, until Ctrl-C.",
    examples=("headwater stack",),
)
@_folder
@pass_context
def stack(context: Context, folder: Path | None) -> None:
    """Start Trino and Superset, and push the project's dashboards.

    Run the views beside it, in a terminal of their own: headwater run.
    """
    project = context.project()
    plans_of(project)  # errors in the project come before minutes of starting
    with (
        _trino(context, project, folder) as reader,
        _superset(context, project.config, folder) as board,
    ):
        _push(context, project, reader, board)
        _say_how_to_stop(context)
        _wait()


def _print_catalog(context: Context, config: Config, kind: str) -> None:
    from headwater.errors import ConfigError
    from headwater.serve.trino.catalog import delta_properties, properties, properties_file

    found = delta_properties(config) if kind == "delta" else properties(config)
    if not found:
        hint = "leave this catalog out: the project has none in its object store"
        raise ConfigError("NOT_YET", "Delta tables are stored in folders only", hint=hint)
    context.output.document(dict(found), properties_file(found))


@contextmanager
def _trino(context: Context, project: Project, folder: Path | None) -> Iterator[TrinoServer]:
    from headwater.lake.identity import LakeIdentity
    from headwater.serve.trino.access import state_columns
    from headwater.serve.trino.catalog import catalogs, environment
    from headwater.servers.trino import TrinoServer

    config, hidden = project.config, state_columns(plans_of(project).values())
    LakeIdentity(config).check()
    where, tables = _place(config, folder), catalogs(config)
    context.output.note("starting Trino")
    with TrinoServer(where, tables, variables=environment(config), hidden=hidden) as server:
        text = TRINO.format(
            url=server.address,
            port=server.ports["TRINO_PORT"],
            name=config.name,
            catalog=config.trino.catalog,
            schema=config.namespace,
        )
        context.output.document({"trino": server.address}, text)
        yield server


@contextmanager
def _superset(context: Context, config: Config, folder: Path | None) -> Iterator[SupersetServer]:
    from headwater.servers.superset import SupersetServer

    context.output.note("starting Superset")
    with SupersetServer(_place(config, folder)) as server:
        text = SUPERSET.format(
            url=server.address, username=server.username, file=server.home / "admin_password"
        )
        context.output.document({"superset": server.address}, text)
        yield server


def _push(context: Context, project: Project, reader: TrinoServer, board: SupersetServer) -> None:
    from headwater.serve.superset.project import project_bundle
    from headwater.serve.superset.push import Superset

    bundle = project_bundle(project, plans_of(project), reader.address)
    done = Superset(board.address, board.username, board.password).push(bundle, None)
    for page, address in zip(bundle.dashboards, done.addresses, strict=True):
        context.output.document({"dashboard": address}, f"{page.title}: {address}")


def _place(config: Config, folder: Path | None) -> Path:
    return folder or config.state.parent / "servers"


def _say_how_to_stop(context: Context) -> None:
    sys.stdout.flush()  # whoever reads the addresses through a pipe waits for them now
    context.output.note(f"Ctrl-C stops it (process {os.getpid()})")


def _wait(stop: Event | None = None) -> None:
    """Wait for Ctrl-C or SIGTERM, either of which ends the command with 0, or for an event."""
    from threading import Event

    stop = stop or Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda *_: stop.set())
    stop.wait()
