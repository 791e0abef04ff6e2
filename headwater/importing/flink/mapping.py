"""Flink SQL: one line for each thing that is mapped."""

from __future__ import annotations

from headwater.importing.contract import (
    NO_MEANING,
    CallMapping,
    ConnectorMapping,
    EncodingMapping,
    Functions,
    ImportResult,
    Note,
    OptionMapping,
    Options,
    RefusedCall,
    Types,
)
from headwater.importing.functions import MILLISECONDS, formatted
from headwater.importing.kafka import SECURITY
from headwater.importing.starts import idle_after, start_at, start_at_offsets

# -- types

TYPES: Types = {
    "BOOLEAN": "BOOLEAN",
    "TINYINT": "INTEGER",
    "SMALLINT": "INTEGER",
    "INT": "INTEGER",
    "INTEGER": "INTEGER",
    "BIGINT": "BIGINT",
    "FLOAT": "REAL",
    "REAL": "REAL",
    "DOUBLE": "DOUBLE",
    "DOUBLE PRECISION": "DOUBLE",
    "DECIMAL": "DECIMAL(10, 0)",
    "DEC": "DECIMAL(10, 0)",
    "NUMERIC": "DECIMAL(10, 0)",
    "STRING": "VARCHAR",
    "VARCHAR": "VARCHAR",
    "CHAR": "VARCHAR",
    "BYTES": "VARBINARY",
    "BINARY": "VARBINARY",
    "VARBINARY": "VARBINARY",
    "DATE": "DATE",
    "TIMESTAMP": "TIMESTAMP",
    "TIMESTAMP_LTZ": "TIMESTAMP WITH TIME ZONE",
    "TIME": ("VARCHAR", "TIME is text here"),
    "RAW": ("", "it holds objects of Java"),
    "MULTISET": ("", "there are no multisets"),
    "INTERVAL": ("", "a column cannot hold an interval"),
}

# -- connectors

JSON: Options = {
    "ignore-parse-errors": OptionMapping(
        values={"true": "", "false": ""}, note="rows that cannot be parsed go to the quarantine"
    ),
    "fail-on-missing-field": NO_MEANING,
    "timestamp-format.standard": NO_MEANING,
    "encode.decimal-as-plain-number": NO_MEANING,
    "map-null-key.*": NO_MEANING,
}
CSV: Options = {
    "field-delimiter": "delimiter",
    "quote-character": "quote",
    "escape-character": "escape",
    "null-literal": "null_value",
    "ignore-parse-errors": OptionMapping(note="rows that cannot be parsed go to the quarantine"),
    "allow-comments": NO_MEANING,
    "disable-quote-character": NO_MEANING,
}
REGISTRY: Options = {
    "url": "registry",
    "schema-registry.url": "registry",
    "basic-auth.user-info": OptionMapping("registry_password", secret=True),
    "subject": NO_MEANING,
    "schema-registry.subject": NO_MEANING,
    "*": NO_MEANING,
}
DEBEZIUM_MODES = Note(
    "Debezium's modes for decimals and times are taken to be its defaults",
    "check decimals and times",
    ImportResult.EDIT,
)
ENCODINGS = {
    "json": EncodingMapping("PLAIN", "JSON", JSON),
    "csv": EncodingMapping("PLAIN", "CSV", CSV, fixed={"header": "false"}),
    "avro-confluent": EncodingMapping("PLAIN", "AVRO", REGISTRY),
    "raw": EncodingMapping("PLAIN", "RAW", {"*": NO_MEANING}),
    "parquet": EncodingMapping("PLAIN", "PARQUET", {"*": NO_MEANING}),
    "debezium-json": EncodingMapping(
        "DEBEZIUM",
        "JSON",
        {**JSON, "schema-include": NO_MEANING},
        fixed={"decimals": "precise", "times": "adaptive"},
        note=DEBEZIUM_MODES,
    ),
    "debezium-avro-confluent": EncodingMapping("DEBEZIUM", "AVRO", REGISTRY),
}

