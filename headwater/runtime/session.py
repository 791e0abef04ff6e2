"""The Spark session of a project, and sessions for the threads that run its views.

In: the project's configuration. Out: a session with the catalog ``lake`` (Iceberg on SQLite or
PostgreSQL), UTC, ANSI SQL, and settings that make small batches fast. Works as a plain process
and under ``spark-submit``, whose master and settings are kept. Otherwise nothing of Spark reaches
the console: its log and the JVM's own words go to ``_logs`` in the state folder.
"""

from __future__ import annotations

import logging
import os
import shlex
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from importlib import resources
from pathlib import Path
from typing import TYPE_CHECKING

from py4j.java_gateway import JavaGateway
from py4j.protocol import INPUT_CONVERTER, Py4JError
from pyspark import SparkConf, SparkContext
from pyspark.errors import PySparkException
from pyspark.java_gateway import launch_gateway
from pyspark.sql import SparkSession

from headwater.errors import ServiceError
from headwater.errors.steps import step
from headwater.jars.fetch import fetch, progress_line
from headwater.lake.catalogs.opening import catalog_backend
from headwater.lake.delta.table import APP_ID, APP_VERSION, USER_METADATA
from headwater.lake.failures import explain_failure
from headwater.lake.iceberg import files
from headwater.lake.iceberg.staging import SNAPSHOT_PROPERTY
from headwater.lake.java import java_class, java_session
from headwater.lake.storage.warehouse import check_folder, folder_uri, warehouse_for
from headwater.machine.class_archive import archive_options
from headwater.machine.java import find_java
from headwater.redact import holds_secret, java_pattern
from headwater.runtime.spark_requirements import EXTENSIONS, Storage

if TYPE_CHECKING:
    from headwater.config.settings import Config

__all__ = ["explain_failure", "open_session", "session_for_thread"]

LOG_FOLDER = "_logs"
_JAVA_OPTIONS = "spark.driver.extraJavaOptions"
_CLASS_PATH = "spark.driver.extraClassPath"
_EXECUTOR_OPTIONS = "spark.executor.extraJavaOptions"
_OF_A_COMMIT = (SNAPSHOT_PROPERTY, USER_METADATA, APP_ID, APP_VERSION)
_GATEWAY_PORT = "PYSPARK_GATEWAY_PORT"  # set by spark-submit for the Python it starts
_REDACTION = "HEADWATER_REDACTION"
# the JVM needs them to start; a project cannot put a secret there, but a path may look like one
_FOR_LAUNCH = (_JAVA_OPTIONS, _CLASS_PATH, "spark.driver.memory", "spark.jars", "spark.master")
# lower('I') is 'ı' in Turkish
_PLACE = ("-Duser.timezone=UTC", "-Duser.language=en", "-Duser.country=US")
# a damaged record of Avro may claim any length; memory is taken for it before anything is read, and
# Spark ends when there is none (limits of Avro itself: apache/avro#2432)
_AVRO_LIMITS = {
    f"org.apache.avro.limits.{what}.maxLength": str(most)
    for what, most in (("string", 2**26), ("bytes", 2**26), ("collectionItems", 2**24))
}
# Less memory and less CPU than G1 where there are no cores to collect beside the work. Batches of
# columns live as long as a task: a heap that grows late is full of them, and is collected whole
# every few seconds.
_SERIAL = ("-XX:+UseSerialGC", "-XX:MinHeapFreeRatio=60")
_FOR_EVERY_JVM = (*_PLACE, *(f"-D{name}={value}" for name, value in _AVRO_LIMITS.items()))
_SECRET_NAMES = (
    "secret|pass(word|wd|phrase)|pwd|token|access[._-]?key|account[._-]?key|api[._-]?key"
    "|credential|jaas|sasl|keystore|truststore"
)


