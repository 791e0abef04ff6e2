"""A program from outside the package maintains a view by its own writer: one line of a table."""

from __future__ import annotations

from contextlib import contextmanager

from law import Landed
from running import Running

from headwater.engine.incremental.contract import RuleWriter
from headwater.engine.incremental.registry import WRITERS
from headwater.engine.view_commit import Change
from headwater.plan.rules import registry
from tests.support.counting import RULE, CountProgram

DEFINITIONS = """
CREATE TABLE people (name VARCHAR, age BIGINT)
WITH (connector = 'files', path = 'people') FORMAT PLAIN ENCODE JSON;
CREATE STREAMING VIEW v AS SELECT count(*) AS n FROM people;
"""


def test_a_foreign_rule_maintains_a_view_in_a_tick(spark, lake, monkeypatch):
    gains = []

    @contextmanager
    def change(tick, program):
        table = tick.before.table
        (held,) = table.read(table.snapshot_id()).first()
        (gained,) = tick.session.sql(program.sql).first()
        gains.append(gained)
        total = tick.session.sql(f"SELECT CAST({held + gained} AS BIGINT) AS n")
        yield Change(lambda target: target.replace(total), {"gained": gained})

    monkeypatch.setattr(registry, "RULES", (RULE, *registry.RULES))
    monkeypatch.setitem(WRITERS, CountProgram, RuleWriter(lambda program: program.sql, change))
    people = Landed(lake, "people", {"name": "STRING", "age": "BIGINT"})
    people.land(("ann", 30), ("bob", None))
    running = Running(spark, lake, DEFINITIONS)
    assert running.plans["v"].decision.rule is RULE
    assert not running.tick()
    assert running.held("v") == [(2,)]
    people.land(("cem", 4))
    running.open()  # it goes on from its table alone
    assert not running.tick()
    assert (running.held("v"), gains) == ([(3,)], [1])
    assert running.views["v"].marker.counts == {"changed": 1, "gained": 1}
