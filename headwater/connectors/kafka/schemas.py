"""The schemas that records of a SOURCE in Avro name, as all that read it judge them.

In: a SOURCE. Out: the schemas by number, or why records of a number are bad.

The plan of a stream holds the schemas that are known when it starts. A record of another one makes
its batch fail before anything is published (:func:`refuse_unasked`); whoever runs the stream then
asks the registry (:func:`learned`) and starts it again. What the registry said is kept in the
state folder: the views and the quarantine of a SOURCE judge a record alike, also when a batch runs
again, whatever the registry says by then.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterable, Mapping
from pathlib import Path
from threading import Lock

from pyspark.sql import SparkSession

from headwater.analyze.definitions import Source
from headwater.checkpoints.durable import put
from headwater.connectors.contract import StreamConfig
from headwater.connectors.kafka.records import records_between, schema_numbers
from headwater.connectors.kafka.topics import EARLIEST, KafkaPosition, reader_settings
from headwater.formats.avro.decode import is_of_other, number_shown
from headwater.formats.avro.registry import Registry
from headwater.formats.avro.schema import Schema, parse
from headwater.lake.failures import text_of
from headwater.plan.sql.spark_text import text

_UNASKED = re.compile(r"source (\w+): the registry was not asked for schema (\d+)")
_one_learns = Lock()


class Schemas:
    """Keeps the known schemas of one SOURCE."""

    def __init__(self, source: Source, config: StreamConfig) -> None:
        self._source, self._directory = source, config.directory
        address = hashlib.sha256(source.encode_options["registry"].encode()).hexdigest()[:16]
        self._file = config.state / "avro" / f"{source.name}-{address}.json"

    def known(self) -> Mapping[int, Schema | str]:
        """Return the schemas that were asked for, or why records with one are bad."""
        return {
            int(number): held if isinstance(held, str) else parse(int(number), held[-1], held[:-1])
            for number, held in self._kept().items()
        }

    def learn(self, numbers: Iterable[int]) -> None:
        """Ask the registry for the schemas of some numbers, once and for all.

        Args:
            numbers: those that records begin with.

        Raises:
            ConfigError: ``SECRET_MISSING``.
            ServiceError: ``REGISTRY_UNAVAILABLE``.
            TerminalError: ``REGISTRY_REFUSED``.
        """
        registry = Registry(self._source, self._directory)
        with _one_learns:
            kept = self._kept()
            for number in numbers:
                if str(number) not in kept:
                    found = registry.schema(number)
                    kept[str(number)] = found if isinstance(found, str) else [*found.texts]
            self._file.parent.mkdir(parents=True, exist_ok=True)
            put(self._file, json.dumps(kept))

    def _kept(self) -> dict[str, str | list[str]]:
        """By number, the texts of a schema, or why there is none."""
        if not self._file.exists():
            return {}
        kept: dict[str, str | list[str]] = json.loads(self._file.read_text(encoding="utf-8"))
        return kept


def refuse_unasked(source: Source, value: str, numbers: Iterable[int]) -> tuple[str, str]:
    """Return the condition that a record is of a schema that was not asked for, and a failure.

    Args:
        value: expression of the record's bytes.
        numbers: of the schemas that were.
    """
    says = text(f"source {source.name}: the registry was not asked for schema ")
    fails = f"CAST(raise_error(concat({says}, {number_shown(value)})) AS BOOLEAN)"
    return is_of_other(value, numbers), fails


def learned(
    spark: SparkSession,
    error: BaseException | None,
    sources: Mapping[str, Source],
    config: StreamConfig | None,
    cuts: tuple[Mapping[str, str], Mapping[str, str]] = ({}, {}),
) -> bool:
    """Ask for the schemas that a batch failed for, if that is what it failed with.

    Args:
        cuts: the cuts before and after the batch, if they are known: then all schemas that its
            records name are asked for.

    Returns:
        Whether it is worth another attempt.

    Raises:
        HeadwaterError: what :meth:`Schemas.learn` raises.
    """
    said = _UNASKED.search(text_of(error)) if error is not None else None
    if said is None:
        return False
    assert config is not None
    source, numbers = sources[said[1]], {int(said[2])}
    begin, end = (cut.get(source.name) for cut in cuts)
    if end and (begin or source.start.kind == "earliest"):
        numbers |= _numbers_named(spark, source, config.directory, begin, end)
    Schemas(source, config).learn(numbers)
    return True


def _numbers_named(
    spark: SparkSession, source: Source, directory: Path, begin: str | None, end: str
) -> set[int]:
    """The schemas of the records between two positions in a cut."""
    before, after = KafkaPosition.of(begin).offsets, KafkaPosition.of(end).offsets
    offsets = [(*place, before.get(place, EARLIEST), upto) for place, upto in after.items()]
    records = records_between(spark, source, reader_settings(source, directory), offsets)
    return schema_numbers(records, "value")["value"]
