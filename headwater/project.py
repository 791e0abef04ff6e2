"""A project: a folder of ``*.sql`` files and its settings, parsed and bound.

In: a folder. Out: a :class:`Project`, or every error of every file at once. Starts no JVM.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from sqlglot import exp

from headwater.analyze.bind.project import bind_all
from headwater.analyze.connectors.registry import SINKS
from headwater.analyze.connectors.sink_tables import TABLE_OPTIONS
from headwater.analyze.definitions import Catalog
from headwater.config.settings import Config, load_config
from headwater.dialect import parse_all
from headwater.errors import ConfigError, HeadwaterError, SqlError, raise_all

_DEFINED = re.compile(r"\b(?:TABLE|SOURCE|VIEW)\s+(?:IF\s+NOT\s+EXISTS\s+)?(\w+)", re.IGNORECASE)
_OWN = TABLE_OPTIONS["catalog_name"].default
_USER = re.compile(r"//[^/@]*@")
SKIPPED = ("tests",)
"""Folders directly below a project that hold no definitions; hidden folders are skipped as well."""


@dataclass(frozen=True, slots=True)
class Project:
    """Everything a project defines.

    Attributes:
        root: its folder.
        config: its settings.
        catalog: its sources, tables and views.
        files: the SQL files it was read from, in order.
    """

    root: Path
    config: Config
    catalog: Catalog
    files: tuple[Path, ...]


def load_project(root: Path, paths: Sequence[Path] | None = None) -> Project:
    """Read, parse and bind a project.

    Args:
        root: its folder, with ``headwater.toml`` in it.
        paths: files or folders to read instead of the whole folder.

    Raises:
        ConfigError: the folder or the settings are wrong.
        SqlError: one of the files has an error.
        ErrorGroup: they have several; all of them, sorted by place.
    """
    if not root.is_dir():
        hint = "create a project with: headwater init DIR"
        raise ConfigError("NO_PROJECT", f"folder {root} does not exist", hint=hint)
    config = load_config(root)
    files = tuple(dict.fromkeys(sql_files(root, paths)))
    if not files:
        hint = "write one that ends in .sql, or start with: headwater init DIR"
        raise ConfigError("NO_PROJECT", f"there are no SQL files in {root}", hint=hint)
    statements: dict[str, Sequence[exp.Expression]] = {}
    errors: list[HeadwaterError] = []
    unparsed: set[str] = set()
    for file in files:
        try:
            text = _read(file)
        except HeadwaterError as error:
            errors.append(error)
            continue
        parsed, found = parse_all(text, file=str(file))
        statements[str(file)] = parsed
        errors += found
        if found:
            defined = {statement.name for statement in parsed}
            unparsed.update({name.lower() for name in _DEFINED.findall(text)} - defined)
    catalog, bind_errors = bind_all(statements, unparsed)
    raise_all(
        [*errors, *bind_errors, *_without_folder(config, catalog), *_own_tables(config, catalog)]
    )
    return Project(root, config, catalog, files)


def _without_folder(config: Config, catalog: Catalog) -> Iterator[HeadwaterError]:
    """Refuse what an object store cannot keep: the writers of a Delta table meet in its folder."""
    for view in catalog.views.values() if config.bucket else ():
        if view.is_delta:
            yield SqlError(
                "NOT_YET",
                f"view {view.name} is a Delta table, which is not supported in an object store",
                hint="remove format = 'delta', or choose a folder as [warehouse] path",
                span=view.span,
            )


def _own_tables(config: Config, catalog: Catalog) -> Iterator[HeadwaterError]:
    """Refuse sinks into the project's own namespace: nobody else writes to its tables."""
    for sink in catalog.sinks.values():
        if not SINKS[sink.connector].in_catalog or not _is_own(config, sink.options):
            continue
        if sink.options["table"].partition(".")[0] == config.namespace:
            yield SqlError(
                "OWN_TABLE",
                f'table "{sink.options["table"]}" of sink "{sink.name}" is in the namespace of the'
                " project itself",
                hint="write to another namespace or another catalog",
                span=sink.span,
            )


def _is_own(config: Config, options: Mapping[str, str]) -> bool:
    """Whether a sink names the project's own catalog; one that has two addresses may be missed."""
    kind = options.get("catalog_type")
    if kind is None:
        return True
    if kind != config.catalog or options.get("catalog_name", _OWN) != _OWN:
        return False
    if kind == "embedded":
        path = config.directory / Path(options["warehouse_path"]).expanduser()
        return path.resolve() == config.warehouse.resolve()
    uri = options["catalog_uri"]
    if config.rest is not None:
        server = (str(config.rest.uri).rstrip("/"), config.rest.warehouse)
        return server == (uri.rstrip("/"), options.get("catalog_warehouse"))
    databases = {
        _USER.sub("//", each.partition("?")[0]).partition(":")[2]
        for each in (str(config.catalog_uri), uri)
    }
    return len(databases) == 1


def sql_files(root: Path, paths: Sequence[Path] | None = None) -> Iterator[Path]:
    """Yield the SQL files of a project, sorted by path.

    Args:
        root: its folder.
        paths: files or folders to take instead.

    Raises:
        ConfigError: a path does not exist.
    """
    for path in paths or [root]:
        if path.is_dir():
            yield from sorted(file for file in path.rglob("*.sql") if _is_definition(file, path))
        elif path.is_file():
            yield path
        else:
            raise ConfigError("NO_PROJECT", f"file {path} does not exist", hint="correct the path")


def _is_definition(file: Path, root: Path) -> bool:
    folders = file.relative_to(root).parts[:-1]
    return not any(part.startswith(".") or part in SKIPPED for part in folders)


def _read(file: Path) -> str:
    try:
        return file.read_bytes().decode("utf-8")
    except UnicodeDecodeError as error:
        hint = "save the file as UTF-8"
        raise SqlError(
            "INVALID_TEXT", f"{file} is not UTF-8: byte {error.start}", hint=hint
        ) from None
    except OSError as error:
        raise ConfigError("NO_PROJECT", f"{file} cannot be read: {error.strerror}") from None
