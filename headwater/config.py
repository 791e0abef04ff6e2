"""Settings of a project: ``headwater.toml`` < environment < command line.

In: the project folder, ``HEADWATER_<SECTION>_<KEY>`` variables, overrides by dotted name.
Out: a frozen :class:`Config`, or every wrong setting at once as :class:`ConfigError`.
"""

from __future__ import annotations

import os
import re
import tomllib
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import timedelta
from difflib import get_close_matches
from functools import partial
from pathlib import Path
from typing import Annotated, Any

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field, ValidationError
from pydantic_core import ErrorDetails

from headwater.errors import ConfigError, Span, raise_all
from headwater.secrets import Secret, SecretMap, written_secrets
from headwater.spark_settings import wrong_setting

__all__ = ["FILE", "Config", "Secret", "SecretMap", "load_config", "parse_duration", "parse_size"]

FILE = "headwater.toml"

ORPHAN_FLOOR = timedelta(hours=24)
"""Age below which no file is taken for an orphan: it may belong to a write that goes on."""

_DURATIONS = {"ms": 0.001, "millisecond": 0.001, "s": 1, "second": 1, "m": 60, "minute": 60}
_DURATIONS |= {"h": 3600, "hour": 3600, "d": 86400, "day": 86400}
_SIZES = {"": 1, "b": 1, "kb": 10**3, "mb": 10**6, "gb": 10**9, "tb": 10**12}
_SIZES |= {"kib": 2**10, "mib": 2**20, "gib": 2**30, "tib": 2**40}
_DATABASE = re.compile(r"postgres(?:ql)?://|\$\{env:")


@dataclass(frozen=True, slots=True)
class Config:
    """The settings of a project, resolved.

    Attributes:
        directory: the project's folder, absolute.
        name: the project's name; an identifier.
        namespace: namespace of its tables in the catalog.
        warehouse: folder of the tables, absolute.
        state: folder of checkpoints and logs, absolute.
        master: Spark master, used unless spark-submit gave one.
        spark: further Spark settings, which win over ours.
        shuffle_partitions: None means as many as cores.
        trigger: time between two micro-batches of a running view.
        max_files_per_epoch: files that one epoch of a source takes at most.
        max_bytes_per_epoch: bytes that one epoch of a source takes at most.
        max_future: how far ahead of arrival an event may be dated.
        recompute_below: rows of a view's inputs up to which a tick computes the whole view; 0 if
            none ever does.
        lease: for how long a process that runs the project stays its owner without a sign of life.
        maintenance: how tables are kept small.
        catalog: kind of catalog: ``embedded`` (SQLite) or ``jdbc`` (PostgreSQL).
        catalog_uri: address of the catalog's database, None for the embedded one.
    """

    directory: Path
    name: str
    namespace: str
    warehouse: Path
    state: Path
    master: str = "local[*]"
    spark: Mapping[str, str] = field(default_factory=lambda: SecretMap({}))
    shuffle_partitions: int | None = None
    trigger: timedelta = timedelta(seconds=1)
    max_files_per_epoch: int = 100
    max_bytes_per_epoch: int = 256 * 10**6
    max_future: timedelta = timedelta(hours=1)
    recompute_below: int = 1_500_000
    lease: timedelta = timedelta(seconds=30)
    maintenance: Maintenance = field(default_factory=lambda: Maintenance())
    catalog: str = "embedded"
    catalog_uri: Secret | None = None


def parse_duration(text: object) -> timedelta:
    """Return the duration that a text such as ``10 seconds``, ``1 hour`` or ``500 ms`` means.

    Raises:
        ValueError: if it is no text of that form.
    """
    match = re.fullmatch(r"(\d+(?:\.\d+)?)\s*([a-z]+)", str(text).strip().lower())
    unit = match and (_DURATIONS.get(match[2]) or _DURATIONS.get(match[2].removesuffix("s")))
    if not match or not unit:
        raise ValueError("a duration is a number and a unit, for example '10 seconds' or '1 hour'")
    try:
        return timedelta(seconds=float(match[1]) * unit)
    except OverflowError:
        raise ValueError("the duration is too long") from None


