"""What every command shares: the global options, the project, the output asked for.

In: ``--project``, ``--output`` and ``--debug``, before or after the command's name. Out: a
:class:`Context`. Only click is imported here; everything heavy is imported where it is used, so
that ``headwater --help`` answers at once.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from headwater.cli.output import FORMATS, Output, TableOutput
from headwater.errors import ConfigError
from headwater.errors.steps import step

if TYPE_CHECKING:
    from headwater.plan.view_plan import ViewPlan
    from headwater.project import Project

PROJECT_FILE = "headwater.toml"


@dataclass
class Context:
    """The global options of one invocation.

    Attributes:
        directory: where to look for the project, or None for the current folder and those above it.
        output: where results go.
        debug: whether errors show a traceback.
    """

    directory: Path | None = None
    output: Output = field(default_factory=TableOutput)
    debug: bool = False

    def step(self, text: str, minor: bool) -> None:
        """Show what the command begins to do (:mod:`headwater.errors.steps`)."""
        self.output.step(text, minor)

    def root(self, near: Path | None = None) -> Path:
        """Return the folder of the project.

        Args:
            near: where to start looking upward when ``--project`` was not given.

        Raises:
            ConfigError: ``NO_PROJECT`` if there is no ``headwater.toml``.
        """
        start = (self.directory or near or Path.cwd()).resolve()
        candidates = [start] if self.directory else [start, *start.parents]
        for folder in candidates:
            if (folder / PROJECT_FILE).is_file():
                return _as_seen_from_here(folder)
        above = "" if self.directory else " or any folder above it"
        raise ConfigError(
            "NO_PROJECT",
            f'there is no {PROJECT_FILE} in "{start}"{above}',
            hint="create a project with: headwater init DIR, or name one with: --project DIR",
        )

    def project(self) -> Project:
        """Load the project, for commands that start only a sound one.

        Raises:
            HeadwaterError: every error of every file at once.
        """
        from headwater.project import load_project

        step("reading the SQL files", minor=True)
        return load_project(self.root())

    def survey(self, paths: Sequence[Path] = ()) -> tuple[Project, dict[str, ViewPlan]]:
        """Load and plan what is sound of the project; write the errors of the rest.

        Args:
            paths: SQL files or folders whose errors are meant; those of all files by default.

        Raises:
            ConfigError: the folder or the settings are wrong.
        """
        from headwater.errors import ErrorGroup
        from headwater.plan.planner import read_sound

        step("reading the SQL files", minor=True)
        project, plans = read_sound(self.root(paths[0] if paths else None), paths)
        if paths:
            project = _only(project, paths)
        if project.errors:
            self.output.error(ErrorGroup(project.errors))
        return project, plans


def plans_of(
    project: Project, names: Sequence[str] = (), *, thoroughly: bool = True
) -> dict[str, ViewPlan]:
    """Plan the views of a project.

    Args:
        names: the views wanted; all if empty.
        thoroughly: look for expressions that can fail.

    Returns:
        The wanted plans by view, in topological order.

    Raises:
        HeadwaterError: every error of every view at once, or ``UNKNOWN_VIEW``.
    """
    from headwater.plan.planner import plan_project

    for name in names:
        require_view(project, name)
    plans = plan_project(project.catalog, thoroughly=thoroughly)
    return {name: plan for name, plan in plans.items() if not names or name in names}


def _only(project: Project, paths: Sequence[Path]) -> Project:
    """Keep the errors of some files, and what is left out of those that they define."""
    from dataclasses import replace

    from headwater.project import sql_files

    files = {file.resolve() for file in sql_files(project.root, paths)}
    errors = [e for e in project.errors if e.span and Path(e.span.file).resolve() in files]
    defined = {n: each for n, each in project.definitions.items() if each.file.resolve() in files}
    return replace(
        project,
        errors=tuple(errors),
        broken={name: each for name, each in project.broken.items() if name in defined},
        files=tuple(file for file in project.files if file.resolve() in files),
        definitions=defined,
    )


def require_view(project: Project, name: str) -> None:
    """Refuse a name that is no view of the project, or one with an error.

    Raises:
        ConfigError: ``UNKNOWN_VIEW`` with the nearest name as hint, ``DEFINITION_BROKEN``.
    """
    from headwater.errors.nearest import did_you_mean

    views = project.catalog.views
    if name in views:
        return
    if name in project.broken:
        left_out = project.broken[name]
        message = f'{left_out.kind} "{name}" is {left_out.said}'
        raise ConfigError(
            "DEFINITION_BROKEN", message, hint="correct the file, then: headwater check"
        )
    if name in project.catalog.sources:
        kind = "table" if project.catalog.sources[name].kept else "source"
        raise ConfigError("UNKNOWN_VIEW", f'"{name}" is a {kind}, not a view')
    if name in project.definitions and project.definitions[name].kind == "function":
        hint = "explain a view that calls it"
        raise ConfigError("UNKNOWN_VIEW", f'"{name}" is a function, not a view', hint=hint)
    hint = did_you_mean(name, views, "views")
    raise ConfigError("UNKNOWN_VIEW", f'view "{name}" does not exist', hint=hint)


def _as_seen_from_here(folder: Path) -> Path:
    """Return a folder relative to the current one where that reads well in errors."""
    here = Path.cwd()
    related = folder.is_relative_to(here) or here.is_relative_to(folder)
    return Path(os.path.relpath(folder, here)) if related else folder


class _Name(click.ParamType[str]):
    """A name as SQL has it: in any case, kept in lower case."""

    name = "name"

    def convert(self, value: str, param: click.Parameter | None, ctx: click.Context | None) -> str:
        return value.strip('"').lower()


NAME = _Name()
"""The type of arguments that name a table or view."""


class Command(click.Command):
    """A click command that also takes the global options and shows examples."""

    def __init__(self, name: str | None, examples: Sequence[str] = (), **settings: Any) -> None:  # noqa: ANN401
        super().__init__(name, **settings)
        self.params.extend(global_options())
        self.examples = examples

    def format_epilog(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the examples of the command below its options."""
        if self.examples:
            with formatter.section("Examples"):
                for line in self.examples:
                    formatter.write(" " * formatter.current_indent + line + "\n")


def global_options() -> list[click.Option]:
    """Return ``--project``, ``--output`` and ``--debug``; they fill the shared :class:`Context`."""
    return [
        click.Option(
            ["--project"],
            type=click.Path(path_type=Path, file_okay=False, exists=True),
            metavar="DIR",
            expose_value=False,
            callback=_set(lambda context, value: setattr(context, "directory", value)),
            help="Folder of the project. [default: here or the nearest folder above]",
        ),
        click.Option(
            ["--output"],
            type=click.Choice(list(FORMATS)),
            expose_value=False,
            callback=_set(lambda context, value: setattr(context, "output", FORMATS[value]())),
            help="Form of the result. [default: table]",
        ),
        click.Option(
            ["--debug"],
            is_flag=True,
            default=None,
            expose_value=False,
            callback=_set(lambda context, value: setattr(context, "debug", value)),
            help="Show the traceback of an error.",
        ),
    ]


def _set(
    store: Callable[[Context, Any], None],
) -> Callable[[click.Context, click.Parameter, object], None]:
    def callback(ctx: click.Context, _parameter: click.Parameter, value: object) -> None:
        if value is not None:
            store(ctx.ensure_object(Context), value)

    return callback


pass_context = click.make_pass_decorator(Context, ensure=True)
