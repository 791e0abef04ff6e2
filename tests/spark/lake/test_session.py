"""The Spark session: settings that other parts rely on, and what it says when it fails."""

from __future__ import annotations

import re
from dataclasses import replace

import pytest
from py4j.protocol import Py4JJavaError
from pyspark.errors import AnalysisException

from headwater.errors import ServiceError
from headwater.lake.spec import TableSpec
from headwater.runtime.session import explain_failure, open_session, session_for_thread


def test_session_is_in_utc_with_ansi_sql(spark):
    assert spark.sql("SELECT current_timezone()").head()[0] == "UTC"
    with pytest.raises(Exception, match="DIVIDE_BY_ZERO"):
        spark.sql("SELECT 1 / 0").collect()


@pytest.mark.parametrize("format_", ["text", "csv", "json", "parquet", "binaryFile"])
def test_sql_cannot_read_files(spark, format_):
    with pytest.raises(AnalysisException):
        spark.sql(f"SELECT * FROM {format_}.`/etc/hostname`").collect()


def test_metadata_tables_branches_and_temporary_views_can_be_read(lake):
    table = lake.ensure(TableSpec("t", (("k", "INT", True),)))
    for name in ("snapshots", "history", "refs", "files", "entries"):
        lake.spark.sql(f"SELECT * FROM {table.identifier}.{name}").collect()
    table.read().createOrReplaceTempView("t_view")
    assert lake.spark.sql("SELECT count(*) FROM t_view").head()[0] == 0
    lake.spark.catalog.dropTempView("t_view")


def test_sessions_of_threads_share_tables_but_not_views_and_settings(lake):
    table = lake.ensure(TableSpec("t", (("k", "INT", True),)))
    first, second = session_for_thread(lake.spark), session_for_thread(lake.spark)
    first.range(1).createOrReplaceTempView("own")
    first.conf.set("spark.sql.shuffle.partitions", "7")
    assert second.conf.get("spark.sql.shuffle.partitions") == "2"
    assert not second.catalog.tableExists("own")
    assert lake.using(second).table("t").snapshot_id() == table.snapshot_id()


def test_passwords_are_redacted(spark):
    names = ("fs.s3a.secret.key", "db.Password", "x.token", "kafka.sasl.jaas.config", "my.pwd")
    names += ("ssl.keystore.location", "ssl.truststore.location", "aws.credentials", "account.key")
    conf = spark.sparkContext.getConf()
    for setting in ("spark.redaction.regex", "spark.sql.redaction.options.regex"):
        pattern = re.compile(conf.get(setting))
        assert [name for name in names if not pattern.search(name)] == []
    assert spark.conf.get("spark.sql.variable.substitute") == "false"


def test_log_goes_to_the_state_folder(spark, spark_config):
    logger = spark._jvm.org.apache.logging.log4j.LogManager.getLogger("test")
    logger.warn("a line for the log")
    log = (spark_config.state / "_logs" / "spark.log").read_text()
    assert "a line for the log" in log


def test_warehouse_that_cannot_be_made_is_named(tmp_path, spark_config):
    (tmp_path / "file").write_text("")
    with pytest.raises(ServiceError) as error:
        open_session(replace(spark_config, warehouse=tmp_path / "file" / "w"), app_name="x")
    assert error.value.condition == "WAREHOUSE_NOT_WRITABLE"
    assert str(tmp_path) in error.value.message


def test_failure_inside_spark_is_explained(lake, spark_config):
    table = lake.ensure(TableSpec("t", (("k", "INT", True),)))
    (spark_config.warehouse / lake.namespace / "t" / "data").write_text("in the way")
    with pytest.raises(Py4JJavaError) as error:
        lake.spark.sql(f"INSERT INTO {table.identifier} VALUES (1)")
    explained = explain_failure(error.value)
    assert explained.condition == "WAREHOUSE_NOT_WRITABLE"
    assert "/t/data" in explained.message
