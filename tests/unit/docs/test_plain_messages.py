"""What other libraries say reaches users without names of Python and Java."""

from __future__ import annotations

import re
from collections.abc import Callable

import pytest

from headwater.cli.main import main
from headwater.engine.streaming.failures import _first_line
from headwater.errors import HeadwaterError
from headwater.errors.catalogue import explanations
from headwater.errors.plain import plain, plain_text
from headwater.lake.failures import bad_row, explain_failure
from headwater.runtime.backoff import as_headwater_error
from headwater.serve.delta import _unreadable as delta_unreadable
from headwater.serve.embedded import translated_errors
from headwater.serve.lake_reader import _of_table, _unreadable
from headwater.serve.stored_table import reading, unreadable
from headwater.serve.verify import as_failure
from tests.unit.docs.raised import raised
from tests.unit.docs.test_conditions import PACKAGE

FOREIGN = re.compile(
    r"(?<![\"'`])\b[A-Z]\w*(?:Error|Exception)\b|Traceback|<class|NoneType|\bNone\b"
    r"|\b(?:java|javax|scala|py4j|pyspark|pyiceberg|pyarrow|sqlglot|duckdb|org|io|com)\.\w+\.\w"
    r"|An error occurred while calling|\bat [\w.$]+\(|SQLSTATE|`?try_\w+|spark\.sql\."
)
JAVA = [
    "An error occurred while calling o57.load.\n: org.apache.spark.SparkException:"
    " [TABLE_NOT_FOUND]"
    " The table `a`.`b` cannot be found. SQLSTATE: 42P01\n\tat org.apache.spark.sql.X.f(X.scala:3)",
    "Job aborted due to stage failure: Task 0 in stage 3.0 failed 1 times, most recent failure:"
    " Lost task 0.0 in stage 3.0 (TID 5) (host executor driver):"
    " org.apache.spark.SparkArithmeticException: [DIVIDE_BY_ZERO] Division by zero."
    " Use `try_divide` to tolerate divisor being 0 and return NULL"
    ' instead. If necessary set "spark.sql.ansi.enabled" to "false" to bypass this error. SQLSTATE:'
    " 22012",
    "java.lang.NullPointerException",
    "java.lang.ClassCastException: class java.lang.Long cannot be cast to class java.lang.String",
    "[STREAM_FAILED] Query [id = a, runId = b] terminated with exception: Job aborted SQLSTATE:"
    " XXKST\nCaused by: org.apache.iceberg.exceptions.NotFoundException:"
    " Failed to open input stream for"
    " file: /x/y.parquet\n\tat org.apache.iceberg.Files.f(Files.java:7)",
    "org.apache.kafka.common.errors.TimeoutException: Timed out waiting for a node assignment.",
]
ENGINES = [
    'Binder Error: Referenced column "x" not found in FROM clause!',
    "(sqlite3.OperationalError) no such table: iceberg_tables\n[SQL: SELECT 1]",
    "pyarrow.lib.ArrowInvalid: Could not open Parquet input source",
    "<class 'KeyError'>",
    "",
]
PYTHON: list[Exception] = [
    KeyError("orders"), StopIteration(), AttributeError("'NoneType' object has no attribute 'x'"),
    TypeError("'NoneType' object is not iterable"), IndexError("list index out of range"),
    ValueError("bad manifest"), RuntimeError(), FileNotFoundError(2, "No such file", "/a/b"),
    NotImplementedError(), AssertionError(), ZeroDivisionError("division by zero"),
    UnicodeDecodeError("utf-8", b"\xff", 0, 1, "invalid start byte"),
]  # fmt: skip
SAID = [*map(RuntimeError, [*JAVA, *ENGINES]), *PYTHON]


def by_reading(error: Exception) -> HeadwaterError:
    with pytest.raises(HeadwaterError) as caught, reading("orders"):
        raise error
    return caught.value


def by_duckdb(error: Exception) -> HeadwaterError | None:
    import duckdb

    with pytest.raises(HeadwaterError) as caught, translated_errors():
        raise duckdb.Error(str(error) or "Binder Error: x")
    return caught.value


WRAPPED: dict[str, Callable[[Exception], object]] = {
    "runtime": lambda error: as_headwater_error("orders", error),
    "failures": explain_failure,
    "a bad row": lambda error: bad_row("orders", error),
    "streaming": _first_line,
    "reading": by_reading,
    "DuckDB": by_duckdb,
    "Delta": lambda error: delta_unreadable("orders", error),
    "table": lambda error: unreadable("orders", error),
    "catalog": _unreadable,
    "table of the catalog": lambda error: _of_table("orders", error),
    "verify": as_failure,
    "plain": plain,
    "text": lambda error: plain_text(str(error)),
}


@pytest.mark.parametrize("wrapped", WRAPPED)
def test_what_a_library_says_is_plain(wrapped: str) -> None:
    for error in SAID:
        found = WRAPPED[wrapped](error)
        said = found.render() if isinstance(found, HeadwaterError) else str(found or "")
        if found is not None:
            assert not FOREIGN.search(said), (error, said)
            assert said.strip(), error


def test_an_unforeseen_error_of_a_command_is_plain(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    for error in SAID:

        def fail(*_: object, error: Exception = error, **__: object) -> None:
            raise error

        monkeypatch.setattr("headwater.cli.context.Context.root", fail)
        assert main(["check"]) in (2, 3)
        said = capsys.readouterr().err
        assert not FOREIGN.search(said), (error, said)


def test_the_catalogue_is_plain() -> None:
    for entry in explanations().values():
        for text in (entry.cause, entry.remedy):
            assert not re.search(r"\b(?:java|org|py4j|pyspark|pyiceberg)\.\w+|python -m", text), (
                entry
            )


def test_what_says_most_survives() -> None:
    assert [plain_text(text) for text in JAVA] == [
        "[TABLE_NOT_FOUND] The table `a`.`b` cannot be found",
        "[DIVIDE_BY_ZERO] Division by zero",
        "no reason is known",
        "class Long cannot be cast to class String",
        "Failed to open input stream for file: /x/y.parquet",
        "Timed out waiting for a node assignment",
    ]
    assert (
        plain_text('topic "PaymentError" does not exist') == 'topic "PaymentError" does not exist'
    )


def test_no_message_names_a_class() -> None:
    assert raised(PACKAGE)  # every condition was read, so every message could be
    pattern = re.compile(r"type\((?:error|e|exc)\)\.__name__|python -m headwater")
    named = [
        f"{path.relative_to(PACKAGE)}"
        for path in sorted(PACKAGE.rglob("*.py"))
        for line in path.read_text(encoding="utf-8").splitlines()
        if pattern.search(line) and "prog=" not in line
    ]
    # their docstrings say how they are started where nothing is installed yet
    assert set(named) <= {
        "__main__.py", "jars/fetch.py", "machine/pip_install.py", "machine/preflight.py",
    }  # fmt: skip
