"""What the fingerprint forgives changes nothing that a table stores: units, state, the rule.

Every view is written in other orders of keys, terms and operands. A variant with the fingerprint of
the original is what a run goes on with, so its program has to fit the stored rows.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from random import Random

import pytest
from sqlglot import exp

from headwater.analyze.project import bind
from headwater.dialect import parse, to_sql
from headwater.dialect.syntax import CreateStreamingView
from headwater.errors import HeadwaterError
from headwater.plan.planner import plan_project
from headwater.plan.program import StreamingProgram
from headwater.plan.view_plan import ViewPlan
from tests.accepted.corpus import forms
from tests.support.golden_files import check_golden
from tests.unit.plan.test_plan_golden import CASES, FOLDER, TABLES, plan_of

UNITS = FOLDER.parent / "units.json"
_TURNED = {exp.GT: exp.LT, exp.LT: exp.GT, exp.GTE: exp.LTE, exp.LTE: exp.GTE}
_FORMS = 12
"""One form in so many is tried here."""
_LISTS = ((exp.Group, "expressions"), (exp.In, "expressions"), (exp.Window, "partition_by"))
ORDERS = """
CREATE TABLE a (id BIGINT, k BIGINT, g VARCHAR, x BIGINT, y BIGINT, at TIMESTAMP WITH TIME ZONE,
  PRIMARY KEY (id)) WITH (connector = 'files', path = 'a') FORMAT UPSERT ENCODE JSON;