def open_session(
    config: Config,
    *,
    app_name: str = "",
    jars: Sequence[Path] = (),
    further: Sequence[str] = (),
) -> SparkSession:
    """Start Spark, or join the one of spark-submit, with the catalog of a project.

    Args:
        app_name: name of the Spark application; by default after the project.
        jars: jars to load; by default those of ``headwater.jars``, fetched if need be.
        further: what of ``headwater/jars/ivy.xml`` is needed beside catalog and warehouse
            (``headwater.runtime.spark_requirements``).

    Raises:
        ServiceError: ``WAREHOUSE_NOT_WRITABLE``, ``DISK_FULL``, ``JAR_MISSING``, ``JAVA_MISSING``,
            ``SPARK_GONE``, … with what to do.
    """
    logs = config.state.absolute() / LOG_FOLDER
    app_name = app_name or f"headwater {config.name}"
    step("starting Spark")
    try:
        warehouse = warehouse_for(config)
        warehouse.check_writable()
        check_folder(logs)
        backend = catalog_backend(config)
        storage = Storage(backend, warehouse, tuple(further))
        found = tuple(jars) or _fetched(storage)
        if _GATEWAY_PORT in os.environ:
            context = _join_submitted(config, app_name, found, storage)
        else:
            context = _start(config, app_name, found, logs, storage)
        spark = SparkSession(context)
        _silence()
        _check_jars(spark, storage)
        _spare_checksum_files(spark)
    except (OSError, PySparkException) as error:
        raise explain_failure(error) or error from error
    return spark


@contextmanager
def project_session(
    config: Config,
    given: SparkSession | None = None,
    *,
    further: Sequence[str] = (),
) -> Iterator[SparkSession]:
    """Lend a running session, or open one for the block and stop it afterwards.

    Args:
        given: a running session to use.
        further: as :func:`open_session` takes it.

    Raises:
        ServiceError: what :func:`open_session` raises.
    """
    session = given or open_session(config, further=further)
    try:
        yield session
    finally:
        if given is None:
            session.stop()


def session_for_thread(spark: SparkSession) -> SparkSession:
    """Return a session of the calling thread's own and make it active there.

    It shares the Spark context with the given one, and has its own settings and temporary views, so
    that markers and views of concurrent threads do not mix. Call it in the thread that uses it.
    """
    own = SparkSession(spark.sparkContext, java_session(spark).cloneSession())
    sessions = java_class(spark, "org.apache.spark.sql.classic.SparkSession")
    sessions.setActiveSession(java_session(own))
    for key in str(java_session(own).conf().getAll().keys().mkString("\n")).splitlines():
        if key.startswith(_OF_A_COMMIT):  # one is going on in the session that was cloned
            own.conf.unset(key)
    return own


def spark_is_gone() -> bool:
    """Return whether the Spark of this process has ended, or its JVM was killed."""
    context = SparkContext._active_spark_context  # noqa: SLF001
    if context is None:
        return False  # it was never there, or was stopped by us
    try:
        return bool(context._jsc.sc().isStopped())  # noqa: SLF001
    except (Py4JError, OSError):
        return True


def _silence() -> None:
    """Errors reach the user once, as ours: PySpark and Py4J would also print each themselves."""
    for name in ("SQLQueryContextLogger", "DataFrameQueryContextLogger", "py4j"):
        logging.getLogger(name).setLevel(logging.CRITICAL)


def _fetched(storage: Storage) -> tuple[Path, ...]:
    with progress_line() as progress:
        return tuple(fetch(storage.jars, progress=progress))


def _start(
    config: Config, app_name: str, jars: Sequence[Path], logs: Path, storage: Storage
) -> SparkContext:
    java = find_java()
    os.environ["JAVA_HOME"] = str(java.home)
    if config.master.startswith("local"):  # workers elsewhere have a Python of their own
        os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    given = config.spark.get(_JAVA_OPTIONS, "")
    options = _java_options(logs, _cores(config.master))
    if "Archive" not in given:  # a project may have an archive of its own, and Java takes one
        options += archive_options(java, jars)
    options = [*map(shlex.quote, options), given]
    settings = _settings(config, app_name, jars, {}, storage)
    settings[_JAVA_OPTIONS] = " ".join(options).strip()
    gateway = _launch(settings, logs)
    conf = SparkConf(loadDefaults=False).setAll(list(settings.items()))
    conf.setAll(list(storage.secrets.items()))
    _expect_no_numpy()
    return SparkContext(conf=conf, gateway=gateway)


def _expect_no_numpy() -> None:
    """Take PySpark's converters of NumPy's values out: they are asked about all that we pass.

    The first question alone loads its helpers for tests, and Pandas with them: half a second.
    """
    INPUT_CONVERTER[:] = [
        each for each in INPUT_CONVERTER if not type(each).__name__.startswith("Numpy")
    ]