def parse_size(value: object) -> int:
    """Return the bytes that a number, or a text such as ``256 MB`` or ``1 GiB``, means.

    Raises:
        ValueError: if it is neither.
    """
    match = re.fullmatch(r"(\d+(?:\.\d+)?)\s*([a-z]*)", str(value).strip().lower())
    if not match or match[2] not in _SIZES:
        raise ValueError("a size is a number of bytes, or a number and a unit such as '256 MB'")
    return int(float(match[1]) * _SIZES[match[2]])


def _settings(value: object) -> object:
    """Spark's settings are texts; TOML writers will say ``true`` and ``4``."""
    if not isinstance(value, Mapping):
        return value
    words = {True: "true", False: "false"}
    texts = {key: words[v] if isinstance(v, bool) else str(v) for key, v in value.items()}
    nested = next((key for key, v in value.items() if isinstance(v, Mapping | list)), None)
    if nested:
        raise ValueError(f'write names with dots in quotes, as in "{nested}.…" = "…"')
    for key, text in texts.items():
        if wrong := wrong_setting(key, text):
            raise ValueError(wrong)
    return texts


def _uri(value: object) -> object:
    if written_secrets(str(value)):
        raise ValueError(
            'the password stands in the file; write "${env:NAME}" and set NAME outside'
        )
    return value


def _every(value: object) -> timedelta | None:
    return None if str(value).strip().lower() == "off" else parse_duration(value)


def _at_least(least: timedelta, why: str) -> AfterValidator:
    def check(value: timedelta | None) -> timedelta | None:
        if value is not None and value < least:
            raise ValueError(why)
        return value

    return AfterValidator(check)


_Duration = Annotated[timedelta, BeforeValidator(parse_duration)]
_Size = Annotated[int, BeforeValidator(parse_size), Field(gt=0)]
_Name = Annotated[str, Field(pattern=r"^[a-z][a-z0-9_]{0,62}$")]
_Text = Annotated[str, Field(min_length=1)]


class _Section(BaseModel):
    # hide_input: a wrong value may be a secret put in the wrong place.
    model_config = ConfigDict(extra="forbid", frozen=True, hide_input_in_errors=True)


class _Catalog(_Section):
    type: _Text = "embedded"
    uri: Annotated[str | None, BeforeValidator(_uri)] = None


class _Warehouse(_Section):
    path: _Text = ".headwater/warehouse"


class _Spark(_Section):
    master: _Text = "local[*]"
    settings: Annotated[dict[str, str], BeforeValidator(_settings)] = {}


class _Run(_Section):
    shuffle_partitions: Annotated[int, Field(gt=0)] | None = None
    trigger: _Duration = timedelta(seconds=1)
    max_files_per_epoch: Annotated[int, Field(gt=0)] = 100
    max_bytes_per_epoch: _Size = 256 * 10**6
    max_future: _Duration = timedelta(hours=1)
    recompute_below: Annotated[int, Field(ge=0)] = 1_500_000
    state: _Text = ".headwater/state"
    lease: Annotated[_Duration, Field(gt=timedelta(0))] = timedelta(seconds=30)


class Maintenance(_Section):
    """How tables are kept small: section ``[maintain]``.

    Attributes:
        every: how often a running project maintains each table; None for never.
        retain: how long every snapshot is kept.
        keep_snapshots: how many of the newest snapshots are kept, whatever their age.
        target_file_size: bytes of the files that compaction writes.
        orphan_age: age from which a file that no snapshot knows is deleted.
    """

    every: Annotated[
        timedelta | None,
        BeforeValidator(_every),
        _at_least(timedelta(seconds=1), 'the shortest is 1 second; to switch it off write "off"'),
    ] = timedelta(minutes=10)
    retain: Annotated[
        _Duration,
        _at_least(timedelta(minutes=1), "readers need a minute to finish what they read"),
    ] = timedelta(hours=1)
    keep_snapshots: Annotated[int, Field(ge=2)] = 20
    target_file_size: Annotated[_Size, Field(ge=2**20)] = 128 * 10**6
    orphan_age: Annotated[
        _Duration,
        _at_least(
            ORPHAN_FLOOR,
            "a file younger than 24 hours may belong to a write that has not committed yet, and "
            "deleting it would destroy the table",
        ),
    ] = timedelta(days=3)


