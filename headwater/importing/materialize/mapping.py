"""Materialize: one line for each thing that is mapped; types and functions are PostgreSQL's."""

from __future__ import annotations

from collections.abc import Mapping

from headwater.importing.contract import (
    NO_MEANING,
    Functions,
    OptionMapping,
    Options,
    RefusedCall,
)
from headwater.importing.postgres import FUNCTIONS as POSTGRES
from headwater.importing.starts import start_at

# -- connections: CREATE CONNECTION … TO KAFKA (…), names without blanks

CONNECTION: Options = {
    "broker": "bootstrap_servers",
    "brokers": "bootstrap_servers",
    "security_protocol": OptionMapping(
        "security_protocol",
        {
            "plaintext": "plaintext",
            "ssl": "ssl",
            "sasl_plaintext": "sasl_plaintext",
            "sasl_ssl": "sasl_ssl",
        },
    ),
    "sasl_mechanisms": OptionMapping(
        "sasl_mechanism",
        {"plain": "plain", "scram-sha-256": "scram-sha-256", "scram-sha-512": "scram-sha-512"},
    ),
    "sasl_username": "sasl_username",
    "sasl_password": OptionMapping("sasl_password", secret=True),
    "ssl_certificate_authority": OptionMapping(note="ssl_ca takes a PEM file"),
    "ssl_certificate": OptionMapping(note="ssl_keystore takes a PEM file"),
    "ssl_key": OptionMapping("ssl_key_password", secret=True),
    "ssh_tunnel": OptionMapping(note="there are no SSH tunnels: write an address that is reached"),
    "aws_privatelink": OptionMapping(note="there is no PrivateLink: write an address"),
    "progress_topic": NO_MEANING,
}
REGISTRY: Options = {
    "url": "registry",
    "username": "registry_username",
    "password": OptionMapping("registry_password", secret=True),
    "*": NO_MEANING,
}
TOPIC: Options = {
    "topic": "topic",
    "start_offset": OptionMapping(note='START FROM OFFSETS \'{"topic": {"0": 17}}\' begins there'),
    "start_timestamp": OptionMapping(read=start_at),
    "group_id_prefix": NO_MEANING,
    "progress_group_id_prefix": NO_MEANING,
    "transactional_id_prefix": NO_MEANING,
    "partition_by": NO_MEANING,
    "compression_type": NO_MEANING,
    "topic_replication_factor": NO_MEANING,
    "topic_partition_count": NO_MEANING,
    "topic_config": NO_MEANING,
}

# -- formats of a source: the columns that it has, and the encoding

FORMATS: Mapping[str, tuple[str, str, str]] = {
    "JSON": ("data", "VARCHAR", "RAW"),
    "TEXT": ("text", "VARCHAR", "RAW"),
    "BYTES": ("data", "VARCHAR", "RAW"),
}
INCLUDED = {
    "KEY": ("key", "VARBINARY", "key"),
    "PARTITION": ("partition", "INTEGER", "partition"),
    "OFFSET": ("offset", "BIGINT", "offset"),
    "TIMESTAMP": ("timestamp", "TIMESTAMP WITH TIME ZONE", "timestamp"),
    "HEADERS": ("headers", "ARRAY(ROW(key VARCHAR, value VARBINARY))", "headers"),
}
"""``INCLUDE word [AS column]``: the column, its type, the key of the metadata."""
DEBEZIUM = "run Debezium, and read its topics with connector = 'kafka' and FORMAT DEBEZIUM"
OUTSIDE = {
    "POSTGRES": ("PostgreSQL", DEBEZIUM),
    "MYSQL": ("MySQL", DEBEZIUM),
    "SQL SERVER": ("SQL Server", DEBEZIUM),
    "WEBHOOK": ("a webhook", "write the events to Kafka or to files"),
}
"""By where a source reads from, its name for people, and what to do instead."""

GENERATORS: Mapping[str, Mapping[str, Mapping[str, str]]] = {
    "AUCTION": {
        "organizations": {"id": "BIGINT", "name": "VARCHAR"},
        "users": {"id": "BIGINT", "org_id": "BIGINT", "name": "VARCHAR"},
        "accounts": {"id": "BIGINT", "org_id": "BIGINT", "balance": "BIGINT"},
        "auctions": {
            "id": "BIGINT",
            "seller": "BIGINT",
            "item": "VARCHAR",
            "end_time": "TIMESTAMP WITH TIME ZONE",
        },
        "bids": {
            "id": "BIGINT",
            "buyer": "BIGINT",
            "auction_id": "BIGINT",
            "amount": "INTEGER",
            "bid_time": "TIMESTAMP WITH TIME ZONE",
        },
    },
    "COUNTER": {"": {"counter": "BIGINT"}},
}
"""By load generator, its tables and their columns; the table without a name is the source."""

# -- functions, beside those of PostgreSQL

FUNCTIONS: Functions = {
    **POSTGRES,
    "LIST_AGG": "array_agg(_1)",
    "LIST_LENGTH": "cardinality(_1)",
    "TRY_PARSE_MONOTONIC_ISO8601_TIMESTAMP": (
        "TRY_CAST(replace(_1, 'T', ' ') AS TIMESTAMP WITH TIME ZONE)"
    ),
    "MZ_LOGICAL_TIMESTAMP": RefusedCall("the clock is no part of the data", "use watermark()"),
    "JSONB_AGG": RefusedCall(
        "a text may hold JSON", "write json_format(CAST(array_agg(x) AS JSON))"
    ),
    "JSONB_BUILD_OBJECT": RefusedCall("a text may hold JSON", "write json_object('key': x)"),
    "JSONB_OBJECT_AGG": RefusedCall("its keys are data", "show the columns"),
}
