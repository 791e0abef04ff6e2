"""What the time without rows changes: a table follows others, by epochs without rows.

In: a landing without anything to read. Out: an epoch that moves its watermark, if it moves. See
:mod:`headwater.intake.idle`.

A table that is idle follows the tables that are read with it. Its own marker says how far: what a
view is told of a table is the table's own watermark, always. So rows that come later have a stamp
that is no less than what any view has closed by.
"""

from __future__ import annotations

from dataclasses import replace

from headwater.intake.land import Landing
from headwater.lake.watermark import floor_to_ms, reached_with


def rest(landing: Landing, others: int | None = None, *, hurry: bool = False) -> bool:
    """Commit what the time without rows changes; call it when a step has found nothing.

    Args:
        others: what the tables that are read with it have all reached, microseconds since 1970
            UTC; None if that is not known.
        hurry: whether to follow them at once, however short ago that was done.

    Returns:
        Whether an epoch without rows was committed.
    """
    last, idle, rule = landing.marker, landing.idle, landing.source.watermark
    if rule is None or not idle.watches:
        return False
    now = landing.come.watermark
    target = None if others is None else floor_to_ms(others)
    follows = target is not None and (now is None or target > now) and idle.is_idle
    waiting = idle.holding(last) if last else ()
    if not (follows and (hurry or idle.may_follow()) and not landing.backlog()):
        if not last or waiting == last.waiting:
            return False
        target = None
    marker = replace(landing.next_marker({}), waiting=waiting)
    if target is not None:
        marker = replace(marker, watermark=target, idle=True)
    elif reached_with(marker, rule, {}).watermark == now:
        return False
    landing.commit(marker, lambda staging: None)
    return True
