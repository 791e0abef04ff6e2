"""What the sections of ``headwater.toml`` may hold, and how durations and sizes are written.

In: values as TOML, the environment or the command line gives them. Out: frozen models; a value that
does not fit is pydantic's error, which :mod:`headwater.config.settings` turns into ours.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from datetime import date, timedelta
from typing import Annotated

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field, model_validator

from headwater.config.secrets import written_secrets
from headwater.config.spark_settings import wrong_setting

ORPHAN_FLOOR = timedelta(hours=24)
"""Age below which no file is taken for an orphan: it may belong to a write that goes on."""

BUCKET = re.compile(r"s3://[a-z0-9][a-z0-9.-]{1,61}[a-z0-9](/[^?#]*)?")
"""A place in an object store, as settings and sinks name it."""

_DURATIONS = {"ms": 0.001, "millisecond": 0.001, "s": 1, "second": 1, "m": 60, "minute": 60}
_DURATIONS |= {"h": 3600, "hour": 3600, "d": 86400, "day": 86400}
_SIZES = {"": 1, "b": 1, "kb": 10**3, "mb": 10**6, "gb": 10**9, "tb": 10**12}
_SIZES |= {"kib": 2**10, "mib": 2**20, "gib": 2**30, "tib": 2**40}


def parse_duration(text: object) -> timedelta:
    """Return the duration that a text such as ``10 seconds``, ``1 hour`` or ``500 ms`` means.

    Raises:
        ValueError: if it is no text of that form.
    """
    if isinstance(text, timedelta):
        return text
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
        raise ValueError('the file contains the password; write "${env:NAME}" and set NAME outside')
    return value


def _secret(value: object) -> object:
    if written_secrets(str(value), "password"):
        raise ValueError('the file contains the secret; write "${env:NAME}" and set NAME outside')
    return value


def _url(value: object) -> str:
    if not re.fullmatch(r"https?://([^/@:\s]+|\[[0-9a-f:]+\])(:\d{1,5})?/?", str(value)):
        raise ValueError("write the address of a server, for example http://127.0.0.1:8080")
    return str(value).rstrip("/")


def _place(value: str) -> str:
    if "://" in value and not BUCKET.fullmatch(value):
        raise ValueError("write a folder, or a place in an object store: s3://bucket/folder")
    return value


def _time_range(value: object) -> timedelta | str:
    """A span before now, or a date and a later one."""
    begin, colon, end = str(value).partition(" : ")
    try:
        if colon:
            first, last = date.fromisoformat(begin), date.fromisoformat(end)
            if first < last:
                return f"{first} : {last}"
        elif (span := parse_duration(value)) >= timedelta(seconds=1):
            return span
    except ValueError:
        pass
    raise ValueError(
        "write a span ('1 day'), or a date and a later one ('2026-03-02 : 2026-03-09')"
    )


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


class Section(BaseModel):
    """A section; an option that it does not have is an error."""

    # hide_input: a wrong value may be a secret put in the wrong place.
    model_config = ConfigDict(extra="forbid", frozen=True, hide_input_in_errors=True)


class CatalogSection(Section):
    """The service that knows the tables.

    Attributes:
        type: ``embedded`` (SQLite in the warehouse folder, for one machine), ``jdbc`` (PostgreSQL)
            or ``rest`` (Iceberg's REST catalog).
        uri: Address of the database or server; none for ``embedded``.
        warehouse: Name of the warehouse on a REST server that has several.
        credential: OAuth2 credential ``id:secret`` for a REST server, as ``${env:NAME}``.
        token: Bearer token for a REST server, as ``${env:NAME}``.
    """

    type: _Text = "embedded"
    uri: Annotated[str | None, BeforeValidator(_uri)] = None
    warehouse: _Text | None = None
    credential: Annotated[str | None, BeforeValidator(_secret)] = None
    token: Annotated[str | None, BeforeValidator(_secret)] = None

    @model_validator(mode="after")
    def _fits(self) -> CatalogSection:
        if self.type != "rest" and self.model_fields_set - {"type", "uri"}:
            raise ValueError('warehouse, credential and token are for type = "rest"')
        return self


class WarehouseSection(Section):
    """The place of the tables' files.

    Attributes:
        path: Folder, or ``s3://bucket/folder`` in an object store. A table is stored in
            ``<path>/<namespace>/<table>``.
        endpoint: Address of an object store other than AWS. Its buckets are named in the path.
        region: Region of the object store.
        access_key: Access key ID for the object store. Without it the environment, a profile or a
            role gives the credentials.
        secret_key: Secret access key for the object store, as ``${env:NAME}``.
    """

    path: Annotated[_Text, AfterValidator(_place)] = ".headwater/warehouse"
    endpoint: Annotated[str | None, BeforeValidator(_url)] = None
    region: _Text = "us-east-1"
    access_key: _Text | None = None
    secret_key: Annotated[str | None, BeforeValidator(_secret)] = None

    @property
    def is_bucket(self) -> bool:
        """Whether it is in an object store."""
        return self.path.startswith("s3://")

    @model_validator(mode="after")
    def _fits(self) -> WarehouseSection:
        if not self.is_bucket and self.model_fields_set - {"path"}:
            raise ValueError('the other options are for a path in an object store, "s3://bucket/…"')
        if (self.access_key is None) != (self.secret_key is None):
            raise ValueError("access_key and secret_key belong together: write both or neither")
        return self


STORE_OPTIONS = tuple(name for name in WarehouseSection.model_fields if name != "path")
"""How an object store is reached: in ``[warehouse]``, by a table over files, and by a sink."""


class SparkSection(Section):
    """How Spark runs.

    Attributes:
        master: Spark master. Under spark-submit the master of the command line wins.
        settings: Further Spark settings by name, for example ``"spark.driver.memory" = "4g"``.
    """

    master: _Text = "local[*]"
    settings: Annotated[dict[str, str], BeforeValidator(_settings)] = {}


class RunSection(Section):
    """How much a run reads at once, how often, and where its state is.

    Attributes:
        shuffle_partitions: Partitions of a shuffle. Default: the number of cores.
        trigger: Time between two epochs of a table, or two micro-batches of a view, that take all
            that waits.
        max_files_per_epoch: Maximum number of files in one epoch of a table.
        max_bytes_per_epoch: Maximum number of bytes in one epoch of a table.
        max_future: How far ahead of its arrival a row may be dated. Rows beyond it are quarantined.
        recompute_below: Maximum number of rows of a view's inputs for which a tick may compute the
            whole view. With 0 no tick recomputes.
        state: State folder: checkpoints, logs and ``run.json``.
        lease: How long a process that shows no sign of life remains the owner of the project.
    """

    shuffle_partitions: Annotated[int, Field(gt=0)] | None = None
    trigger: _Duration = timedelta(seconds=1)
    max_files_per_epoch: Annotated[int, Field(gt=0)] = 100
    max_bytes_per_epoch: _Size = 256 * 10**6
    max_future: _Duration = timedelta(hours=1)
    recompute_below: Annotated[int, Field(ge=0)] = 1_500_000
    state: _Text = ".headwater/state"
    lease: Annotated[_Duration, Field(gt=timedelta(0))] = timedelta(seconds=30)


class Maintenance(Section):
    """How compaction and expiry hold tables small.

    Attributes:
        every: Time between two maintenance runs over a table, or ``"off"``.
        retain: How long every snapshot is retained, for time travel and running readers. At least
            1 minute.
        keep_snapshots: Minimum number of snapshots to retain, whatever their age. At least 2.
        max_snapshots: Number of snapshots from which ``retain`` does not hold: each commit
            writes the list of them all. What readers need is retained. At least 20.
        keep_versions: How many earlier versions of a view are retained, for `rollback`.
        target_file_size: Size of the files that compaction writes.
        orphan_age: Age at which a file that no snapshot knows is deleted. At least 24 hours, and
            10 times the longest batch.
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
    max_snapshots: Annotated[int, Field(ge=20)] = 150
    keep_versions: Annotated[int, Field(ge=1)] = 2
    target_file_size: Annotated[_Size, Field(ge=2**20)] = 128 * 10**6
    orphan_age: Annotated[
        _Duration,
        _at_least(
            ORPHAN_FLOOR,
            "a file younger than 24 hours may belong to a write that has not committed yet, and "
            "deleting it would destroy the table",
        ),
    ] = timedelta(days=3)


class TrinoSection(Section):
    """The Trino that reads the tables.

    Attributes:
        url: Address of Trino, for ``sql --engine trino`` and ``verify --engine trino``.
        catalog: Trino's name of the catalog with the tables.
        user: User name for Trino.
        password: Password of the user, as ``${env:NAME}``. Only with ``https``.
    """

    url: Annotated[str | None, BeforeValidator(_url)] = None
    catalog: _Name = "lake"
    user: _Text = "headwater"
    password: Annotated[str | None, BeforeValidator(_secret)] = None


class SupersetSection(Section):
    """The Superset that shows the views.

    Attributes:
        url: Address of Superset.
        username: User name for Superset.
        password: Password of the user, as ``${env:NAME}``.
        trino_url: Address under which Superset reaches Trino, if it is not ``[trino] url``, for
            example between containers.
        charts: Folder with the project's chart files.
        refresh: How often an open dashboard of views asks for new rows, at least each second.
        time_range: What its charts show when it opens: so long before now (``1 day``), or from a
            date up to before another (``2026-03-02 : 2026-03-09``). By default all there is.
    """

    url: Annotated[str | None, BeforeValidator(_url)] = None
    username: _Text = "admin"
    password: Annotated[str | None, BeforeValidator(_secret)] = None
    trino_url: Annotated[str | None, BeforeValidator(_url)] = None
    charts: _Text = "dashboards"
    refresh: Annotated[
        _Duration, _at_least(timedelta(seconds=1), "Superset asks once a second at most")
    ] = timedelta(seconds=10)
    time_range: Annotated[timedelta | str | None, BeforeValidator(_time_range)] = None


class MetricsSection(Section):
    """The address at which a running project serves its metrics.

    Attributes:
        port: Port to listen on. Without a port nothing listens; ``run --metrics-port`` wins.
        host: Address to listen on. The default serves programs of this machine only; there is no
            password.
    """

    # no default port: two projects of one machine cannot share one

    port: Annotated[int, Field(gt=0, lt=2**16)] | None = None
    host: _Text = "127.0.0.1"


class ConsoleSection(Section):
    """The page that ``headwater run`` and ``headwater console`` serve on this machine.

    Attributes:
        port: Port on 127.0.0.1. Without a port the first free one from 8642 on is taken.
    """

    port: Annotated[int, Field(gt=0, lt=2**16)] | None = None


class File(Section):
    """The project itself.

    Attributes:
        name: Name of the project: lower-case letters, digits and ``_``. Default: the name of the
            folder.
        namespace: Namespace of the project's tables in the catalog. Default: the name.
    """

    name: _Name
    namespace: _Name | None = None
    catalog: CatalogSection = CatalogSection()
    warehouse: WarehouseSection = WarehouseSection()
    spark: SparkSection = SparkSection()
    run: RunSection = RunSection()
    maintain: Maintenance = Maintenance()
    trino: TrinoSection = TrinoSection()
    superset: SupersetSection = SupersetSection()
    metrics: MetricsSection = MetricsSection()
    console: ConsoleSection = ConsoleSection()


SECTIONS: Mapping[str, type[Section]] = {
    "catalog": CatalogSection, "warehouse": WarehouseSection, "spark": SparkSection,
    "run": RunSection, "maintain": Maintenance, "trino": TrinoSection,
    "superset": SupersetSection, "metrics": MetricsSection,
    "console": ConsoleSection,
}  # fmt: skip
"""Every section by its name."""
