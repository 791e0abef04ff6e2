"""Changes of a keyed table: values left out, deletions, TRUNCATE; and what a loop makes of them."""

from __future__ import annotations

import random
from collections.abc import Sequence
from typing import Any

from headwater.analyze.definitions import DELETED, TRUNCATED, UPSERTED

LEFT_OUT = ("", "", "body", "raw", "body,raw")

Change = tuple[Any, ...]


def changes(seed: int, count: int = 60, *, truncates: float = 0) -> list[Change]:
    """Return changes of a few keys, in the order in which they happened.

    Args:
        seed: the same seed, the same changes.
        count: how many.
        truncates: the share of them that are a TRUNCATE.
    """
    chance, made = random.Random(seed), []
    for number in range(count):
        place = f"{number // 4:03}", number % 4
        if chance.random() < truncates:
            made.append((None, None, None, None, TRUNCATED, "", *place))
            continue
        key = chance.randrange(3)
        if chance.random() < 0.15:
            made.append((key, None, None, None, DELETED, "", *place))
            continue
        left_out = chance.choice(LEFT_OUT)
        body = None if "body" in left_out else chance.choice(("x", "y"))
        raw = None if "raw" in left_out else chance.choice((b"1", b"", None))
        made.append((key, number, body, raw, UPSERTED, left_out, *place))
    return made


def held(log: Sequence[Change]) -> list[tuple[Any, ...]]:
    """Return the rows that are there after changes in the order of the input."""
    rows: dict[Any, tuple[Any, ...]] = {}
    for key, n, body, raw, kind, left_out, *_ in sorted(log, key=lambda change: change[-2:]):
        if kind == TRUNCATED:
            rows.clear()
        _, old_body, old_raw = rows.pop(key, (None, None, None))
        if kind == UPSERTED:
            body = old_body if "body" in left_out else body
            rows[key] = n, body, old_raw if "raw" in left_out else raw
    return sorted((key, *row) for key, row in rows.items())
