"""TPC-DI's views are maintained incrementally, and find rows; `make tpcdi` runs them."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from headwater.plan.planner import plan_project
from headwater.project import load_project
from tests.tpcdi.judge import Judge, view_texts
from tests.tpcdi.run import BATCHES, PROJECT
from tests.tpcdi.source_files import SourceFiles
from tests.tpcds.run import is_recomputed


def test_every_view_is_maintained_incrementally() -> None:
    plans = plan_project(load_project(PROJECT).catalog)
    assert set(plans) == set(view_texts(PROJECT))
    assert [name for name, plan in plans.items() if is_recomputed(plan)] == []


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A project with all batches of the smallest scale."""
    folder = tmp_path_factory.mktemp("tpcdi") / "project"
    shutil.copytree(PROJECT, folder)
    files = SourceFiles(folder / "data", seed=1, scale=0.1)
    for _ in range(BATCHES):
        files.land()
    return folder


def test_the_source_files_are_the_same_again(folder: Path, tmp_path: Path) -> None:
    again = SourceFiles(tmp_path, seed=1, scale=0.1)
    for _ in range(BATCHES):
        again.land()
    written = sorted(path for path in (folder / "data").rglob("*") if path.is_file())
    assert len(written) > 40
    for path in written:
        assert (tmp_path / path.relative_to(folder / "data")).read_bytes() == path.read_bytes()


def test_duckdb_finds_rows_for_every_view(folder: Path) -> None:
    project = load_project(folder)
    with Judge(folder, project).answers() as duck:
        counts = {
            name: duck.sql(f"SELECT count(*) FROM {name}").fetchall()[0][0]
            for name in project.catalog.views
        }
        assert all(counts.values()), counts
        sources = duck.sql("SELECT DISTINCT message_source FROM di_messages").fetchall()
        assert {source for (source,) in sources} == {
            "DimCompany", "DimCustomer", "DimTrade", "FactMarketHistory",
        }  # fmt: skip
