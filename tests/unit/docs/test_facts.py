"""What pages list is what there is: states, checks of the doctor, repairs, alerts, defaults."""

from __future__ import annotations

import re
from pathlib import Path

from ruamel.yaml import YAML

from headwater.config.sections import Maintenance
from headwater.config.settings import load_config
from headwater.errors.catalogue import explanations
from headwater.project import LEFT_OUT, load_project
from headwater.runtime.events import RunState
from headwater.runtime.metrics import Metrics
from headwater.runtime.run_metrics import Tally
from headwater.serve.doctor import checks
from headwater.serve.doctor.findings import Repair
from headwater.serve.status import EXTERNAL, NEW, PAUSED, UNREADABLE
from tests.support.pages import DOCS, ROOT, blocks, pages

PAGES = [page for page in pages() if "reference" not in page.parts]
"""All but the reference, which is generated."""


def first_cells(page: str, section: str) -> list[str]:
    """Return the first cells of the table in a section of a page, without its heading."""
    text = (DOCS / page).read_text().split(f"\n## {section}\n", 1)[1].split("\n## ", 1)[0]
    cells = re.findall(r"^\| ([^|]+?) \|", text, re.MULTILINE)
    return [cell.strip("`") for cell in cells][1:]


def test_the_glossary_has_the_states_of_status() -> None:
    states = {state.value for state in RunState} | {NEW, PAUSED, EXTERNAL, UNREADABLE, *LEFT_OUT}
    assert set(first_cells("concepts/glossary.md", "States in `headwater status`")) == states


def test_the_page_of_the_doctor_has_its_checks() -> None:
    listed = first_cells("operations/doctor.md", "What it checks")
    code = Path(checks.__file__).read_text()
    assert len(listed) == len(checks.CHECKS)
    assert [name for name in listed if f'"{name}"' not in code] == []


def test_the_page_of_recovery_has_the_repairs() -> None:
    listed = first_cells("how-to/recover-a-view.md", "3. Repair")
    assert listed == [repair.name.replace("_", " ").lower() for repair in Repair]


def test_the_page_of_prometheus_has_the_alerts() -> None:
    rules = YAML(typ="safe").load((ROOT / "dashboards" / "prometheus" / "alerts.yaml").read_text())
    alerts = [rule["alert"] for group in rules["groups"] for rule in group["rules"]]
    assert first_cells("how-to/prometheus.md", "Alert") == alerts


def test_the_page_of_maintenance_shows_the_defaults(tmp_path: Path) -> None:
    block = next(b for b in blocks(DOCS / "operations/maintenance.md") if b.language == "toml")
    (tmp_path / "headwater.toml").write_text(block.text)
    assert load_config(tmp_path, environ={}).maintenance == Maintenance()
    assert set(re.findall(r"^(\w+) =", block.text, re.M)) == set(Maintenance.model_fields)


def test_every_metric_that_a_page_names_exists() -> None:
    project = load_project(ROOT / "sql" / "shop")
    families = Metrics(project, Tally(project.catalog)).collect()
    there = {family.name + end for family in families for end in ("", "_total", "_info")}
    text = "\n".join(page.read_text() for page in PAGES)
    named = set(re.findall(r"\bheadwater_[a-z_]+", text))
    assert len(named) > 4
    assert named - there == {"headwater_lease"}  # a namespace


def test_every_condition_that_a_page_names_exists() -> None:
    others = {"MATCH_RECOGNIZE", "TRY_CAST"}  # words of SQL
    named = {
        name
        for page in PAGES
        for name in re.findall(r"`([A-Z]+_[A-Z_]+)`", page.read_text())
        if not name.startswith("HEADWATER_")
    }
    assert len(named) > 10
    assert named - others - explanations().keys() == set()
