"""dbt: one line for each thing that is mapped."""

from __future__ import annotations

from collections.abc import Mapping

ADAPTERS = {
    "athena": "trino",
    "bigquery": "bigquery",
    "databricks": "spark",
    "duckdb": "duckdb",
    "materialize": "postgres",
    "postgres": "postgres",
    "presto": "trino",
    "redshift": "postgres",
    "risingwave": "postgres",
    "snowflake": "snowflake",
    "spark": "spark",
    "trino": "trino",
}
"""By ``type`` in profiles.yml, the dialect of the models."""

MATERIALIZED = {
    "view": "",
    "table": "",
    "ephemeral": "",
    "materialized_view": "",
    "materialized view": "",
    "dynamic_table": "",
    "streaming_table": "",
    "streaming": "",
    "incremental": (
        "is_incremental() is left out with its filter: the view is maintained as rows come"
    ),
    "microbatch": "batches are left out: the view is maintained as rows come",
}
"""By ``materialized``, what differs of a streaming view; empty if nothing does."""

CONFIGS: Mapping[str, str] = {
    "unique_key": "unique_key is left out: dbt replaces older rows, the view has all of its SELECT",
    "pre_hook": "pre_hook is left out",
    "post_hook": "post_hook is left out",
    "on_schema_change": "",
    "materialized": "",
    "incremental_strategy": "",
    "schema": "",
    "alias": "",
    "tags": "",
    "enabled": "",
    "cluster_by": "cluster_by is left out: write PARTITIONED BY",
    "partition_by": "partition_by is left out: write PARTITIONED BY",
}
"""By key of ``config()``, what differs; keys that are not here change no rows."""

SEED_TYPES = {
    "int64": "BIGINT",
    "double": "DOUBLE",
    "string": "VARCHAR",
    "bool": "BOOLEAN",
    "date32[day]": "DATE",
    "timestamp[s]": "TIMESTAMP",
    "timestamp[ns]": "TIMESTAMP",
    "timestamp[ns, tz=UTC]": "TIMESTAMP WITH TIME ZONE",
}
"""By Arrow's type of a column of a seed, the type here; any other is text."""

COMPILE = "run dbt compile, and name target/compiled behind the project"
"""What to do about Jinja that is not read."""
