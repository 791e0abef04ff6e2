"""The commit marker: what a commit of a view says about itself, in the snapshot summary.

In: view, version, epoch, cut of the inputs, watermark, fence token, plan fingerprint.
Out: string properties under ``headwater.*`` and back. Knows neither Spark nor Iceberg, so that
readers without a JVM (``status``, ``verify``) share it with the writers.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any

from headwater import __version__
from headwater.errors import TerminalError
from headwater.plan.identity import FORMAT

PREFIX = "headwater."
_LEFT_OUT_IF_EMPTY = (
    "evolved",
    "since",
    "waiting",
    "reached",
    "closed",
    "idle",
    "lateness",
    "rule",
)


@dataclass(frozen=True, slots=True)
class Marker:
    """Identity and inputs of one commit.

    Attributes:
        view: name of the view or landed table.
        version: version of its definition, from 1.
        epoch: number of the micro-batch or tick, from 0, rising by one with each commit.
        cut_from: per input, the position after the previous commit (Iceberg: the snapshot id as
            text; connectors: their own position as JSON text); an input never read is absent.
        cut_to: per input, the position after this commit.
        watermark: event time in microseconds since 1970 UTC: landed tables: the stamp of this
            epoch's rows; views: what the emission of this commit was decided by. None without an
            event time.
        token: fence token of the writer's lease.
        fingerprint: hash of the normalised definition.
        counts: rows read, late, quarantined, … of this epoch, where they were counted.
        evolved: what this commit made of columns of a landed table whose definition was changed.
        since: columns that were added to a landed table: the first epoch that has them; in rows of
            earlier ones they are NULL.
        waiting: landed tables: the lanes of the input that held the watermark back: rows of them
            still waited behind this epoch, or had come within the IDLE TIMEOUT
            (``headwater.lake.watermark``).
        reached: landed tables: while a backlog is read, the newest event time of each lane before
            this epoch, in microseconds since 1970 UTC.
        closed: landed tables: whether this commit says that the input has ended.
        idle: landed tables: whether this commit says that no rows have come for the IDLE TIMEOUT;
            its watermark is then what the tables that are read with it have reached.
        newest: landed tables with an adaptive watermark: the newest event time before this epoch,
            from which the lateness of its rows is measured, in microseconds since 1970 UTC.
        delay: landed tables with an adaptive watermark: the delay of the rows after this epoch, in
            microseconds.
        lateness: what it was decided by: rows of recent epochs before this one, by bucket
            (``headwater.lake.lateness``).
        rule: views: the rule by which this commit was computed, which says what hidden columns
            hold; empty in commits of releases that did not write it.
        began: views: when the work on this commit began, milliseconds since 1970 UTC.
        format: of the marker, its fingerprint, and what the table says of its definition.
        release: the version of Headwater that wrote it; empty in format 1.
    """

    view: str
    version: int
    epoch: int
    cut_from: Mapping[str, str]
    cut_to: Mapping[str, str]
    watermark: int | None = None
    token: int = 0
    fingerprint: str = ""
    counts: Mapping[str, int] = field(default_factory=dict)
    evolved: Mapping[str, str] = field(default_factory=dict)
    since: Mapping[str, int] = field(default_factory=dict)
    waiting: tuple[str, ...] = ()
    reached: Mapping[str, int] = field(default_factory=dict)
    closed: bool = False
    idle: bool = False
    newest: int | None = None
    delay: int | None = None
    lateness: Mapping[str, float] = field(default_factory=dict)
    rule: str = ""
    began: int | None = None
    format: int = FORMAT
    release: str = __version__

    def to_summary(self) -> dict[str, str]:
        """Return the marker as snapshot summary properties."""
        return {
            PREFIX + name: value if isinstance(value, str) else json.dumps(value, sort_keys=True)
            for name, value in asdict(self).items()
            if value is not None and (value or name not in _LEFT_OUT_IF_EMPTY)
        }

    @classmethod
    def from_summary(cls, summary: Mapping[str, str]) -> Marker | None:
        """Return the marker in a snapshot summary, or None if no view's commit wrote it.

        Raises:
            TerminalError: ``NEWER_FORMAT`` if a later Headwater wrote it.
        """
        if PREFIX + "epoch" not in summary:
            return None
        texts = {"view", "fingerprint", "release", "rule"}
        values: dict[str, Any] = {"format": 1, "release": ""}
        values |= {
            name: summary[PREFIX + name] if name in texts else json.loads(summary[PREFIX + name])
            for name in cls.__dataclass_fields__
            if PREFIX + name in summary
        }
        if "waiting" in values:
            values["waiting"] = tuple(values["waiting"])
        if values["format"] > FORMAT:
            raise TerminalError(
                "NEWER_FORMAT",
                f'table of "{values["view"]}" was written by Headwater {values["release"]}, '
                f"this is {__version__}",
                hint=f"install Headwater {values['release']} or newer",
            )
        return cls(**values)
