"""Epochs without rows, by which an idle table or lane stops holding the watermark back.

In: a landing without anything to read. Out: an epoch that moves the watermark, if it moves. See
:mod:`headwater.intake.idle`.

An idle table follows its *peers*, the tables that a view reads together with it. Its own marker
says how far, and views are told nothing else of it. So rows that come later have a stamp that is
no less than what any view has closed by.
"""

from __future__ import annotations

from dataclasses import replace

from headwater.intake.land import Landing
from headwater.lake.watermark import floor_to_ms, reached_with


def commit_idle_epoch(landing: Landing, peers: int | None = None, *, hurry: bool = False) -> bool:
    """Commit an epoch without rows if it moves the watermark; call it when no rows wait.

    Args:
        peers: the least watermark of the table's peers, microseconds since 1970 UTC; None if it
            has none, or that is not known.
        hurry: whether to follow them at once, however short ago that was done.

    Returns:
        Whether an epoch without rows was committed.
    """
    last, idle, rule = landing.marker, landing.idle, landing.source.watermark
    if rule is None or not idle.watches:
        return False
    now, wanted = landing.reached.watermark, None if peers is None else floor_to_ms(peers)
    waiting = idle.holding(last) if last else ()
    behind = wanted is not None and (now is None or wanted > now) and idle.is_idle
    follows = behind and (hurry or idle.may_follow()) and not landing.backlog()
    if not follows and (last is None or waiting == last.waiting):
        return False
    marker = replace(landing.next_marker({}), waiting=waiting)
    if follows:
        marker = replace(marker, watermark=wanted, idle=True)
    elif reached_with(marker, rule, {}).watermark == now:
        return False
    landing.commit(marker, lambda staging: None)
    return True
