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
        "how far ahead of its arrival a row may be dated; rows beyond it are quarantined",
        default="1 hour",
    ),
}
"""Options that every connector takes."""

FILES = ConnectorOptions(
    options={
        "path": Option(
            "text",
            "folder to read, absolute or relative to the project; or s3://bucket/folder in "
            "an object store",
            required=True,
        ),
        "pattern": Option("text", "shell pattern of the file names to read", default="*"),
        "recursive": Option(
            "boolean", "whether to read the folders below as well", default="false"
        ),
        "order": Option(
            "choice",
            "order in which files are read: by name or by modification time",
            default="name",
            choices=("name", "modified"),
        ),
        "max_files_per_epoch": Option(
            "integer",
            "maximum number of files in one epoch; default: max_files_per_epoch of the project",
            minimum=1,
        ),
        "max_bytes_per_epoch": Option(
            "integer",
            "maximum number of bytes in one epoch; default: max_bytes_per_epoch of the project",
            minimum=1,
        ),
        "max_record_bytes": Option(
            "integer",
            "maximum length of a record; longer ones are quarantined",
            default="20000000",
            minimum=1,
        ),
        "endpoint": Option("text", "address of the object store; default: AWS"),
        "region": Option("text", "region of the object store; default: us-east-1"),
        "access_key": Option(
            "text", "access key ID for the object store; default: what the AWS tools find"
        ),
        "secret_key": Option("secret", "secret access key for the object store, as '${env:NAME}'"),
        **LIMITS,
    },
    encodings=("json", "csv", "parquet"),
    metadata={"file": "VARCHAR", "row": "BIGINT"},
    position={"_path": "VARCHAR", "_row": "BIGINT"},
)

DATAGEN_FIELD: Mapping[str, Option] = {
    "kind": Option(
        "choice",
        "how values are made: sequence (start, start + step, …), random (between min "
        "and max), values (drawn from a list), time (start + row / rows_per_second, "
        "minus some lateness), constant",
        choices=("sequence", "random", "values", "time", "constant"),
    ),
    "start": Option("time", "sequence: first value, default 0; time: the time of row 0"),
    "end": Option("number", "sequence: last value, after which it begins again at start"),
    "step": Option("number", "sequence: distance between two values", default="1"),
    "min": Option("time", "random: least value", default="0"),
    "max": Option("time", "random: greatest value, which integers include", default="1000000"),
    "length": Option("integer", "random text: number of letters", default="8", minimum=1),
    "values": Option("list", "values: the list to draw from"),
    "weights": Option("list", "values: relative weights, as many as values; default: all equal"),
    "value": Option("text", "constant: the value"),
    "max_lateness": Option(
        "interval",
        "time: each row is set back by a random span up to this one, so that rows "
        "arrive out of order",
        default="0 seconds",
    ),
    "null_rate": Option(
        "number", "share of rows that are NULL, from 0 to 1", default="0", minimum=0
    ),
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
        "number_of_rows": Option(
            "integer", "number of rows after which it stops; default: never", minimum=0
        ),
        "seed": Option(
            "integer", "seed of the values; another seed makes other values", default="0"
        ),
        "max_rows_per_epoch": Option("integer", "maximum number of rows in one epoch", minimum=1),
        **LIMITS,
    },
    metadata={"row": "BIGINT"},
    fields=DATAGEN_FIELD,
)

KAFKA = ConnectorOptions(
    options={
        "bootstrap_servers": Option(
            "text", "brokers to begin with, as host:port, separated by commas", required=True
        ),
        "topic": Option("list", "topics to read, separated by commas"),
        "topic_pattern": Option(
            "text",
            "regular expression that matches the whole names of the topics to read; new "
            "topics are found",
        ),
        "transaction_topic": Option(
            "text",
            "topic with Debezium's transaction metadata; the changes of a transaction then "
            "land in one epoch",
        ),
        "isolation": Option(
            "choice",
            "whether to read records of transactions that are open or were aborted",
            default="read_committed",
            choices=("read_committed", "read_uncommitted"),
        ),
        "on_data_loss": Option(
            "choice",
            "what to do if records were deleted before they were read: fail, or skip and "
            "count them",
            default="fail",
            choices=("fail", "skip"),
        ),
        "max_rows_per_epoch": Option(
            "integer", "maximum number of records in one epoch", default="500000", minimum=1
        ),
        "max_record_bytes": FILES.options["max_record_bytes"],
        "security_protocol": Option(
            "choice",
            "protocol of the connection to the brokers",
            default="plaintext",
            choices=("plaintext", "ssl", "sasl_plaintext", "sasl_ssl"),
        ),
        "sasl_mechanism": Option(
            "choice",
            "SASL mechanism that authenticates the user",
            default="plain",
            choices=("plain", "scram-sha-256", "scram-sha-512"),
        ),
        "sasl_username": Option("text", "user name"),
        "sasl_password": Option("secret", "password of the user, as '${env:NAME}'"),
        "ssl_ca": Option(
            "text", "PEM file with the authorities that sign the brokers' certificates"
        ),
        "ssl_keystore": Option("text", "PEM file with the client's private key and certificates"),
        "ssl_key_password": Option(
            "secret", "password of the client's private key, as '${env:NAME}'"
        ),
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
            "address of the server: redis://host:port/database, or rediss://… with TLS",
            required=True,
        ),
        "stream": Option("text", "stream to read", required=True),
        "group": Option(
            "text",
            "consumer group that shows in Redis how far the stream was landed; only this "
            "table may use it",
            default="headwater",
        ),
        "field": Option("text", "field of an entry that holds the row", default="value"),
        "trim": Option(
            "boolean",
            "whether to delete entries from the stream once they are landed",
            default="false",
        ),
        "on_data_loss": Option(
            "choice",
            "what to do if entries were deleted before they were read: fail, or skip and "
            "count them",
            default="fail",
            choices=("fail", "skip"),
        ),
        "max_rows_per_epoch": Option(
            "integer", "maximum number of entries in one epoch", default="100000", minimum=1
        ),
        "max_record_bytes": FILES.options["max_record_bytes"],
        "username": Option("text", "user name; without it the password is that of the server"),
        "password": Option("secret", "password, as '${env:NAME}'"),
        "ssl_ca": Option(
            "text", "PEM file with the authorities that sign the server's certificate"
        ),
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
            "table of the project's catalog that another system writes, as namespace.table",
            required=True,
        ),
    },
)
"""Nothing is copied: views read the table where it is, snapshot by snapshot."""

DELTA = ConnectorOptions(
    options={
        "path": Option(
            "text",
            "folder of a Delta table that another system writes, absolute or relative to "
            "the project",
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

VIEW_OPTIONS: Mapping[str, Option] = {
    "format": Option(
        "choice", "format of the view's table", default="iceberg", choices=("iceberg", "delta")
    ),
    "engine": Option(
        "choice",
        "engine that maintains the view; default: Headwater chooses",
        choices=("streaming", "incremental", "full"),
    ),
    "dialect": Option(
        "choice", "SQL dialect of the query", default="trino", choices=("trino", "spark", "duckdb")
    ),
    "allow_unbounded_state": Option(
        "boolean", "whether to run a view whose state grows without bound", default="false"
    ),
}
"""Options of ``CREATE STREAMING VIEW … WITH (…)``."""
