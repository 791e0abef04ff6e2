"""Settings of a project: ``headwater.toml`` < environment < command line.

In: the project folder, ``HEADWATER_<SECTION>_<KEY>`` variables, overrides by dotted name.
Out: a frozen :class:`Config`, or every wrong setting at once as :class:`ConfigError`.
"""

from __future__ import annotations

import os
import re
import tomllib
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Any

from pydantic import ValidationError
from pydantic_core import ErrorDetails

from headwater.config.secrets import Secret, SecretMap
from headwater.config.sections import (
    ORPHAN_FLOOR,
    SECTIONS,
    CatalogSection,
    ConsoleSection,
    File,
    Maintenance,
    MetricsSection,
    RunSection,
    SupersetSection,
    TrinoSection,
    WarehouseSection,
    parse_duration,
    parse_size,
)
from headwater.errors import ConfigError, Span, raise_all
from headwater.errors.nearest import did_you_mean

__all__ = [
    "FILE",
    "ORPHAN_FLOOR",
    "CatalogSection",
    "Config",
    "ConsoleSection",
    "Maintenance",
    "MetricsSection",
    "RunSection",
    "Secret",
    "SecretMap",
    "SupersetSection",
    "TrinoSection",
    "WarehouseSection",
    "load_config",
    "parse_duration",
    "parse_size",
]

FILE = "headwater.toml"
_DATABASE = 'write uri = "postgresql://user:${env:NAME}@host:5432/database"'
_CATALOGS: Mapping[str, tuple[str | None, str, str]] = {
    "embedded": (
        None,
        "for a catalog of another type",
        'leave it out, or use type = "jdbc" or "rest"',
    ),
    "jdbc": (
        r"postgres(?:ql)?://|\$\{env:",
        'the address of the database of a catalog of type "jdbc"',
        _DATABASE,
    ),
    "rest": (
        r"https?://",
        'the address of the server of a catalog of type "rest"',
        'write uri = "https://host:8181"',
    ),
}
"""Per type of catalog: how its address begins (None if it has none), what that is, an example."""


@dataclass(frozen=True, slots=True)
class Config:
    """The settings of a project, resolved.

    Attributes:
        directory: the project's folder, absolute.
        name: the project's name; an identifier.
        namespace: namespace of its tables in the catalog.
        warehouse: folder of the embedded catalog and, unless they are in a bucket, of the tables;
            absolute.
        bucket: where in an object store the tables are, None if they are in the folder.
        state: folder of checkpoints and logs, absolute.
        master: Spark master, used unless spark-submit gave one.
        spark: further Spark settings, which win over ours.
        run: how much at once, and how often.
        maintenance: how tables are kept small.
        catalog: kind of catalog: ``embedded`` (SQLite), ``jdbc`` (PostgreSQL) or ``rest``.
        catalog_uri: address of the catalog's database, None for the embedded one and for REST.
        rest: how a catalog behind REST is reached, None for the others.
        trino: where Trino is.
        superset: where Superset is, and where the charts for it are.
        metrics: where a running project serves its metrics.
        console: where the console is served.
        is_named: whether ``headwater.toml`` says the name; otherwise it follows from the folder's.
    """

    directory: Path
    name: str
    namespace: str
    warehouse: Path
    state: Path
    bucket: WarehouseSection | None = None
    master: str = "local[*]"
    spark: Mapping[str, str] = field(default_factory=lambda: SecretMap({}))
    run: RunSection = field(default_factory=RunSection)
    maintenance: Maintenance = field(default_factory=Maintenance)
    catalog: str = "embedded"
    catalog_uri: Secret | None = None
    rest: CatalogSection | None = None
    trino: TrinoSection = field(default_factory=TrinoSection)
    superset: SupersetSection = field(default_factory=SupersetSection)
    metrics: MetricsSection = field(default_factory=MetricsSection)
    console: ConsoleSection = field(default_factory=ConsoleSection)
    is_named: bool = True


