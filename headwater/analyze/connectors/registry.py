"""The connectors by name: which options, metadata columns and encodings each one takes.

In: a connector's name. Out: its description as data. The binder validates ``WITH (…)`` against
these tables and ``headwater.intake`` implements them; an option that is not listed here does not
exist. Option values reach the intake as text, already checked against ``Option.kind``.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

Kind = Literal[
    "text", "integer", "number", "boolean", "interval", "choice", "list", "time", "secret"
]
"""``interval``: ``'90 seconds'``, ``'1 hour'``; ``list``: values separated by commas; ``time``: an
ISO date or timestamp, or a number for the bounds of a number column; ``choice``: one of
``Option.choices``; ``secret``: a reference ``${env:NAME}`` and nothing else, which reaches the
intake as written and is read with :class:`headwater.config.secrets.Secret` when it is needed."""


@dataclass(frozen=True, slots=True)
class Option:
    """One option of a connector or an encoding.

    Attributes:
        kind: what its text must look like.
        description: one line for the documentation and for hints.
        required: whether the definition is refused without it.
        default: what holds when it is absent; empty for none.
        choices: the words allowed for kind ``choice``.
        minimum: least value of an ``integer`` or ``number``.
    """

    kind: Kind
    description: str
    required: bool = False
    default: str = ""
    choices: tuple[str, ...] = ()
    minimum: float | None = None


@dataclass(frozen=True, slots=True)
class ConnectorOptions:
    """One kind of input.

    Attributes:
        options: the options by name.
        encodings: what ``ENCODE`` may say; empty for a connector that makes typed rows itself.
        metadata: SQL type by key of ``METADATA FROM 'key'``.
        position: SQL type by column that says where a row stood in the input; rows with one key
            happened in the order of these columns.
        fields: options of one column, written ``fields.<column>.<option>``.
        start: which words of ``START FROM`` it takes.
        built: False for a connector that is planned but not here yet.
    """

    options: Mapping[str, Option] = field(default_factory=dict)
    encodings: tuple[str, ...] = ()
    metadata: Mapping[str, str] = field(default_factory=dict)
    position: Mapping[str, str] = field(default_factory=dict)
    fields: Mapping[str, Option] = field(default_factory=dict)
    start: tuple[str, ...] = ("earliest",)
    built: bool = True


LIMITS: Mapping[str, Option] = {
    "max_future": Option(
        "interval",
        "rows dated further ahead of their arrival than this go to quarantine",
        default="1 hour",
    ),
}
"""Options that every connector takes."""

FILES = ConnectorOptions(
    options={
        "path": Option(
            "text",
            "folder to read, absolute or relative to the project, or s3://bucket/folder in an"
            " object store",
            required=True,
        ),
        "pattern": Option("text", "shell pattern of the file names to take", default="*"),
        "recursive": Option("boolean", "read folders below as well", default="false"),
        "order": Option(
            "choice", "which file comes first", default="name", choices=("name", "modified")
        ),
        "max_files_per_epoch": Option("integer", "most files read in one epoch", minimum=1),
        "max_bytes_per_epoch": Option("integer", "most bytes read in one epoch", minimum=1),
        "max_record_bytes": Option(
            "integer", "longer lines go to quarantine", default="20000000", minimum=1
        ),
        "endpoint": Option("text", "address of the object store; without it that of AWS"),
        "region": Option("text", "region of the object store; without it us-east-1"),
        "access_key": Option(
            "text", "who asks the object store; without it what AWS's own tools find"
        ),
        "secret_key": Option("secret", "how who asks proves it, '${env:NAME}'"),
        **LIMITS,
    },
    encodings=("json", "csv", "parquet"),
    metadata={"file": "VARCHAR", "row": "BIGINT"},
    position={"_path": "VARCHAR", "_row": "BIGINT"},
)

DATAGEN_FIELD: Mapping[str, Option] = {
    "kind": Option(
        "choice",
        "how values are made: sequence (start, start + step, …), random (between min and max), "
        "values (drawn from a list), time (start + row / rows_per_second, less some lateness), "
        "constant",
        choices=("sequence", "random", "values", "time", "constant"),
    ),
    "start": Option("time", "sequence: first value (default 0); time: time of row 0"),
    "end": Option("number", "sequence: last value, after which it begins again at start"),
    "step": Option("number", "sequence: distance of two values", default="1"),
    "min": Option("time", "random: least value", default="0"),
    "max": Option("time", "random: greatest value, inclusive for integers", default="1000000"),
    "length": Option("integer", "random text: number of letters", default="8", minimum=1),
    "values": Option("list", "values: the list to draw from"),
    "weights": Option("list", "values: relative weights, as many as values; default all equal"),
    "value": Option("text", "constant: the value"),
    "max_lateness": Option(
        "interval",
        "time: each row is set back by a random span up to this, so rows come out of order",
        default="0 seconds",
    ),
    "null_rate": Option("number", "share of rows that are NULL, 0 to 1", default="0", minimum=0),
}
"""Every value is a pure function of (seed, column name, row number): a row can be made again at
any time.

