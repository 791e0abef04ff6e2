"""What a second run over the same rows might answer differently, and what is done about it.

In: nothing; it is data. Out: :data:`HAZARDS`, one row each. A hazard is *refused* at ``check`` with
a place, *anchored* to something that a commit or the session pins, or *bounded*: engines and runs
differ by a known error, which ``verify`` allows for. A row is evaluated anew when a batch is
replayed, cut in another way, split into other partitions, or asked of another engine.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from sqlglot import exp

Answer = Literal["refused", "anchored", "bounded"]


@dataclass(frozen=True, slots=True)
class Hazard:
    """One source of different answers.

    Attributes:
        names: functions (as people call them, lower case) or other things.
        answer: what is done about it.
        reason: why the answers differ, or what holds them together.
        hint: what to write instead.
        condition: of the error; empty if it is not refused.
    """

    names: tuple[str, ...]
    answer: Answer
    reason: str
    hint: str = ""
    condition: str = ""


def _refused(reason: str, hint: str, *names: str, condition: str = "NON_DETERMINISTIC") -> Hazard:
    return Hazard(names, "refused", reason, hint, condition)


HAZARDS: tuple[Hazard, ...] = (
    _refused(
        "two runs over the same rows would differ",
        "derive the value from the row's columns",
        *("rand", "random", "randn", "randstr", "uniform", "uuid"),
        *("gen_random_uuid", "shuffle", "sample", "tablesample", "setseed"),
    ),
    _refused(
        "the clock is not part of the data: a replay would differ",
        "write a literal, or use the event-time column or a METADATA column of the source",
        *("now", "current_timestamp", "current_date", "current_time", "current_datetime"),
        *("localtime", "localtimestamp", "proctime", "today", "curdate", "getdate", "sysdate"),
        *("unix_timestamp", "get_current_timestamp", "transaction_timestamp"),
        *("statement_timestamp", "clock_timestamp", "timeofday", "age", "mz_now"),
    ),
    _refused(
        "only a view has a watermark of its own",
        "compare in the SELECT of a view: WHERE ts > watermark() - INTERVAL '24' HOUR",
        "watermark",
        condition="MISPLACED_CLAUSE",
    ),
    _refused(
        "it depends on how files are read, not on the rows",
        "declare a METADATA FROM 'file' column in the source",
        *("input_file_name", "input_file_block_start", "input_file_block_length"),
        *("monotonically_increasing_id", "spark_partition_id", "nextval"),
        *("seq1", "seq2", "seq4", "seq8"),
    ),
    _refused(
        "it depends on who runs the view and where, not on the rows",
        "write a literal",
        *("current_user", "session_user", "current_role", "current_catalog"),
        *("current_schema", "current_database", "current_version", "version"),
        *("current_timezone", "getenv", "current_setting"),
    ),
    _refused(
        "its result depends on the order of rows",
        "use min(…) or max(…)",
        *("first", "last", "first_value", "last_value", "nth_value"),
    ),
    _refused(
        "of rows that tie, it takes any",
        "use min(…) or max(…), or count in a subquery",
        "mode",
    ),
    _refused(
        "its result depends on the order of rows",
        "use array_agg(…), min(…), max(…) or count(…)",
        *("map_agg", "multimap_agg", "histogram"),
        *("json_object_agg", "json_array_agg"),
    ),
    _refused(
        "it gives numbers to rows that have no order",
        "say in which order: row_number() OVER (PARTITION BY k ORDER BY ts)",
        *("row_number", "ntile"),
    ),
    _refused(
        "every engine has another hash of the same value",
        "compare the value itself",
        *("hash", "xxhash64", "murmur3", "crc32", "checksum", "farm_fingerprint", "spooky_hash"),
        "sha512",
        condition="NOT_PORTABLE",
    ),
    _refused(
        "its text depends on the engine and its language",
        "use date_format(x, '%Y-%m-%d') or CAST(x AS VARCHAR)",
        *("format", "format_number"),
        *("number_to_str", "format_string", "printf"),
        condition="NOT_PORTABLE",
    ),
    _refused(
        "engines differ in what a wall-clock time is that comes twice or never",
        "keep times in UTC; CAST(x AT TIME ZONE 'Europe/Berlin' AS TIMESTAMP) shows a wall clock",
        *("with_timezone", "timezone", "convert_timezone"),
        *("from_utc_timestamp", "to_utc_timestamp"),
        condition="NOT_PORTABLE",
    ),
    _refused(
        "it runs code, or reads what is not an input of the view",
        "remove the call",
        *("reflect", "java_method", "try_reflect", "query_transform"),
        *("read_csv", "read_parquet", "read_json", "read_text", "read_blob", "read_files"),
        *("sniff_csv", "identifier", "ai_query", "http_request"),
        condition="FORBIDDEN_FUNCTION",
    ),
    Hazard(
        ("sum", "avg", "stddev", "stddev_samp", "stddev_pop", "variance", "var_pop", "corr")
        + ("covar_pop", "covar_samp", "geometric_mean")
        + ("regr_slope", "regr_intercept"),
        "bounded",
        "sums of DOUBLE and REAL depend on the order of rows: 1e-9 of their size",
    ),
    Hazard(
        ("approx_distinct", "approx_percentile"),
        "bounded",
        "sketches depend on the order of rows, KLL also on chance: 8 % of the count, 2.5 % in rank",
    ),
    Hazard(("limit", "offset", "fetch"), "refused", "LIMIT without ORDER BY takes any rows",
           "say which rows", "NON_DETERMINISTIC"),
    Hazard(("rows that tie in OVER and in ORDER BY … LIMIT",), "anchored",
           "they are ordered further by every other column: what is equal then is equal in all;"
           " an array, map or row that could still differ is refused where it is read"),
    Hazard(("any_value", "min_by", "max_by", "array_agg", "listagg"), "anchored",
           "any_value is the least value; where rows tie, the value itself is compared too"),
    Hazard(("session time zone",), "anchored", "UTC in every engine; the project cannot set it"),
    Hazard(("lower", "upper", "date_format"), "anchored", "the JVM's language is English"),
    Hazard(("'now', 'today', '12:30' as a time",), "anchored",
           "constants must be ISO dates; texts of rows that begin without a date are no time"),
    Hazard(("lateness",), "anchored", "_watermark is stamped on the row when it is landed"),
    Hazard(("arrival",), "anchored", "read once for an epoch, before its commit"),
    Hazard(("datagen",), "anchored", "a value is a function of seed, column and row number"),
    Hazard(("cut of the inputs", "watermark() in a view"), "anchored",
           "the commit marker records it"),
    Hazard(("partitions and batches",), "anchored",
           "every other function and aggregate is the same in any order of rows; tests hold it"),
)  # fmt: skip

REFUSED: Mapping[str, Hazard] = {
    name: hazard for hazard in HAZARDS if hazard.answer == "refused" for name in hazard.names
}
"""What is refused, by name."""
CLOCK = REFUSED["now"]
"""What reads the clock."""

NODES: Mapping[type[exp.Expr], str] = {
    exp.Rand: "rand",
    exp.Randn: "randn",
    exp.Uuid: "uuid",
    exp.CurrentTimestamp: "current_timestamp",
    exp.CurrentDate: "current_date",
    exp.CurrentDatetime: "current_datetime",
    exp.CurrentTime: "current_time",
    exp.Localtime: "localtime",
    exp.Localtimestamp: "localtimestamp",
    exp.CurrentUser: "current_user",
    exp.First: "first",
    exp.Last: "last",
    exp.FirstValue: "first_value",
    exp.LastValue: "last_value",
    exp.AtTimeZone: "at time zone",
    exp.SHA2Digest: "sha512",
    exp.QueryTransform: "query_transform",
    exp.JSONObjectAgg: "json_object_agg",
    exp.JSONArrayAgg: "json_array_agg",
}
"""Nodes of sqlglot whose name people would not recognise."""
