"""`jobs/run.py` on a standalone master with two workers makes the tables of a local process."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path

import pyspark
import pytest
from tenacity import Retrying, retry_if_exception_type, stop_after_delay, wait_fixed

from headwater.machine.java import find_java
from headwater.project import load_project
from headwater.serve.embedded import Embedded

SPARK_HOME = Path(pyspark.__file__).parent
JOB = Path(__file__).parents[3] / "jobs" / "run.py"
TIMEOUT = 300  # seconds; a quiet machine needs a tenth

PROJECT = """
CREATE TABLE orders (
  order_id BIGINT, product VARCHAR, quantity INTEGER, ordered_at TIMESTAMP WITH TIME ZONE,
  WATERMARK FOR ordered_at AS ordered_at - INTERVAL '2' MINUTE
) WITH (
  connector = 'datagen', number_of_rows = 2000, rows_per_second = 1, max_rows_per_epoch = 1000,
  seed = 7, fields.order_id.kind = 'sequence', fields.product.kind = 'values',
  fields.product.values = 'apple,banana,cherry,date', fields.quantity.min = 1,
  fields.quantity.max = 9, fields.ordered_at.max_lateness = '1 minute'
);
CREATE TABLE payments (
  order_id BIGINT, paid_at TIMESTAMP WITH TIME ZONE,
  WATERMARK FOR paid_at AS paid_at - INTERVAL '2' MINUTE
) WITH (
  connector = 'datagen', number_of_rows = 2000, rows_per_second = 1, max_rows_per_epoch = 1000,
  seed = 8, fields.order_id.kind = 'sequence', fields.paid_at.max_lateness = '1 minute'
);
CREATE STREAMING VIEW orders_per_minute AS
SELECT product, window_start, count(*) AS orders, sum(quantity) AS items
FROM TUMBLE(orders, ordered_at, INTERVAL '1' MINUTE) GROUP BY product, window_start
EMIT ON WINDOW CLOSE;
CREATE STREAMING VIEW paid AS
SELECT o.order_id, o.product, p.paid_at
FROM orders AS o JOIN payments AS p
  ON p.order_id = o.order_id
  AND p.paid_at BETWEEN o.ordered_at - INTERVAL '1' MINUTE AND o.ordered_at + INTERVAL '1' MINUTE;
CREATE STREAMING VIEW totals AS
SELECT product, count(*) AS orders, max(quantity) AS most FROM orders GROUP BY product;
"""
TABLES = ("orders", "payments", "orders_per_minute", "paid", "totals")


@pytest.fixture(scope="module")
def environment() -> dict[str, str]:
    """The environment of all processes: this Python, and a Java that Spark runs on."""
    return {
        **{key: value for key, value in os.environ.items() if not key.startswith("PYSPARK_")},
        "JAVA_HOME": str(find_java().home),
        "SPARK_HOME": str(SPARK_HOME),
        "SPARK_LOCAL_IP": "127.0.0.1",
        "PYSPARK_PYTHON": sys.executable,
    }


@pytest.fixture
def master(tmp_path: Path, environment: dict[str, str]) -> Iterator[str]:
    """Address of a standalone master with two workers of one core and one gigabyte each."""
    port = _free_port()
    address = f"spark://127.0.0.1:{port}"
    place = ["--host", "127.0.0.1", "--webui-port", "0"]
    worker = [*place, "--cores", "1", "--memory", "1G", "--work-dir", str(tmp_path / "work")]
    with ExitStack() as running:
        running.enter_context(
            _daemon(
                "master.Master", [*place, "--port", str(port)], tmp_path / "master", environment
            )
        )
        _wait_for(port)
        for name in ("worker1", "worker2"):
            running.enter_context(
                _daemon("worker.Worker", [*worker, address], tmp_path / name, environment)
            )
        yield address


def test_a_cluster_and_one_process_make_the_same_tables(
    tmp_path: Path, master: str, environment: dict[str, str]
) -> None:
    settings = {
        "spark.driver.host": "127.0.0.1",
        "spark.executor.memory": "512m",
        "spark.executor.cores": "1",
        "spark.cores.max": "2",
        # both workers take part, whoever is ready first
        "spark.scheduler.minRegisteredResourcesRatio": "1.0",
    }
    submit = [str(SPARK_HOME / "bin" / "spark-submit"), "--master", master]
    submit += [word for key, value in settings.items() for word in ("--conf", f"{key}={value}")]

    cluster = _run([*submit, str(JOB)], tmp_path / "cluster", environment)
    local = _run([sys.executable, str(JOB)], tmp_path / "local", environment)

    executors = list((tmp_path / "work").glob("app-*/*/stderr"))
    assert len(executors) == 2
    for table in TABLES:
        assert cluster[table], table
        assert cluster[table] == local[table], table


def _run(
    command: list[str], folder: Path, environment: dict[str, str]
) -> dict[str, Counter[object]]:
    """Run the project in a folder once; return the rows of each table."""
    folder.mkdir()
    (folder / "headwater.toml").write_text('name = "shop"\n')
    (folder / "all.sql").write_text(PROJECT)
    with (
        (folder / "log").open("w") as log,
        _own_group([*command, str(folder), "--once"], log, environment) as run,
    ):
        code = run.wait(TIMEOUT)
    assert code == 0, (folder / "log").read_text()
    engine = Embedded(load_project(folder))
    found = {}
    for table in TABLES:
        with engine.query(f"SELECT * FROM {table}") as result:
            found[table] = Counter[object](result.rows)
    return found


@contextmanager
def _daemon(
    name: str, arguments: list[str], log: Path, environment: dict[str, str]
) -> Iterator[None]:
    command = [str(SPARK_HOME / "bin" / "spark-class"), f"org.apache.spark.deploy.{name}"]
    small = {**environment, "SPARK_DAEMON_MEMORY": "256m"}
    with log.with_suffix(".log").open("w") as file, _own_group([*command, *arguments], file, small):
        yield


@contextmanager
def _own_group(
    command: list[str], log: object, environment: dict[str, str]
) -> Iterator[subprocess.Popen[bytes]]:
    """Start a program, and end it with everything that it started, whatever happens."""
    process = subprocess.Popen(
        command, stdout=log, stderr=subprocess.STDOUT, env=environment, start_new_session=True
    )
    try:
        yield process
    finally:
        with suppress(ProcessLookupError):  # all have ended
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def _wait_for(port: int) -> None:
    refused = retry_if_exception_type(ConnectionRefusedError)
    for attempt in Retrying(stop=stop_after_delay(60), wait=wait_fixed(0.1), retry=refused):
        with attempt:
            socket.create_connection(("127.0.0.1", port)).close()