def _launch(settings: Mapping[str, str], logs: Path) -> JavaGateway:
    """Start the JVM. Settings become arguments that every user of the machine sees: not secrets."""
    seen = [
        (name, value)
        for name, value in settings.items()
        if name in _FOR_LAUNCH or not holds_secret(value)
    ]
    os.environ[_REDACTION] = java_pattern()  # log4j2.properties reads it; only we see it
    try:
        # PySpark would let the JVM write to our console; started here, its words go to a file
        with (logs / "jvm.log").open("ab") as words:
            return launch_gateway(  # type: ignore[no-untyped-call]
                SparkConf(loadDefaults=False).setAll(seen), {"stdout": words, "stderr": words}
            )
    finally:
        del os.environ[_REDACTION]


def _join_submitted(
    config: Config, app_name: str, jars: Sequence[Path], storage: Storage
) -> SparkContext:
    gateway: JavaGateway = launch_gateway()  # type: ignore[no-untyped-call]
    SparkContext._ensure_initialized(gateway=gateway)  # noqa: SLF001
    conf = SparkConf()  # now with everything that spark-submit was given
    settings = _settings(config, app_name, jars, dict(conf.getAll()), storage)
    settings |= storage.secrets
    _add_to_driver(gateway, jars)
    for name, value in _AVRO_LIMITS.items():
        gateway.jvm.java.lang.System.setProperty(name, value)
    context = SparkContext(conf=conf.setAll(list(settings.items())), gateway=gateway)
    context.setLogLevel("ERROR")
    return context


def _add_to_driver(gateway: JavaGateway, jars: Sequence[Path]) -> None:
    # spark.jars reaches the executors; the driver's class loader was made before we could say so
    jvm = gateway.jvm
    loader = jvm.java.lang.Thread.currentThread().getContextClassLoader()
    for jar in jars:
        loader.addURL(jvm.java.io.File(str(jar)).toURI().toURL())


def _settings(
    config: Config,
    app_name: str,
    jars: Sequence[Path],
    submitted: Mapping[str, str],
    storage: Storage,
) -> dict[str, str]:
    given = {"spark.app.name": app_name, **config.spark, **submitted}
    master = given.setdefault("spark.master", config.master)
    return {
        **_tuning(master, config.run.shuffle_partitions),
        # Spark's own tables: none, but it makes the folder
        "spark.sql.warehouse.dir": folder_uri(config.state.absolute() / "_spark"),
        **given,
        **_where_jars_are(jars, given, joined=bool(submitted)),
        _EXECUTOR_OPTIONS: " ".join([*_FOR_EVERY_JVM, given.get(_EXECUTOR_OPTIONS, "")]).strip(),
        **storage.settings(given.get(EXTENSIONS)),
        **files.SETTINGS,
        **_REQUIRED,
    }


def _where_jars_are(
    jars: Sequence[Path], given: Mapping[str, str], *, joined: bool
) -> dict[str, str]:
    master = given["spark.master"]
    if not joined and (master == "local" or master.startswith("local[")):
        # one JVM, started by us, reads them where they are; of spark.jars it makes copies at each
        # start (100 MB), which a SIGKILL leaves behind
        return {_CLASS_PATH: os.pathsep.join([*map(str, jars), *_listed(given, _CLASS_PATH)])}
    return {"spark.jars": ",".join([*map(str, jars), *_listed(given, "spark.jars")])}


def _listed(given: Mapping[str, str], name: str) -> list[str]:
    return [given[name]] if given.get(name) else []


_REQUIRED = {
    "spark.sql.session.timeZone": "UTC",
    "spark.sql.ansi.enabled": "true",
    # or what stands behind AND is computed first where it occurs twice
    "spark.sql.subexpressionElimination.skipForShortcutExpr": "true",
    # text.`/etc/passwd` is not a table
    "spark.sql.runSQLOnFiles": "false",
    # '${env:HOME}' in a query is text, not the variable
    "spark.sql.variable.substitute": "false",
    "spark.sql.scripting.enabled": "false",
    # a day before 1582 is written as it is, as everywhere else
    "spark.sql.avro.datetimeRebaseModeInWrite": "CORRECTED",
    "spark.redaction.regex": f"(?i){_SECRET_NAMES}",
    "spark.sql.redaction.options.regex": f"(?i)url|key|{_SECRET_NAMES}",
}
"""Settings that results or safety depend on: nobody overrides them."""


