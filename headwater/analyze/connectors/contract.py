"""The contract of a connector before Spark starts: its options as tables, its checks as functions.

In: nothing. Out: the records of which a connector's entry in
:mod:`headwater.analyze.connectors.registry` is made. The binder validates ``WITH (…)`` against
them; an option that is not listed here does not exist. Option values reach the connector as text,
already checked against ``Option.kind``.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Literal

from headwater.analyze.definitions import RecordFormat, Sink, Source
from headwater.analyze.diagnostics import Diagnostics
from headwater.dialect import syntax

Kind = Literal[
    "text",
    "integer",
    "number",
    "boolean",
    "interval",
    "choice",
    "list",
    "time",
    "secret",
    "template",
]
"""``interval``: ``'90 seconds'``, ``'1 hour'``; ``list``: values separated by commas; ``time``: an
ISO date or timestamp, or a number for the bounds of a number column; ``choice``: one of
``Option.choices``; ``secret``: a reference ``${env:NAME}`` and nothing else, which reaches the
intake as written and is read with :class:`headwater.config.secrets.Secret` when it is needed;
``template``: text in which such references may stand, read likewise."""


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


Options = Mapping[str, str]
"""The options of one definition, by name."""


def _no_jars(options: Options) -> tuple[str, ...]:  # noqa: ARG001 - of some connectors
    return ()


@dataclass(frozen=True, slots=True)
class ConnectorOptions:
    """One kind of input: the entry of a connector that reads.

    Attributes:
        options: the options by name.
        encodings: what ``ENCODE`` may say; empty for a connector that makes typed rows itself.
        metadata: SQL type by key of ``METADATA FROM 'key'``.
        position: SQL type by column that says where a row stood in the input; rows with one key
            happened in the order of these columns.
        fields: options of one column, written ``fields.<column>.<option>``.
        start: which words of ``START FROM`` it takes.
        built: False for a connector that is planned but not here yet.
        check: reports what the tables above cannot express; called with the bound source.
        reader: ``module:class`` of its :class:`headwater.connectors.contract.Connector`, imported
            when Spark runs; empty for a table that is read in place.
        in_place: the table of another system that its options name; None if rows are landed.
        jars: the configurations of ``headwater/jars/ivy.xml`` that Spark needs for some options.
        keyed_records: whether a record has a key beside its value.
        input_kept: whether the input of a SOURCE can be read again: ``always`` (it is computed),
            ``files`` (the checkpoint lists them), ``unknown`` (only the server knows).
    """

    options: Mapping[str, Option] = field(default_factory=dict)
    encodings: tuple[str, ...] = ()
    metadata: Mapping[str, str] = field(default_factory=dict)
    position: Mapping[str, str] = field(default_factory=dict)
    fields: Mapping[str, Option] = field(default_factory=dict)
    start: tuple[str, ...] = ("earliest",)
    built: bool = True
    check: Callable[[syntax.CreateSource, Source, Diagnostics], None] | None = None
    reader: str = ""
    in_place: Callable[[Options], str] | None = None
    jars: Callable[[Options], tuple[str, ...]] = _no_jars
    keyed_records: bool = False
    input_kept: Literal["always", "files", "unknown"] = "unknown"


@dataclass(frozen=True, slots=True)
class SinkOptions:
    """One kind of output: the entry of a connector that writes.

    Attributes:
        options: the options by name.
        place: the options that say where records go; with others it is another sink.
        held_by: the options by which two sinks would write to one place.
        formats: the formats that it takes.
        encodings: what its records can be encoded in; none if it writes columns.
        check: reports what the tables above cannot express; called with the bound options.
        check_sink: reports which columns or formats the options do not fit; called with the sink.
        named: options ``<prefix>.<name>`` by prefix, such as ``header.authorization``.
        implied: whether FORMAT and ENCODE may be left out: a view that only gains rows is then
            delivered as PLAIN, another one as UPSERT, in the first of the encodings.
        writer: ``module:class`` of its :class:`headwater.connectors.sink_contract.SinkConnector`,
            imported when Spark runs.
        in_catalog: whether its option ``table`` names a table of a catalog, which may be the
            project's own.
    """

    options: Mapping[str, Option]
    place: tuple[str, ...] = ()
    held_by: tuple[str, ...] = ()
    formats: tuple[str, ...] = tuple(RecordFormat)
    encodings: tuple[str, ...] = ()
    check: Callable[[syntax.CreateSink, Options, Diagnostics], None] | None = None
    check_sink: Callable[[syntax.CreateSink, Sink, Diagnostics], None] | None = None
    named: Mapping[str, Option] = field(default_factory=dict)
    implied: bool = False
    writer: str = ""
    in_catalog: bool = False


@dataclass(frozen=True, slots=True)
class Plugin:
    """What an entry point of the group ``headwater.connectors`` names: a connector's entries.

    Attributes:
        source: of ``CREATE TABLE`` and ``CREATE SOURCE``; None if it does not read.
        sink: of ``CREATE SINK``; None if it does not write.
    """

    source: ConnectorOptions | None = None
    sink: SinkOptions | None = None


LIMITS: Mapping[str, Option] = {
    "max_future": Option(
        "interval",
        "how far ahead of its arrival a row may be dated; rows beyond it are quarantined",
        default="1 hour",
    ),
    "max_drift": Option(
        "interval",
        "how far the table may be ahead of the slowest table that a view reads with it; beyond "
        "that it waits",
    ),
}
"""Options that every connector takes."""

MAX_RECORD_BYTES = Option(
    "integer",
    "maximum length of a record; longer ones are quarantined",
    default="20000000",
    minimum=1,
)
"""The option of connectors that read records."""

RECORD_POSITION: Mapping[str, str] = {"_path": "VARCHAR", "_row": "BIGINT"}
"""Where a record stood: in which file, partition or stream, and the how manieth it was."""
