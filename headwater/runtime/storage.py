"""What the tables of a project need of Spark: jars, classes and settings.

In: what holds the catalog, the warehouse, whether a view is a Delta table. Out: names of jars and
settings; nothing is started here.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from headwater.lake.backend import CATALOG, CatalogBackend
from headwater.lake.warehouse import WAREHOUSE, Warehouse

EXTENSIONS = "spark.sql.extensions"

_ICEBERG_CATALOG = "org.apache.iceberg.spark.SparkCatalog"
_ICEBERG_EXTENSIONS = "org.apache.iceberg.spark.extensions.IcebergSparkSessionExtensions"
_DELTA_CATALOG = "org.apache.spark.sql.delta.catalog.DeltaCatalog"
_KAFKA_SOURCE = "org.apache.spark.sql.kafka010.KafkaSourceProvider"
_OBJECTS = "org.apache.hadoop.fs.s3a.S3AFileSystem"
_OBJECT_JARS = ("s3", "objects")
_DELTA_EXTENSIONS = "io.delta.sql.DeltaSparkSessionExtension"


@dataclass(frozen=True, slots=True)
class Storage:
    """Where the tables of a project are.

    Attributes:
        backend: what holds the catalog.
        warehouse: where the files of the tables are.
        delta: whether Delta tables are written; otherwise Spark starts without Delta.
        kafka: whether a table is read from Kafka.
        objects: whether a table is read from files in an object store.
        further: configurations of ``headwater/jars/ivy.xml`` to load beside those.
    """

    backend: CatalogBackend
    warehouse: Warehouse
    delta: bool = False
    kafka: bool = False
    objects: bool = False
    further: tuple[str, ...] = ()

    @property
    def jars(self) -> tuple[str, ...]:
        """Configurations of ``headwater/jars/ivy.xml`` to load."""
        asked = {"delta": self.delta, "kafka": self.kafka}
        more = [name for name, needed in asked.items() if needed]
        more += [*(_OBJECT_JARS if self.objects else ()), *self.further]
        return tuple(dict.fromkeys((*self.backend.jars, *self.warehouse.jars, *more)))

    @property
    def classes(self) -> tuple[str, ...]:
        """Classes that must be there once the jars are loaded."""
        asked = {
            _DELTA_CATALOG: self.delta,
            _KAFKA_SOURCE: self.kafka,
            _OBJECTS: self.objects,
        }
        more = (name for name, needed in asked.items() if needed)
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
        name = f"spark.sql.catalog.{CATALOG}"
        own = (_ICEBERG_EXTENSIONS, _DELTA_EXTENSIONS if self.delta else None)
        return {
            name: _ICEBERG_CATALOG,
            **_prefixed(self.backend.spark_settings(self.warehouse.uri)),
            **_prefixed(self.warehouse.spark_settings()),
            WAREHOUSE: self.warehouse.uri,
            # a cached table stays stale after a commit from another session, even for ever
            f"{name}.cache-enabled": "false",
            "spark.sql.defaultCatalog": CATALOG,
            EXTENSIONS: ",".join(filter(None, (*own, extensions))),
            **(_DELTA if self.delta else {}),
        }


_DELTA = {
    "spark.sql.catalog.spark_catalog": _DELTA_CATALOG,
    # a transaction begins by reading the log: 50 tasks by default, seconds on a few cores
    "spark.databricks.delta.snapshotPartitions": "1",
    # INT96, the default, has nanoseconds and so no year after 2262 in most readers
    "spark.sql.parquet.outputTimestampType": "TIMESTAMP_MICROS",
    # a view's rows are where its table is; nothing is written that was not asked for
    "spark.databricks.delta.autoCompact.enabled": "false",
}


def _prefixed(settings: Mapping[str, str]) -> dict[str, str]:
    """Return settings of the catalog under their full names in Spark.

    Args:
        settings: settings below the name of the catalog.
    """
    return {f"spark.sql.catalog.{CATALOG}.{key}": value for key, value in settings.items()}
