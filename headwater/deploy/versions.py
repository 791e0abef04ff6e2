"""The versions of a view: which there are, and how one comes into the place of another.

In: a view's table. Out: a commit that makes another version the current one. The last snapshot of
an earlier version has a tag with its number, and the table keeps the definition of each.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from headwater.errors import TerminalError
from headwater.lake.protocol.commit import check_token
from headwater.lake.protocol.marker import Marker
from headwater.lake.protocol.table import Table
from headwater.lake.protocol.takeover import Takeover
from headwater.lake.reserved_names import DEFINITION, definition_of, version_tag
from headwater.lake.shadows.shadow import take_over


@dataclass(frozen=True, slots=True)
class Version:
    """What a table says of its rows.

    Attributes:
        definition: the SQL that they are of.
        fingerprint: of this definition.
        cut: what was read of each input.
        watermark: that they were decided by.
        counts: what was counted while they were computed.
        rule: by which they were computed.
    """

    definition: str
    fingerprint: str
    cut: Mapping[str, str]
    watermark: int | None
    counts: Mapping[str, int] = field(default_factory=dict)
    rule: str = ""


@dataclass(frozen=True, slots=True)
class InPlace:
    """A version that has just become the current one.

    Attributes:
        version: its number.
        snapshot_id: the snapshot that it begins with.
    """

    version: int
    snapshot_id: int


def put_in_place(
    table: Table,
    source: Table,
    snapshot_id: int,
    version: Version,
    token: int,
    *,
    keep: int,
    sides: Callable[[Marker], None] = lambda marker: None,
) -> InPlace:
    """Make the rows of a shadow, or of an earlier version, those of a view, in one commit.

    Args:
        table: the table of the view.
        source: the shadow, or the same table.
        snapshot_id: the snapshot of the source.
        version: what the rows are.
        token: fence token of the lease.
        keep: how many earlier versions are retained.
        sides: writes the side tables, which come first.

    Raises:
        TerminalError: ``MARKER_MISSING`` if the view has never committed; ``FENCED``.
    """
    table.refresh()
    base, newest = table.snapshot_id(), table.newest()
    if newest is None:
        raise TerminalError("MARKER_MISSING", f'view "{table.name}" has no commit yet')
    last = newest.marker
    marker = Marker(
        view=last.view,
        version=last.version + 1,
        epoch=last.epoch + 1,
        cut_from=last.cut_to,
        cut_to=version.cut,
        watermark=version.watermark,
        token=token,
        fingerprint=version.fingerprint,
        counts=version.counts,
        rule=version.rule,
    )
    check_token(newest, marker)
    sides(marker)
    before = table.properties().get(DEFINITION, "")
    gone = range(1, marker.version - keep)
    properties = {DEFINITION: version.definition, definition_of(last.version): before}
    tags = {version_tag(last.version): newest.snapshot_id}
    taken = Takeover(
        source,
        snapshot_id,
        marker,
        base=base,
        properties=properties | dict.fromkeys(map(definition_of, gone)),
        tags=tags | dict.fromkeys(map(version_tag, gone)),
    )
    head = take_over(table, taken)
    return InPlace(marker.version, head)
