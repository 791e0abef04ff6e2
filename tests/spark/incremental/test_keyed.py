"""Keyed tables hold the newest row of each key, in whatever order its changes arrive."""

from __future__ import annotations

import random
from collections.abc import Sequence
from typing import Any

import pytest
from law import Landed
from running import Running

from headwater.analyze.definitions import DELETED, UPSERTED
from headwater.engine.incremental.recompute_policy import RECOMPUTED, RecomputeLimits
from tests.support import left_out

pytestmark = pytest.mark.spark

SQL = """
CREATE TABLE items (a BIGINT, b VARCHAR, x BIGINT, PRIMARY KEY (a, b))
WITH (connector = 'files', path = 'items') FORMAT UPSERT ENCODE JSON (delete_field = 'op');
CREATE STREAMING VIEW per_a AS SELECT a, count(*) AS n, sum(x) AS x FROM items GROUP BY a;
"""
LOG = {"a": "BIGINT", "b": "STRING", "x": "BIGINT", "_change_type": "STRING", "_path": "STRING",
       "_row": "BIGINT"}  # fmt: skip
FILES = 12

Change = tuple[Any, ...]


def changes(seed: int) -> list[list[Change]]:
    """Return the changes of each file, in the order in which they happened."""
    chance = random.Random(seed)
    files: list[list[Change]] = []
    for number in range(FILES):
        files.append([])
        for row in range(chance.randrange(1, 5)):
            key = chance.randrange(3), chance.choice("uv")
            place = f"{number:02}.json", row
            if chance.random() < 0.4:
                files[-1].append((*key, None, DELETED, *place))
            else:
                files[-1].append((*key, chance.randrange(9), UPSERTED, *place))
    return files


def newest(arrived: Sequence[Change]) -> list[tuple[Any, ...]]:
    """Return the rows that are left when changes are applied in the order of the input."""
    held: dict[tuple[Any, Any], Any] = {}
    for a, b, x, kind, *_ in sorted(arrived, key=lambda change: change[-2:]):
        held.pop((a, b), None)
        if kind == UPSERTED:
            held[a, b] = x
    return sorted((*key, x) for key, x in held.items())


@pytest.mark.parametrize("seed", range(2))
def test_the_newest_row_wins_in_whatever_order_changes_arrive(
    spark: Any, lake: Any, seed: int
) -> None:
    log = Landed(lake, "items__changes", LOG)
    running = Running(spark, lake, SQL)
    files = changes(seed)
    random.Random(seed).shuffle(files)
    arrived: list[Change] = []
    for file in files:
        log.land(*file)
        arrived += file
        assert not running.tick()
        expected = newest(arrived)
        assert sorted(running.held("items")) == expected
        sums: dict[Any, list[int]] = {}
        for a, _, x in expected:
            sums.setdefault(a, []).append(x)
        assert sorted(running.held("per_a")) == [
            (a, len(found), sum(found)) for a, found in sorted(sums.items())
        ]


def test_a_deletion_outlasts_an_older_change_that_arrives_late(spark: Any, lake: Any) -> None:
    log = Landed(lake, "items__changes", LOG)
    running = Running(spark, lake, SQL, lambda _: RecomputeLimits(10**9))
    log.land((1, "u", 5, UPSERTED, "2", 0), (1, "u", None, DELETED, "3", 0))
    running.tick()
    log.land((1, "u", 7, UPSERTED, "1", 9), (2, "u", 1, UPSERTED, "1", 8))
    assert not running.tick()
    assert running.held("items") == [(2, "u", 1)]
    log.land((1, "u", 8, UPSERTED, "3", 1))
    assert not running.tick()
    assert sorted(running.held("items")) == [(1, "u", 8), (2, "u", 1)]
    marker = running.views["items"].marker
    assert marker is not None and RECOMPUTED not in marker.counts  # a log outgrows its table


DOCS = """
CREATE TABLE docs (id BIGINT, n BIGINT, body VARCHAR, raw VARBINARY, PRIMARY KEY (id))
WITH (connector = 'files', path = 'docs') FORMAT DEBEZIUM ENCODE JSON;
CREATE STREAMING VIEW bodies AS SELECT body, count(*) AS docs FROM docs GROUP BY body;
"""
DOCS_LOG = {"id": "BIGINT", "n": "BIGINT", "body": "STRING", "raw": "BINARY",
            "_change_type": "STRING", "_unchanged": "STRING", "_path": "STRING",
            "_row": "BIGINT"}  # fmt: skip


SNAPSHOTS = {"_snapshot": "BIGINT", "_snapshot_end": "BIGINT"}


@pytest.mark.parametrize(
    ("seed", "truncates", "snapshots"), [(0, 0, 0), (1, 0, 0), (2, 0.15, 0), (3, 0.05, 0.15)]
)
def test_what_changes_leave_out_is_kept_in_whatever_order_they_arrive(
    spark: Any, lake: Any, seed: int, truncates: float, snapshots: float
) -> None:
    columns = [*DOCS_LOG.items()]
    columns[-2:-2] = SNAPSHOTS.items() if snapshots else ()
    log = Landed(lake, "docs__changes", dict(columns))
    said = {"truncate = 'apply'": truncates, "snapshot = 'replace'": snapshots}
    options = ", ".join(option for option, share in said.items() if share)
    definitions = DOCS.replace("JSON", f"JSON ({options})") if options else DOCS
    running = Running(spark, lake, definitions)
    waiting = left_out.changes(seed, count=36, truncates=truncates, snapshots=snapshots)
    random.Random(seed).shuffle(waiting)
    arrived: list[Change] = []
    while waiting:
        some = [waiting.pop() for _ in range(min(len(waiting), 1 + len(arrived) % 4))]
        log.land(*some)
        arrived += some
        assert not running.tick()
        expected = left_out.held(arrived)
        held = [
            (*row[:3], None if row[3] is None else bytes(row[3])) for row in running.held("docs")
        ]
        assert sorted(held) == expected
        counted: dict[Any, int] = {}
        for _, _, body, _ in expected:
            counted[body] = counted.get(body, 0) + 1
        assert dict(running.held("bodies")) == counted
