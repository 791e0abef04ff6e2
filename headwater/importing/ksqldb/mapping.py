"""ksqlDB: one line for each thing that is mapped."""

from __future__ import annotations

from headwater.importing.contract import (
    NO_MEANING,
    CallMapping,
    EncodingMapping,
    Functions,
    ImportResult,
    Note,
    OptionMapping,
    Options,
    RefusedCall,
    Types,
)
from headwater.importing.functions import UNIX_MILLISECONDS, formatted
from headwater.importing.ksqldb.times import from_milliseconds, parsed_time, time_as_text

# -- types

TYPES: Types = {
    "BOOLEAN": "BOOLEAN",
    "INT": "INTEGER",
    "INTEGER": "INTEGER",
    "BIGINT": "BIGINT",
    "DOUBLE": "DOUBLE",
    "STRING": "VARCHAR",
    "VARCHAR": "VARCHAR",
    "BYTES": "VARBINARY",
    "DECIMAL": "DECIMAL",
    "DATE": "DATE",
    "TIMESTAMP": "TIMESTAMP",
    "TIME": ("VARCHAR", "a time of day is text here"),
}

# -- WITH

OPTIONS: Options = {
    "kafka_topic": "topic",
    "key": NO_MEANING,
    "key_format": NO_MEANING,  # read with the key
    "value_format": NO_MEANING,  # read with the encoding
    "format": NO_MEANING,
    "value_delimiter": NO_MEANING,
    "timestamp": NO_MEANING,  # read with the event time
    "timestamp_format": NO_MEANING,
    "partitions": NO_MEANING,
    "replicas": NO_MEANING,
    "retention_ms": NO_MEANING,
    "cleanup_policy": NO_MEANING,
    "wrap_single_value": NO_MEANING,
    "key_schema_id": NO_MEANING,
    "value_schema_id": NO_MEANING,
    "value_avro_schema_full_name": NO_MEANING,
    "window_type": OptionMapping(note="the windows in the record's key are not read"),
    "window_size": NO_MEANING,
}
_REGISTRY = {"registry": "http://localhost:8081"}
_WHICH_REGISTRY = Note(
    "ksqlDB's server knows the schema registry", "write its address", ImportResult.EDIT
)
ENCODINGS = {
    "json": EncodingMapping("PLAIN", "JSON"),
    "json_sr": EncodingMapping(
        "PLAIN",
        "JSON",
        note=Note(
            "JSON_SR puts five bytes before each record", "write plain JSON", ImportResult.EDIT
        ),
    ),
    "avro": EncodingMapping("PLAIN", "AVRO", fixed=_REGISTRY, note=_WHICH_REGISTRY),
    "delimited": EncodingMapping("PLAIN", "CSV", fixed={"header": "false"}),
    "kafka": EncodingMapping("PLAIN", "RAW"),
}
KEYS = {"json": "json", "json_sr": "json", "avro": "avro", "kafka": "text", "delimited": "text"}
"""By KEY_FORMAT, the option ``key_encode``."""
DELIMITERS = {"space": " ", "tab": "\t"}

UNITS = {
    "MILLISECOND": "MILLISECOND",
    "SECOND": "SECOND",
    "MINUTE": "MINUTE",
    "HOUR": "HOUR",
    "DAY": "DAY",
}
WINDOWS = {"TUMBLING": "tumble", "HOPPING": "hop", "SESSION": "session"}
PSEUDO = {
    "rowoffset": ("offset", "BIGINT"),
    "rowpartition": ("partition", "INTEGER"),
}
"""Columns that every stream has: the key of a metadata column, and its type."""

# -- functions

_OFFSETS = "offsets order the rows of one partition: a group should not have rows of several"
_NO_CLOCK = RefusedCall("the clock is no part of the data", "use the event time, or watermark()")
_CHANCE = RefusedCall("every call gives another value", "bring it with the data")
_LAMBDA = RefusedCall("there are no lambdas", "UNNEST the array in a view")
_URL = RefusedCall("there are no functions for addresses", "write regexp_extract(x, p, 1)")
_MASK = RefusedCall("there is no masking of a part", "write regexp_replace(x, '[0-9]', 'n')")
_HALF = (
    "(power(sin(radians(_3 - _1) / 2), 2)"
    " + cos(radians(_1)) * cos(radians(_3)) * power(sin(radians(_4 - _2) / 2), 2))"
)

