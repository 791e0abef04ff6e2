"""All rules of the planner: one line each, the first that applies decides."""

from __future__ import annotations

from headwater.plan.rules import (
    affected_groups,
    affected_keys,
    append,
    clock,
    closed_time,
    constant_rows,
    exact_change,
    fixed_point,
    fold,
    newest,
    recompute,
    streaming,
    top,
)
from headwater.plan.rules.contract import Rule

RULES: tuple[Rule, ...] = (
    recompute.RULE,
    fixed_point.RULE,
    constant_rows.RULE,
    clock.RULE,
    append.LINEAR,
    closed_time.RULE,
    streaming.LINEAR,
    streaming.WINDOW_CLOSE,
    streaming.INTERVAL_JOIN,
    streaming.DEDUPLICATE,
    append.JOINED,
    newest.RULE,
    fold.RULE,
    exact_change.RULE,
    affected_keys.RULE,
    top.RULE,
    affected_groups.RULE,
)
