"""One commit that gives a table the rows of another one, or of a snapshot of its own.

In: what was decided. Out: the same for each format, which commits it in its own way.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Generic, TypeVar

from headwater.lake.protocol.marker import Marker
from headwater.lake.protocol.table import Table

T = TypeVar("T", bound=Table)


@dataclass(frozen=True, slots=True)
class Takeover(Generic[T]):
    """What a table becomes.

    Attributes:
        source: its shadow, or the table itself.
        snapshot_id: the snapshot of the source.
        marker: goes into the commit.
        base: the current snapshot of the table, on which everything was decided.
        properties: to set; None removes one.
        tags: to create, with their snapshots; None removes one.
    """

    source: T
    snapshot_id: int
    marker: Marker
    base: int
    properties: Mapping[str, str | None]
    tags: Mapping[str, int | None]
