"""Functions of other systems, by name, and what to write instead."""

from __future__ import annotations

from collections.abc import Mapping

_DATE_ADD, _DATE_DIFF = "date_add('day', n, x)", "date_diff('day', from, to)"
_JSON = "json_extract_scalar(json, '$.a.b')"
_QUANTILE = "approx_percentile(x, 0.5)"

ELSEWHERE: Mapping[str, str] = {
    # text
    **dict.fromkeys(("charindex", "locate", "instr", "indexof"), "strpos(text, search)"),
    **dict.fromkeys(("right", "rightutf8"), "substr(text, -n)"),
    **dict.fromkeys(("rlike", "regexp", "match", "regexp_matches", "similar_to"),
                    "regexp_like(text, pattern)"),
    **dict.fromkeys(("regexp_match", "regexp_substr", "extractgroup"),
                    "regexp_extract(text, pattern, group)"),
    **dict.fromkeys(("replaceall", "replaceregexpall"), "regexp_replace(text, pattern, new)"),
    **dict.fromkeys(("octet_length", "byte_length"), "length(text)"),
    **dict.fromkeys(("concatws", "textjoin"), "concat_ws(separator, text, …)"),
    **dict.fromkeys(("startswith", "prefix"), "starts_with(text, prefix)"),
    **dict.fromkeys(("ends_with", "endswith", "suffix"), "text LIKE '%suffix'"),
    **dict.fromkeys(("levenshtein", "editdistance", "edit_distance"), "levenshtein_distance(x, y)"),
    "string_to_array": "split(text, delimiter)",
    "btrim": "trim(text)",
    "mid": "substr(text, start, length)",
    # times
    **dict.fromkeys(("to_char", "strftime", "formatdatetime", "dateformat"),
                    "date_format(x, '%Y-%m-%d')"),
    **dict.fromkeys(("to_timestamp", "strptime", "parsedatetime", "str_to_date", "todatetime"),
                    "date_parse(text, '%Y-%m-%d %H:%i:%s')"),
    **dict.fromkeys(("dateadd", "timestampadd", "adddate", "adddays", "date_sub", "datesub"),
                    _DATE_ADD),
    **dict.fromkeys(("add_months", "addmonths"), "date_add('month', n, x)"),
    **dict.fromkeys(("datediff", "date_sub_days", "months_between", "subtractdays"), _DATE_DIFF),
    **dict.fromkeys(("date_part", "datepart"), "extract(YEAR FROM x)"),
    **dict.fromkeys(("to_date", "todate", "cast_to_date"), "CAST(x AS DATE)"),
    **dict.fromkeys(("epoch", "unix_seconds", "tounixtimestamp"), "to_unixtime(x)"),
    **dict.fromkeys(("timestamp_seconds", "make_timestamp", "fromunixtimestamp"),
                    "from_unixtime(seconds)"),
    **dict.fromkeys(("tostartofhour", "time_bucket", "date_bin", "timestamp_trunc", "datetrunc"),
                    "date_trunc('hour', x)"),
    "tostartofday": "date_trunc('day', x)",
    "tostartofminute": "date_trunc('minute', x)",
    "last_day": "last_day_of_month(x)",
    "weekday": "day_of_week(x)",
    "dayofweek": "day_of_week(x)",
    "isoyear": "year_of_week(x)",
    # JSON
    **dict.fromkeys(("get_json_object", "json_value", "jsonextractstring", "jsonextract",
                     "json_extract_string", "json_extract_path_text"), _JSON),
    # numbers and bits
    **dict.fromkeys(("trunc", "to_int"), "truncate(x)"),
    **dict.fromkeys(("shiftleft", "shl", "bitshiftleft"), "bitwise_left_shift(x, shift)"),
    **dict.fromkeys(("shiftright", "shr", "bitshiftright"), "bitwise_right_shift(x, shift)"),
    "isnan": "is_nan(x)",
    "bitand": "bitwise_and(x, y)",
    "bitor": "bitwise_or(x, y)",
    "bitxor": "bitwise_xor(x, y)",
    # bytes
    **dict.fromkeys(("hex", "encode_hex"), "to_hex(to_utf8(text))"),
    **dict.fromkeys(("unhex", "decode_hex"), "from_hex(text)"),
    **dict.fromkeys(("sha2", "sha224", "sha384", "sha512"), "sha256(to_utf8(text))"),
    "base64": "to_base64(to_utf8(text))",
    "unbase64": "from_base64(text)",
    "base64encode": "to_base64(to_utf8(text))",
    "base64decode": "from_base64(text)",
    # arrays
    **dict.fromkeys(("array_length", "array_size", "list_length", "size"), "cardinality(array)"),
    **dict.fromkeys(("array_contains", "list_contains", "list_has", "has"), "contains(array, x)"),
    **dict.fromkeys(("array_to_string", "list_join", "arraystringconcat"),
                    "array_join(array, separator)"),
    **dict.fromkeys(("generate_series", "range"), "sequence(first, last)"),
    **dict.fromkeys(("list_distinct", "arraydistinct"), "array_distinct(array)"),
    **dict.fromkeys(("list_sort", "arraysort", "sort_array"), "array_sort(array)"),
    **dict.fromkeys(("array_overlap", "list_has_any", "hasany"), "arrays_overlap(x, y)"),
    **dict.fromkeys(("explode", "posexplode", "arrayjoin"), "CROSS JOIN UNNEST(array) AS t (x)"),
    # aggregates
    **dict.fromkeys(("uniq", "uniqexact", "count_distinct"), "count(DISTINCT x)"),
    **dict.fromkeys(("hll", "uniqhll12", "approx_count_distinct"), "approx_distinct(x)"),
    **dict.fromkeys(("quantile", "median", "percentile", "percentile_cont", "percentile_disc",
                     "percentile_approx", "approx_quantile"), _QUANTILE),
    **dict.fromkeys(("grouparray", "collect", "list", "collect_list"), "array_agg(x)"),
    **dict.fromkeys(("groupconcat", "string_concat_agg"),
                    "listagg(x, ',') WITHIN GROUP (ORDER BY x)"),
    **dict.fromkeys(("countif", "count_when"), "count_if(condition)"),
    **dict.fromkeys(("sumif", "sum_if"), "sum(x) FILTER (WHERE condition)"),
    **dict.fromkeys(("avgif", "avg_if"), "avg(x) FILTER (WHERE condition)"),
    **dict.fromkeys(("earliest", "earliest_by_offset"), "min_by(x, ts)"),
    **dict.fromkeys(("latest", "latest_by_offset", "last_by"), "max_by(x, ts)"),
    # choices
    **dict.fromkeys(("iif", "iff"), "if(condition, x, y)"),
    **dict.fromkeys(("decode", "multiif"), "CASE x WHEN a THEN b ELSE c END"),
    **dict.fromkeys(("zeroifnull", "nvl2"), "coalesce(x, 0)"),
    **dict.fromkeys(("safe_cast", "toint64ornull"), "TRY_CAST(x AS BIGINT)"),
}  # fmt: skip
"""Lower-case name → a call of this language that does it."""
