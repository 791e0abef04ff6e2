"""A landed table whose clauses change: it says by which its rows were landed.

In: a table and its definition as it is now. Out: the watermark clause that its newest rows were
landed by, if that is another one; a refusal if the event time is another column.

Rows keep the stamp with which they were landed, so that views stay equal to their SELECT. What the
watermark has reached by the old clause, views may have acted upon: the new clause begins there.
"""

from __future__ import annotations

import json
from dataclasses import replace

from headwater.analyze.definitions import Source
from headwater.errors import TerminalError
from headwater.lake.iceberg.table import LakeTable
from headwater.lake.reserved_names import LANDED_BY, landed_by
from headwater.plan.table_parts import event_time, parts_of, watermark_of


def with_clause_before(source: Source, table: LakeTable) -> Source | None:
    """Return a definition with the watermark clause that a table had, None if it has that still.

    Raises:
        TerminalError: ``SCHEMA_CHANGED`` if the event time is another column.
    """
    parts = landed_by(table.properties())
    rule = watermark_of(parts)
    if rule is None or source.watermark is None or rule == source.watermark:
        return None
    if rule.column != source.watermark.column:
        raise TerminalError(
            "SCHEMA_CHANGED",
            f'table "{source.name}" has its event time in column "{event_time(parts)}", defined as '
            f'"{source.watermark.column}"',
            hint="undo the change, or give the new definition a new name, which reads its input "
            "from the start",
            span=source.span,
        )
    return replace(source, watermark=rule)


def note_clauses(source: Source, table: LakeTable) -> None:
    """Have a table say by which clauses it lands rows from now on."""
    said = json.dumps(parts_of(source))
    if table.properties().get(LANDED_BY) != said:
        table.java.updateProperties().set(LANDED_BY, said).commit()
