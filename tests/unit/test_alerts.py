"""The alert rules that come along have Prometheus' form and speak of metrics that there are."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import promql_parser
import pytest
from ruamel.yaml import YAML

from headwater.project import load_project
from headwater.runtime.events import RecordsWaiting, RunState
from headwater.runtime.metrics import Metrics
from headwater.runtime.run_metrics import Tally

ROOT = Path(__file__).parents[2]
FILE = ROOT / "docker" / "prometheus" / "alerts.yaml"
RULES: list[dict[str, Any]] = [
    rule for group in YAML(typ="safe").load(FILE)["groups"] for rule in group["rules"]
]
DURATION = re.compile(r"(\d+(ms|[smhdwy]))+")
LABEL = re.compile(r"[a-zA-Z_]\w*")

rules = pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule["alert"])


@pytest.fixture(scope="module")
def samples() -> dict[str, set[str]]:
    """The names of all samples of a scrape, with their labels."""
    project = load_project(ROOT / "sql" / "shop")
    tally = Tally(project.catalog)
    tally(RecordsWaiting("orders__changes", {"shop.public.orders/0": 1}))
    found: dict[str, set[str]] = {}
    for family in Metrics(project, tally).collect():
        for sample in family.samples:
            found[sample.name] = set(sample.labels)
        if not family.samples:  # no value is known yet
            assert family.type == "gauge"
            found[family.name] = {"kind", "name"}
    return found


def selectors(node: object) -> Iterator[Any]:
    """Every selector of a metric in an expression of PromQL."""
    if isinstance(node, promql_parser.VectorSelector):
        yield node
    for part in ("expr", "lhs", "rhs", "vector_selector", "vs"):
        if (inner := getattr(node, part, None)) is not None:
            yield from selectors(inner)
    for argument in getattr(node, "args", None) or ():
        yield from selectors(argument)


def test_the_file_has_the_form_of_rule_files() -> None:
    loaded = YAML(typ="safe").load(FILE)
    assert set(loaded) == {"groups"}
    for group in loaded["groups"]:
        assert set(group) == {"name", "rules"}
    names = [rule["alert"] for rule in RULES]
    assert len(names) == len(set(names)) >= 5


@rules
def test_a_rule_has_the_form_of_rules(rule: dict[str, Any]) -> None:
    assert {"alert", "expr", "labels", "annotations"} <= set(rule)
    assert set(rule) <= {"alert", "expr", "for", "labels", "annotations"}
    assert re.fullmatch(r"[A-Z]\w+", rule["alert"])
    assert DURATION.fullmatch(rule.get("for", "0s"))
    assert rule["labels"]["severity"] in ("warning", "critical")
    assert set(rule["annotations"]) == {"summary", "description"}
    for text in (*rule["labels"].values(), *rule["annotations"].values()):
        assert isinstance(text, str) and text
        assert text.count("{{") == text.count("}}")


@rules
def test_a_rule_asks_for_metrics_that_there_are(
    rule: dict[str, Any], samples: dict[str, set[str]]
) -> None:
    asked = list(selectors(promql_parser.parse(rule["expr"])))
    assert asked
    for selector in asked:
        assert selector.name in samples
        assert {m.name for m in selector.matchers.matchers} <= samples[selector.name]
        for matcher in selector.matchers.matchers:
            assert matcher.name != "headwater_state" or RunState(matcher.value)
    labels = set(re.findall(r"\$labels\.(\w+)", str(rule["annotations"])))
    assert labels <= set.union(*(samples[selector.name] for selector in asked))
