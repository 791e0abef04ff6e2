"""What Structured Streaming writes down as the end of a batch, and the cut that it stands for.

In: the sources of a query in the order of its checkpoint, and their offsets as text. Out: the cut
of a marker, and back. Knows neither Spark nor files.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from headwater.errors import TerminalError

NOTHING = "-"
"""What Structured Streaming writes for a source that it has not read yet."""


@dataclass(frozen=True, slots=True)
class OffsetStream:
    """One source of a streaming query.

    Attributes:
        name: the input, or None for heartbeats.
        kept: whether it is a table of the lake, whose position is a snapshot.
    """

    name: str | None
    kept: bool


HEARTBEAT = OffsetStream(None, False)


def cut_of(view: str, order: Sequence[OffsetStream], ends: Sequence[str]) -> dict[str, str]:
    """Return the cut that a batch's offsets stand for.

    Args:
        order: the query's sources.
        ends: their offsets, in the same order; of a SOURCE, its position in the cut.

    Raises:
        TerminalError: ``CUT_SPLIT`` if one input was read up to two positions.
    """
    cut: dict[str, str] = {}
    for origin, end in zip(order, ends, strict=True):
        position = snapshot_of(end) if origin.kept else end
        if origin.name is None or position in (None, NOTHING):
            continue
        if cut.setdefault(origin.name, position) != position:
            raise TerminalError(
                "CUT_SPLIT",
                f'view "{view}" reads "{origin.name}" twice, and one batch ends at two positions',
                hint="split the view so that each part reads the table once",
            )
    return cut


def snapshot_of(end: str) -> str | None:
    """Return the snapshot id in an offset of Iceberg's source, None if it has read nothing.

    Args:
        end: the offset as text.
    """
    if end == NOTHING:
        return None
    found = int(json.loads(end)["snapshot_id"])
    return str(found) if found >= 0 else None


def offset_at(snapshot_id: str, added_files: int) -> str:
    """Return the offset of Iceberg's streaming source behind the last file of a snapshot.

    Args:
        added_files: number of data files it added.
    """
    fields = {
        "version": 1,
        "snapshot_id": int(snapshot_id),
        "position": added_files,
        "scan_all_files": False,
    }
    return json.dumps(fields, separators=(",", ":"))


def records_at(position: str, ids: Mapping[str, str] | None = None) -> str | None:
    """Return how far topics of Kafka were read, None if it is no such position.

    Args:
        position: an offset of Spark's source, or a position in a cut, which has ids of topics.
        ids: by topic, its id, for a position in a cut; without, the offset of Spark's source.
    """
    try:
        topics = json.loads(position)
    except ValueError:
        return None
    if not isinstance(topics, dict) or not all(isinstance(t, dict) for t in topics.values()):
        return None
    held = {
        topic: {
            **({"id": ids[topic]} if ids else {}),
            **{number: offsets[number] for number in sorted(offsets.keys() - {"id"}, key=int)},
        }
        for topic, offsets in sorted(topics.items())
    }
    return json.dumps(held, separators=(",", ":"))


def log_offset(end: str) -> int | None:
    """Return the entry of its log up to which a file source has read, None if it is no such offset.

    Args:
        end: the offset as text, or a position in a cut.
    """
    try:
        fields = json.loads(end)
    except ValueError:
        return None
    found = fields.get("logOffset") if isinstance(fields, dict) else None
    return found if isinstance(found, int) else None


def log_end(number: int) -> str:
    """Return the offset of a file source after an entry of its log.

    Args:
        number: number of the entry.
    """
    return json.dumps({"logOffset": number}, separators=(",", ":"))
