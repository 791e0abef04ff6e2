"""A lake knows where it lies: a moved or copied one is named in one line, and goes on."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from headwater.cli.main import main
from headwater.config.settings import Config, WarehouseSection
from headwater.deploy.relocate import CRASH_POINTS, relocate
from headwater.errors import HeadwaterError
from headwater.lake.catalogs.sqlite import SqliteDatabase
from headwater.lake.identity import NOTE, LakeIdentity
from headwater.lake.relocation.avro import AvroFile
from headwater.lake.storage.warehouse import BucketWarehouse
from headwater.project import load_project
from headwater.runtime.lease import Lease
from headwater.serve.lake_reader import LakeReader
from tests.stored_lakes import unpack

READING = (["status"], ["sql", "SELECT * FROM per_who"], ["verify"], ["doctor"], ["plan"])


@pytest.fixture
def lake(tmp_path: Path) -> Path:
    """The folder of a project whose lake was written there, before lakes had an identity."""
    folder = tmp_path / "p"
    folder.mkdir()
    unpack("format_1", folder)
    return folder


def config_of(folder: Path) -> Config:
    return load_project(folder).config


def written(folder: Path) -> Path:
    """Write to the lake as a run does, as far as its identity goes."""
    Lease.acquire(config_of(folder)).release()
    return folder


def contents(folder: Path) -> dict[str, bytes]:
    """The files of a folder; of its catalog only the tables."""
    files = (path for path in folder.rglob("*") if path.is_file())
    own = ("catalog.db", "lease.lock")
    found = {str(p.relative_to(folder)): p.read_bytes() for p in files}
    return {name: content for name, content in found.items() if not any(o in name for o in own)}


def refusal(call: Callable[[], object]) -> HeadwaterError:
    with pytest.raises(HeadwaterError) as caught:
        call()
    return caught.value


def histories(folder: Path) -> dict[str, list[object]]:
    """Every snapshot of every table, with its marker."""
    reader = LakeReader(config_of(folder))
    found = {name: reader.table(name) for name in reader.names()}
    return {
        name: [
            (s.id, s.parent, s.operation, s.at, s.marker, dict(s.summary)) for s in t.ancestors()
        ]
        for name, t in found.items()
        if t is not None
    }


def verified(folder: Path, capsys: pytest.CaptureFixture[str]) -> set[str]:
    capsys.readouterr()
    main(["verify", "--project", str(folder), "--output", "json"])
    return {each["result"] for each in json.loads(capsys.readouterr().out)}


def copied(folder: Path) -> Path:
    return Path(shutil.copytree(folder, folder.with_name("copy"), symlinks=True))


def renamed(folder: Path) -> Path:
    return folder.rename(folder.with_name("renamed"))


def moved_elsewhere(folder: Path) -> Path:
    (folder.parent / "far" / "away").mkdir(parents=True)
    return folder.rename(folder.parent / "far" / "away" / "p")


def moved_inside(folder: Path) -> Path:
    """Into a folder whose path begins with the old one."""
    waiting = folder.rename(folder.with_name("waiting"))
    folder.mkdir()
    return waiting.rename(folder / "p")


MOVES = [copied, renamed, moved_elsewhere, moved_inside]


@pytest.mark.parametrize("move", MOVES)
@pytest.mark.parametrize("before", [written, lambda folder: folder], ids=["known", "unknown"])
def test_a_moved_lake_is_named_in_one_line_and_goes_on(
    lake: Path, move: Callable, before: Callable, capsys: pytest.CaptureFixture[str]
) -> None:
    known = histories(before(lake))
    place = move(lake)
    for command in READING:
        assert main([command[0], "--project", str(place), *command[1:]]) == 3
        said = capsys.readouterr().err.splitlines()
        assert said[0].startswith("LAKE_MOVED — this lake was written at ")
        assert f'"{place}/.headwater/warehouse"' in said[0]
        assert said[1:] == ["  hint: run: headwater relocate"]
    assert refusal(lambda: Lease.acquire(config_of(place))).condition == "LAKE_MOVED"
    original = contents(lake) if move is copied else {}
    assert main(["relocate", "--project", str(place), "--output", "json"]) == 0
    tables = {each["table"] for each in json.loads(capsys.readouterr().out)}
    assert {"orders", "orders__files", "large", "per_hour", "late", "per_who"} <= tables
    assert histories(place) == known
    assert verified(place, capsys) == {"equal"}
    written(place)
    assert main(["relocate", "--project", str(place)]) == 0, "again: nothing is to be done"
    # nothing leads back
    if move is copied:
        assert contents(lake) == original
        shutil.rmtree(lake)
        assert verified(place, capsys) == {"equal"}
    metadata = LakeReader(config_of(place)).table("orders").iceberg.metadata
    leading = [entry.metadata_file for entry in metadata.metadata_log]
    leading += [str(each.manifest_list) for each in metadata.snapshots]
    assert all(str(place) in address for address in (metadata.location, *leading))


def test_a_copy_is_another_lake_and_a_moved_one_the_same(lake: Path) -> None:
    first = LakeIdentity(config_of(written(lake))).catalog_note()
    copy = copied(lake)
    main(["relocate", "--project", str(copy)])
    second = LakeIdentity(config_of(written(copy))).catalog_note()
    moved = renamed(lake)
    main(["relocate", "--project", str(moved)])
    third = LakeIdentity(config_of(written(moved))).catalog_note()
    assert first and second and third
    assert first.lake == third.lake != second.lake


@pytest.mark.parametrize("way", ["link", "relative", "dots", "link to the warehouse", "back"])
def test_another_way_to_the_same_place_is_no_move(
    lake: Path, way: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    written(lake)
    monkeypatch.chdir(lake)
    place = str(lake)
    if way == "link":
        place = str(lake.parent / "link")
        Path(place).symlink_to(lake)
    elif way == "relative":
        place = "."
    elif way == "dots":
        place = "../p/in/.."
    elif way == "link to the warehouse":
        lake.joinpath(".headwater").rename(lake.parent / "elsewhere")
        lake.joinpath(".headwater").symlink_to(lake.parent / "elsewhere")
    else:
        renamed(lake)
        lake.symlink_to(lake.with_name("renamed"))
    assert verified(Path(place), capsys) == {"equal"}
    written(Path(place))


def test_a_link_that_leads_to_a_copy_is_refused(lake: Path) -> None:
    """The catalog of the copy names files of the original, whatever its own folder is called."""
    written(lake)
    copy = copied(lake)
    link = lake.with_name("link")
    link.symlink_to(copy)
    assert refusal(lambda: Lease.acquire(config_of(link))).condition == "LAKE_MOVED"


def test_a_folder_that_gave_the_project_its_name_is_known_by_it(lake: Path) -> None:
    lake = lake.rename(lake.with_name("stored"))
    unpack("format_1", lake)
    (lake / "headwater.toml").write_text("")
    written(lake)
    place = renamed(lake)
    error = refusal(lambda: LakeReader(config_of(place)).names())
    assert (error.condition, error.hint) == (
        "LAKE_RENAMED",
        'write name = "stored" in headwater.toml',
    )
    assert refusal(lambda: Lease.acquire(config_of(place))).condition == "LAKE_RENAMED"


@pytest.mark.parametrize("before", [written, lambda folder: folder], ids=["known", "unknown"])
@pytest.mark.parametrize("point", CRASH_POINTS)
def test_a_relocation_that_is_killed_goes_on(
    lake: Path, point: str, before: Callable, capsys: pytest.CaptureFixture[str]
) -> None:
    known = histories(before(lake))
    place = copied(lake)
    command = [sys.executable, "-m", "headwater.cli.main", "relocate", "--project", str(place)]
    killed = subprocess.run(command, env={**os.environ, "HEADWATER_CRASH_POINT": point})
    assert killed.returncode < 0
    if point != CRASH_POINTS[-1]:
        assert refusal(lambda: LakeReader(config_of(place)).names()).condition == "LAKE_MOVED"
    assert main(["relocate", "--project", str(place)]) == 0
    assert histories(place) == known
    assert verified(place, capsys) == {"equal"}
    assert verified(lake, capsys) == {"equal"}
    written(place)
    written(lake)


def test_a_copy_that_lacks_files_is_refused(lake: Path) -> None:
    place = copied(written(lake))
    file = next(place.glob(".headwater/warehouse/*/orders/data/**/*.parquet"))
    file.unlink()
    assert main(["relocate", "--project", str(place)]) == 3
    error = refusal(lambda: LakeReader(config_of(place)).names())
    assert error.condition == "LAKE_MOVED", "nothing has changed"


def test_a_catalog_does_not_take_the_warehouse_of_another_lake(lake: Path) -> None:
    """The note of the warehouse says whose it is, also without the catalog that knew it."""
    written(lake)
    for file in lake.glob(".headwater/warehouse/catalog.db*"):
        file.unlink()
    error = refusal(lambda: Lease.acquire(config_of(lake)))
    assert error.condition == "WAREHOUSE_TAKEN"
    next(lake.rglob(NOTE)).unlink()
    assert refusal(lambda: Lease.acquire(config_of(lake))).condition == "WAREHOUSE_TAKEN"


def test_an_old_copy_of_the_catalog_does_not_write(
    lake: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """As on another machine, at the same path: what the other has written would be orphans."""
    written(lake)
    catalog = next(lake.rglob("catalog.db"))
    old = catalog.read_bytes()
    written(lake)
    catalog.write_bytes(old)
    for file in catalog.parent.glob("catalog.db-*"):
        file.unlink()
    error = refusal(lambda: Lease.acquire(config_of(lake)))
    assert error.condition == "CATALOG_OUTDATED"
    assert verified(lake, capsys) == {"equal"}, "to read does no harm"
    assert main(["relocate", "--project", str(lake)]) == 0, "it is a restored backup"
    written(lake)


def test_a_backup_of_the_catalog_of_an_earlier_release_takes_over(
    lake: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    catalog = next(lake.rglob("catalog.db"))
    old = catalog.read_bytes()
    note = LakeIdentity(config_of(written(lake))).catalog_note()
    for file in catalog.parent.glob("catalog.db*"):
        file.unlink()
    catalog.write_bytes(old)
    assert refusal(lambda: Lease.acquire(config_of(lake))).condition == "CATALOG_OUTDATED"
    assert verified(lake, capsys) == {"equal"}
    assert main(["relocate", "--project", str(lake)]) == 0
    again = LakeIdentity(config_of(written(lake))).catalog_note()
    assert note and again and again.lake == note.lake


@pytest.fixture
def bucket(monkeypatch: pytest.MonkeyPatch) -> dict[str, bytes]:
    """Objects by address, in place of a store."""
    objects: dict[str, bytes] = {}

    def read(self: BucketWarehouse, path: str) -> bytes | None:
        return objects.get(f"{self.uri}/{path}")

    def write(self: BucketWarehouse, path: str, content: bytes) -> None:
        objects[f"{self.uri}/{path}"] = content

    def listed(self: BucketWarehouse, folder: str) -> dict[str, int]:
        begin = f"{self.uri}/"
        inside = (each for each in objects if each.startswith(f"{begin}{folder}/"))
        return {each.removeprefix(begin): len(objects[each]) for each in inside}

    for method in (read, write, listed):
        monkeypatch.setattr(BucketWarehouse, method.__name__, method)
    return objects


def in_bucket(folder: Path, namespace: str = "n", path: str = "s3://lake/w") -> Config:
    folder.mkdir(exist_ok=True)
    place = WarehouseSection(path=path)
    home = folder / ".headwater"
    return Config(folder, namespace, namespace, home / "warehouse", home / "state", bucket=place)


def test_two_embedded_catalogs_do_not_share_a_place_in_a_store(
    tmp_path: Path, bucket: dict[str, bytes]
) -> None:
    one, other = in_bucket(tmp_path / "one"), in_bucket(tmp_path / "other")
    Lease.acquire(one).release()
    error = refusal(lambda: Lease.acquire(other))
    assert error.condition == "WAREHOUSE_TAKEN"
    assert str(tmp_path / "one") in error.message
    Lease.acquire(one).release()
    Lease.acquire(in_bucket(tmp_path / "other", "m")).release()
    Lease.acquire(in_bucket(tmp_path / "third", path="s3://lake/v")).release()


def test_tables_of_a_lake_without_identity_are_not_taken_either(
    tmp_path: Path, bucket: dict[str, bytes]
) -> None:
    bucket["s3://lake/w/n/t/metadata/00000-a.metadata.json"] = b"{}"
    error = refusal(lambda: Lease.acquire(in_bucket(tmp_path / "one")))
    assert error.condition == "WAREHOUSE_TAKEN"


def test_a_copied_catalog_does_not_write_to_the_store_of_the_original(
    tmp_path: Path, bucket: dict[str, bytes]
) -> None:
    Lease.acquire(in_bucket(tmp_path / "one")).release()
    shutil.copytree(tmp_path / "one", tmp_path / "copy")
    error = refusal(lambda: Lease.acquire(in_bucket(tmp_path / "copy")))
    assert error.condition == "LAKE_MOVED" and "the catalog of this lake" in error.message
    (tmp_path / "copy" / "headwater.toml").write_text(
        'name = "n"\n[warehouse]\npath = "s3://lake/w"\n'
    )
    before = dict(bucket)
    (tmp_path / "copy" / "t.sql").write_text("CREATE FUNCTION f(x BIGINT) RETURNS BIGINT RETURN x;")
    assert main(["relocate", "--project", str(tmp_path / "copy")]) == 3, "the original has it"
    assert bucket == before
    shutil.rmtree(tmp_path / "one")
    assert main(["relocate", "--project", str(tmp_path / "copy")]) == 0, "moved: it goes on"
    Lease.acquire(in_bucket(tmp_path / "copy")).release()


@pytest.mark.parametrize("move", [copied, renamed])
def test_a_server_has_one_catalog_for_the_original_and_the_copy(
    lake: Path, move: Callable, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """The tables lie in the folder, the catalog elsewhere, as in PostgreSQL."""
    catalog = lake.parent / "server"
    catalog.mkdir()
    shutil.copy(next(lake.rglob("catalog.db")), catalog)

    def elsewhere(self: SqliteDatabase, _: Path) -> None:
        self.path = catalog / "catalog.db"

    monkeypatch.setattr(SqliteDatabase, "__init__", elsewhere)
    monkeypatch.setattr(SqliteDatabase, "file", None)
    known = histories(written(lake))
    place = move(lake)
    assert refusal(lambda: Lease.acquire(config_of(place))).condition == "LAKE_MOVED"
    before = contents(place)
    if move is copied:
        assert refusal(lambda: relocate(load_project(place))).condition == "ORIGINAL_THERE"
        assert contents(place) == before
        assert histories(lake) == known
    else:
        relocate(load_project(place))
        assert histories(written(place)) == known
        assert verified(place, capsys) == {"equal"}


def test_what_reads_a_lake_need_not_write(lake: Path) -> None:
    names = LakeReader(config_of(lake)).names()
    assert "orders" in names
    assert not list(lake.rglob(NOTE)), "only who writes gives a lake an identity"


def test_a_new_project_has_a_lake_of_its_own(tmp_path: Path) -> None:
    config = replace(in_bucket(tmp_path / "p"), bucket=None)
    assert LakeReader(config).names() == ()
    Lease.acquire(config).release()
    Lease.acquire(config).release()
    note = LakeIdentity(config).catalog_note()
    posted = LakeIdentity(config).warehouse_note()
    assert note and posted and (note.lake, note.turns[-1]) == (posted.lake, posted.turn)


def test_manifests_are_written_as_they_were_read(lake: Path) -> None:
    files = list(lake.rglob("*.avro"))
    assert files
    for file in files:
        read = AvroFile.parse(file.read_bytes())
        again = AvroFile.parse(read.content())
        assert (again.header, again.records) == (read.header, read.records)
        with pytest.raises(ValueError, match="cut off"):
            AvroFile.parse(file.read_bytes()[:-20])
