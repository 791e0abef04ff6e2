"""What the incremental engine needs to write the change of one kind of program.

A module of :mod:`headwater.engine.incremental.rules` ends with its :class:`RuleWriter`, and
:mod:`headwater.engine.incremental.registry` has one line for it.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import Generic, TypeVar

from pyspark.sql import SparkSession

from headwater.engine.incremental.recompute_policy import RecomputeLimits
from headwater.engine.view_commit import Change
from headwater.lake.iceberg.merge import Before
from headwater.plan.program import Program
from headwater.plan.view_plan import ViewPlan

P = TypeVar("P", bound=Program)


@dataclass(frozen=True, slots=True)
class Tick:
    """What a writer has at hand in one tick.

    Attributes:
        session: where everything that the program reads is registered.
        plan: the view's plan, for its columns.
        before: the view's table before.
        limits: from when on the whole view is computed.
    """

    session: SparkSession
    plan: ViewPlan
    before: Before
    limits: RecomputeLimits


@dataclass(frozen=True, slots=True)
class RuleWriter(Generic[P]):
    """How a kind of program is written to the view's table.

    Attributes:
        whole_sql: the query of all rows, hidden columns included, over what the program names in
            ``whole_reads``.
        change: gives what brings the table up to a change; what it caches lives as long as its
            block.
    """

    whole_sql: Callable[[P], str]
    change: Callable[[Tick, P], AbstractContextManager[Change]]