KEYS = {"json": "json", "raw": "text", "csv": "text"}
"""By ``key.format``, the option ``key_encode``."""
KAFKA: Options = {
    "topic": "topic",
    "topic-pattern": "topic_pattern",
    "properties.bootstrap.servers": "bootstrap_servers",
    "properties.isolation.level": "isolation",
    "scan.startup.mode": OptionMapping(
        "@start_from",
        {
            "earliest-offset": "",
            "group-offsets": "",
            "latest-offset": "LATEST",
            "timestamp": "",
            "specific-offsets": "",
        },
    ),
    "scan.startup.timestamp-millis": OptionMapping(read=start_at),
    "scan.startup.specific-offsets": OptionMapping(read=start_at_offsets),
    "scan.watermark.idle-timeout": OptionMapping(read=idle_after),
    "key.fields": NO_MEANING,
    "key.format": NO_MEANING,
    "key.*": NO_MEANING,
    "value.fields-include": NO_MEANING,
    "sink.*": NO_MEANING,
    "scan.*": NO_MEANING,
    "properties.group.id": NO_MEANING,
    **{f"properties.{name}": option for name, option in SECURITY.items()},
}
FILES: Options = {
    "path": "path",
    "source.monitor-interval": NO_MEANING,
    "source.path.regex-pattern": "pattern",
    "sink.*": NO_MEANING,
    "partition.*": NO_MEANING,
    "auto-compaction": NO_MEANING,
    "compaction.*": NO_MEANING,
}
DATAGEN: Options = {
    "rows-per-second": "rows_per_second",
    "number-of-rows": "number_of_rows",
    "fields.*": NO_MEANING,  # read for each column by _generated
}
DEBEZIUM = "run Debezium, and read its topic with connector = 'kafka' and FORMAT DEBEZIUM"
CONNECTORS = {
    "kafka": ConnectorMapping("kafka", KAFKA),
    "upsert-kafka": ConnectorMapping("kafka", KAFKA, format="UPSERT"),
    "filesystem": ConnectorMapping("files", FILES),
    "datagen": ConnectorMapping("datagen", DATAGEN),
    "blackhole": ConnectorMapping(sink=False),
    "print": ConnectorMapping(sink=False),
    "faker": ConnectorMapping(remedy="use connector = 'datagen'"),
    "nexmark": ConnectorMapping(remedy="write its events as JSON or Parquet files"),
    "jdbc": ConnectorMapping(remedy=DEBEZIUM),
    "mysql-cdc": ConnectorMapping(remedy=DEBEZIUM),
    "postgres-cdc": ConnectorMapping(remedy=DEBEZIUM),
    "oracle-cdc": ConnectorMapping(remedy=DEBEZIUM),
    "sqlserver-cdc": ConnectorMapping(remedy=DEBEZIUM),
    "mongodb-cdc": ConnectorMapping(remedy=DEBEZIUM),
    "kinesis": ConnectorMapping(remedy="bring the stream to Kafka or to files"),
    "pulsar": ConnectorMapping(remedy="bring the stream to Kafka or to files"),
    "elasticsearch-7": ConnectorMapping(remedy="let Elasticsearch read a topic of CREATE SINK"),
    "iceberg": ConnectorMapping(remedy="connector = 'iceberg', table = 'namespace.table'"),
}

SETTINGS = {
    "table.exec.source.idle-timeout": "",  # becomes IDLE TIMEOUT of every table
    "table.exec.state.ttl": "Flink forgets state after a time; here nothing is forgotten",
    "table.local-time-zone": "Flink's session has a time zone; here it is UTC",
}
"""By name of ``SET``, what differs; settings that are not here change no rows."""

METADATA = {
    "topic": ("topic", "VARCHAR"),
    "partition": ("partition", "INTEGER"),
    "offset": ("offset", "BIGINT"),
    "timestamp": ("timestamp", "TIMESTAMP WITH TIME ZONE"),
    "headers": ("headers", "ARRAY(ROW(key VARCHAR, value VARBINARY))"),
    "file.path": ("file", "VARCHAR"),
    "file.name": ("file", "VARCHAR"),
}

# -- functions

_CLOCK = RefusedCall("the clock is no part of the data", "use the event time, or watermark()")
_CHANCE = RefusedCall("every call gives another value", "bring it with the data")
JAVA = RefusedCall("a class of Java computes it", "write CREATE FUNCTION … RETURN expression")

FUNCTIONS: Functions = {
    "AVG": CallMapping("avg(_1)", "AVG of whole numbers is DOUBLE here, a whole number there"),
    "CHAR_LENGTH": "length(_1)",
    "CHARACTER_LENGTH": "length(_1)",
    "CURRENT_WATERMARK": "watermark()",
    "CEILING": "ceil(_1)",
    "DATE_FORMAT": formatted("DATE_FORMAT"),
    "DAYOFMONTH": "day(_1)",
    "DAYOFWEEK": "day_of_week(_1) % 7 + 1",
    "DAYOFYEAR": "day_of_year(_1)",
    "FROM_UNIXTIME": "date_format(from_unixtime(_1), '%Y-%m-%d %H:%i:%s')",
    "IF": "if(_1, _2, _3)",
    "IFNULL": "coalesce(_1, _2)",
    "INSTR": "strpos(_1, _2)",
    "JSON_VALUE": {2: "json_extract_scalar(_1, _2)"},
    "LOCATE": {2: "strpos(_2, _1)"},
    "LISTAGG": {
        1: CallMapping(
            "listagg(_1, ',') WITHIN GROUP (ORDER BY _1)", "LISTAGG is ordered by value"
        ),
        2: CallMapping("listagg(_1, _2) WITHIN GROUP (ORDER BY _1)", "LISTAGG is ordered by value"),
    },
    "LOWER": "lower(_1)",
    "MD5": "lower(to_hex(md5(to_utf8(_1))))",
    "REGEXP": "regexp_like(_1, _2)",
    "REGEXP_EXTRACT": {
        2: "regexp_extract(_1, _2, 0)",
        3: "regexp_extract(_1, _2, _3)",
    },
    "SPLIT_INDEX": "split_part(_1, _2, _3 + 1)",
    "TIMESTAMPDIFF": RefusedCall(
        "the unit stands before the times", "write date_diff('hour', a, b)"
    ),
    "TO_DATE": {1: "CAST(_1 AS DATE)"},
    "TO_TIMESTAMP": {1: "CAST(_1 AS TIMESTAMP)"},
    "TO_TIMESTAMP_LTZ": MILLISECONDS,
    "TRUNCATE": {1: "truncate(_1)"},
    "UNIX_TIMESTAMP": {1: "CAST(floor(to_unixtime(CAST(_1 AS TIMESTAMP))) AS BIGINT)"},
    "NOW": _CLOCK,
    "CURRENT_ROW_TIMESTAMP": _CLOCK,
    "UUID": _CHANCE,
    "RAND": _CHANCE,
}
