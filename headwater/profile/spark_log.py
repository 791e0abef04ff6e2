"""What Spark did: statements, jobs and tasks, from its event log.

In: the folder in which Spark wrote its log. Out: spans. A statement without a job was planned and
nothing else, or commits by itself.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from headwater.profile.trace import TraceSpan

PROCESS = "Spark"
_SQL = "org.apache.spark.sql.execution.ui.SparkListenerSQLExecution"


def spark_spans(folder: Path) -> Iterator[TraceSpan]:
    """Yield the spans of a log that Spark has closed.

    Args:
        folder: ``spark.eventLog.dir``.
    """
    statements = _Pairs(f"{_SQL}Start", f"{_SQL}End", "executionId", "time")
    jobs = _Pairs("SparkListenerJobStart", "SparkListenerJobEnd", "Job ID")
    slots = _Slots()
    for event in _events(folder):
        for pairs, lane in ((statements, "statements"), (jobs, "jobs")):
            if done := pairs.closed_by(event):
                began, ended, start = done
                lane = f"{lane} {slots.take(lane, began, ended)}"
                yield TraceSpan(PROCESS, lane, _said(start), began, ended - began)
        if event["Event"] == "SparkListenerTaskEnd":
            yield _task(event, slots)


def _events(folder: Path) -> Iterator[dict[str, Any]]:
    for path in sorted(each for each in folder.rglob("*") if each.is_file()):
        if path.name.startswith(("appstatus", ".")):  # a checksum
            continue
        with path.open(encoding="utf-8") as lines:
            yield from map(json.loads, lines)


class _Pairs:
    """Finds for each event that ends something the one that began it."""

    def __init__(self, start: str, end: str, key: str, time: str = "") -> None:
        self._start, self._end, self._key = start, end, key
        self._times = (time or "Submission Time", time or "Completion Time")
        self._open: dict[int, dict[str, Any]] = {}

    def closed_by(self, event: dict[str, Any]) -> tuple[int, int, dict[str, Any]] | None:
        """Return beginning and end in microseconds, and the first event."""
        if event["Event"] == self._start:
            self._open[event[self._key]] = event
        if event["Event"] != self._end or event[self._key] not in self._open:
            return None
        start = self._open.pop(event[self._key])
        return start[self._times[0]] * 1000, event[self._times[1]] * 1000, start


class _Slots:
    """Gives spans that overlap lanes of their own."""

    def __init__(self) -> None:
        self._ends: dict[str, list[int]] = {}

    def take(self, kind: str, began: int, ended: int) -> int:
        """Return the first lane of a kind that is free."""
        ends = self._ends.setdefault(kind, [])
        for number, end in enumerate(ends):
            if end <= began:
                ends[number] = ended
                return number + 1
        ends.append(ended)
        return len(ends)


def _said(start: dict[str, Any]) -> str:
    if "Job ID" in start:
        return f"job {start['Job ID']}: {len(start['Stage IDs'])} stages"
    plan = str(start.get("physicalPlanDescription", "")).splitlines()
    root = next((line for line in plan if line and not line.startswith("==")), "")
    return f"{start['executionId']}: {root.strip() or start['description']}"


def _task(event: dict[str, Any], slots: _Slots) -> TraceSpan:
    info, metrics = event["Task Info"], event.get("Task Metrics") or {}
    began, ended = info["Launch Time"] * 1000, info["Finish Time"] * 1000
    details = {
        "CPU ms": metrics.get("Executor CPU Time", 0) / 1e6,
        "deserialised in CPU ms": metrics.get("Executor Deserialize CPU Time", 0) / 1e6,
        "rows read": metrics.get("Input Metrics", {}).get("Records Read", 0),
        "rows written": metrics.get("Output Metrics", {}).get("Records Written", 0),
    }
    lane = f"tasks {slots.take('tasks', began, ended)}"
    return TraceSpan(PROCESS, lane, f"stage {event['Stage ID']}", began, ended - began, details)
