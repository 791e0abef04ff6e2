"""A project: a folder of ``*.sql`` files and its settings, parsed and bound.

In: a folder. Out: a :class:`Project` of what is sound, with every error of every file; or, for what
may start only a sound project, all errors at once. Starts no JVM.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TypeVar

from sqlglot import exp

from headwater.analyze.connectors.registry import SINKS
from headwater.analyze.connectors.sink_tables import TABLE_OPTIONS
from headwater.analyze.ddl.functions import called
from headwater.analyze.definitions import CHANGES, Catalog, Sink, Source, View
from headwater.analyze.project import bind_sound, reads
from headwater.config.settings import Config, load_config
from headwater.dialect import parse_all
from headwater.dialect.splitter import read_text, split
from headwater.dialect.syntax import IN_QUOTES
from headwater.errors import ConfigError, HeadwaterError, Span, SqlError, raise_all

_DEFINED = re.compile(
    r"\b(TABLE|SOURCE|VIEW|SINK|FUNCTION)\s+(?:IF\s+NOT\s+EXISTS\s+)?\"?(\w+)", re.IGNORECASE
)
LEFT_OUT = ("broken", "blocked")
"""What a definition is that has an error, and what one is that reads such a definition."""
_COMMENT = re.compile(r"--[^\n]*|/\*.*?\*/", re.DOTALL)
_OWN = TABLE_OPTIONS["catalog_name"].default
_USER = re.compile(r"//[^/@]*@")
_Bound = TypeVar("_Bound", Source, View, Sink)
Edit = Callable[[exp.Expression], Sequence[exp.Expression]]
SKIPPED = ("tests",)
"""Folders directly below a project that hold no definitions; hidden folders are skipped as well."""


@dataclass(frozen=True, slots=True)
class Definition:
    """What a file says that there is, sound or not.

    Attributes:
        kind: ``table``, ``source``, ``view``, ``sink`` or ``function``.
        file: the file.
        reads: the names that it reads.
        error: what is wrong with it, if it cannot be parsed.
        folded: names that it gives in double quotes, as written, and that lose their capitals.
    """

    kind: str
    file: Path
    reads: Sequence[str] = ()
    error: HeadwaterError | None = None
    folded: Sequence[str] = ()


@dataclass(frozen=True, slots=True)
class Broken:
    """A definition that is left out of a project.

    Attributes:
        name: its name.
        kind: ``table``, ``source``, ``view``, ``sink`` or ``function``.
        error: its own first error; None if only something that it reads has one.
        blocked_by: the definitions that it reads, directly or not, and that have the errors.
    """

    name: str
    kind: str
    error: HeadwaterError | None = None
    blocked_by: tuple[str, ...] = ()

    @property
    def state(self) -> str:
        """One word for it: ``broken`` by itself, or ``blocked`` by what it reads."""
        return LEFT_OUT[self.error is None]

    @property
    def said(self) -> str:
        """What is wrong with it, as the end of a sentence that begins with its name."""
        return f"broken: {self.reason}" if self.error else self.reason

    @property
    def reason(self) -> str:
        """Why it is left out, in one sentence."""
        if self.error is None:
            return f"blocked by {', '.join(self.blocked_by)}"
        place = f" ({self.error.span})" if self.error.span else ""
        return f"{self.error.condition}: {self.error.message}{place}"


@dataclass(frozen=True, slots=True)
class Project:
    """Everything sound that a project defines, and what is wrong with the rest.

    Attributes:
        root: its folder.
        config: its settings.
        catalog: its sources, tables and views.
        files: the SQL files it was read from, in order.
        errors: every error of every file, each once.
        broken: by name, the definitions that are left out.
        definitions: by name, everything that its files define.
    """

    root: Path
    config: Config
    catalog: Catalog
    files: tuple[Path, ...]
    errors: tuple[HeadwaterError, ...] = ()
    broken: Mapping[str, Broken] = field(default_factory=dict)
    definitions: Mapping[str, Definition] = field(default_factory=dict)

    def without(self, faults: Mapping[str, HeadwaterError]) -> Project:
        """Leave out definitions that turned out to have errors, and all that reads them.

        Args:
            faults: by name, the error.
        """
        if not faults:
            return self
        own = {name: each.error for name, each in self.broken.items() if each.error}
        broken = _broken({**faults, **own}, self.definitions, ())
        had = self.catalog

        def left(found: Mapping[str, _Bound]) -> dict[str, _Bound]:
            return {n: each for n, each in found.items() if n.removesuffix(CHANGES) not in broken}

        catalog = Catalog(left(had.sources), left(had.views), left(had.sinks))
        errors = (*self.errors, *faults.values())
        return replace(self, catalog=catalog, errors=errors, broken=broken)


def load_project(root: Path, paths: Sequence[Path] | None = None) -> Project:
    """Read, parse and bind a project that has no error.

    Args:
        root: its folder, with ``headwater.toml`` in it.
        paths: files or folders to read instead of the whole folder.

    Raises:
        ConfigError: the folder or the settings are wrong.
        SqlError: one of the files has an error.
        ErrorGroup: they have several; all of them, sorted by place.
    """
    project = read_project(root, paths)
    raise_all(project.errors)
    return project


def read_project(
    root: Path,
    paths: Sequence[Path] | None = None,
    beside: Sequence[Path] = (),
    edit: Edit = lambda statement: [statement],
) -> Project:
    """Read, parse and bind what is sound of a project.

    Args:
        root: its folder, with ``headwater.toml`` in it.
        paths: files or folders to read instead of the whole folder.
        beside: files or folders to read after the others; a file is read once.
        edit: gives what stands in the place of a statement, before anything is bound.

    Raises:
        ConfigError: the folder or the settings are wrong, or there are no files.
    """
    if not root.is_dir():
        hint = "create a project with: headwater init DIR"
        raise ConfigError("NO_PROJECT", f"folder {root} does not exist", hint=hint)
    config = load_config(root)
    errors: list[HeadwaterError] = []
    chosen = {file.resolve(): file for file in sql_files(root, beside, errors)} if beside else {}
    rest = (file for file in sql_files(root, paths, errors) if file.resolve() not in chosen)
    files = tuple(dict.fromkeys([*rest, *chosen.values()]))
    if not files and not errors:
        hint = "write one that ends in .sql, or start with: headwater init DIR"
        raise ConfigError("NO_PROJECT", f"there are no SQL files in {root}", hint=hint)
    statements: dict[str, Sequence[exp.Expression]] = {}
    unparsed: dict[str, Definition] = {}
    unread = errors[:1]
    for file in files:
        try:
            text = file.read_bytes()
        except OSError as error:
            unread.append(_unreadable(file, error))
            errors.append(unread[-1])
            continue
        parsed, found = _parsed(file, text)
        statements[str(file)] = [each for statement in parsed for each in edit(statement)]
        errors += found
        if found:
            defined = {statement.name for statement in parsed}
            unparsed |= _unparsed(file, text.decode("utf-8", "replace"), found, defined)
    if unread:
        unparsed = {**_unknown(statements, unread[0]), **unparsed}
    bound = bind_sound(statements, unparsed)
    errors += bound.errors
    places = {each.name: Path(file) for file, found in statements.items() for each in found}
    folded = {each.name: _folded(each) for found in statements.values() for each in found}
    sound = {
        name: Definition(kind, places[name], bound.reads[name], folded=folded.get(name, ()))
        for name, kind in bound.kinds.items()
    }
    definitions = {**unparsed, **sound}
    own = {name: each.error for name, each in unparsed.items() if each.error}
    bound_names = {*bound.catalog.sources, *bound.catalog.views, *bound.catalog.sinks}
    broken = _broken({**own, **bound.faults}, definitions, bound_names)
    project = Project(root, config, bound.catalog, files, tuple(errors), broken, definitions)
    catalog = bound.catalog
    return project.without(dict([*_without_folder(config, catalog), *_own_tables(config, catalog)]))


def _folded(statement: exp.Expression) -> list[str]:
    """The names in double quotes that a statement gives and that lose their capitals."""
    query = statement.args.get("expression")
    while isinstance(query, (exp.SetOperation, exp.Subquery)):
        query = query.this
    outputs = query.selects if isinstance(query, exp.Select) else []
    given = [
        statement.this,
        *(each.this for each in statement.args.get("columns") or ()),
        *(each.args.get("alias") or each.this for each in outputs),
    ]
    written = (each.meta.get(IN_QUOTES, "") for each in given if isinstance(each, exp.Identifier))
    return [name for name in written if name != name.lower()]


def _broken(
    faults: Mapping[str, HeadwaterError],
    definitions: Mapping[str, Definition],
    sound: Collection[str],
) -> dict[str, Broken]:
    """Return what has an error, and all that reads it, in the order of definition.

    Args:
        faults: by name, the error.
        definitions: by name, everything that the files define.
        sound: names that are bound, whatever a second definition of them says.
    """
    blocked: dict[str, dict[str, None]] = {}

    def roots(name: str, above: tuple[str, ...] = ()) -> dict[str, None]:
        """The definitions with errors that a definition reads, directly or not."""
        if name not in blocked and name not in above:
            read = dict.fromkeys(definitions[name].reads if name in definitions else ())
            blocked[name] = {
                root: None
                for each in read
                for root in ([each] if each in faults else roots(each, (*above, name)))
            }
        return blocked.get(name, {})

    found = {}
    for name, definition in definitions.items():
        if name in sound:
            continue
        if name in faults:
            found[name] = Broken(name, definition.kind, faults[name])
        elif by := roots(name):
            found[name] = Broken(name, definition.kind, blocked_by=tuple(by))
    return found


def _parsed(file: Path, data: bytes) -> tuple[list[exp.Expression], Sequence[HeadwaterError]]:
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError as error:
        message = f"the file is not UTF-8: byte {error.start}"
        place = Span(str(file), data.count(b"\n", 0, error.start) + 1, 1)
        hint = "save the file as UTF-8"
        return [], [SqlError("INVALID_TEXT", message, hint=hint, span=place)]
    return parse_all(text, file=str(file))


def _unparsed(
    file: Path, text: str, errors: Sequence[HeadwaterError], defined: set[str]
) -> dict[str, Definition]:
    """Return what a file defines in statements that cannot be parsed."""
    bare = _COMMENT.sub(lambda found: re.sub(r"[^\n]", " ", found[0]), text)
    found: dict[str, Definition] = {}
    for match in _DEFINED.finditer(bare):
        name, line = match[2].lower(), bare.count("\n", 0, match.start()) + 1
        later = [error for error in errors if error.span and error.span.line >= line]
        if name not in defined:
            kind = match[1].lower()
            found.setdefault(name, Definition(kind, file, error=(later or errors)[0]))
    return found


def _unknown(
    statements: Mapping[str, Sequence[exp.Expression]], error: HeadwaterError
) -> dict[str, Definition]:
    """Return what is read and nowhere defined: it may be in a file that nobody can read."""
    every = [each for found in statements.values() for each in found]
    defined = {each.name for each in every}
    file = Path(error.span.file if error.span else "")
    lacking = {name for each in every for name in (*reads(each), *called(each))} - defined
    return {name: Definition("table", file, error=error) for name in sorted(lacking)}


def _without_folder(config: Config, catalog: Catalog) -> Iterator[tuple[str, HeadwaterError]]:
    """Refuse what an object store cannot keep: the writers of a Delta table meet in its folder."""
    for view in catalog.views.values() if config.bucket else ():
        if view.is_delta:
            message = (
                f"view {view.name} is a Delta table, which is not supported in an object store"
            )
            hint = "remove format = 'delta', or choose a folder as [warehouse] path"
            yield view.name, SqlError("NOT_YET", message, hint=hint, span=view.span)


def _own_tables(config: Config, catalog: Catalog) -> Iterator[tuple[str, HeadwaterError]]:
    """Refuse sinks into the project's own namespace: nobody else writes to its tables."""
    for sink in catalog.sinks.values():
        if not SINKS[sink.connector].in_catalog or not _is_own(config, sink.options):
            continue
        if sink.options["table"].partition(".")[0] == config.namespace:
            message = (
                f'table "{sink.options["table"]}" of sink "{sink.name}" is in the namespace of the'
                " project itself"
            )
            hint = "write to another namespace or another catalog"
            yield sink.name, SqlError("OWN_TABLE", message, hint=hint, span=sink.span)


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