Key = tuple[str, ...]


def load_config(
    directory: Path,
    overrides: Mapping[str, object] | None = None,
    environ: Mapping[str, str] | None = None,
) -> Config:
    """Read the settings of a project.

    Args:
        directory: folder that holds ``headwater.toml``.
        overrides: settings by dotted name (``run.trigger``), which win; None values are ignored.
        environ: the environment to read; the process's own by default.

    Raises:
        ConfigError: ``NO_PROJECT``, ``CONFIG_SYNTAX``, ``UNKNOWN_OPTION``, ``INVALID_OPTION``; an
            ``ErrorGroup`` if there are several.
    """
    directory = directory.absolute()
    path = directory / FILE
    text, values = _read(path)
    origins: dict[Key, str] = {}
    for key, value, origin in _outside(overrides or {}, os.environ if environ is None else environ):
        _put(values, key, value)
        origins[key] = origin
    is_named = bool({"name", "namespace"} & values.keys())
    values.setdefault("name", re.sub(r"[^a-z0-9_]+", "_", directory.name.lower()))
    try:
        settings = File.model_validate(values)
    except ValidationError as invalid:
        raise_all([_error(problem, path, text, origins) for problem in invalid.errors()])
        raise
    _check_catalog(settings.catalog, partial(_span, path, text))
    config = replace(_resolve(settings, directory), is_named=is_named)
    if config.bucket is None and set("?#") & set(str(config.warehouse)):
        raise ConfigError(
            "INVALID_OPTION",
            f'the warehouse cannot be in "{config.warehouse}": readers take ? and # for its end',
            hint="choose another folder as [warehouse] path",
            span=_span(path, text, ("warehouse", "path")),
        )
    return config


def _check_catalog(catalog: CatalogSection, span: Callable[[Key], Span]) -> None:
    if catalog.type not in _CATALOGS:
        raise ConfigError(
            "INVALID_OPTION",
            f"catalog type {catalog.type!r} does not exist",
            hint=f'use type = "embedded", or with a uri one of {", ".join(list(_CATALOGS)[1:])}',
            span=span(("catalog", "type")),
        )
    form, what, example = _CATALOGS[catalog.type]
    if (form is None) != (catalog.uri is None) or not re.match(form or "", catalog.uri or ""):
        raise ConfigError(
            "INVALID_OPTION",
            f'option "catalog.uri" is {what}',
            hint=example,
            span=span(("catalog", "uri" if catalog.uri else "type")),
        )


def _read(path: Path) -> tuple[str, dict[str, Any]]:
    try:
        text = path.read_text(encoding="utf-8")
        return text, tomllib.loads(text)
    except FileNotFoundError:
        hint = "create a project with: headwater init DIR"
        raise ConfigError("NO_PROJECT", f"file {path} does not exist", hint=hint) from None
    except OSError as error:
        raise ConfigError("CONFIG_UNREADABLE", f"cannot read {path}: {error.strerror}") from None
    except UnicodeDecodeError:
        raise ConfigError("CONFIG_SYNTAX", f"{path} is not UTF-8 text") from None
    except tomllib.TOMLDecodeError as error:
        message, span = _toml_error(str(error), path, text)
        raise ConfigError("CONFIG_SYNTAX", message, span=span) from None


def _toml_error(message: str, path: Path, text: str) -> tuple[str, Span]:
    lines = text.splitlines() or [""]
    line, column = len(lines), len(lines[-1]) + 1  # "at end of document"
    if place := re.search(r"at line (\d+), column (\d+)", message):
        line, column = int(place[1]), int(place[2])
    shown = _shown(lines[line - 1]) if line <= len(lines) else ""
    message = re.sub(r" \(at [^()]*\)$", "", message)
    return message[:1].lower() + message[1:], Span(str(path), line, column, text=shown)


