"""What the algebra knows of a rule: random trials of it, and a mistake that they must see."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

import pytest

from headwater.plan.rules import contract


class Trial(Protocol):
    """Views over changing inputs, which can be wrong."""

    def wrong(self) -> str:
        """Return what is wrong with it after some tick, empty if nothing is."""


@dataclass(frozen=True, slots=True)
class Rule:
    """One rule, or what holds for all of them.

    Attributes:
        name: as ``make fuzz`` takes it.
        covers: the planner's rules that the trials are kept by.
        trial: makes a random trial from a seed and a number of ticks.
        mistake: plants a mistake in one place of the product.
        cases: how many trials the unit lane tries; the planted mistake shows in some of them.
    """

    name: str
    covers: tuple[contract.Rule, ...]
    trial: Callable[[str, int], Trial]
    mistake: Callable[[pytest.MonkeyPatch], None]
    cases: int = 8
