"""Fold for keyed tables: the newest change of each key, whatever order they arrive in."""

from __future__ import annotations

from dataclasses import dataclass
from random import Random

import duckdb
import pytest

from headwater.plan.rules import newest
from tests.algebra.rule import Rule
from tests.algebra.world import Given, Kept, World, planned
from tests.support import left_out

_TABLE = """
CREATE TABLE docs (id BIGINT, n BIGINT, body VARCHAR, raw VARBINARY, PRIMARY KEY (id))
WITH (connector = 'files', path = 'docs') FORMAT DEBEZIUM ENCODE JSON{};
"""
_SAID = {"truncate = 'apply'": (0, 0.1, 0, 0.1), "snapshot = 'replace'": (0, 0, 0.1, 0.1)}
"""The options of a table, and the share of such changes in each kind of trial."""


@dataclass(frozen=True, slots=True)
class _Trial:
    """Changes of a keyed table that arrive in another order than they happened."""

    seed: str
    ticks: int

    def wrong(self) -> str:
        """Return what is wrong with it after some tick, empty if nothing is."""
        rnd = Random(self.seed)
        way = rnd.randrange(4)
        truncates, snapshots = (shares[way] for shares in _SAID.values())
        options = ", ".join(option for option, shares in _SAID.items() if shares[way])
        _, plans = planned(_TABLE.format(f" ({options})" if options else ""))
        changes = left_out.changes(
            rnd.randrange(10**6), self.ticks * 3, truncates=truncates, snapshots=snapshots
        )
        rnd.shuffle(changes)
        stamps = "_snapshot BIGINT, _snapshot_end BIGINT, " if snapshots else ""
        columns = (
            "id BIGINT, n BIGINT, body VARCHAR, raw BLOB, _change_type VARCHAR,"
            f" _unchanged VARCHAR, {stamps}_path VARCHAR, _row BIGINT"
        )
        world = World([Given("docs__changes", columns)], [Kept.of(plans["docs"])], seed=way)
        try:
            arrived: list[left_out.Change] = []
            for number in range(self.ticks):
                new = changes[number :: self.ticks]
                arrived += new
                world.tick({"docs__changes": new})
                held = world.rows("SELECT id, n, body, raw FROM docs ORDER BY id")
                if (right := left_out.held(arrived)) != held:
                    return f"after tick {number}: holds {held}, not {right}"
        except duckdb.Error as error:
            return str(error)
        finally:
            world.close()
        return ""


def _last_to_arrive(patch: pytest.MonkeyPatch) -> None:
    """The change that arrived last wins, not the one that happened last."""
    patch.setattr(newest, "_later", lambda places: "true")


RULE = Rule("newest", (newest.RULE,), _Trial, _last_to_arrive)
