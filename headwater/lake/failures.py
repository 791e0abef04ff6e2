"""What a failure of Spark, Iceberg, the catalog or the disk means to the person who runs Headwater.

In: an exception, with the text of its Java causes. Out: a one-line :class:`ServiceError` with a
condition and the next action, or None if it is none of the known conditions.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from headwater.errors import HeadwaterError, ServiceError, TerminalError
from headwater.errors.plain import UNSAID, plain_text

SPARK_GONE = "SPARK_GONE"
"""Condition of an error after which this process can do nothing more."""

OUT_OF_REACH = frozenset(
    {
        *("CATALOG_DOWN", "CATALOG_LOCKED", "CATALOG_REFUSED"),
        *("STORE_DOWN", "STORE_REFUSED", "BUCKET_MISSING"),
    }
)
"""Conditions of a server that does not answer: nothing is known of the tables, damage neither."""

_GONE = "the Spark process ended"
_GONE_HINT = "see _logs/ in the state folder for the reason, then start again"


@dataclass(frozen=True, slots=True)
class _Condition:
    condition: str
    signs: re.Pattern[str]
    message: str
    hint: str


def _condition(condition: str, signs: str, message: str, hint: str) -> _Condition:
    return _Condition(condition, re.compile(signs), message, hint)


# first match wins: a full disk also makes SQLite and Iceberg fail in other words
_CONDITIONS = (
    _condition(
        "DISK_FULL",
        r"No space left on device|SQLITE_FULL|database or disk is full|Disk quota exceeded",
        "the disk is full",
        "free space and start again: nothing that was committed is lost",
    ),
    _condition(
        "CATALOG_LOCKED",
        r"SQLITE_BUSY|SQLITE_LOCKED|database is locked|canceling statement due to lock timeout",
        "the catalog is locked by another process",
        "end the process that holds the catalog's database open, then start again",
    ),
    _condition(
        "CATALOG_REFUSED",
        r"password authentication failed|no password (?:was )?(?:supplied|provided)"
        r"|no pg_hba\.conf entry|role \".*\" does not exist|permission denied for"
        r"|FATAL: +database \".*\" does not exist|in a read-only transaction"
        # of a server with REST: Iceberg's client, then PyIceberg
        r"|NotAuthorizedException|exceptions\.ForbiddenException"
        r"|(?:Unauthorized|Forbidden|AuthorizationExpired|OAuth)Error",
        "the catalog refuses this user",
        "check user, password, database and rights: [catalog] in headwater.toml",
    ),
    _condition(
        "CATALOG_DOWN",
        # of psycopg, then of the JDBC driver, then of the server
        r"connection to server (?:at|on)|server closed the connection|could not receive data"
        r"|connection (?:failed|timeout expired|is lost)|failed to resolve host"
        r"|the connection is (?:lost|closed)|connection is bad"
        r"|Connection to \S+ refused|PSQLException: (?:An I/O error|The connection attempt failed)"
        r"|This connection has been closed|terminating connection due to"
        r"|the database system is|too many clients already|remaining connection slots"
        # of a server with REST: Iceberg's client, then PyIceberg
        r"|RESTException: Error occurred while processing|exceptions\.ServiceUnavailableException"
        r"|Max retries exceeded with url: \S*/v1/|RemoteDisconnected|ServiceUnavailableError",
        "the catalog cannot be reached",
        "start it, or correct [catalog] uri in headwater.toml: nothing that was committed is lost",
    ),
    _condition(
        "BUCKET_MISSING",
        # of Iceberg's client, then of Arrow's
        r"NoSuchBucket|NO_SUCH_BUCKET|bucket does not exist",
        "the bucket of the warehouse does not exist",
        "create it, or correct [warehouse] path in headwater.toml",
    ),
    _condition(
        "STORE_REFUSED",
        r"S3Exception: [^\n]*Status Code: 40[13]|InvalidAccessKeyId|SignatureDoesNotMatch"
        r"|AWS Error (?:ACCESS_DENIED|SIGNATURE_DOES_NOT_MATCH|INVALID_ACCESS_KEY_ID"
        r"|UNRECOGNIZED_CLIENT)|Unable to load credentials from any of the providers",
        "the object store refuses the credentials",
        "check access_key, secret_key and the rights: [warehouse] in headwater.toml, or the options"
        " of a table over files",
    ),
    _condition(
        "STORE_DOWN",
        r"AWS Error (?:NETWORK_CONNECTION|SERVICE_UNAVAILABLE|SLOW_DOWN)"
        r"|SdkClientException: Unable to execute HTTP request"
        r"|S3Exception: [^\n]*Status Code: 5\d\d",
        "the object store cannot be reached",
        "start it, or correct its endpoint, [warehouse] in headwater.toml or an option of a table"
        " over files: nothing that was committed is lost",
    ),
    _condition(
        "WRITE_CONFLICT",
        # also an own write that Iceberg repeated after a lost connection, and met itself
        r"ValidationException: Found (?:new )?conflicting (?:delete )?files",
        "the table changed while rows were written to it",
        "nothing of that write is visible; try again",
    ),
    _condition(
        "WAREHOUSE_NOT_WRITABLE",
        r"SQLITE_READONLY|SQLITE_CANTOPEN|unable to open database file|readonly database"
        r"|Permission denied|AccessDeniedException|Read-only file system|Mkdirs failed to create"
        r"|FileExistsError|NotADirectoryError|exists and is not a directory",
        "the warehouse or the state folder cannot be written",
        "check owner and permissions of both folders, or choose others in headwater.toml",
    ),
    _condition(
        "CATALOG_DAMAGED",
        r"SQLITE_CORRUPT|SQLITE_NOTADB|file is not a database|disk image is malformed",
        "the catalog's database is damaged",
        "restore it from a backup; the data files are untouched",
    ),
    _condition(
        "JAR_MISSING",
        r"ClassNotFoundException: (?:org\.apache\.iceberg|org\.sqlite|org\.postgresql|io\.delta"
        r"|org\.apache\.spark\.sql\.delta)"
        r"|Cannot find catalog plugin class|No suitable driver found for jdbc:"
        r"|'JavaPackage' object is not callable|Jar .* does not exist",
        "Spark runs without the jars of Iceberg, its catalog or Delta",
        "run: headwater jars; under spark-submit: --jars $(headwater jars)",
    ),
    _condition(
        "OUT_OF_MEMORY",
        r"java\.lang\.OutOfMemoryError",
        "Spark ran out of memory",
        'set "spark.driver.memory" higher under [spark.settings] in headwater.toml',
    ),
    _condition(
        SPARK_GONE,
        r"JAVA_GATEWAY_EXITED|Py4JNetworkError|Answer from Java side is empty"
        r"|Error while sending or receiving|Connection refused|SparkContext was shut down"
        r"|Cannot call methods on a stopped SparkContext|SparkSession.*(?:stopped|closed)",
        _GONE,
        _GONE_HINT,
    ),
)


_DATA_ERROR = re.compile(
    r"\[(?:DIVIDE_BY_ZERO|REMAINDER_BY_ZERO|CAST_INVALID_INPUT|CAST_OVERFLOW\w*|INVALID_ARRAY_INDEX\w*"
    r"|(?:BINARY_)?ARITHMETIC_OVERFLOW|NUMERIC_VALUE_OUT_OF_RANGE|DATETIME_OVERFLOW"
    r"|NUMERIC_OUT_OF_SUPPORTED_RANGE|DECIMAL_PRECISION_EXCEEDS\w*|\w*FIELD_OUT_OF_BOUNDS)[.\w]*\][^\n]*"
    r"|\[[A-Z][\w.]*\][^\n]* SQLSTATE: 22\w{3}"  # the standard's class of data exceptions
    r"|(?:Arithmetic|DateTime|PatternSyntax)Exception: [^\n]*"
)
"""What Spark says when an expression fails on a row."""


_FAULT = re.compile(r"\[INTERNAL_ERROR[^\]]*\]")
"""What Spark says when an assertion of its own does not hold."""

_OUT = "correct the input, or write TRY_CAST(x AS type), x / NULLIF(y, 0) or a wider type"


def gone() -> ServiceError:
    """Return the error that says that Spark has ended."""
    return ServiceError(SPARK_GONE, _GONE, hint=_GONE_HINT)


def explain_failure(error: BaseException) -> ServiceError | None:
    """Return what an exception of Spark, Py4J or the operating system means, if that is known.

    Args:
        error: the exception, with its causes.

    Returns:
        The same failure as one line with a condition and a hint; the exception itself if it is one
        already; None if it is unknown.
    """
    if isinstance(error, ServiceError):
        return error
    if isinstance(error, HeadwaterError):
        return None
    text = text_of(error)
    for known in _CONDITIONS:
        found = known.signs.search(text)
        if found:
            detail = _line_of(text, found.start())
            message = f"{known.message}: {detail}" if detail else known.message
            return ServiceError(known.condition, message, hint=known.hint)
    return None


def data_error(error: BaseException | None) -> str | None:
    """Return what Spark says if an exception means that an expression failed on a row, or None.

    Args:
        error: the exception, with its causes.
    """
    found = _DATA_ERROR.search(text_of(error)) if error is not None else None
    return found[0] if found else None


def is_fault_of_spark(error: BaseException | None) -> bool:
    """Return whether an exception says that Spark met a bug of its own.

    Args:
        error: the exception, with its causes.
    """
    return error is not None and bool(_FAULT.search(text_of(error)))


def fault_of_spark(view: str, part: str, error: BaseException) -> ServiceError:
    """Return the error of a view at which Spark meets a bug of its own.

    Args:
        part: the part of its SELECT, in words.
        error: the exception, with its causes.
    """
    text = text_of(error)
    found = _FAULT.search(text)
    said = plain_text(text[found.start() :] if found else text)[:200]
    return ServiceError(
        "SPARK_INTERNAL_ERROR",
        f'Spark has an internal error at {part} of view "{view}": {said}',
        hint="write that part in another way, and report the error that --debug shows",
    )


def bad_row(
    view: str, error: BaseException | None, *, may_fail: bool = False
) -> TerminalError | None:
    """Return the error of a view that cannot go on without a row, None for another failure.

    Args:
        error: the exception, with its causes.
        may_fail: whether the view is defined with ON ERROR FAIL.
    """
    said = data_error(error)
    if said is None:
        return None
    found = TerminalError(
        "BAD_ROW",
        f'an expression of view "{view}" fails on a row: {plain_text(said)[:200]}',
        hint=f"{_OUT}, or remove ON ERROR FAIL" if may_fail else _OUT,
    )
    found.__cause__ = error
    return found


def text_of(error: BaseException) -> str:
    """Return all that an exception says, with its causes and the stacks of Java.

    Args:
        error: the exception.
    """
    texts: list[str] = []
    current: BaseException | None = error
    while current is not None and len(texts) < 40:
        # the text of a Py4JJavaError has the whole Java stack; PySpark's own errors keep it aside
        texts += [
            f"{type(current).__name__}: {current}",
            getattr(current, "_stackTrace", None) or "",
        ]
        current = current.__cause__ or current.__context__
    return "\n".join(texts)


def _line_of(text: str, at: int) -> str:
    start, end = text.rfind("\n", 0, at) + 1, text.find("\n", at)
    line = plain_text(text[start : end if end >= 0 else len(text)])
    line = "" if line == UNSAID else line
    return line if len(line) <= 200 else line[:200] + "…"
