"""A standalone cluster of Spark on this machine, for what needs executors of their own.

In: a folder, a number of workers. Out: the address of the master, as long as the block runs.
"""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import IO

import pyspark
from tenacity import Retrying, retry_if_exception_type, stop_after_delay, wait_fixed

from headwater.machine.java import find_java

SPARK_HOME = Path(pyspark.__file__).parent
SETTINGS = {
    "spark.driver.host": "127.0.0.1",
    "spark.executor.memory": "512m",
    "spark.executor.cores": "1",
    # all workers take part, whoever is ready first
    "spark.scheduler.minRegisteredResourcesRatio": "1.0",
}


def environment() -> dict[str, str]:
    """Return the environment of all processes: this Python, and a Java that Spark runs on."""
    return {
        **{key: value for key, value in os.environ.items() if not key.startswith("PYSPARK_")},
        "JAVA_HOME": str(find_java().home),
        "SPARK_HOME": str(SPARK_HOME),
        "SPARK_LOCAL_IP": "127.0.0.1",
        "PYSPARK_PYTHON": sys.executable,
    }


@contextmanager
def standalone(folder: Path, workers: int) -> Iterator[str]:
    """Run a master and workers of one core and one gigabyte each; yield the master's address.

    Args:
        folder: gets their logs, and ``work`` with what the executors write.
        workers: how many.
    """
    port = free_port()
    address = f"spark://127.0.0.1:{port}"
    place = ["--host", "127.0.0.1", "--webui-port", "0"]
    worker = [*place, "--cores", "1", "--memory", "1G", "--work-dir", str(folder / "work")]
    with ExitStack() as processes:
        processes.enter_context(
            _daemon("master.Master", [*place, "--port", str(port)], folder / "master.log")
        )
        _wait_for(port)
        for number in range(workers):
            log = folder / f"worker{number}.log"
            processes.enter_context(_daemon("worker.Worker", [*worker, address], log))
        yield address


@contextmanager
def own_group(
    command: Sequence[str], log: IO[str], settings: Mapping[str, str]
) -> Iterator[subprocess.Popen[bytes]]:
    """Start a program, and end it with everything that it started, whatever happens."""
    process = subprocess.Popen(
        command, stdout=log, stderr=subprocess.STDOUT, env=settings, start_new_session=True
    )
    try:
        yield process
    finally:
        with suppress(ProcessLookupError):  # all have ended
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()


@contextmanager
def _daemon(name: str, arguments: Sequence[str], log: Path) -> Iterator[None]:
    command = [str(SPARK_HOME / "bin" / "spark-class"), f"org.apache.spark.deploy.{name}"]
    small = {**environment(), "SPARK_DAEMON_MEMORY": "256m"}
    with log.open("w") as file, own_group([*command, *arguments], file, small):
        yield


def free_port() -> int:
    """Return a port that nothing listens on."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def _wait_for(port: int) -> None:
    refused = retry_if_exception_type(ConnectionRefusedError)
    for attempt in Retrying(stop=stop_after_delay(60), wait=wait_fixed(0.1), retry=refused):
        with attempt:
            socket.create_connection(("127.0.0.1", port)).close()
