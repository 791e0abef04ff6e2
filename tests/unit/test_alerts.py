"""Alert rules and the Grafana dashboard have their form and name metrics that Headwater serves."""

from __future__ import annotations

import json
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
FILE = ROOT / "dashboards" / "prometheus" / "alerts.yaml"
GRAFANA: dict[str, Any] = json.loads(
    (ROOT / "dashboards" / "grafana" / "headwater.json").read_text(encoding="utf-8")
)
PANELS: list[dict[str, Any]] = GRAFANA["panels"]
RULES: list[dict[str, Any]] = [
    rule for group in YAML(typ="safe").load(FILE)["groups"] for rule in group["rules"]
]
DURATION = re.compile(r"(\d+(ms|[smhdwy]))+")

panels = pytest.mark.parametrize("panel", PANELS, ids=lambda panel: panel["title"])
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


def asked_for(expression: str, samples: dict[str, set[str]]) -> list[Any]:
    """The selectors of an expression, whose metrics, labels and states there are."""
    asked = list(selectors(promql_parser.parse(expression)))
    assert asked
    for selector in asked:
        assert selector.name in samples
        assert {m.name for m in selector.matchers.matchers} <= samples[selector.name]
        for matcher in selector.matchers.matchers:
            assert matcher.name != "headwater_state" or RunState(matcher.value)
    return asked


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
    asked = asked_for(rule["expr"], samples)
    labels = set(re.findall(r"\$labels\.(\w+)", str(rule["annotations"])))
    assert labels <= set.union(*(samples[selector.name] for selector in asked))


@panels
def test_a_panel_asks_for_metrics_that_there_are(
    panel: dict[str, Any], samples: dict[str, set[str]]
) -> None:
    assert panel["targets"]
    for target in panel["targets"]:
        expression = target["expr"].replace("$__rate_interval", "5m").replace("$name", "x")
        assert "$" not in expression
        asked = asked_for(expression, samples)
        labels = set(re.findall(r"{{(\w+)}}", target["legendFormat"]))
        assert labels <= set.union(*(samples[selector.name] for selector in asked))


def test_the_panels_show_every_metric_but_the_names_of_the_project(
    samples: dict[str, set[str]],
) -> None:
    text = json.dumps(PANELS)
    left_out = {name for name in samples if not name.endswith("_created") and name not in text}
    assert left_out == {"headwater_epoch", "headwater_info"}


def test_panels_lie_beside_each_other_and_read_the_chosen_source() -> None:
    assert len({panel["id"] for panel in PANELS}) == len(PANELS)
    taken: set[tuple[int, int]] = set()
    for panel in PANELS:
        place = panel["gridPos"]
        assert place["x"] + place["w"] <= 24
        cells = {
            (place["x"] + x, place["y"] + y) for x in range(place["w"]) for y in range(place["h"])
        }
        assert not cells & taken
        taken |= cells
    variables = {each["name"]: each for each in GRAFANA["templating"]["list"]}
    for each in (*PANELS, *(target for panel in PANELS for target in panel["targets"])):
        assert each["datasource"]["uid"] == "${datasource}"
    assert variables["datasource"]["query"] == "prometheus"
    assert set(re.findall(r"\$(\w+)", json.dumps(PANELS))) == {"name", "__rate_interval"}


def test_the_choice_of_names_reads_a_metric_that_there_is(samples: dict[str, set[str]]) -> None:
    (choice,) = (each for each in GRAFANA["templating"]["list"] if each["name"] == "name")
    found = re.fullmatch(r"label_values\((\w+), (\w+)\)", choice["query"]["query"])
    assert found and found[2] in samples[found[1]]
