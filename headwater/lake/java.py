"""The way into the JVM that PySpark keeps private: its session object and Java classes by name.

In: a Spark session. Out: py4j objects. The only place in this layer that touches PySpark's
internals.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from typing import Any

from py4j.java_gateway import JavaClass, JavaMember, JavaObject
from py4j.protocol import STATIC_PREFIX
from pyspark import StorageLevel
from pyspark.sql import DataFrame, SparkSession

_classes: dict[tuple[int, str], JavaClass] = {}


class _StaticMethods(JavaClass):  # type: ignore[misc]
    """A class whose static methods are called without a question.

    Py4J asks for each call whether the class has it, and takes the first method of that name for
    the answer. Where objects have one, too, it depends on the JVM which is the first.
    """

    def __getattr__(self, name: str) -> Any:  # noqa: ANN401 - whatever Java has
        if not name[0].islower():
            return super().__getattr__(name)
        return JavaMember(name, None, STATIC_PREFIX + self._fqn, self._gateway_client)


def java_session(spark: SparkSession) -> JavaObject:
    """Return the JVM's object of a session."""
    return spark._jsparkSession  # noqa: SLF001


def java_class(spark: SparkSession, name: str) -> JavaClass:
    """Return a Java class, looked up once: py4j resolves a dotted name package by package.

    Args:
        name: full name of the class.
    """
    jvm = spark._jvm  # noqa: SLF001
    key = (id(jvm), name)
    if key not in _classes:
        found: Any = jvm
        for part in name.split("."):
            found = getattr(found, part)
        if type(found) is JavaClass:
            found = _StaticMethods(found._fqn, found._gateway_client)  # noqa: SLF001
        _classes[key] = found
    return _classes[key]


def new_array(spark: SparkSession, name: str) -> JavaObject:
    """Return an empty Java array.

    Args:
        name: full name of the class of its elements.
    """
    gateway = spark.sparkContext._gateway  # noqa: SLF001
    assert gateway is not None
    return gateway.new_array(java_class(spark, name), 0)


def elements(collection: JavaObject) -> Iterator[Any]:
    """Yield what a Java collection holds.

    Python's own ``for`` ends with a Java exception, whose class PySpark then asks for 13 times.

    Args:
        collection: anything with ``iterator()``, Java's or Scala's.
    """
    iterator = collection.iterator()
    while iterator.hasNext():
        yield iterator.next()


def cached(rows: DataFrame, opened: ExitStack) -> DataFrame:
    """Return rows that are computed once, when first read, whoever reads them.

    What reads them is planned without what they are made of. ``persist()`` would make a cached
    query of the application, and each write to a table plans those again that read it, in the
    thread that writes. One of which another thread lets go at that moment stays for ever, and every
    later write fails once the files or the snapshot that it reads are gone.

    Args:
        rows: any query; nothing runs yet.
        opened: forgets the rows when it ends.
    """
    spark = rows.sparkSession
    level = spark.sparkContext._getJavaStorageLevel(StorageLevel.MEMORY_AND_DISK_DESER)  # noqa: SLF001
    relations = java_class(spark, "org.apache.spark.sql.execution.columnar.InMemoryRelation$")
    nameless = java_class(spark, "scala.Option").empty()
    query = rows._jdf.queryExecution()  # noqa: SLF001
    relation = getattr(relations, "MODULE$").apply(level, query, nameless)
    opened.callback(relation.cacheBuilder().clearCache, False)  # noqa: FBT003
    datasets = java_class(spark, "org.apache.spark.sql.classic.Dataset")
    return DataFrame(datasets.ofRows(java_session(spark), relation), spark)


def computed(rows: DataFrame, opened: ExitStack) -> tuple[DataFrame, int]:
    """Compute rows, and return them without what they are made of, and their number.

    Neither plans nor tasks grow if each round of a loop reads the round before. The query of a
    checkpoint alone keeps constraints on columns that it does not have, at which Spark fails.

    Args:
        rows: any query.
        opened: forgets the rows when it ends.
    """
    kept = rows.localCheckpoint()
    opened.callback(kept._jdf.queryExecution().logical().rdd().unpersist, False)  # noqa: FBT003, SLF001
    return in_session(kept, kept.sparkSession), kept.count()


def in_session(rows: DataFrame, spark: SparkSession) -> DataFrame:
    """Return the same rows, planned already, as a query of another session of the application.

    Args:
        rows: any query; nothing runs yet.
    """
    plan = rows._jdf.queryExecution()  # noqa: SLF001
    again = java_session(spark).internalCreateDataFrame(plan.toRdd(), rows._jdf.schema(), False)  # noqa: SLF001, FBT003
    return DataFrame(again, spark)


def session_with(spark: SparkSession, settings: Mapping[str, str], without: str) -> SparkSession:
    """Return a clone of a session with settings of its own, and catalogs that nobody has used yet.

    Args:
        spark: the session to clone.
        without: settings whose names begin so are left out of the clone.
    """
    clone = java_session(spark).cloneSession()
    conf = clone.conf()
    for key in str(conf.getAll().keys().mkString("\n")).splitlines():
        if key.startswith(without):
            conf.unset(key)
    for key, value in settings.items():
        conf.set(key, value)
    return SparkSession(spark.sparkContext, clone)


@contextmanager
def active(spark: SparkSession) -> Iterator[None]:
    """Make a session the active one of the calling thread, as Iceberg's actions need."""
    sessions = java_class(spark, "org.apache.spark.sql.classic.SparkSession")
    before = sessions.getActiveSession()
    sessions.setActiveSession(java_session(spark))
    try:
        yield
    finally:
        if before.isDefined():
            sessions.setActiveSession(before.get())
        else:
            sessions.clearActiveSession()
