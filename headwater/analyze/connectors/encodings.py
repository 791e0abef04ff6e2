"""What the records of an input mean (``FORMAT``) and how they are written (``ENCODE``), as tables.

In: nothing. Out: options and what fits together, by name.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from sqlglot import exp

from headwater.analyze.connectors.contract import Option
from headwater.analyze.connectors.registered import Registered
from headwater.analyze.definitions import RecordFormat
from headwater.dialect.parser_ddl import ENCODING_GROUP

_ENCODINGS: Mapping[str, Mapping[str, Option]] = {
    "json": {
        "non_finite": Option(
            "choice",
            'whether the texts "NaN", "Infinity" and "-Infinity" are numbers; otherwise '
            "such a row is quarantined",
            default="refuse",
            choices=("refuse", "accept"),
        ),
        "timestamp_format": Option("text", "pattern of timestamps; default: ISO 8601"),
        "date_format": Option("text", "pattern of dates; default: ISO 8601"),
    },
    "csv": {
        "header": Option("boolean", "whether the first line names the columns", default="true"),
        "delimiter": Option("text", "character between values", default=","),
        "quote": Option("text", "character around values", default='"'),
        "escape": Option("text", "character before a quote inside a value", default='"'),
        "null_value": Option("text", "text that means NULL", default=""),
        "timestamp_format": Option("text", "pattern of timestamps; default: ISO 8601"),
        "date_format": Option("text", "pattern of dates; default: ISO 8601"),
    },
    "avro": {
        "registry": Option(
            "text", "address of the schema registry, http://… or https://…", required=True
        ),
        "registry_username": Option("text", "user name for the registry"),
        "registry_password": Option("secret", "password of the user, as '${env:NAME}'"),
        "registry_ca": Option(
            "text", "PEM file with the authorities that sign the registry's certificate"
        ),
    },
    "parquet": {},
    "raw": {},
}


def _options(found: object) -> Mapping[str, Option]:
    if not isinstance(found, Mapping):
        raise TypeError
    return found


ENCODINGS: Registered[Mapping[str, Option]] = Registered(_ENCODINGS, ENCODING_GROUP, _options)
"""Options of ``ENCODE <name> (…)``. An entry point of another package adds an encoding: it names a
table of options, and a connector that lists the encoding decodes it."""


@dataclass(frozen=True, slots=True)
class Format:
    """What the records of an input mean (``FORMAT …``).

    Attributes:
        keyed: whether they change rows by their key, and the table holds the newest of each.
        encodings: what they can be encoded in.
        options: further options of ``ENCODE <name> (…)``.
        metadata: SQL type by key of ``METADATA FROM 'key'``: what a record says beside its row.
    """

    keyed: bool
    encodings: tuple[str, ...]
    options: Mapping[str, Option] = field(default_factory=dict)
    metadata: Mapping[str, str] = field(default_factory=dict)


UNAVAILABLE = "__debezium_unavailable_value"
"""What stands for a value that is not in an event, if Debezium is not told otherwise."""
SOURCE_TIME = "source.ts_ms"
"""Key of the metadata of Debezium's events that says when the database made the change."""

FORMATS: Mapping[RecordFormat, Format] = {
    RecordFormat.PLAIN: Format(keyed=False, encodings=("json", "csv", "avro", "parquet", "raw")),
    RecordFormat.UPSERT: Format(
        keyed=True,
        encodings=("json", "csv", "avro", "parquet"),
        options={
            "delete_field": Option(
                "text",
                "field that says what a record does: d, delete or true deletes the row; c, i, "
                "r, u, insert, update, upsert, false or NULL writes it; without this option "
                "every record writes",
            ),
            "key_encode": Option(
                "choice",
                "connector kafka: how a record's key is read: as JSON (an object of the key's "
                "columns, or the one value), as the text of the one value, or as Avro, the "
                "default with ENCODE AVRO",
                default="json",
                choices=("json", "text", "avro"),
            ),
        },
    ),
    RecordFormat.DEBEZIUM: Format(
        keyed=True,
        encodings=("json", "avro"),
        options={
            "decimals": Option(
                "choice",
                "ENCODE JSON: Debezium's decimal.handling.mode; required for DECIMAL columns",
                choices=("string", "precise", "double"),
            ),
            "times": Option(
                "choice",
                "ENCODE JSON: Debezium's time.precision.mode; required for DATE and TIMESTAMP "
                "columns",
                choices=("isostring", "adaptive", "adaptive_time_microseconds", "connect"),
            ),
            "truncate": Option(
                "choice",
                "whether a TRUNCATE is quarantined or applied; apply needs changes in one "
                "order: files, or one topic with one partition",
                default="quarantine",
                choices=("quarantine", "apply"),
            ),
            "snapshot": Option(
                "choice",
                "what a repeated snapshot does with rows that it lacks: merge retains them, "
                "replace deletes them at its last row; replace is for PostgreSQL and needs "
                "changes in one order",
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
        metadata={SOURCE_TIME: "TIMESTAMP WITH TIME ZONE"},
    ),
}
"""The formats by name."""


def record_format(statement: exp.Expression) -> RecordFormat:
    """Return the format that a table or source declares; by default a record is a row."""
    return RecordFormat(str(statement.args.get("format") or RecordFormat.PLAIN).lower())
