"""``make bench-serving``: from a record in Kafka to a row that Trino returns.

In: a rate, a time. Out: percentiles of the delay, for a landed table and for a view of it, while a
dashboard's queries are asked every five seconds.

A real Kafka, ``headwater run`` as a process, a real Trino. When each record was produced is known.
Two readers ask Trino, one query after the other, for the newest record that they can see; a
record's delay is the time until the first answer that includes it, so the query is part of it. The
topic has one partition: records come into sight in their order.

    python -m bench.serving --rate 1000 --seconds 120
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

from confluent_kafka import Producer
from confluent_kafka.admin import AdminClient, NewTopic

from headwater.config.settings import Config, TrinoSection, load_config
from headwater.serve.trino.catalog import properties
from headwater.serve.trino.client import trino_query
from headwater.servers.trino import TrinoServer
from jobs.demos.servers.kafka import Kafka

TOPIC = "events"
PROJECT = """CREATE TABLE events (
  id BIGINT, device BIGINT, value DOUBLE, at TIMESTAMP WITH TIME ZONE,
  WATERMARK FOR at AS at - INTERVAL '5' SECOND)
WITH (connector = 'kafka', topic = '{topic}', bootstrap_servers = '{servers}')
FORMAT PLAIN ENCODE JSON;
CREATE STREAMING VIEW per_device AS
SELECT device, count(*) AS events, sum(value) AS total, max(id) AS newest
FROM events GROUP BY device;
"""
DASHBOARD = (
    "SELECT date_trunc('minute', at), count(*) FROM events GROUP BY 1",
    "SELECT device, total FROM per_device ORDER BY total DESC LIMIT 10",
    "SELECT sum(events) FROM per_device",
    "SELECT view, max(committed_at), max(epoch) FROM commits GROUP BY view",
)
EVERY = 5.0
"""Seconds between two refreshes of the dashboard."""

WATCHED = {
    "landed table": "SELECT max(id) FROM events",
    "view": "SELECT max(newest) FROM per_device",
}


class Load:
    """Records at a steady rate, and when each was produced.

    Args:
        broker: the broker.
        rate: records per second.
    """

    def __init__(self, broker: Kafka, rate: int) -> None:
        self._producer = Producer({"bootstrap.servers": broker.address, "linger.ms": 5})
        self._rate = rate
        self.produced: list[float] = []

    def run(self, stop: threading.Event) -> None:
        """Produce until told to stop."""
        began = time.time()
        while not stop.wait(0.01):
            due = int((time.time() - began) * self._rate)
            for number in range(len(self.produced), due):
                now = time.time()
                value = {"id": number, "device": number % 200, "value": number % 97}
                value["at"] = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(now))
                self._producer.produce(TOPIC, json.dumps(value))
                self.produced.append(now)
            self._producer.poll(0)
        self._producer.flush()


def watch(
    config: Config, query: str, load: Load, delays: list[float], stop: threading.Event
) -> None:
    """Ask for the newest record again and again; note the delay of each that came into sight."""
    seen = -1
    while not stop.is_set():
        with trino_query(config, query) as result:
            ((newest,),) = result.rows
        answered = time.time()
        if newest is not None:
            delays.extend(
                answered - made for made in load.produced[seen + 1 : int(str(newest)) + 1]
            )
            seen = max(seen, int(str(newest)))


def refresh(config: Config, took: list[float], stop: threading.Event) -> None:
    """Ask what a dashboard asks, every few seconds."""
    while not stop.wait(EVERY):
        began = time.time()
        for query in DASHBOARD:
            with trino_query(config, query) as result:
                list(result.rows)
        took.append(time.time() - began)


def main() -> None:
    """Start the servers and the project, measure, say what came out."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rate", type=int, default=1000, help="records per second")
    parser.add_argument("--seconds", type=int, default=120, help="how long it is measured")
    parser.add_argument("--warm-up", type=int, default=40, help="seconds before that")
    options = parser.parse_args()
    with (
        tempfile.TemporaryDirectory(prefix="headwater-bench-") as name,
        Kafka(Path(name)) as broker,
    ):
        folder = Path(name) / "project"
        folder.mkdir()
        (folder / "headwater.toml").write_text('name = "bench"\n')
        (folder / "bench.sql").write_text(PROJECT.format(topic=TOPIC, servers=broker.address))
        topics = AdminClient({"bootstrap.servers": broker.address})
        topics.create_topics([NewTopic(TOPIC, 1, 1)])[TOPIC].result()
        config = load_config(folder)
        command = [sys.executable, "-m", "headwater", "--project", str(folder), "run"]
        with subprocess.Popen(command, stdout=subprocess.DEVNULL) as running:
            try:
                _await(lambda: (config.warehouse / "bench" / "per_device").exists())
                with TrinoServer(Path(name), {"lake": properties(config)}) as server:
                    measured = replace(config, trino=TrinoSection(url=server.address))
                    measure(measured, Load(broker, options.rate), options)
            finally:
                running.terminate()


def measure(config: Config, load: Load, options: argparse.Namespace) -> None:
    """Run load, readers and dashboard beside each other, and print the delays."""
    stop = threading.Event()
    delays: dict[str, list[float]] = {name: [] for name in WATCHED}
    took: list[float] = []
    threads = [
        threading.Thread(target=load.run, args=(stop,)),
        threading.Thread(target=refresh, args=(config, took, stop)),
        *(
            threading.Thread(target=watch, args=(config, query, load, delays[name], stop))
            for name, query in WATCHED.items()
        ),
    ]
    for thread in threads:
        thread.start()
    time.sleep(options.warm_up)
    begun = {name: len(found) for name, found in delays.items()}
    time.sleep(options.seconds)
    stop.set()
    for thread in threads:
        thread.join()
    machine, load_average = platform.processor() or platform.machine(), os.getloadavg()[0]
    print(f"# {machine}, {os.cpu_count()} cores, load {load_average:.1f}")
    print(f"# {options.rate} records/s for {options.seconds} s after {options.warm_up} s")
    for name, found in delays.items():
        parts = statistics.quantiles(found[begun[name] :], n=100)
        print(f"{name:<14} p50 {parts[49]:.2f} s   p99 {parts[98]:.2f} s   {len(found):,} records")
    print(f"dashboard      {len(DASHBOARD)} queries in {statistics.median(took):.2f} s (median)")


def _await(ready: Callable[[], bool], within: float = 120.0) -> None:
    deadline = time.monotonic() + within
    while not ready():
        if time.monotonic() > deadline:
            raise TimeoutError("headwater run did not create its tables")
        time.sleep(0.5)


if __name__ == "__main__":
    main()