_POOLS = ("broadcastExchange", "shuffleExchange", "resultQueryStage")
"""Thread pools of Spark that may have hundreds of threads, more than any views at a time need."""


def _tuning(master: str, shuffle_partitions: int | None) -> dict[str, str]:
    """Settings that a project or spark-submit may override."""
    streaming, execution = "spark.sql.streaming", "org.apache.spark.sql.execution.streaming"
    settings = {
        "spark.driver.memory": "1g",
        "spark.ui.enabled": "false",
        "spark.scheduler.mode": "FAIR",  # between pools: each view has its own
        "spark.ui.showConsoleProgress": "false",
        "spark.sql.shuffle.partitions": str(shuffle_partitions or _cores(master)),
        # many views with a few generated classes each; the default holds 100
        "spark.sql.codegen.cache.maxEntries": "1000",
        # rows are kept for one tick and read once or twice: looking how to compress them costs more
        "spark.sql.inMemoryColumnarStorage.compressed": "false",
        # their threads keep the sessions in which they began: those of views opened again and again
        **{f"spark.sql.{pool}.maxThreadThreshold": "16" for pool in _POOLS},
        # a long run must not fill the heap with its own history
        "spark.sql.ui.retainedExecutions": "10",
        "spark.ui.retainedJobs": "10",
        "spark.ui.retainedStages": "10",
        "spark.ui.retainedTasks": "1000",
        f"{streaming}.numRecentProgressUpdates": "20",
        f"{streaming}.stateStore.providerClass": f"{execution}.state.RocksDBStateStoreProvider",
        f"{streaming}.stateStore.rocksdb.changelogCheckpointing.enabled": "true",
    }
    if master.startswith("local"):
        # what a task sorts or groups by takes a page of up to 64 MB, and each stage a block of
        # 4 MB for its code: zeroed, and soon collected. A task can have 8,192 pages, so 16 GB.
        settings |= {"spark.buffer.pageSize": "2m", "spark.broadcast.blockSize": "256k"}
        settings["spark.driver.host"] = settings["spark.driver.bindAddress"] = "127.0.0.1"
        # the default asks `readlink` about each local file, one process a time; rename is atomic
        manager = "checkpointing.FileSystemBasedCheckpointFileManager"
        settings[f"{streaming}.checkpointFileManagerClass"] = f"{execution}.{manager}"
    return settings


def _cores(master: str) -> int:
    count = master.removeprefix("local[").split(",")[0].rstrip("]")
    return int(count) if count.isdigit() else os.cpu_count() or 2


def _java_options(logs: Path, cores: int) -> list[str]:
    template = resources.files("headwater.runtime").joinpath("log4j2.properties")
    settings = logs / "log4j2.properties"
    settings.write_text(template.read_text(encoding="utf-8"), encoding="utf-8")
    return [
        f"-Dlog4j2.configurationFile={settings.as_uri()}",
        f"-Dheadwater.logs={logs}",
        *_FOR_EVERY_JVM,
        # Hadoop starts `chmod` for each local file: without the helper process in between
        "-Djdk.lang.Process.launchMechanism=VFORK",
        *(_SERIAL if cores <= 2 else []),
    ]


def _spare_checksum_files(spark: SparkSession) -> None:
    # Hadoop writes a .crc beside each local file and starts `chmod` for both: two processes a file
    files = java_class(spark, "org.apache.hadoop.fs.FileSystem")
    local = java_class(spark, "java.net.URI")("file:///")
    hadoop = spark.sparkContext._jsc.hadoopConfiguration()  # noqa: SLF001
    files.get(local, hadoop).setWriteChecksum(False)


def _check_jars(spark: SparkSession, storage: Storage) -> None:
    threads = java_class(spark, "java.lang.Thread")
    loader = threads.currentThread().getContextClassLoader()
    for name in storage.classes:
        if loader.getResource(f"{name.replace('.', '/')}.class") is None:
            raise ServiceError(
                "JAR_MISSING",
                f"Spark runs without {name}",
                hint="run `headwater jars`, or: spark-submit --jars $(headwater jars)",
            )
