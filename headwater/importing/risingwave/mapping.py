"""RisingWave: one line for each thing that is mapped; types and functions are PostgreSQL's."""

from __future__ import annotations

from headwater.importing.contract import (
    NO_MEANING,
    ConnectorMapping,
    EncodingMapping,
    Functions,
    ImportResult,
    Note,
    OptionMapping,
    Options,
)
from headwater.importing.kafka import SECURITY
from headwater.importing.postgres import FUNCTIONS as POSTGRES
from headwater.importing.starts import start_at

# -- connectors

KAFKA: Options = {
    "topic": "topic",
    "properties.bootstrap.server": "bootstrap_servers",
    "kafka.brokers": "bootstrap_servers",
    "kafka.topic": "topic",
    "primary_key": "key",
    "type": NO_MEANING,  # append-only or upsert: FORMAT says it
    "force_append_only": NO_MEANING,
    "scan.startup.mode": OptionMapping(
        "@start_from", {"earliest": "", "latest": "LATEST", "timestamp": ""}
    ),
    "kafka.scan.startup.mode": OptionMapping("@start_from", {"earliest": "", "latest": "LATEST"}),
    "scan.startup.timestamp.millis": OptionMapping(read=start_at),
    "group.id.prefix": NO_MEANING,
    "consumer.group.id": NO_MEANING,
    "properties.group.id": NO_MEANING,
    "properties.sync.call.timeout": NO_MEANING,
    "properties.message.timeout.ms": NO_MEANING,
    "properties.retry.*": NO_MEANING,
    "source_rate_limit": NO_MEANING,
    **{f"properties.{name}": option for name, option in SECURITY.items()},
}
S3: Options = {
    "s3.bucket_name": "bucket",
    "match_pattern": "pattern",
    "s3.region_name": "region",
    "s3.endpoint_url": "endpoint",
    "s3.credentials.access": "access_key",
    "s3.credentials.secret": OptionMapping("secret_key", secret=True),
    "refresh.interval.sec": NO_MEANING,
    "compression_format": NO_MEANING,
}
DATAGEN: Options = {
    "datagen.rows.per.second": "rows_per_second",
    "datagen.split.num": NO_MEANING,
    "fields.*": NO_MEANING,  # read for each column
}
DEBEZIUM = "run Debezium, and read its topic with connector = 'kafka' and FORMAT DEBEZIUM"
CONNECTORS = {
    "kafka": ConnectorMapping("kafka", KAFKA),
    "s3": ConnectorMapping("files", S3),
    "s3_v2": ConnectorMapping("files", S3),
    "datagen": ConnectorMapping("datagen", DATAGEN),
    "blackhole": ConnectorMapping(sink=False),
    "nexmark": ConnectorMapping(remedy="write its events as JSON or Parquet files"),
    "postgres-cdc": ConnectorMapping(remedy=DEBEZIUM),
    "mysql-cdc": ConnectorMapping(remedy=DEBEZIUM),
    "mongodb-cdc": ConnectorMapping(remedy=DEBEZIUM),
    "sqlserver-cdc": ConnectorMapping(remedy=DEBEZIUM),
    "iceberg": ConnectorMapping(remedy="connector = 'iceberg', table = 'namespace.table'"),
    "jdbc": ConnectorMapping(remedy="let the database read a topic of CREATE SINK"),
    "kinesis": ConnectorMapping(remedy="bring the stream to Kafka or to files"),
    "pulsar": ConnectorMapping(remedy="bring the stream to Kafka or to files"),
    "mqtt": ConnectorMapping(remedy="bring the messages to Kafka or to files"),
    "nats": ConnectorMapping(remedy="bring the messages to Kafka or to files"),
    "redis": ConnectorMapping(remedy="let Redis read a topic of CREATE SINK"),
    "elasticsearch": ConnectorMapping(remedy="let Elasticsearch read a topic of CREATE SINK"),
    "clickhouse": ConnectorMapping(remedy="let ClickHouse read a topic of CREATE SINK"),
}

REGISTRY: Options = {
    "schema.registry": "registry",
    "schema.registry.username": "registry_username",
    "schema.registry.password": OptionMapping("registry_password", secret=True),
    "message": NO_MEANING,
    "force_append_only": NO_MEANING,
}
JSON: Options = {
    "force_append_only": NO_MEANING,
    "timestamptz.handling.mode": NO_MEANING,
    "schemas.enable": NO_MEANING,
}
DEBEZIUM_MODES = Note(
    "Debezium's modes for decimals and times are taken to be its defaults",
    "check decimals and times",
    ImportResult.EDIT,
)
CSV: Options = {"without_header": OptionMapping("header", {"true": "false", "false": "true"})}
ENCODINGS = {
    "plain json": EncodingMapping("PLAIN", "JSON", JSON),
    "plain avro": EncodingMapping("PLAIN", "AVRO", REGISTRY),
    "plain csv": EncodingMapping("PLAIN", "CSV", {**CSV, "delimiter": "delimiter"}),
    "plain parquet": EncodingMapping("PLAIN", "PARQUET"),
    "plain bytes": EncodingMapping("PLAIN", "RAW"),
    "upsert json": EncodingMapping("UPSERT", "JSON", JSON),
    "upsert avro": EncodingMapping("UPSERT", "AVRO", REGISTRY),
    "debezium json": EncodingMapping(
        "DEBEZIUM",
        "JSON",
        JSON,
        fixed={"decimals": "precise", "times": "adaptive"},
        note=DEBEZIUM_MODES,
    ),
    "debezium avro": EncodingMapping("DEBEZIUM", "AVRO", REGISTRY),
}

INCLUDED = {
    "KEY": ("key", "VARBINARY"),
    "TIMESTAMP": ("timestamp", "TIMESTAMP WITH TIME ZONE"),
    "PARTITION": ("partition", "INTEGER"),
    "OFFSET": ("offset", "BIGINT"),
    "HEADER": ("headers", "ARRAY(ROW(key VARCHAR, value VARBINARY))"),
    "FILE": ("file", "VARCHAR"),
}
"""``INCLUDE word AS column``: the key of a metadata column, and its type."""

# -- functions, beside those of PostgreSQL

FUNCTIONS: Functions = {
    **POSTGRES,
    "APPROX_COUNT_DISTINCT": "approx_distinct(_1)",
}