def _outside(
    overrides: Mapping[str, object], environ: Mapping[str, str]
) -> Iterator[tuple[Key, object, str]]:
    """Yield what the environment and then the command line set, with where it came from."""
    for variable, value in sorted(environ.items()):
        word, _, rest = variable.lower().removeprefix("headwater_").partition("_")
        if not variable.startswith("HEADWATER_"):
            continue
        if word in SECTIONS and rest:
            yield (word, rest), value, f"environment variable {variable}"
        elif word in ("name", "namespace") and not rest:
            yield (word,), value, f"environment variable {variable}"
    for name, given in overrides.items():
        if given is not None:
            yield tuple(name.split(".", 2)), given, f"option {name}"


def _put(values: dict[str, Any], key: Key, value: object) -> None:
    for part in key[:-1]:
        inner = values.get(part)
        values[part] = values = dict(inner) if isinstance(inner, Mapping) else {}
    values[key[-1]] = value


def _error(problem: ErrorDetails, path: Path, text: str, origins: Mapping[Key, str]) -> ConfigError:
    key = tuple(str(part) for part in problem["loc"])
    shown, origin = ".".join(key), origins.get(key)
    span = None if origin else _span(path, text, key)
    where = f" ({origin})" if origin else ""
    if problem["type"] == "extra_forbidden":
        model = SECTIONS.get(key[0], File) if len(key) > 1 else File
        hint = did_you_mean(key[-1], model.model_fields, "options")
        return ConfigError(
            "UNKNOWN_OPTION", f'option "{shown}" does not exist{where}', hint=hint, span=span
        )
    reason = problem["msg"].removeprefix("Value error, ")
    if problem["type"] == "string_pattern_mismatch":
        reason = "a name is lower-case letters, digits and _, at most 63, and starts with a letter"
    if problem["type"] in ("model_type", "model_attributes_type", "dict_type"):
        reason = f"it is a section; write [{shown}] and its options below"
    reason = reason[:1].lower() + reason[1:]
    return ConfigError("INVALID_OPTION", f'option "{shown}"{where}: {reason}', span=span)


def _span(path: Path, text: str, key: Key) -> Span:
    """Find a key in the file; tomllib does not say where it read what, so look for its line."""
    section = ""
    for number, line in enumerate(text.splitlines(), start=1):
        if header := re.match(r"\s*\[([^\[\]]+)\]", line):
            section = header[1].strip()
            if section == ".".join(key):
                return Span(str(path), number, header.start(1) + 1, len(header[1]), _shown(line))
        elif (found := re.match(r'\s*"?([A-Za-z0-9_.-]+?)"?\s*=', line)) is not None:
            name = f"{section}.{found[1]}" if section else found[1]
            if name == ".".join(key):
                return Span(str(path), number, found.start(1) + 1, len(found[1]), _shown(line))
    return Span(str(path), 1, 1)


def _shown(line: str) -> str:
    """Return a line as errors show it: without its value, which may be a secret gone astray."""
    name, equals, _ = line.partition("=")
    return f"{name}= …" if equals else line if line.lstrip().startswith("[") else ""


def _resolve(settings: File, directory: Path) -> Config:
    place, catalog = settings.warehouse, settings.catalog
    folder = WarehouseSection() if place.is_bucket else place
    return Config(
        directory=directory,
        name=settings.name,
        namespace=settings.namespace or settings.name,
        warehouse=directory / Path(folder.path).expanduser(),
        bucket=place if place.is_bucket else None,
        state=directory / Path(settings.run.state).expanduser(),
        master=settings.spark.master,
        spark=SecretMap(settings.spark.settings),
        run=settings.run,
        maintenance=settings.maintain,
        catalog=catalog.type,
        catalog_uri=Secret(catalog.uri) if catalog.uri and catalog.type == "jdbc" else None,
        rest=catalog if catalog.type == "rest" else None,
        trino=settings.trino,
        superset=settings.superset,
        metrics=settings.metrics,
        console=settings.console,
    )
