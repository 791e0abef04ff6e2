"""``headwater init``: a project that runs as it is."""

from __future__ import annotations

import re
from pathlib import Path

import click

from headwater.cli.context import Command, Context, pass_context
from headwater.errors import ConfigError

TEMPLATE = Path(__file__).parents[2] / "template"
_RENAMED = {"gitignore": ".gitignore"}


@click.command(
    cls=Command,
    short_help="Create a project that runs as it is.",
    examples=("headwater init shop", "cd shop && headwater run --once --end-of-input"),
)
@click.argument("directory", type=click.Path(path_type=Path), metavar="DIR")
@pass_context
def init(context: Context, directory: Path) -> None:
    """Create a project in DIR: a generated table, three views, a test. DIR must be new or empty."""
    if directory.exists() and (not directory.is_dir() or any(directory.iterdir())):
        raise ConfigError(
            "NOT_EMPTY",
            f'"{directory}" exists and is not an empty folder',
            hint="name a new folder",
        )
    name = project_name(directory)
    written = []
    for source in sorted(path for path in TEMPLATE.rglob("*") if path.is_file()):
        relative = source.relative_to(TEMPLATE)
        target = directory / relative.with_name(_RENAMED.get(relative.name, relative.name))
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(
            source.read_text(encoding="utf-8").replace("{name}", name), encoding="utf-8"
        )
        written.append(str(target))
    context.output.document(
        {"name": name, "directory": str(directory), "files": written},
        "\n".join(
            [
                f'made project "{name}" in {directory}:',
                *(f"  {path}" for path in written),
                "next:",
                f"  cd {directory}",
                "  headwater check",
                "  headwater run --once --end-of-input",
                '  headwater sql "SELECT * FROM orders_per_hour"',
            ]
        ),
    )


def project_name(directory: Path) -> str:
    """Return a valid project name made from the name of a folder."""
    name = re.sub(r"[^a-z0-9_]+", "_", directory.resolve().name.lower()).strip("_")
    return name[:63] if name[:1].isalpha() else f"project_{name}"[:63].rstrip("_")