Default kind by type: numbers, text and booleans ``random``; DATE and TIMESTAMP ``time`` with start
2024-01-01 00:00:00 UTC."""

DATAGEN = ConnectorOptions(
    options={
        "rows_per_second": Option(
            "integer", "rows made per second; also the clock of kind time", default="10", minimum=1
        ),
        "number_of_rows": Option("integer", "stop after this many rows; default never", minimum=0),
        "seed": Option("integer", "another seed, other values", default="0"),
        "max_rows_per_epoch": Option("integer", "most rows made in one epoch", minimum=1),
        **LIMITS,
    },
    metadata={"row": "BIGINT"},
    fields=DATAGEN_FIELD,
)

KAFKA = ConnectorOptions(
    options={
        "bootstrap_servers": Option(
            "text", "where the cluster is: host:port, more of them after commas", required=True
        ),
        "topic": Option("list", "the topics to read"),
        "topic_pattern": Option(
            "text", "regular expression of the names of the topics to read; new ones are found"
        ),
        "transaction_topic": Option(
            "text",
            "where Debezium says how many changes a transaction has: all of them land in one epoch",
        ),
        "isolation": Option(
            "choice",
            "whether records of transactions are read that are open or were aborted",
            default="read_committed",
            choices=("read_committed", "read_uncommitted"),
        ),
        "on_data_loss": Option(
            "choice",
            "where records were deleted before they were read: stop, or go on and count them",
            default="fail",
            choices=("fail", "skip"),
        ),
        "max_rows_per_epoch": Option(
            "integer", "most records read in one epoch", default="500000", minimum=1
        ),
        "max_record_bytes": FILES.options["max_record_bytes"],
        "security_protocol": Option(
            "choice",
            "how brokers are spoken to",
            default="plaintext",
            choices=("plaintext", "ssl", "sasl_plaintext", "sasl_ssl"),
        ),
        "sasl_mechanism": Option(
            "choice",
            "how the user is proved",
            default="plain",
            choices=("plain", "scram-sha-256", "scram-sha-512"),
        ),
        "sasl_username": Option("text", "the user"),
        "sasl_password": Option("secret", "the user's password, '${env:NAME}'"),
        "ssl_ca": Option("text", "PEM file of the authorities that sign the brokers' certificates"),
        "ssl_keystore": Option("text", "PEM file of our own key and certificate"),
        "ssl_key_password": Option("secret", "password of our own key, '${env:NAME}'"),
        **LIMITS,
    },
    encodings=("json", "csv", "avro", "raw"),
    metadata={
        "topic": "VARCHAR",
        "partition": "INTEGER",
        "offset": "BIGINT",
        "timestamp": "TIMESTAMP WITH TIME ZONE",
        "key": "VARBINARY",
        "headers": "ARRAY(ROW(key VARCHAR, value VARBINARY))",
    },
    position=FILES.position,
    start=("earliest", "latest", "timestamp", "offsets"),
)
"""Of a record, ``_path`` is ``<topic>/<partition>`` and ``_row`` its offset."""

REDIS = ConnectorOptions(
    options={
        "url": Option(
            "text",
            "where the server is: redis://host:port/database, with TLS rediss://…",
            required=True,
        ),
        "stream": Option("text", "the stream to read", required=True),
        "group": Option(
            "text",
            "consumer group that says in Redis how far the stream was landed; for this table alone",
            default="headwater",
        ),
        "field": Option("text", "field of an entry that holds the row", default="value"),
        "trim": Option(
            "boolean", "entries are deleted from the stream once they are landed", default="false"
        ),
        "on_data_loss": Option(
            "choice",
            "where entries were deleted before they were read: stop, or go on and count them",
            default="fail",
            choices=("fail", "skip"),
        ),
        "max_rows_per_epoch": Option(
            "integer", "most entries read in one epoch", default="100000", minimum=1
        ),
        "max_record_bytes": FILES.options["max_record_bytes"],
        "username": Option("text", "the user; without it the password is the server's"),
        "password": Option("secret", "the password, '${env:NAME}'"),
        "ssl_ca": Option("text", "PEM file of the authorities that sign the server's certificate"),
        **LIMITS,
    },
    encodings=("json",),
    metadata={"id": "VARCHAR", "timestamp": "TIMESTAMP WITH TIME ZONE"},
    start=("earliest", "latest"),
)
"""Of an entry, ``_path`` is ``<stream>/<id>``, and ``_row`` is 0."""

ICEBERG = ConnectorOptions(
    options={
        "table": Option(
            "text",
            "table of the project's catalog that somebody else writes: namespace.table",
            required=True,
        ),
    },
)
"""Nothing is copied: views read the table where it is, snapshot by snapshot."""

DELTA = ConnectorOptions(
    options={
        "path": Option(
            "text",
            "folder of a Delta table that somebody else writes, absolute or relative to the"
            " project",
            required=True,
        ),
    },
)
"""Likewise, version by version."""

CONNECTORS: Mapping[str, ConnectorOptions] = {
    "files": FILES,
    "datagen": DATAGEN,
    "kafka": KAFKA,
    "redis": REDIS,
    "iceberg": ICEBERG,
    "delta": DELTA,
    "postgres": ConnectorOptions(built=False),
    "http": ConnectorOptions(built=False),
}

ENCODINGS: Mapping[str, Mapping[str, Option]] = {
    "json": {
        "non_finite": Option(
            "choice",
            'whether "NaN", "Infinity" and "-Infinity" are numbers; otherwise such a row is bad',
            default="refuse",
            choices=("refuse", "accept"),
        ),
        "timestamp_format": Option("text", "pattern of timestamps; default ISO 8601"),
        "date_format": Option("text", "pattern of dates; default ISO 8601"),
    },
    "csv": {
        "header": Option("boolean", "the first line names the columns", default="true"),
        "delimiter": Option("text", "separator of values", default=","),
        "quote": Option("text", "character around values", default='"'),
        "escape": Option("text", "character before a quote inside a value", default='"'),
        "null_value": Option("text", "text that means NULL", default=""),
        "timestamp_format": Option("text", "pattern of timestamps; default ISO 8601"),
        "date_format": Option("text", "pattern of dates; default ISO 8601"),
    },
    "avro": {
        "registry": Option(
            "text", "address of the schema registry, http://… or https://…", required=True
        ),
        "registry_username": Option("text", "the registry's user"),
        "registry_password": Option("secret", "the user's password, '${env:NAME}'"),
        "registry_ca": Option(
            "text", "PEM file of the authorities that sign the registry's certificate"
        ),
    },
    "parquet": {},
    "raw": {},
}
"""Options of ``ENCODE <name> (…)``; an encoding of the grammar that is missing here is not built
yet."""


@dataclass(frozen=True, slots=True)
class Format:
    """What the records of an input mean (``FORMAT …``).

    Attributes:
        keyed: whether they change rows by their key, and the table holds the newest of each.
        encodings: what they can be encoded in.
        options: further options of ``ENCODE <name> (…)``.
    """

    keyed: bool
    encodings: tuple[str, ...]
    options: Mapping[str, Option] = field(default_factory=dict)


UNAVAILABLE = "__debezium_unavailable_value"
"""What stands for a value that is not in an event, if Debezium is not told otherwise."""

FORMATS: Mapping[str, Format] = {
    "plain": Format(keyed=False, encodings=("json", "csv", "avro", "parquet", "raw")),
    "upsert": Format(
        keyed=True,
        encodings=("json", "csv", "avro", "parquet"),
        options={
            "delete_field": Option(
                "text",
                "field that says what a record does: d, delete or true deletes the row; c, i, r, u,"
                " insert, update, upsert, false or NULL writes it; without the option all do",
            ),
            "key_encode": Option(
                "choice",
                "connector kafka: how a record's key is read, as JSON (an object of the key's"
                " columns, or the one value), as the text of the one value, or as Avro, which is"
                " the default with ENCODE AVRO",
                default="json",
                choices=("json", "text", "avro"),
            ),
        },
    ),
    "debezium": Format(
        keyed=True,
        encodings=("json", "avro"),
        options={
            "decimals": Option(
                "choice",
                "ENCODE JSON: Debezium's decimal.handling.mode; needed for DECIMAL columns",
                choices=("string", "precise", "double"),
            ),
            "times": Option(
                "choice",
                "ENCODE JSON: Debezium's time.precision.mode; needed for DATE and TIMESTAMP"
                " columns",
                choices=("isostring", "adaptive", "adaptive_time_microseconds", "connect"),
            ),
            "truncate": Option(
                "choice",
                "what becomes of the events of a TRUNCATE; apply needs changes that have one order:"
                " files, or one topic of one partition",
                default="quarantine",
                choices=("quarantine", "apply"),
            ),
            "snapshot": Option(
                "choice",
                "what a snapshot that is taken again makes of rows that it lacks: merge keeps them,"
                " replace ends them at its last row; replace is for PostgreSQL, and needs the one"
                " order too",
                default="merge",
                choices=("merge", "replace"),
            ),
            "unavailable_value": Option(
                "text",
                "Debezium's unavailable.value.placeholder, which stands for a long value that did"
                " not change",
                default=UNAVAILABLE,
            ),
        },
    ),
}
"""The formats by name."""

VIEW_OPTIONS: Mapping[str, Option] = {
    "format": Option("choice", "table format", default="iceberg", choices=("iceberg", "delta")),
    "engine": Option(
        "choice", "how the view is kept", choices=("streaming", "incremental", "full")
    ),
    "dialect": Option(
        "choice", "SQL dialect of the query", default="trino", choices=("trino", "spark", "duckdb")
    ),
    "allow_unbounded_state": Option(
        "boolean", "run although state grows without bound", default="false"
    ),
}
"""Options of ``CREATE STREAMING VIEW … WITH (…)``."""
