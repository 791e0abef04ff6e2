"""Which of many like questions a run asks: others with every commit, and all of them at length.

``HEADWATER_SEED`` chooses (the Makefile gives the number of commits), and with ``HEADWATER_EVERY``
all are asked: ``make fuzz`` does.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import TypeVar

T = TypeVar("T")
SEED = int(os.environ.get("HEADWATER_SEED", "0"))


def some(questions: Sequence[T], parts: int) -> list[T]:
    """Return every so-manieth question, another part for each seed.

    Args:
        questions: in an order of their own.
        parts: how many seeds ask all of them.
    """
    every = os.environ.get("HEADWATER_EVERY")
    return list(questions if every else questions[SEED % parts :: parts])
