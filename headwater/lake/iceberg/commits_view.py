"""The relation ``commits`` as a view in the catalog, for Trino (Iceberg's view specification).

In: a session with the catalog, a namespace. Out: a view that says what
:func:`headwater.lake.protocol.commits.commits_sql` does.
"""

from __future__ import annotations

import json
import logging
import threading
from typing import TYPE_CHECKING

from headwater.errors.plain import plain_text
from headwater.lake.catalogs.backend import CATALOG
from headwater.lake.failures import text_of
from headwater.lake.java import elements, java_class, java_session
from headwater.lake.protocol.commits import COLUMNS, COMMITS, DIALECT, commits_sql

if TYPE_CHECKING:
    from py4j.java_gateway import JavaObject
    from pyspark.sql import SparkSession

log = logging.getLogger(__name__)

ATTEMPTS = 3
"""How often the view is written if somebody else writes it at the same time."""
_ONE_CREATOR = threading.Lock()
"""Each landing that begins a quarantine defines the view, in a thread of its own."""


def define_commits(spark: SparkSession, namespace: str, known_as: str | None = None) -> None:
    """Make the view anew if the namespace has other tables than it says; a failure is logged only.

    Args:
        known_as: the catalog's name in Trino; by default what the view says that there is.
    """
    said: Exception | None = None
    with _ONE_CREATOR:
        for _ in range(ATTEMPTS):
            try:
                _define(spark, namespace, known_as)
            except Exception as error:  # noqa: BLE001 - no table depends on it
                said = error  # another process was first: the next look finds its view
            else:
                return
    log.info("%s.%s", namespace, COMMITS, exc_info=said)
    reason = plain_text(text_of(said)) if said else ""
    log.warning("cannot create the relation %s.%s: %s", namespace, COMMITS, reason)


def _define(spark: SparkSession, namespace: str, known_as: str | None) -> None:
    spark3 = java_class(spark, "org.apache.iceberg.spark.Spark3Util")
    views = spark3.loadIcebergCatalog(java_session(spark), CATALOG)
    identifiers = java_class(spark, "org.apache.iceberg.catalog.TableIdentifier")
    identifier = identifiers.parse(f"{namespace}.{COMMITS}")
    place = identifier.namespace()
    tables = {each.name() for each in elements(views.listTables(place))}
    existing = views.loadView(identifier) if views.viewExists(identifier) else None
    if COMMITS in tables or (existing is None and known_as is None):
        return
    query = commits_sql(tables)
    if existing is not None:
        known_as = known_as or existing.currentVersion().defaultCatalog()
        said = existing.sqlFor(DIALECT).sql(), existing.currentVersion().defaultCatalog()
        if said == (query, known_as):
            return
    view = views.buildView(identifier).withSchema(_schema(spark)).withQuery(DIALECT, query)
    view = view.withDefaultCatalog(known_as).withDefaultNamespace(place)
    view.withProperty("comment", "the commits of all views and landed tables").createOrReplace()


def _schema(spark: SparkSession) -> JavaObject:
    fields = [
        {"id": number, "name": name, "required": False, "type": kind, "doc": doc}
        for number, (name, kind, doc) in enumerate(COLUMNS, start=1)
    ]
    schema = json.dumps({"type": "struct", "schema-id": 0, "fields": fields})
    return java_class(spark, "org.apache.iceberg.SchemaParser").fromJson(schema)
