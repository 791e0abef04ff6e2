"""Changes of a keyed table: values left out, deletions, TRUNCATE, snapshots; and what a loop makes
of them."""

from __future__ import annotations

import random
from collections.abc import Sequence
from typing import Any

from headwater.analyze.definitions import DELETED, TRUNCATED, UPSERTED

LEFT_OUT = ("", "", "body", "raw", "body,raw")

Change = tuple[Any, ...]


def changes(
    seed: int, count: int = 60, *, truncates: float = 0, snapshots: float = 0
) -> list[Change]:
    """Return changes of a few keys, in the order in which they happened.

    Args:
        seed: the same seed, the same changes.
        count: how many, about.
        truncates: the share of them that are a TRUNCATE.
        snapshots: the share of them at which a snapshot is taken; some are broken off. The changes
            then say of which snapshot they are, and which one they end.
    """
    chance, made = random.Random(seed), list[Change]()

    def add(*change: Any, of: int | None = None, ends: int | None = None) -> None:
        place = f"{len(made) // 4:03}", len(made) % 4
        made.append((*change, *((of, ends) if snapshots else ()), *place))

    while len(made) < count:
        if chance.random() < snapshots:
            keys, whole = chance.sample(range(3), chance.randrange(1, 4)), chance.random() < 0.7
            taken = len(made)
            for key in keys:
                ends = taken if whole and key == keys[-1] else None
                add(key, taken, "z", b"2", UPSERTED, "", of=taken, ends=ends)
            continue
        if chance.random() < truncates:
            add(None, None, None, None, TRUNCATED, "")
            continue
        key = chance.randrange(3)
        if chance.random() < 0.15:
            add(key, None, None, None, DELETED, "")
            continue
        left_out = chance.choice(LEFT_OUT)
        body = None if "body" in left_out else chance.choice(("x", "y"))
        raw = None if "raw" in left_out else chance.choice((b"1", b"", None))
        add(key, len(made), body, raw, UPSERTED, left_out)
    return made


def held(log: Sequence[Change]) -> list[tuple[Any, ...]]:
    """Return the rows that are there after changes in the order of the input."""
    rows: dict[Any, tuple[Any, ...]] = {}
    for key, n, body, raw, kind, left_out, *_ in _standing(sorted(log, key=lambda c: c[-2:])):
        if kind == TRUNCATED:
            rows.clear()
        _, old_body, old_raw = rows.pop(key, (None, None, None))
        if kind == UPSERTED:
            body = old_body if "body" in left_out else body
            rows[key] = n, body, old_raw if "raw" in left_out else raw
    return sorted((key, *row) for key, row in rows.items())


def _standing(log: list[Change]) -> list[Change]:
    """The changes that the newest whole snapshot leaves standing; it ends no TRUNCATE."""
    ends = [at for at, each in enumerate(log) if len(each) > 8 and each[-3] is not None]
    if not ends:
        return log
    newest = log[ends[-1]][-3]
    before = [each for each in log[: ends[-1]] if each[-4] == newest or each[4] == TRUNCATED]
    return [*before, *log[ends[-1] :]]