def sql_files(
    root: Path,
    paths: Sequence[Path] | None = None,
    errors: list[HeadwaterError] | None = None,
) -> Iterator[Path]:
    """Yield the SQL files of a project, sorted by path.

    Args:
        root: its folder.
        paths: files or folders to take instead.
        errors: gets the folders that cannot be listed; without it, they are raised.

    Raises:
        ConfigError: a path does not exist.
    """
    for path in paths or [root]:
        if path.is_dir():
            yield from sorted(_definitions(path, errors))
        elif path.is_file():
            yield path
        else:
            raise ConfigError("NO_PROJECT", f"file {path} does not exist", hint="correct the path")


def statement_text(project: Project, name: str) -> str | None:
    """Return the statement that defines a name as it is written, None if no file has one.

    Args:
        project: whose files are read.
        name: of a table, source, view, sink or function, lower case.
    """
    if name not in project.definitions:
        return None
    file = project.definitions[name].file
    source = read_text(file.read_text("utf-8", "replace"), str(file))
    for piece in split(source):
        text = source.text[piece.start : piece.end]
        found = _DEFINED.search(_COMMENT.sub(" ", text))
        if text[:6].upper() == "CREATE" and found is not None and found[2].lower() == name:
            return text.rstrip() + ";"
    return None


