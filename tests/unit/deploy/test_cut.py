"""A cut is the newest state in which all views have read the same of every landed table."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pytest

from headwater.cli.main import main
from headwater.deploy.cut import cut
from headwater.errors import ConfigError
from headwater.lake.protocol.marker import Marker
from headwater.plan.planner import plan_project
from tests.unit.serve.fake_lake import FakeLake, make_lake

TABLES = """
CREATE TABLE a (id BIGINT) WITH (connector = 'files', path = 'a') FORMAT PLAIN ENCODE JSON;
CREATE TABLE b (id BIGINT) WITH (connector = 'files', path = 'b') FORMAT PLAIN ENCODE JSON;
CREATE STREAMING VIEW of_a AS SELECT id FROM a;
CREATE STREAMING VIEW of_both AS SELECT id FROM a UNION ALL SELECT id FROM b;
CREATE STREAMING VIEW above AS SELECT id FROM of_both WHERE id > 1;
"""
ROWS = pa.schema({"id": pa.int64()})


class Lake:
    """Commits of tables and views, by name and number."""

    def __init__(self, folder: Path) -> None:
        self.fake: FakeLake = make_lake(folder, TABLES)
        self.at: dict[str, list[int]] = {}
        self.project = self.fake.project
        self.plans = plan_project(self.project.catalog)
        for name in ("a", "b", *self.plans):
            self.fake.create(name, ROWS)
            self.at[name] = []

    def commit(self, name: str, **read: int) -> None:
        """A commit that has read other tables up to some of their commits."""
        positions = {each: str(self.at[each][number]) for each, number in read.items()}
        marker = Marker(name, 1, len(self.at[name]), {}, positions)
        self.at[name].append(self.fake.append(name, [{"id": 1}], marker))

    def cut(self, name: str = "c", **options: bool) -> dict[str, int]:
        """By table, the number of the commit that was tagged."""
        found = cut(self.project, self.plans, name, **options)
        return {each.name: self.at[each.name].index(each.snapshot_id) for each in found}

    def tags(self, tag: str) -> dict[str, int]:
        refs = {}
        for name in self.at:
            table = self.fake.catalog.load_table((self.project.config.namespace, name))
            if tag in table.metadata.refs:
                refs[name] = self.at[name].index(table.metadata.refs[tag].snapshot_id)
        return refs


@pytest.fixture
def lake(tmp_path: Path) -> Lake:
    return Lake(tmp_path)


def test_the_newest_state_that_all_have_read(lake: Lake) -> None:
    for _ in range(3):
        lake.commit("a")
        lake.commit("b")
    lake.commit("of_a", a=0)
    lake.commit("of_a", a=1)
    lake.commit("of_a", a=2)
    lake.commit("of_both", a=0, b=0)
    lake.commit("of_both", a=1, b=2)
    lake.commit("above", of_both=0)
    assert lake.cut() == {"a": 0, "b": 0, "of_a": 0, "of_both": 0, "above": 0}
    lake.commit("above", of_both=1)
    found = {"a": 1, "b": 2, "of_a": 1, "of_both": 1, "above": 1}
    assert lake.cut("d") == found == lake.tags("d")


def test_a_cut_that_is_there_is_moved_only_if_asked(lake: Lake) -> None:
    lake.commit("a")
    lake.commit("of_a", a=0)
    assert lake.cut() == {"a": 0, "of_a": 0}
    lake.commit("a")
    lake.commit("of_a", a=1)
    with pytest.raises(ConfigError) as refused:
        lake.cut()
    assert refused.value.condition == "CUT_EXISTS" and lake.tags("c") == {"a": 0, "of_a": 0}
    assert lake.cut(replace=True) == {"a": 1, "of_a": 1} == lake.tags("c")


def test_views_that_share_nothing_that_is_kept(lake: Lake) -> None:
    for _ in range(2):
        lake.commit("a")
        lake.commit("b")
    lake.commit("of_a", a=0)
    lake.commit("of_both", a=1, b=0)
    with pytest.raises(ConfigError) as refused:
        lake.cut()
    assert refused.value.condition == "NO_COMMON_CUT" and "of_both" in refused.value.message


@pytest.mark.parametrize("name", ["", "1st", "headwater-v1", "a b", "x" * 64])
def test_names_that_cannot_be(lake: Lake, name: str) -> None:
    with pytest.raises(ConfigError) as refused:
        lake.cut(name)
    assert refused.value.condition == "BAD_NAME"


def test_sql_reads_a_cut(
    lake: Lake, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    lake.commit("a")
    lake.commit("of_a", a=0)
    lake.cut("then")
    lake.commit("a")
    lake.commit("of_a", a=1)
    monkeypatch.chdir(lake.project.root)
    for query, options, count in (
        ("SELECT count(*) AS n FROM of_a", [], 2),
        ("SELECT count(*) AS n FROM of_a", ["--cut", "then"], 1),
        ("SELECT count(*) AS n FROM of_a FOR VERSION AS OF 'then'", [], 1),
    ):
        assert main(["sql", query, *options, "--output", "csv"]) == 0
        assert capsys.readouterr().out.split() == ["n", str(count)]
