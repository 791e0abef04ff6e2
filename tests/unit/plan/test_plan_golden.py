"""Every case of ``tests/golden/plan``: definitions → plan, Spark SQL, SELECT at rest."""

from __future__ import annotations

from pathlib import Path

import duckdb
import pytest

from headwater.analyze.definitions import Catalog
from headwater.analyze.project import bind
from headwater.analyze.typing.types import duckdb_type
from headwater.dialect import parse
from headwater.plan.at_rest import DIALECTS, at_rest, comparisons
from headwater.plan.explain import explain, program_sql
from headwater.plan.planner import plan_project
from headwater.plan.view_plan import ViewPlan
from headwater.serve.pattern_rows import create_matches
from tests.support.golden_files import check_golden

FOLDER = Path(__file__).parents[2] / "golden" / "plan"
TABLES = FOLDER / "tables.sql"
CASES = sorted(file for file in FOLDER.glob("*.sql") if file != TABLES)
WATERMARK = 1357034700000000  # 2013-01-01 10:05:00 UTC


def plan_of(case: Path) -> tuple[Catalog, ViewPlan]:
    """Return the catalog of a case and the plan of its last view."""
    files = (TABLES, case)
    catalog = bind({file.name: parse(file.read_text(), file=file.name) for file in files})
    *_, plan = plan_project(catalog).values()
    return catalog, plan


def plan_text(case: Path) -> str:
    """Return everything the planner says of a case's last view."""
    catalog, plan = plan_of(case)
    sections = {"explain": explain(plan)}
    sections |= {f"spark: {step}": sql for step, sql in program_sql(plan.program).items()}
    for dialect in DIALECTS:
        rest = at_rest(plan, catalog, dialect, watermark=WATERMARK, bounds=dialect == "duckdb")
        sections[f"at rest: {dialect}"] = rest.sql
        sections |= {f"at rest: {dialect}: rows of {s.name}": s.sql for s in rest.patterns}
    kinds = ", ".join(f"{item.column} {item.kind}" for item in comparisons(plan))
    sections["compared"] = kinds
    sections["table"] = ", ".join(f"{c.name} {c.spark_type}" for c in plan.columns)
    return "\n\n".join(f"-- {title}\n{text}" for title, text in sections.items()) + "\n"


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.stem)
def test_plan_of_golden_case(case: Path) -> None:
    check_golden(case.with_suffix(".txt"), plan_text(case))


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.stem)
def test_duckdb_runs_the_select_at_rest(case: Path) -> None:
    catalog, plan = plan_of(case)
    with duckdb.connect() as database:
        for name, known in {**catalog.sources, **catalog.views}.items():
            columns = {field.name: duckdb_type(field.type) for field in known.fields}
            if name in catalog.sources and (watermark := catalog.sources[name].watermark):
                columns["_watermark"] = columns[watermark.column]
            ddl = ", ".join(f'"{column}" {kind}' for column, kind in columns.items())
            database.execute(f"CREATE TABLE {name} ({ddl})")
        rest = at_rest(plan, catalog, "duckdb", watermark=WATERMARK)
        create_matches(database, rest.patterns)
        result = database.execute(rest.sql).description
    assert [column[0] for column in result] == [field.name for field in plan.view.fields]


@pytest.mark.parametrize("dialect", DIALECTS)
@pytest.mark.parametrize("case", CASES, ids=lambda case: case.stem)
def test_the_select_at_rest_leaves_out_what_is_not_final(case: Path, dialect: str) -> None:
    catalog, plan = plan_of(case)
    if plan.closing:
        texts = {at_rest(plan, catalog, dialect, watermark=at).sql for at in (None, WATERMARK)}
        assert len(texts) == 2, "the watermark decides"
