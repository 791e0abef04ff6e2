"""A trace in the format of Chrome's viewer, which Perfetto opens too.

In: spans of processes and lanes, in microseconds since 1970 UTC. Out: one JSON file. Source: "Trace
Event Format", Google.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any


@dataclass(frozen=True, slots=True)
class TraceSpan:
    """Something that took time.

    Attributes:
        process: whose lanes it stands among.
        lane: spans of one lane lie within each other or beside each other.
        name: what is shown on it.
        began: microseconds since 1970 UTC.
        took: microseconds.
        details: shown when it is picked.
    """

    process: str
    lane: str
    name: str
    began: int
    took: int
    details: Mapping[str, Any] = field(default_factory=dict)


def write_trace(path: Path, spans: Iterable[TraceSpan]) -> None:
    """Write spans to a file.

    Args:
        path: the file; one that is there is replaced.
        spans: in any order.
    """
    processes: dict[str, int] = {}
    lanes: dict[tuple[str, str], int] = {}
    events: list[dict[str, Any]] = []
    for span in spans:
        process = processes.setdefault(span.process, len(processes) + 1)
        lane = lanes.setdefault((span.process, span.lane), len(lanes) + 1)
        events.append(
            {
                "ph": "X",
                "pid": process,
                "tid": lane,
                "name": span.name,
                "ts": span.began,
                "dur": span.took,
                "args": dict(span.details),
            }
        )
    names = [_name("process_name", number, 0, name) for name, number in processes.items()]
    names += [
        _name("thread_name", processes[process], number, lane)
        for (process, lane), number in lanes.items()
    ]
    path.write_text(json.dumps({"traceEvents": [*names, *events]}), encoding="utf-8")


def _name(kind: str, process: int, lane: int, name: str) -> dict[str, Any]:
    return {"ph": "M", "pid": process, "tid": lane, "name": kind, "args": {"name": name}}
