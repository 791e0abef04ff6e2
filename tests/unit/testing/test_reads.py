"""An .slt file runs what it reads, and nothing else of a project."""

from __future__ import annotations

from pathlib import Path

import pytest

from headwater.project import load_project
from headwater.testing import slt
from headwater.testing.reads import mentioned, needed

SQL = """
CREATE TABLE a (id BIGINT, ts TIMESTAMP, WATERMARK FOR ts AS ts) WITH (connector = 'datagen');
CREATE TABLE b (id BIGINT) WITH (connector = 'datagen');
CREATE TABLE k (id BIGINT, PRIMARY KEY (id))
WITH (connector = 'kafka', topic = 't', bootstrap_servers = 'h:1') FORMAT UPSERT ENCODE JSON;
CREATE STREAMING VIEW a1 AS SELECT id FROM a;
CREATE STREAMING VIEW a2 AS SELECT id FROM a1;
CREATE STREAMING VIEW ab AS SELECT a.id FROM a2 AS a JOIN b ON a.id = b.id;
CREATE STREAMING VIEW k1 AS SELECT id FROM k;
CREATE STREAMING VIEW hours LATE ROWS DROP INTO late AS SELECT window_start, count(*) AS n
FROM TUMBLE(a, ts, INTERVAL '1' HOUR) GROUP BY window_start, window_end EMIT ON WINDOW CLOSE;
"""


@pytest.mark.parametrize(
    ("text", "runs"),
    [
        ("query I\nSELECT id FROM a2\n----\n", "a a1 a2"),
        ("query I\nWITH b AS (SELECT id FROM a1) SELECT id FROM b\n----\n", "a a1 b"),
        ("ingest b\nid\n1\n\ntick\n\nquery I\nSELECT id FROM a\n----\n", "a b"),
        ("explain ab\n----\nx\n", "a a1 a2 ab b"),
        ("verify a1 k1\n", "a a1 k k1 k__changes"),
        ('query I\nSELECT 1 FROM "a1$snapshots"\n----\n', "a a1"),
        ("query I\nSELECT 1 FROM a1__quarantine\n----\n", "a a1"),
        ("query I\nSELECT n FROM late\n----\n", "a hours"),
        ("query I\nSELECT id FROM k\n----\n", "k k__changes"),
        ("statement ok\nCREATE STREAMING VIEW x AS SELECT id FROM a1\n\ntick\n", "a a1"),
        ("ingest a\nid\n1\n\ntick\n\nverify\n", None),
        ("tick\n", None),
    ],
)
def test_a_file_runs_what_it_reads(tmp_path: Path, text: str, runs: str | None) -> None:
    (tmp_path / "headwater.toml").write_text("")
    (tmp_path / "all.sql").write_text(SQL)
    names = mentioned(slt.parse(text))
    if runs is None:
        assert names is None
        return
    assert names is not None
    catalog = needed(load_project(tmp_path).catalog, names)
    assert sorted([*catalog.sources, *catalog.views]) == runs.split()
