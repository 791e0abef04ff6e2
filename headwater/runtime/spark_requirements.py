"""What the tables of a project need of Spark: jars, classes and settings.

In: what holds the catalog, the warehouse, what else is read and written. Out: names of jars and
settings; nothing is started here.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from headwater.analyze.definitions import Catalog, Sink
from headwater.connectors.registry import jars_for, jars_of
from headwater.lake.catalogs.backend import CATALOG, CatalogBackend
from headwater.lake.storage.warehouse import WAREHOUSE, Warehouse

EXTENSIONS = "spark.sql.extensions"

_ICEBERG_CATALOG = "org.apache.iceberg.spark.SparkCatalog"
_ICEBERG_EXTENSIONS = "org.apache.iceberg.spark.extensions.IcebergSparkSessionExtensions"
_DELTA_CATALOG = "org.apache.spark.sql.delta.catalog.DeltaCatalog"
_DELTA_EXTENSIONS = "io.delta.sql.DeltaSparkSessionExtension"
_VACUUM = "spark.databricks.delta.vacuum"

DELTA, KAFKA, OBJECTS = "delta", "kafka", "objects"
"""Configurations of ``headwater/jars/ivy.xml``: Delta tables, Kafka, files in an object store."""
_CLASSES = {
    DELTA: _DELTA_CATALOG,
    KAFKA: "org.apache.spark.sql.kafka010.KafkaSourceProvider",
    OBJECTS: "org.apache.hadoop.fs.s3a.S3AFileSystem",
}
_BESIDE = {OBJECTS: ("s3",)}


def jars_needed(
    catalog: Catalog, names: Sequence[str], sinks: Sequence[Sink], directory: Path
) -> tuple[str, ...]:
    """Return the configurations of ``headwater/jars/ivy.xml`` that a project needs.

    Args:
        catalog: what is defined.
        names: of its tables and views, and of what these read.
        sinks: what is delivered.
        directory: where relative paths of sinks begin.
    """
    needed = [*jars_for(sinks, directory)]
    needed += [DELTA] if any(map(catalog.is_delta, names)) else []
    for name in names:
        if source := catalog.sources.get(name):
            needed += jars_of(source)
    return tuple(dict.fromkeys(needed))


@dataclass(frozen=True, slots=True)
class Storage:
    """Where the tables of a project are.

    Attributes:
        backend: what holds the catalog.
        warehouse: where the files of the tables are.
        further: configurations of ``headwater/jars/ivy.xml`` to load beside what these need; Spark
            starts without Delta if it is not among them.
    """

    backend: CatalogBackend
    warehouse: Warehouse
    further: tuple[str, ...] = ()

    @property
    def jars(self) -> tuple[str, ...]:
        """Configurations of ``headwater/jars/ivy.xml`` to load."""
        beside = (jar for name in self.further for jar in _BESIDE.get(name, ()))
        every = (*self.backend.jars, *self.warehouse.jars, *beside, *self.further)
        return tuple(dict.fromkeys(every))

    @property
    def classes(self) -> tuple[str, ...]:
        """Classes that must be there once the jars are loaded."""
        more = (_CLASSES[name] for name in self.further if name in _CLASSES)
        return (_ICEBERG_CATALOG, *self.backend.classes, *self.warehouse.classes, *more)

    @property
    def secrets(self) -> dict[str, str]:
        """Settings that must not stand on a command line.

        Raises:
            ConfigError: ``SECRET_MISSING``.
        """
        return _prefixed({**self.backend.spark_secrets(), **self.warehouse.spark_secrets()})

    def settings(self, extensions: str | None) -> dict[str, str]:
        """Return the settings that nobody overrides.

        Args:
            extensions: further session extensions, as the user gave them.
        """
        name, delta = f"spark.sql.catalog.{CATALOG}", DELTA in self.further
        own = (_ICEBERG_EXTENSIONS, _DELTA_EXTENSIONS if delta else None)
        return {
            name: _ICEBERG_CATALOG,
            **_prefixed(self.backend.spark_settings(self.warehouse.uri)),
            **_prefixed(self.warehouse.spark_settings()),
            WAREHOUSE: self.warehouse.uri,
            # a cached table stays stale after a commit from another session, even for ever
            f"{name}.cache-enabled": "false",
            "spark.sql.defaultCatalog": CATALOG,
            EXTENSIONS: ",".join(filter(None, (*own, extensions))),
            **(_DELTA_SETTINGS if delta else {}),
        }


_DELTA_SETTINGS = {
    "spark.sql.catalog.spark_catalog": _DELTA_CATALOG,
    # a transaction begins by reading the log: 50 tasks by default, seconds on a few cores
    "spark.databricks.delta.snapshotPartitions": "1",
    # INT96, the default, has nanoseconds and so no year after 2262 in most readers
    "spark.sql.parquet.outputTimestampType": "TIMESTAMP_MICROS",
    # a view's rows are where its table is; nothing is written that was not asked for
    "spark.databricks.delta.autoCompact.enabled": "false",
    # Delta 4.4.0 goes by a property of the table (7 days) instead: VACUUM would pass over how long
    # files are needed, and versions whose files are all there could not be read
    # (delta-io/delta#5022)
    f"{_VACUUM}.retentionWindowIgnore.enabled": "false",
    f"{_VACUUM}.enforceTimeTravelWithinDeletedFileRetentionDuration": "false",
}


def _prefixed(settings: Mapping[str, str]) -> dict[str, str]:
    """Return settings of the catalog under their full names in Spark.

    Args:
        settings: settings below the name of the catalog.
    """
    return {f"spark.sql.catalog.{CATALOG}.{key}": value for key, value in settings.items()}
