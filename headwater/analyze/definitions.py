"""What a project defines, bound and typed: sources, tables and views as inert data.

The binder fills these from the AST; the planner, the engines and the command line read them.
Nothing here knows Spark.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import timedelta
from enum import Enum, StrEnum

from sqlglot import exp

from headwater.algebra.nodes import Query, Values
from headwater.errors import Span

WATERMARK_COLUMN = "_watermark"
ARRIVAL_COLUMN = "_arrived_at"
CHANGES = "__changes"
"""Suffix of the log of a keyed table."""
NEXT = "__next"
"""Suffix of the next version of a view while it is built beside the one that serves."""
CHANGE_COLUMN = "_change_type"
"""What a row of the log of a keyed table does to its key: :data:`UPSERTED` or :data:`DELETED`; or
:data:`TRUNCATED`, to every key, and then it has none itself."""
UPSERTED, DELETED, TRUNCATED = "UPSERT", "DELETE", "TRUNCATE"
UNCHANGED_COLUMN = "_unchanged"
"""Of a log whose records may leave values out: the names of those columns, as text ``a,b``."""
SNAPSHOT_COLUMN, SNAPSHOT_END_COLUMN = "_snapshot", "_snapshot_end"
"""Of a log in which a snapshot replaces what stands before it: the snapshot that a row is of, and
the same number again in its last row."""


class ChangelogMode(Enum):
    """What an operator or a view emits (Flink's changelog modes)."""

    APPEND = "append"
    UPSERT = "upsert"
    RETRACT = "retract"


class Emit(Enum):
    """When the rows of a view appear: corrected as data comes, or once and final."""

    CHANGES = "changes"
    ON_WINDOW_CLOSE = "on window close"


class RecordFormat(StrEnum):
    """What the records of an input or of a sink mean (``FORMAT …``)."""

    PLAIN = "plain"
    UPSERT = "upsert"
    DEBEZIUM = "debezium"


class OnError(StrEnum):
    """What becomes of rows that cannot be decoded, or on which a query fails."""

    QUARANTINE = "quarantine"
    FAIL = "fail"
    DROP = "drop"


class OnSchemaChange(StrEnum):
    """What becomes of fields that a source does not name, and of a table with other columns."""

    IGNORE = "ignore"
    FAIL = "fail"
    EVOLVE = "evolve"


@dataclass(frozen=True, slots=True)
class Field:
    """One typed column.

    Attributes:
        name: lower-case column name.
        type: SQL type as a sqlglot data type (Trino's names).
        nullable: whether it can hold NULL.
        comment: free text: its own, or that of the column of an input that it is.
        bound: what the absolute value of a decimal is at most, if that is less than its type says.
    """

    name: str
    type: exp.DataType
    nullable: bool = True
    comment: str = ""
    bound: int | None = field(default=None, compare=False, repr=False, kw_only=True)


@dataclass(frozen=True, slots=True)
class Column(Field):
    """One column of a source: read from the data, from the connector's metadata, or computed.

    Attributes:
        metadata: the connector's metadata key, for ``METADATA FROM 'key'``.
        read_from: the field of a record that it is, for ``FROM 'field'``; empty for its own name.
        computed: the expression, for ``col AS expr``.
        digits: fraction digits that the source's own column has, for ``TIMESTAMP(p)``.
    """

    metadata: str | None = None
    computed: exp.Expression | None = None
    digits: int | None = None
    read_from: str = field(default="", kw_only=True)

    @property
    def key(self) -> str:
        """The name of the field of a record that it is read from."""
        return self.read_from or self.name

    @property
    def label(self) -> str:
        """What reasons call it."""
        return f'column "{self.name}"' + (f' (field "{self.key}")' if self.read_from else "")


@dataclass(frozen=True, slots=True)
class AdaptiveDelay:
    """How the delay of a watermark follows the lateness of the rows (``ADAPTIVE``).

    Attributes:
        percentile: the share of the rows that are to come in time, between 0 and 1.
        least: the shortest delay.
        most: the longest delay, which also holds until enough rows have come.
    """

    percentile: float
    least: timedelta
    most: timedelta


@dataclass(frozen=True, slots=True)
class Watermark:
    """How a source promises that no more rows below a time will come.

    Attributes:
        column: the event-time column.
        delay: how far the watermark stays behind the newest event time, at most; zero when
            monotonic.
        adaptive: how the delay follows the rows; None for a fixed one.
        idle_timeout: how long an input without rows holds the watermark back; None if it holds a
            lane back only while rows of it wait, and other tables for ever.
    """

    column: str
    delay: timedelta = timedelta(0)
    adaptive: AdaptiveDelay | None = None
    idle_timeout: timedelta | None = None


@dataclass(frozen=True, slots=True)
class StartFrom:
    """Where the first reading of a source begins (``START FROM``).

    Attributes:
        kind: ``earliest``, ``latest``, ``timestamp`` or ``offsets``.
        value: of a timestamp, microseconds since 1970 UTC as text; of offsets, JSON
            ``{topic: {partition: offset}}``.
    """

    kind: str = "earliest"
    value: str = ""


@dataclass(frozen=True, slots=True)
class Source:
    """An input: a ``CREATE SOURCE`` (read once), or a ``CREATE TABLE``, landed or read in place.

    Attributes:
        name: lower-case name.
        kept: True for a table, False for a source.
        columns: its columns in order.
        primary_key: key columns, where the rows are changes of a keyed table; many rows may have
            one key, none has NULL in it.
        watermark: its event time, if declared.
        connector: ``files``, ``datagen``, ``kafka``, ``redis``, ``iceberg``, ``delta``.
        options: the connector's options (``WITH``), validated against its allow-list.
        format: ``plain``, ``upsert`` or ``debezium``.
        encode: ``json``, ``csv``, ``parquet``, ``avro`` or ``raw``; empty for connectors without
            one.
        encode_options: options of the encoding, for example ``header`` of CSV.
        on_error: what becomes of records that cannot be decoded.
        on_schema_change: what becomes of unknown fields and of other columns.
        position: of changes, the columns that order those of one key; landing adds them.
        start: where its first reading begins.
        comment: free text.
        external: the table that another system writes and that is read in place: an Iceberg table
            with its namespace, or the folder of a Delta table, in which there is a slash.
        left_out: of changes, the columns whose value a record may leave out as it did not change.
        span: where it is defined.
    """

    name: str
    kept: bool
    columns: tuple[Column, ...]
    connector: str
    primary_key: tuple[str, ...] = ()
    watermark: Watermark | None = None
    options: Mapping[str, str] = field(default_factory=dict)
    format: RecordFormat = RecordFormat.PLAIN
    encode: str = ""
    encode_options: Mapping[str, str] = field(default_factory=dict)
    on_error: OnError = OnError.QUARANTINE
    on_schema_change: OnSchemaChange = OnSchemaChange.IGNORE
    position: tuple[Field, ...] = ()
    start: StartFrom = StartFrom()
    comment: str = ""
    left_out: tuple[str, ...] = ()
    external: str = ""
    span: Span | None = None

    @property
    def landed(self) -> bool:
        """Whether its rows are copied into a table of the project."""
        return self.kept and not self.external

    @property
    def mode(self) -> ChangelogMode:
        """What can happen to its rows: a table that others write can also lose and change some."""
        return ChangelogMode.RETRACT if self.external else ChangelogMode.APPEND

    @property
    def is_changes(self) -> bool:
        """Whether the rows are the changes of a keyed table; a deletion has only its key."""
        return bool(self.position)

    @property
    def truncates(self) -> bool:
        """Whether the changes of a keyed table can be that it was emptied."""
        return self.encode_options.get("truncate") == "apply"

    @property
    def replaces(self) -> bool:
        """Whether a whole snapshot among the changes of a keyed table ends the rows before it."""
        return self.encode_options.get("snapshot") == "replace"

    @property
    def one_order(self) -> str:
        """The option that needs changes of all keys to have one order; empty if none does."""
        if self.truncates:
            return "truncate = 'apply'"
        if self.replaces:
            return "snapshot = 'replace'"
        return "transaction_topic" if "transaction_topic" in self.options else ""

    @property
    def fields(self) -> tuple[Field, ...]:
        """The columns a query sees (system columns such as ``_watermark`` are not among them)."""
        keys = () if self.truncates else self.primary_key
        never_null = (*keys, CHANGE_COLUMN, UNCHANGED_COLUMN)
        columns = (
            Field(
                c.name,
                c.type,
                c.nullable or (self.is_changes and c.name not in never_null),
                c.comment,
            )
            for c in self.columns
        )
        return (*columns, *self.position)


@dataclass(frozen=True, slots=True)
class LateRows:
    """What happens to rows that are too late for a view (``LATE ROWS``).

    Attributes:
        accept: True if late rows correct the view without limit.
        allowed: how long after the watermark a row is still taken; zero for DROP.
        into: the table that keeps rows too late, if asked for.
    """

    accept: bool
    allowed: timedelta = timedelta(0)
    into: str | None = None


@dataclass(frozen=True, slots=True)
class View:
    """A ``CREATE STREAMING VIEW`` after binding.

    Attributes:
        name: lower-case name.
        query: the bound query in canonical form: every column qualified by its relation's alias and
            annotated with a type, stars expanded, CTEs inlined as subqueries, ``date_trunc`` group
            keys on an event time turned into a ``TUMBLE`` window.
        fields: the columns of its result, in order.
        inputs: names of the sources, tables and views it reads, in order of first use.
        emit: as written, or None for the planner's choice.
        late: as written, or None for the planner's choice.
        primary_key: as declared, or empty.
        partitioned_by: partition transforms, as expressions over the view's columns.
        comment: free text.
        options: ``WITH`` options: ``format``, ``engine``, …
        span: where it is defined.
        text: canonical SQL of the definition; comments are no part of it.
        definition: the whole definition as canonical SQL; empty for a keyed table.
        on_error: what becomes of rows on which the query fails.
        changes: the log whose newest rows it holds if it is a keyed table; empty for a view.
        reads_all: whether it may read columns that it does not name: by ``*``, or to order rows
            that tie.
        freshness: how stale it may be; None if it is worth every tick.
        ordered: whether it is written with an ORDER BY, which a table does not keep.
        renamed_from: the name that it had, as a comment before its definition says.
        tree: the relational algebra of its query.
        key: the columns that identify a row, as declared or else as the tree says; ``()`` for a
            view of one row, None if none are known.
        proven_key: the same, where nobody's word is taken for it.
    """

    name: str
    query: exp.Query
    fields: tuple[Field, ...]
    inputs: tuple[str, ...]
    emit: Emit | None = None
    late: LateRows | None = None
    primary_key: tuple[str, ...] = ()
    partitioned_by: tuple[exp.Expression, ...] = ()
    comment: str = ""
    options: Mapping[str, str] = field(default_factory=dict)
    span: Span | None = None
    text: str = ""
    definition: str = ""
    on_error: OnError = OnError.QUARANTINE
    changes: str = ""
    reads_all: bool = False
    freshness: timedelta | None = None
    ordered: bool = False
    renamed_from: str = ""
    tree: Query = field(default=Query(Values(), ()), compare=False, repr=False)
    key: tuple[str, ...] | None = None
    proven_key: tuple[str, ...] | None = None

    @property
    def is_delta(self) -> bool:
        """Whether its table is one of Delta; otherwise of Iceberg."""
        return self.options.get("format") == "delta"


@dataclass(frozen=True, slots=True)
class Sink:
    """A ``CREATE SINK`` after binding: where the changes of a view or table go.

    Attributes:
        name: lower-case name.
        view: the view or landed table that it delivers.
        fields: the columns of a record or row, in order: those that a query sees.
        connector: ``kafka``, ``iceberg``, ``delta`` or ``webhook``.
        options: the connector's options, validated against its allow-list.
        format: ``plain``, ``upsert`` or ``debezium``.
        key: the columns of a record's or row's key; no two rows share them where rows are
            corrected. None for those without a key, ``()`` for a view of one row.
        encode: what records are encoded in, ``json`` or ``avro``; empty for rows of a table.
        encode_options: options of the encoding: where the registry is.
        appends: whether the view only gains rows.
        comment: that of the view, for a table that is made for the sink.
        span: where it is defined.
        fingerprint: hash of what it delivers, where to, and how.
    """

    name: str
    view: str
    fields: tuple[Field, ...]
    connector: str
    options: Mapping[str, str]
    format: RecordFormat
    key: tuple[str, ...] | None
    encode: str
    encode_options: Mapping[str, str]
    appends: bool
    comment: str = ""
    span: Span | None = None
    fingerprint: str = ""


@dataclass(frozen=True, slots=True)
class Catalog:
    """Everything a project defines, by name; views come after what they read.

    Attributes:
        sources: sources and tables.
        views: views in topological order.
        sinks: sinks.
    """

    sources: Mapping[str, Source]
    views: Mapping[str, View]
    sinks: Mapping[str, Sink] = field(default_factory=dict)

    @property
    def external(self) -> dict[str, str]:
        """By name, the tables that somebody else writes: :attr:`Source.external`."""
        return {name: each.external for name, each in self.sources.items() if each.external}

    def is_delta(self, name: str) -> bool:
        """Return whether a name stands for a Delta table: of a view, or one that others write."""
        if view := self.views.get(name):
            return view.is_delta
        return name in self.sources and "/" in self.sources[name].external

    def source_of(self, name: str) -> Source | None:
        """Return the source of a name: itself, or the log of a keyed table."""
        view = self.views.get(name)
        return self.sources.get(view.changes if view is not None else name)

    def shown(self, source: str) -> str:
        """Return the name by which users know a source: of a log, that of its keyed table."""
        return source.removesuffix(CHANGES) if self.sources[source].is_changes else source