CREATE TABLE b (k BIGINT, h VARCHAR, z BIGINT, PRIMARY KEY (k))
WITH (connector = 'files', path = 'b') FORMAT UPSERT ENCODE JSON;
CREATE TABLE log (id BIGINT, k BIGINT, g VARCHAR, x BIGINT, y BIGINT, price DOUBLE)
WITH (connector = 'files', path = 'log') FORMAT PLAIN ENCODE JSON;
"""
VIEWS = (
    "SELECT a.g, b.h, max(a.id) AS m FROM a LEFT JOIN b ON a.k = b.k GROUP BY a.g, b.h",
    "SELECT a.g AS one, b.h AS two, max(a.id) AS m FROM a LEFT JOIN b ON a.k = b.k"
    " GROUP BY b.h, a.g, a.x + a.y",
    "SELECT b.h FROM a LEFT JOIN b ON a.k = b.k AND a.x = b.z AND a.y < b.z",
    "SELECT a.y * a.x AS p, b.h FROM a LEFT JOIN b ON b.k = a.k",
    "SELECT a.id + b.z AS p FROM a FULL JOIN b ON a.k = b.k AND b.z = a.x",
    "SELECT DISTINCT a.y + a.x AS p, b.h FROM a LEFT JOIN b ON a.k = b.k",
    "SELECT g, max(x) + max(y) AS m, sum(x * y) + count(y * x) AS n FROM log GROUP BY g, k",
    "SELECT g, max(x) * min(y) AS m, count(k) + max(y) AS n FROM log GROUP BY g",
    "SELECT id, row_number() OVER (PARTITION BY y + x, g ORDER BY id) AS n FROM log"
    " QUALIFY 1 = row_number() OVER (PARTITION BY x + y, g ORDER BY id)",
    "SELECT id, g FROM log QUALIFY row_number() OVER (PARTITION BY x + y ORDER BY y * x, id) < 3",
    "SELECT id, n FROM (SELECT id, row_number() OVER (PARTITION BY g ORDER BY id) AS n FROM log)"
    " AS t WHERE 1 = n",
    "SELECT id, max(x) OVER (PARTITION BY g, k) + count(y) OVER (PARTITION BY k, g, x) AS n FROM a",
    "SELECT id FROM a QUALIFY rank() OVER (PARTITION BY g, k ORDER BY id) = 1"
    " AND count(*) OVER (PARTITION BY k, x, g) < 9",
    "SELECT x > y AS p, count(*) AS n FROM a GROUP BY x > y, g IN ('b', 'a'), x = 1 OR y = 2",
    "SELECT g, h FROM a JOIN b ON a.k = b.k EXCEPT SELECT g, h FROM a JOIN b ON a.x = b.z",
    "SELECT x + y AS p FROM a GROUP BY x + y, k UNION ALL SELECT z AS p FROM b GROUP BY z, h",
    "SELECT id FROM a WHERE EXISTS (SELECT 1 FROM b WHERE b.k = a.k AND b.z > a.x)",
    "SELECT k, count(*) AS n FROM (SELECT k, g, max(x) AS m FROM a GROUP BY k, g) AS t GROUP BY k",
)  # fmt: skip


def views() -> Iterator[tuple[str, str]]:
    """Yield the definitions of tables, and a view."""
    for case in CASES:
        yield case.stem, f"{TABLES.read_text()}\n{case.read_text()}"
    for number, text in enumerate(VIEWS):
        yield f"order_{number}", f"{ORDERS}CREATE STREAMING VIEW v AS {text};"
    for form in [each for each in forms() if each.outcome == "ok"][::_FORMS]:
        yield form.text[:40], form.project.text


def other_order(view: exp.Expression, dice: Random) -> None:
    """Let keys, terms and operands of a parsed view change places."""
    for node in list(view.walk()):
        for kind, key in _LISTS:
            rarely = isinstance(node, exp.Window) and dice.random() < 0.8
            if isinstance(node, kind) and node.args.get(key) and not rarely:
                items = list(node.args[key])
                dice.shuffle(items)
                node.set(key, items)
        if dice.random() < 0.3:
            continue
        turns = isinstance(node, (exp.EQ, exp.NEQ, exp.Add, exp.Mul, exp.Connector))
        if turns or type(node) in _TURNED:
            left, right = node.this, node.expression
            if turns:
                node.set("this", right)
                node.set("expression", left)
            else:
                node.replace(_TURNED[type(node)](this=right, expression=left))


def plan_last(text: str) -> ViewPlan:
    *_, plan = plan_project(bind({"t.sql": parse(text, file="t.sql")})).values()
    return plan


def in_other_order(text: str, dice: Random) -> str:
    *others, view = parse(text, file="t.sql")
    assert isinstance(view, CreateStreamingView)
    other_order(view, dice)
    return ";\n".join(map(to_sql, [*others, view]))


def stored(plan: ViewPlan) -> dict[str, object]:
    """What a table of the view depends on beside its rows."""
    names = getattr(plan.program, "names", ())
    found = {
        "rule": plan.decision.rule.name,
        "hidden": [list(pair) for pair in plan.program.hidden],
        "holds": dict(plan.program.holds),
        "named by": [[each.tag, each.columns] for each in names],
    }
    if isinstance(plan.program, StreamingProgram) and plan.program.stateful:
        found["state"] = plan.program.sql
    return found


@pytest.mark.parametrize(("name", "text"), list(views()), ids=lambda value: value[:24])
def test_what_has_one_fingerprint_is_stored_alike(name: str, text: str) -> None:
    plan, tried = plan_last(text), 0
    for seed in range(6 if name.startswith("order_") else 1):
        try:
            other = plan_last(in_other_order(text, Random(f"{name} {seed}")))
        except HeadwaterError:
            continue  # a form that does not accept the order
        if other.fingerprint == plan.fingerprint:
            tried += 1
            assert stored(other) == stored(plan)
    assert tried or not name.startswith("order_")


def test_units_and_state_stay() -> None:
    """A new sqlglot, printer or planner must not change them: stored rows are found by them.

    If one has to, raise ``FORMAT``: the rows of an older format are looked at before a view goes on
    (``headwater.serve.doctor.unit_names.stored_otherwise``).
    """
    found = {case.stem: stored(plan_of(case)[1]) for case in CASES}
    check_golden(UNITS, json.dumps(found, indent=1) + "\n")
