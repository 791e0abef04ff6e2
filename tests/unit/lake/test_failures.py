"""What known failures of Spark, Iceberg, SQLite and the system are called."""

from __future__ import annotations

import errno
import os
import sqlite3
from functools import partial

import pytest
from pyspark.errors import AnalysisException

from headwater.engine.streaming.failures import failed
from headwater.errors import EXIT_SERVICE, ServiceError, SqlError
from headwater.lake.failures import explain_failure
from headwater.runtime.backoff import BackOff, as_headwater_error, classify_failure

TEXTS = {
    "DISK_FULL": [
        "An error occurred while calling o1.commit.\n"
        ": java.io.IOException: No space left on device\n"
        "\tat java.base/java.io.FileOutputStream.writeBytes(Native Method)",
        "org.sqlite.SQLiteException: [SQLITE_FULL] Insertion failed because database is full"
        " (database or disk is full)",
    ],
    "CATALOG_LOCKED": [
        "org.apache.iceberg.jdbc.UncheckedSQLException: Unknown failure\n"
        "Caused by: org.sqlite.SQLiteException: [SQLITE_BUSY] The database file is locked"
        " (database is locked)",
        "ERROR: canceling statement due to lock timeout",
    ],
    "CATALOG_REFUSED": [
        'org.postgresql.util.PSQLException: FATAL: password authentication failed for user "me"',
        'connection to server at "db" (10.0.0.1), port 5432 failed: FATAL:  no pg_hba.conf entry',
        "org.postgresql.util.PSQLException: ERROR: permission denied for schema public",
        "PSQLException: ERROR: cannot execute UPDATE in a read-only transaction",
    ],
    "CATALOG_DOWN": [
        'connection to server at "127.0.0.1", port 5432 failed: Connection refused',
        "org.postgresql.util.PSQLException: Connection to db:5432 refused. Check that …",
        "org.apache.iceberg.jdbc.UncheckedSQLException: Unknown failure\n"
        "Caused by: org.postgresql.util.PSQLException: An I/O error occurred while sending to the"
        " backend.",
        "FATAL: terminating connection due to administrator command",
        "consuming input failed: server closed the connection unexpectedly",
    ],
    "WRITE_CONFLICT": [
        "org.apache.iceberg.exceptions.ValidationException: Found conflicting files that can"
        " contain records matching true: [file:/w/t/data/x.parquet]",
    ],
    "WAREHOUSE_NOT_WRITABLE": [
        "java.io.IOException: Mkdirs failed to create file:/w/t/metadata (exists=false)",
        "java.io.FileNotFoundException: /w/t/data/x.parquet (Permission denied)",
        "org.sqlite.SQLiteException: [SQLITE_READONLY] Attempt to write a readonly database",
        "java.nio.file.AccessDeniedException: /w/t",
    ],
    "JAR_MISSING": [
        "java.lang.ClassNotFoundException: org.apache.iceberg.spark.SparkCatalog",
        "[CATALOG_NOT_FOUND] Cannot find catalog plugin class for catalog 'lake'",
        "java.sql.SQLException: No suitable driver found for jdbc:sqlite:file:/w/catalog.db",
    ],
    "OUT_OF_MEMORY": ["java.lang.OutOfMemoryError: Java heap space"],
    "SPARK_GONE": ["Answer from Java side is empty", "[JAVA_GATEWAY_EXITED] Java gateway exited"],
}


@pytest.mark.parametrize(
    ("condition", "text"), [(name, text) for name, texts in TEXTS.items() for text in texts]
)
def test_known_failure_becomes_one_line_with_a_hint(condition, text):
    error = explain_failure(RuntimeError(text))
    assert isinstance(error, ServiceError)
    assert error.condition == condition
    assert error.exit_code == EXIT_SERVICE
    assert error.hint
    assert "\n" not in error.message


def test_failures_of_the_operating_system_are_known():
    full = OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), "/w/x")
    denied = PermissionError(errno.EACCES, os.strerror(errno.EACCES), "/w/x")
    assert explain_failure(full).condition == "DISK_FULL"
    assert explain_failure(denied).condition == "WAREHOUSE_NOT_WRITABLE"
    assert "/w/x" in explain_failure(denied).message


def test_cause_of_a_failure_is_found():
    try:
        try:
            raise sqlite3.OperationalError("database is locked")
        except sqlite3.Error as cause:
            raise RuntimeError("commit failed") from cause
    except RuntimeError as error:
        assert explain_failure(error).condition == "CATALOG_LOCKED"


def test_own_errors_are_kept_and_unknown_ones_are_left_alone():
    own = ServiceError("X", "No space left on device")
    assert explain_failure(own) is own
    assert explain_failure(SqlError("Y", "Permission denied")) is None
    assert explain_failure(ValueError("something else")) is None


@pytest.mark.parametrize("said", [partial(failed, "v"), partial(as_headwater_error, "v")])
def test_a_full_disk_is_said_of_tables_and_views(said):
    error = said(OSError(errno.ENOSPC, "No space left on device"))
    assert error.condition == "DISK_FULL"
    assert error.hint
    assert said(RuntimeError("something else\nat line 2")).message.endswith(": something else")


@pytest.mark.parametrize(
    ("condition", "stops"),
    [
        ("UNRESOLVED_COLUMN.WITH_SUGGESTION", True),
        ("DATATYPE_MISMATCH.BINARY_OP_DIFF_TYPES", True),
        ("TABLE_OR_VIEW_NOT_FOUND", False),
    ],
)
def test_a_query_that_spark_refuses_is_not_tried_again(condition, stops):
    back_off = BackOff()
    refused = AnalysisException("no", errorClass=condition, messageParameters={})
    said, pause = classify_failure("v", refused, back_off)
    assert (pause is None) == stops
    assert said.condition == ("INTERNAL_ERROR" if stops else "SERVICE_FAILED")


def test_of_a_failed_task_only_the_cause_is_told():
    text = (
        "org.apache.spark.SparkException: Job aborted due to stage failure: Task 0 in stage 11.0"
        " failed 1 times, most recent failure: Lost task 0.0 in stage 11.0 (TID 12) (host driver):"
        " org.apache.hadoop.fs.FSError: java.io.IOException: No space left on device"
    )
    error = explain_failure(RuntimeError(text))
    assert error is not None
    assert error.message == "the disk is full: No space left on device"