def state_of(root: Path) -> Mapping[Path, tuple[int, int]]:
    """Return when each SQL file was written, and its size; one that goes away meanwhile has none.

    Args:
        root: the folder of the project.
    """
    found = {}
    for file in sql_files(root, None, []):
        try:
            state = file.stat()
        except OSError:
            continue
        found[file] = (state.st_mtime_ns, state.st_size)
    return found


def _definitions(root: Path, errors: list[HeadwaterError] | None) -> Iterator[Path]:
    """Yield the SQL files in a folder and below; hidden folders and tests have none."""

    def refused(error: OSError) -> None:
        found = _unreadable(Path(error.filename), error)
        if errors is None:
            raise found
        errors.append(found)

    for name, folders, files in os.walk(root, onerror=refused):
        folder = Path(name)
        skipped = SKIPPED if folder == root else ()
        folders[:] = [each for each in folders if not each.startswith(".") and each not in skipped]
        yield from (folder / each for each in files if each.endswith(".sql"))


def _unreadable(path: Path, error: OSError) -> ConfigError:
    what = "folder" if os.path.isdir(path) else "file"  # noqa: PTH112 - it never raises
    reason = (error.strerror or "it cannot be opened").lower()
    hint = "make it readable for this user, or move it out of the project"
    place = Span(str(path), 1, 1)
    return ConfigError("NO_PROJECT", f"the {what} cannot be read: {reason}", hint=hint, span=place)
