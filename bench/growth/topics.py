"""What landing from Kafka costs by the partitions of the topic.

In: a number of records. Out: a curve. Every topic has the same records.
"""

from __future__ import annotations

import statistics
import time

from bench.growth.curve import Curve, Point
from bench.kafka import landed, produce
from bench.measure import driver_cpu
from bench.over_kafka import over_kafka

PARTITIONS = (1, 4, 16, 64)
_TIMES = 4


def partitions(rows: int) -> Curve:
    """Return what landing so many records costs."""
    points = []
    with over_kafka() as (spark, config, broker):
        for count in PARTITIONS:
            topic = f"orders_{count}"
            produce(broker, rows, topic, count)
            costs = []
            for number in range(_TIMES):
                before, began = driver_cpu(spark), time.monotonic()
                landed(spark, config, broker, f"{topic}_{number}", topic)
                costs.append((driver_cpu(spark) - before, time.monotonic() - began))
            cpu, wall = (statistics.median(each) for each in zip(*costs[1:], strict=True))
            points.append(Point(count, cpu, wall))
    return Curve("partitions", f"landing {rows:,} records of a topic", tuple(points))
