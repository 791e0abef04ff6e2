"""A landed table follows its definition; whatever crashes in between, its history is right."""

from __future__ import annotations

import pytest

from headwater.errors import TerminalError
from headwater.intake import evolve as module
from headwater.lake.iceberg.table import LakeTable
from headwater.lake.protocol.unknown_field_counts import fields_in
from tests.spark.crash import Crash, before_publishing


@pytest.fixture
def open_as(landing, files_source):
    """Open the landing of a definition that says EVOLVE."""

    def opened(columns, policy="evolve", **more):
        return landing(files_source(columns, on_schema_change=policy, **more))

    return opened


def rows(lake, *columns, table="t"):
    found = lake.table(table).read().select(*columns).collect()
    return sorted(map(tuple, found), key=str)


def markers(lake, table="t"):
    table = lake.table(table)
    return [s.marker for s in table.ancestors(table.snapshot_id()) if s.marker][::-1]


def test_columns_are_added_dropped_widened_and_moved(lake, drop, open_as):
    drop("a.json", '{"id":1,"n":1,"s":"x","new":"before"}\n')
    open_as("id integer; n integer; s varchar").step()
    drop("b.json", '{"id":2,"n":3000000000,"new":"after"}\n')
    land = open_as("new varchar; n bigint; id integer")
    assert list(land.table.columns())[:3] == ["new", "n", "id"]
    assert land.marker.evolved == {
        "new": "added as STRING",
        "s": "dropped",
        "n": "widened from INT to BIGINT",
    }
    assert (land.marker.epoch, land.marker.since) == (1, {"new": 1})
    land.step()
    assert rows(lake, "id", "n", "new") == [(1, 1, None), (2, 3000000000, "after")]
    newest = open_as("new varchar; n bigint; id integer").marker
    assert (newest.epoch, newest.evolved, newest.since) == (2, {}, {"new": 1})


def test_a_field_is_unknown_until_it_is_declared(lake, drop, open_as):
    drop("a.json", '{"id":1,"extra":1}\n')
    open_as("id integer").step()
    drop("b.json", '{"id":2,"extra":2}\n')
    open_as("id integer; extra integer").step()
    assert rows(lake, "id", "extra") == [(1, None), (2, 2)]
    assert fields_in(lake.table("t__quarantine").marker().counts) == {"extra": 1}


@pytest.mark.parametrize("policy", ["fail", "ignore"])
def test_other_policies_refuse_another_definition(lake, drop, open_as, policy):
    drop("a.json", '{"id":1}\n')
    open_as("id integer").step()
    with pytest.raises(TerminalError) as refused:
        open_as("id integer; n integer", policy)
    assert refused.value.condition == "SCHEMA_CHANGED"
    assert 'column "n" is missing' in refused.value.message
    assert "ON SCHEMA CHANGE EVOLVE" in refused.value.hint


@pytest.mark.parametrize(
    ("columns", "column"),
    [
        ("id integer; s varchar", "id"),
        ("id varchar; s varchar", "id"),
        ("id bigint; s integer", "s"),
        ("id bigint; s varchar; n integer !", "n"),
    ],
)
def test_what_cannot_be_followed_names_the_column(lake, drop, open_as, columns, column):
    drop("a.json", '{"id":1}\n')
    open_as("id bigint; s varchar").step()
    with pytest.raises(TerminalError, match=f'column "{column}"') as refused:
        open_as(columns)
    assert refused.value.condition == "SCHEMA_CHANGED"
    assert open_as("id bigint; s varchar").marker.epoch == 0


def test_a_name_that_was_dropped_does_not_come_back(drop, open_as):
    drop("a.json", '{"id":1,"s":"old"}\n')
    open_as("id integer; s varchar").step()
    open_as("id integer")
    with pytest.raises(TerminalError, match='column "s" was dropped before'):
        open_as("id integer; s varchar")


def test_an_added_column_never_becomes_not_null(drop, open_as):
    drop("a.json", '{"id":1}\n')
    open_as("id integer").step()
    open_as("id integer; n integer")
    with pytest.raises(TerminalError, match='"n" of table "t" is NOT NULL'):
        open_as("id integer; n integer !")


def test_a_crash_after_the_table_was_altered_is_made_good_at_the_next_start(
    lake, drop, open_as, monkeypatch
):
    drop("a.json", '{"id":1}\n')
    open_as("id integer").step()

    def crash(point, table):
        raise Crash

    with monkeypatch.context() as patched:
        patched.setattr(module, "crash_point", crash)
        with pytest.raises(Crash):
            open_as("id integer; n integer")
    assert lake.table("t").marker().epoch == 0
    land = open_as("id integer; n integer")
    assert (land.marker.epoch, land.marker.since) == (1, {"n": 1})
    drop("b.json", '{"id":2,"n":2}\n')
    land.step()
    assert rows(lake, "id", "n") == [(1, None), (2, 2)]


def test_a_fenced_process_alters_nothing(lake, drop, landing, files_source):
    class Fenced:
        def check(self):
            raise TerminalError("FENCED", "another process runs the project", hint="stop")

    drop("a.json", '{"id":1}\n')
    source = files_source("id integer", on_schema_change="evolve")
    landing(source).step()
    wider = files_source("id bigint; n integer", on_schema_change="evolve")
    with pytest.raises(TerminalError) as refused:
        landing(wider, fence=Fenced())
    assert refused.value.condition == "FENCED"
    assert list(lake.table("t").columns())[:1] == ["id"]
    assert lake.table("t").columns()["id"] == "INT"


@pytest.mark.parametrize("crashes", [0, 1])
def test_an_epoch_that_was_begun_lands_by_the_new_definition(
    lake, drop, open_as, monkeypatch, crashes
):
    drop("a.json", '{"id":1}\nbad\n')
    open_as("id integer").step()
    # the first and the third are bad rows as long as the column is INTEGER
    drop("b.json", '{"id":3000000000}\n{"id":2,"n":5}\nbad\n')
    crash = before_publishing(monkeypatch)
    crash()
    with pytest.raises(Crash):
        open_as("id integer").step()
    assert lake.table("t__quarantine").read().count() == 3
    for _ in range(crashes):
        crash()
        with pytest.raises(Crash):
            open_as("id bigint; n integer")
    land = open_as("id bigint; n integer")
    assert rows(lake, "id", "n") == [(1, None), (2, 5), (3000000000, None)]
    quarantine = lake.table("t__quarantine")
    assert sorted(bytes(r.raw) for r in quarantine.read().collect()) == [b"bad", b"bad"]
    counts = quarantine.marker().counts
    assert (counts["quarantined"], fields_in(counts)) == (2, {})
    assert (land.marker.epoch, land.marker.since) == (1, {"n": 1})
    assert land.step() is None


def test_the_change_is_one_move_of_the_metadata(lake, drop, open_as, monkeypatch):
    drop("a.json", '{"id":1}\n')
    open_as("id integer; s varchar").step()
    before = len(lake.table("t").metadata()["metadata-log"])
    monkeypatch.setattr(module, "crash_point", lambda *at: at)
    altered = []
    whole = LakeTable.alter
    monkeypatch.setattr(
        LakeTable,
        "alter",
        lambda table, *more: (
            whole(table, *more),
            altered.append(len(table.metadata()["metadata-log"])),
        ),
    )
    open_as("n integer; id bigint")
    assert altered == [before + 1]