class _File(_Section):
    name: _Name
    namespace: _Name | None = None
    catalog: _Catalog = _Catalog()
    warehouse: _Warehouse = _Warehouse()
    spark: _Spark = _Spark()
    run: _Run = _Run()
    maintain: Maintenance = Maintenance()


_SECTIONS: Mapping[str, type[_Section]] = {
    "catalog": _Catalog, "warehouse": _Warehouse, "spark": _Spark, "run": _Run,
    "maintain": Maintenance,
}  # fmt: skip

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
        ConfigError: ``NO_PROJECT``, ``CONFIG_SYNTAX``, ``UNKNOWN_OPTION``, ``INVALID_OPTION``,
            ``NOT_YET``; an ``ErrorGroup`` if there are several.
    """
    directory = directory.absolute()
    path = directory / FILE
    text, values = _read(path)
    origins: dict[Key, str] = {}
    for key, value, origin in _outside(overrides or {}, os.environ if environ is None else environ):
        _put(values, key, value)
        origins[key] = origin
    values.setdefault("name", re.sub(r"[^a-z0-9_]+", "_", directory.name.lower()))
    try:
        settings = _File.model_validate(values)
    except ValidationError as invalid:
        raise_all([_error(problem, path, text, origins) for problem in invalid.errors()])
        raise
    _check_catalog(settings.catalog, partial(_span, path, text))
    return _resolve(settings, directory)


def _check_catalog(catalog: _Catalog, span: Callable[[Key], Span]) -> None:
    hint = 'use type = "embedded", or type = "jdbc" with a uri'
    if catalog.type not in ("embedded", "jdbc"):
        known = catalog.type == "rest"
        raise ConfigError(
            "NOT_YET" if known else "INVALID_OPTION",
            f"catalog type {catalog.type!r} "
            + ("is not supported yet" if known else "does not exist"),
            hint=hint,
            span=span(("catalog", "type")),
        )
    is_jdbc = catalog.type == "jdbc"
    if is_jdbc == (catalog.uri is None) or not _DATABASE.match(catalog.uri or "${env:"):
        raise ConfigError(
            "INVALID_OPTION",
            'option "catalog.uri" is the address of the database of a catalog of type "jdbc"',
            hint='write uri = "postgresql://user:${env:NAME}@host:5432/database"'
            if is_jdbc
            else hint,
            span=span(("catalog", "uri" if catalog.uri else "type")),
        )


def _read(path: Path) -> tuple[str, dict[str, Any]]:
    try:
        text = path.read_text(encoding="utf-8")
        return text, tomllib.loads(text)
    except FileNotFoundError:
        hint = "make a project with: headwater init DIR"
        raise ConfigError("NO_PROJECT", f"there is no {path}", hint=hint) from None
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
        if word in _SECTIONS and rest:
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
        model = _SECTIONS.get(key[0], _File) if len(key) > 1 else _File
        near = get_close_matches(key[-1], model.model_fields, n=1)
        known = f"known are {', '.join(model.model_fields)}"
        hint = f'did you mean "{near[0]}"?' if near else known
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


def _resolve(settings: _File, directory: Path) -> Config:
    run = settings.run
    return Config(
        directory=directory,
        name=settings.name,
        namespace=settings.namespace or settings.name,
        warehouse=directory / Path(settings.warehouse.path).expanduser(),
        state=directory / Path(run.state).expanduser(),
        master=settings.spark.master,
        spark=SecretMap(settings.spark.settings),
        shuffle_partitions=run.shuffle_partitions,
        trigger=run.trigger,
        max_files_per_epoch=run.max_files_per_epoch,
        max_bytes_per_epoch=run.max_bytes_per_epoch,
        max_future=run.max_future,
        recompute_below=run.recompute_below,
        lease=run.lease,
        maintenance=settings.maintain,
        catalog=settings.catalog.type,
        catalog_uri=Secret(settings.catalog.uri) if settings.catalog.uri else None,
    )
