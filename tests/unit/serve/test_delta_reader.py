"""Delta tables without a JVM: deltalake writes what Spark would, commit markers included."""

from __future__ import annotations

import builtins
import json
from datetime import UTC, datetime

import pyarrow as pa
import pytest
from deltalake import CommitProperties, DeltaTable, write_deltalake
from fake_lake import CLICKS, FakeLake, make_lake

from headwater.errors import HeadwaterError, ServiceError
from headwater.lake.delta.log import FOLDER, is_delta, newest_version, read_snapshot
from headwater.lake.protocol.marker import Marker
from headwater.plan.planner import plan_project
from headwater.serve.embedded import Embedded
from headwater.serve.lake_reader import LakeReader, drop_table
from headwater.serve.status import status
from headwater.serve.verify import Verdict, verify

SQL = """
CREATE TABLE clicks (user_id BIGINT, ts TIMESTAMP WITH TIME ZONE, score DOUBLE,
  WATERMARK FOR ts AS ts - INTERVAL '10' MINUTE)
WITH (connector = 'files', path = 'in') FORMAT PLAIN ENCODE JSON;
CREATE STREAMING VIEW seen WITH (format = 'delta') AS SELECT user_id, ts FROM clicks;
"""
AT = datetime(2024, 1, 1, 10, tzinfo=UTC)
SEEN = pa.schema({"user_id": pa.int64(), "ts": pa.timestamp("us", "UTC")})


@pytest.fixture
def lake(tmp_path) -> FakeLake:
    made = make_lake(tmp_path, SQL)
    made.create("clicks", CLICKS)
    return made


def location(lake: FakeLake):
    config = lake.project.config
    return config.warehouse / config.namespace / "seen"


def click(user: int) -> dict[str, object]:
    return {"user_id": user, "ts": AT}


def write(lake: FakeLake, *users: int, epoch: int | None = None, mode: str = "append") -> None:
    """One version: a commit of the view, or of somebody else without an epoch."""
    rows = pa.Table.from_pylist([click(user) for user in users], schema=SEEN)
    properties = None
    if epoch is not None:
        plan = plan_project(lake.project.catalog)["seen"]
        cut = {"clicks": str(lake.snapshot("clicks"))}
        marker = Marker("seen", 1, epoch, {}, cut, fingerprint=plan.fingerprint)
        metrics = {"numOutputRows": str(len(users))}
        properties = CommitProperties(
            custom_metadata={
                "userMetadata": json.dumps(marker.to_summary()),
                "operationMetrics": metrics,
            }
        )
    location(lake).parent.mkdir(exist_ok=True)
    write_deltalake(location(lake), rows, mode=mode, commit_properties=properties)


def verdict(lake: FakeLake, snapshot: int | None = None) -> Verdict:
    plans = plan_project(lake.project.catalog)
    return verify(lake.project, plans, ["seen"], snapshot)[0].verdict


def test_history_of_a_table(lake):
    assert not is_delta(location(lake))
    assert LakeReader(lake.project.config).table("seen") is None
    lake.append("clicks", [click(1)])
    write(lake, 1, epoch=0)
    write(lake, epoch=1)
    write(lake, 5)
    reader = LakeReader(lake.project.config)
    assert reader.names() == ("clicks", "seen")
    table = reader.table("seen")
    assert table is not None
    assert [(c.snapshot_id, c.marker.epoch) for c in table.commits()] == [(1, 1), (0, 0)]
    assert newest_version(location(lake)) == newest_version(location(lake), 0) == 2
    assert read_snapshot(location(lake), 2).summary.get("headwater.epoch") is None
    assert read_snapshot(location(lake), 3) is None
    write(lake, 6)
    assert table.snapshot_id() == 2, "an opened table does not change"


def test_sql_at_a_version_and_its_snapshots(lake):
    lake.append("clicks", [click(1)])
    write(lake, 1, epoch=0)
    write(lake, 2, 3, epoch=1)
    with Embedded(lake.project).query("SELECT user_id, ts FROM seen ORDER BY user_id") as result:
        assert list(result.rows) == [(1, AT), (2, AT), (3, AT)]
    with Embedded(lake.project).query("SELECT count(*) FROM seen FOR VERSION AS OF 0") as result:
        assert list(result.rows) == [(1,)]
    query = 'SELECT snapshot_id, parent_id, epoch, operation FROM "seen$snapshots"'
    with Embedded(lake.project).query(query) as result:
        assert list(result.rows) == [(0, None, 0, "append"), (1, 0, 1, "append")]
    with (
        pytest.raises(HeadwaterError) as error,
        Embedded(lake.project).query("SELECT * FROM seen FOR VERSION AS OF 7"),
    ):
        pass
    assert error.value.condition == "UNKNOWN_SNAPSHOT"


def test_verify_finds_equal_surplus_and_missing_rows(lake):
    assert verdict(lake) is Verdict.NO_COMMIT
    lake.append("clicks", [click(1), click(2)])
    write(lake, 1, 2, epoch=0)
    assert verdict(lake) is Verdict.EQUAL
    lake.append("clicks", [click(3)])
    write(lake, 3, epoch=1)
    assert verdict(lake) is Verdict.EQUAL
    assert verdict(lake, snapshot=0) is Verdict.EQUAL
    write(lake, 3)
    assert verdict(lake) is Verdict.DIFFERENT
    DeltaTable(location(lake)).delete("user_id > 1")
    assert verdict(lake) is Verdict.DIFFERENT


def test_status_counts_rows(lake):
    lake.append("clicks", [click(1), click(2)])
    write(lake, 1, 2, epoch=0)
    (row,) = [row for row in status(lake.project) if row.name == "seen"]
    assert (row.epoch, row.rows, row.state) == (0, 2, "stopped")


def test_metadata_of_others_is_no_marker(lake):
    rows = pa.Table.from_pylist([click(1)], schema=SEEN)
    location(lake).parent.mkdir(exist_ok=True)
    for text in ("free text", "[1]", "{}", '{"epoch": 1}'):
        properties = CommitProperties(custom_metadata={"userMetadata": text})
        write_deltalake(location(lake), rows, mode="append", commit_properties=properties)
    assert list(LakeReader(lake.project.config).table("seen").commits()) == []


def test_damaged_table_and_missing_package_are_said(lake, monkeypatch):
    lake.append("clicks", [click(1)])
    write(lake, 1, epoch=0)
    actual = builtins.__import__

    def without(name: str, *args, **kwargs):
        if name == "deltalake":
            raise ImportError(name)
        return actual(name, *args, **kwargs)

    with monkeypatch.context() as patch:
        patch.setattr(builtins, "__import__", without)
        (found,) = verify(lake.project, plan_project(lake.project.catalog), ["seen"])
        assert found.verdict is Verdict.FAILED
        assert "package that reads Delta tables is not installed" in found.reason
    (location(lake) / FOLDER / f"{0:020}.json").write_text('{"commitInfo":{"timestamp":1}}\n')
    with pytest.raises(ServiceError) as error, Embedded(lake.project).query("SELECT * FROM seen"):
        pass
    assert error.value.condition == "READ_FAILED"


def test_a_dropped_table_is_gone_with_its_folder(lake: FakeLake) -> None:
    write_deltalake(location(lake), pa.Table.from_pylist([click(1)], SEEN))
    assert is_delta(location(lake))
    drop_table(lake.project.config, "seen")
    assert not location(lake).exists()
    drop_table(lake.project.config, "seen")
