"""The connection to the catalog is cut at any moment of a commit: nothing lost, nothing doubled."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from urllib.parse import unquote, urlparse

import pytest

from headwater.config.settings import Maintenance
from headwater.errors import HeadwaterError
from headwater.lake.catalog import Lake
from headwater.lake.failures import explain_failure
from headwater.lake.iceberg import maintenance
from headwater.lake.iceberg.table import LakeTable
from headwater.lake.protocol.commit import Outcome, commit
from headwater.lake.protocol.marker import Marker
from headwater.lake.protocol.table import Target
from headwater.lake.spec import TableSpec
from headwater.serve.lake_reader import LakeReader
from tests.faults.postgres import PASSWORD
from tests.faults.proxy import CUTS, Proxy

STEPS = [("rows", "write"), ("rows", "publish_files")]
STEPS += [("merge", step) for step in ("stage", "write", "publish")]
DONE = (Outcome.COMMITTED, Outcome.ALREADY_COMMITTED)


class Breakable(LakeTable):
    """A table that lets a fault loose just before one of its moves, once."""

    breaks = ""

    def break_before(self, step: str, loose: Callable[[], None]) -> None:
        self.breaks, self._loose = step, loose

    def stage(self, view: str, base: int) -> str:
        if self.breaks == "stage":
            self.breaks = ""
            self._loose()
        return super().stage(view, base)

    def publish(self, branch: str, head: int) -> None:
        if self.breaks == "publish":
            self.breaks = ""
            self._loose()
        super().publish(branch, head)

    def publish_files(self, view: str, base: int, update: object) -> None:
        if self.breaks == "publish_files":
            self.breaks = ""
            self._loose()
        super().publish_files(view, base, update)


def breakable(lake: Lake, epochs: int = 3) -> Breakable:
    """A table with some epochs."""
    lake.ensure(TableSpec("t", (("k", "INT", True), ("v", "INT", True))))
    table = Breakable(lake.spark, "t", lake.identifier("t"))
    for number in range(epochs):
        done = commit(table, epoch(number), append(lake, number), session=lake.spark)
        assert done is Outcome.COMMITTED
    return table


def epoch(number: int) -> Marker:
    return Marker("t", 1, number, {"in": str(number)} if number else {}, {"in": str(number + 1)})


def append(lake: Lake, key: int):
    return lambda target: target.append(lake.spark.sql(f"SELECT {key} AS k, 0 AS v"))


def merge(lake: Lake, key: int):
    """Corrects epoch 0's row and inserts one: deletes and data in one snapshot."""

    def write(target: Target) -> None:
        lake.spark.sql(
            f"MERGE INTO {target.identifier} t"
            f" USING (SELECT * FROM VALUES (0, {key}), ({key}, 0) AS s (k, v))"
            " s ON t.k = s.k WHEN MATCHED THEN UPDATE SET * WHEN NOT MATCHED THEN INSERT *"
        )

    return write


def rows(table: LakeTable) -> list[tuple[int, int]]:
    return sorted((row.k, row.v) for row in table.read().collect())


def check_files(lake: Lake, config) -> None:
    """Every file of every snapshot that a branch or tag leads to is there.

    Of a write that raised, Iceberg may have deleted the files though its snapshot is known: it
    repeats a COMMIT whose reply was lost, and takes its own snapshot for a conflict.
    """
    reader = LakeReader(replace(config, namespace=lake.namespace))
    table = reader.table("t")
    assert table is not None
    assert reader._catalog is not None
    reader._catalog.close()
    known = {each.id for head in table.refs.values() for each in table.ancestors(head)}
    assert known
    iceberg = table.iceberg
    for snapshot in map(iceberg.snapshot_by_id, known):
        for manifest in snapshot.manifests(iceberg.io):
            for entry in manifest.fetch_manifest_entry(iceberg.io):
                path = Path(unquote(urlparse(entry.data_file.file_path).path))
                assert path.is_file(), f"{path} of snapshot {snapshot.snapshot_id} was deleted"


def maintain(lake: Lake) -> None:
    """Expiry, which reads what commits that failed have left behind."""
    settings = Maintenance.model_construct(
        retain=timedelta(0), keep_snapshots=2, target_file_size=2**27, orphan_age=timedelta(days=3)
    )
    result = maintenance.maintain(maintenance.Job(lake.table("t"), settings))
    assert "expiry" in result.done


def attempt(table: LakeTable, lake: Lake, number: int, write) -> Outcome | str:
    try:
        return commit(table, epoch(number), write, session=lake.spark)
    except HeadwaterError as error:
        return error.condition
    except Exception as error:
        known = explain_failure(error)
        assert known is not None, error
        assert PASSWORD not in str(error)
        return known.condition


@pytest.mark.parametrize("lasting", [False, True], ids=["blip", "outage"])
@pytest.mark.parametrize("cut", CUTS)
@pytest.mark.parametrize(("kind", "step"), STEPS)
def test_a_cut_connection_loses_nothing_and_doubles_nothing(
    lake: Lake, proxy: Proxy, direct, kind: str, step: str, cut: str, lasting: bool
) -> None:
    table = breakable(lake)
    table.break_before(step, lambda: proxy.arm(cut, stay_down=lasting))
    fired = proxy.fired
    content = merge(lake, 3) if kind == "merge" else append(lake, 3)

    def write(target: Target) -> None:
        if step == "write" and proxy.fired == fired:
            if kind == "merge":
                assert target.identifier
            proxy.arm(cut, stay_down=lasting)
        content(target)

    end = attempt(table, lake, 3, write)
    assert proxy.fired == fired + 1, "the fault did not fire"
    proxy.disarm()
    again = attempt(table, lake, 3, content)
    assert again in DONE, again
    if end in DONE:
        assert again is Outcome.ALREADY_COMMITTED
    check_files(lake, direct)
    assert attempt(lake.table("t"), lake, 4, append(lake, 4)) is Outcome.COMMITTED
    corrected = 3 if kind == "merge" else 0
    assert rows(table) == [(0, corrected), (1, 0), (2, 0), (3, 0), (4, 0)]
    maintain(lake)
    check_files(lake, direct)
    assert rows(lake.table("t")) == [(0, corrected), (1, 0), (2, 0), (3, 0), (4, 0)]


def test_password_is_in_no_file_and_on_no_command_line(lake: Lake, direct) -> None:
    table = breakable(lake)
    with pytest.raises(Exception):  # noqa: B017, PT011 - whatever Spark says goes to its log
        lake.spark.sql(f"SELECT nothing FROM {table.identifier}").collect()
    words = PASSWORD.encode()
    files = [path for path in direct.directory.rglob("*") if path.is_file()]
    assert len(files) > 10
    assert not [path for path in files if words in path.read_bytes()]
    commands = [path.read_bytes() for path in Path("/proc").glob("[0-9]*/cmdline")]
    assert any(b"SparkSubmit" in command for command in commands)
    assert not [command for command in commands if words in command]
    told = lake.spark.sql("SET").collect()
    assert any(row.key.endswith("jdbc.password") for row in told)
    assert PASSWORD not in str(told)