FUNCTIONS: Functions = {
    "ARRAY_CONTAINS": "contains(_1, _2)",
    "ARRAY_LENGTH": "cardinality(_1)",
    "AS_VALUE": "_1",
    "COLLECT_LIST": CallMapping("array_agg(_1)", "COLLECT_LIST is ordered by value here"),
    "COLLECT_SET": CallMapping("array_agg(DISTINCT _1)", "COLLECT_SET is ordered by value here"),
    "COUNT_DISTINCT": "count(DISTINCT _1)",
    "EARLIEST_BY_OFFSET": {
        1: CallMapping("min_by(_1, rowoffset) FILTER (WHERE _1 IS NOT NULL)", _OFFSETS)
    },
    "LATEST_BY_OFFSET": {
        1: CallMapping("max_by(_1, rowoffset) FILTER (WHERE _1 IS NOT NULL)", _OFFSETS)
    },
    "EXTRACTJSONFIELD": "json_extract_scalar(_1, _2)",
    "FILTER": _LAMBDA,
    "FORMAT_DATE": formatted("FORMAT_DATE", "date_format(CAST(_1 AS TIMESTAMP), _2)"),
    "FORMAT_TIMESTAMP": formatted("FORMAT_TIMESTAMP"),
    "FROM_UNIXTIME": from_milliseconds,
    "GEO_DISTANCE": {
        4: CallMapping(
            f"2 * 6371 * atan2(sqrt({_HALF}), sqrt(1 - {_HALF}))",
            "GEO_DISTANCE is computed on a sphere, in km",
        ),
        5: CallMapping(
            f"if(_5 = 'km', 2 * 6371, 2 * 3959) * atan2(sqrt({_HALF}), sqrt(1 - {_HALF}))",
            "GEO_DISTANCE is computed on a sphere",
        ),
    },
    "GREATEST": {
        2: "greatest(coalesce(_1, _2), coalesce(_2, _1))",
        3: "greatest(coalesce(_1, _2, _3), coalesce(_2, _3, _1), coalesce(_3, _1, _2))",
    },
    "LEAST": {
        2: "least(coalesce(_1, _2), coalesce(_2, _1))",
        3: "least(coalesce(_1, _2, _3), coalesce(_2, _3, _1), coalesce(_3, _1, _2))",
    },
    "HISTOGRAM": RefusedCall("there is no histogram", "GROUP BY the value, and count(*)"),
    "IFNULL": "coalesce(_1, _2)",
    "INSTR": {2: "strpos(_1, _2)"},
    "JSON_ARRAY_LENGTH": RefusedCall("JSON arrays are text here", "declare an ARRAY column"),
    "LCASE": "lower(_1)",
    "LEN": "length(_1)",
    "MASK": {
        1: "regexp_replace(regexp_replace(regexp_replace(regexp_replace(_1, '[^A-Za-z0-9]', '-'),"
        " '[A-Z]', 'X'), '[a-z]', 'x'), '[0-9]', 'n')"
    },
    "MASK_KEEP_LEFT": _MASK,
    "MASK_KEEP_RIGHT": _MASK,
    "PARSE_DATE": parsed_time("PARSE_DATE", "DATE"),
    "PARSE_TIMESTAMP": parsed_time("PARSE_TIMESTAMP", "TIMESTAMP"),
    "RANDOM": _CHANCE,
    "REDUCE": _LAMBDA,
    "REGEXREPLACE": "regexp_replace(_1, _2, _3)",
    "REGEXP_EXTRACT": {
        2: "regexp_extract(_2, _1, 0)",
        3: "regexp_extract(_2, _1, _3)",
    },
    "SLICE": RefusedCall("there is no slice of an array", "write element_at for each element"),
    "STDDEV_SAMPLE": "stddev_samp(_1)",
    "STRINGTOTIMESTAMP": parsed_time("STRINGTOTIMESTAMP", "TIMESTAMP"),
    "SUBSTRING": {2: "substr(_1, _2)", 3: "substr(_1, _2, _3)"},
    "TIMESTAMPADD": RefusedCall("the unit stands before the time", "write ts + INTERVAL '1' HOUR"),
    "TIMESTAMPTOSTRING": time_as_text("TIMESTAMPTOSTRING"),
    "TOPK": RefusedCall("there is no array of the greatest values", "rank them in a view"),
    "TOPKDISTINCT": RefusedCall("there is no array of the greatest values", "rank them in a view"),
    "TRANSFORM": _LAMBDA,
    "UCASE": "upper(_1)",
    "UNIX_DATE": _NO_CLOCK,
    "UNIX_TIMESTAMP": {
        0: _NO_CLOCK,
        1: UNIX_MILLISECONDS,
    },
    "URL_DECODE_PARAM": _URL,
    "URL_EXTRACT_HOST": _URL,
    "URL_EXTRACT_PARAMETER": _URL,
    "URL_EXTRACT_PATH": _URL,
    "UUID": _CHANCE,
}
