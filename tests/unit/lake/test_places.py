"""One place has many spellings; what lies elsewhere is neither written nor deleted."""

from __future__ import annotations

from pathlib import Path

import pytest

from headwater.errors import TerminalError
from headwater.lake.storage.own_files import check_inside, deletable, orphans
from headwater.lake.storage.places import inside, is_inside, is_same, moved

UUID = "865c7e61-84e5-4906-89ba-272586df1cd0"


@pytest.fixture
def folders(tmp_path: Path) -> Path:
    (tmp_path / "own" / "t" / "data").mkdir(parents=True)
    (tmp_path / "other" / "t").mkdir(parents=True)
    (tmp_path / "link").symlink_to(tmp_path / "own")
    (tmp_path / "own" / "out").symlink_to(tmp_path / "other")
    return tmp_path


@pytest.mark.parametrize(
    "spelling",
    [
        *("{0}/own", "file:{0}/own", "file://{0}/own/", "file:///{0}/own", "{0}/other/../own"),
        *("{0}/link", "{0}/./own//", "file:{0}/own/t/.."),
    ],
)
def test_spellings_of_a_folder_are_one_place(folders: Path, spelling: str) -> None:
    assert is_same(spelling.format(folders), str(folders / "own"))
    assert is_inside(f"{spelling.format(folders)}/t/x", f"file://{folders}/link")


@pytest.mark.parametrize(
    "outside",
    [
        *("{0}/other/t", "{0}/own/../other/x", "{0}/own/out/x", "{0}/own2/t", "{0}", "/"),
        *("file:{0}/own/t/../../other/t", "s3://own/t", "{0}/own/.."),
    ],
)
def test_what_lies_elsewhere_is_not_inside(folders: Path, outside: str) -> None:
    own = f"file://{folders}/own"
    assert not is_inside(outside.format(folders), own)
    assert inside([outside.format(folders)], own) == []
    with pytest.raises(TerminalError) as caught:
        check_inside([f"{own}/t", outside.format(folders)], own, "t")
    assert caught.value.condition == "OUTSIDE_WAREHOUSE"
    assert deletable([f"{own}/t/a", outside.format(folders)], own) == [f"{own}/t/a"]


@pytest.mark.parametrize(
    ("address", "place", "is_in"),
    [
        ("s3://b/w/ns/t", "s3://b/w", True),
        ("s3a://b/w/ns/t", "s3://b/w/", True),
        ("s3://b/w2/ns/t", "s3://b/w", False),
        ("s3://b/w/../x/t", "s3://b/w", False),
        ("s3://c/w/ns/t", "s3://b/w", False),
        ("/w/ns", "s3://b/w", False),
    ],
)
def test_places_in_a_store_are_compared_as_they_are_written(
    address: str, place: str, is_in: bool
) -> None:
    assert is_inside(address, place) is is_in


@pytest.mark.parametrize(
    ("address", "now", "found"),
    [
        ("file:/a/w/n/t/x", "file:///b/w", "file:/b/w/n/t/x"),
        ("file:///a/w/n/t/x", "file:///b/w", "file:///b/w/n/t/x"),
        ("/a/w/n", "file:///b/w", "/b/w/n"),
        ("file:////////a/w", "file:///b/w", "file:///b/w"),
        ("file:/a/w2/n", "file:///b/w", None),
        ("s3://x/n", "file:///b/w", None),
        ("file:/a/w/n", "s3://c/w", "s3://c/w/n"),
    ],
)
def test_an_address_moves_with_its_folder(address: str, now: str, found: str | None) -> None:
    assert moved(address, ["file:///a/w"], now) == found


@pytest.mark.parametrize(
    ("name", "delta", "is_ours"),
    [
        (f"data/00000-0-{UUID}-0-00001.parquet", False, True),
        (f"data/ts_day=2013-01-01/00007-12-{UUID}-00003-deletes.parquet", False, True),
        (f"metadata/{UUID}-m0.avro", False, True),
        (f"metadata/snap-7620461988346983677-1-{UUID}.avro", False, True),
        (f"metadata/00003-{UUID}.gz.metadata.json", False, True),
        ("data/notes.txt", False, False),
        ("notes.txt", False, False),
        ("data/old.parquet", False, False),
        # PyIceberg's, Trino's
        (f"data/00000-0-{UUID}.parquet", False, False),
        (f"data/20130101_101010_00001_abcde-{UUID}.parquet", False, False),
        (f"data/{UUID}-m0.avro", False, False),
        (f"part-00000-{UUID}-c000.snappy.parquet", True, True),
        (f"ts=2013-01-01/part-00011-{UUID}.c000.snappy.parquet", True, True),
        (f"deletion_vector_{UUID}.bin", True, True),
        ("part-of-somebody.parquet", True, False),
        ("notes.txt", True, False),
    ],
)
def test_an_orphan_has_a_name_of_this_lakes_writers(
    tmp_path: Path, name: str, delta: bool, is_ours: bool
) -> None:
    location, address = f"file:{tmp_path}", f"file:{tmp_path}/{name}"
    assert orphans([address], location, delta=delta) == [address][: int(is_ours)]


def test_an_orphan_behind_a_link_stays(tmp_path: Path) -> None:
    other = tmp_path / "other"
    other.mkdir()
    (tmp_path / "t").mkdir()
    (tmp_path / "t" / "data").symlink_to(other)
    address = f"file:{tmp_path}/t/data/00000-0-{UUID}-0-00001.parquet"
    assert orphans([address], f"file:{tmp_path}/t") == []
