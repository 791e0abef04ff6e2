"""Files in an object store: which are read, when one is another, and what a failure means."""

from __future__ import annotations

import io
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from datetime import timedelta
from pathlib import Path
from typing import Any, cast

import pytest
from pyarrow.fs import FileInfo, FileSelector, FileType

from headwater.analyze.connectors.files import split_place
from headwater.analyze.definitions import Source
from headwater.config.settings import Config, RunSection, WarehouseSection
from headwater.connectors.contract import Limits
from headwater.connectors.files.bucket import BucketPlace, store_for
from headwater.connectors.files.folder import FolderPlace
from headwater.connectors.files.source import Files, place_of
from headwater.connectors.ledger import LedgerEntry
from headwater.errors import HeadwaterError, ServiceError
from headwater.lake.catalogs.opening import catalog_backend
from headwater.lake.storage.object_store import ObjectStore
from headwater.lake.storage.warehouse import warehouse_for
from headwater.runtime.spark_requirements import OBJECTS, Storage

SECOND = 10**9
WAREHOUSE = WarehouseSection(
    path="s3://lake/air", endpoint="http://s:9", access_key="me", secret_key="${env:STORE_SECRET}"
)


class Object(io.BytesIO):
    """An object as Arrow opens it."""

    def __init__(self, content: bytes, etag: str, second: int) -> None:
        super().__init__(content)
        self._about = {"ETag": etag, "Last-Modified": f"1970-01-01T00:00:{second:02}Z"}

    def metadata(self) -> dict[str, bytes]:
        """What is known of it."""
        size = str(len(self.getvalue()))
        return {k: v.encode() for k, v in {**self._about, "Content-Length": size}.items()}


@dataclass
class Fake:
    """A bucket ``box``: content, ETag and second by name below the folder ``in``."""

    objects: dict[str, tuple[bytes, str, int]] = field(default_factory=dict)
    failure: str = ""
    looks: int = 0
    folder: FileType = FileType.Directory
    bucket: FileType = FileType.Directory

    def get_file_info(self, asked: FileSelector | Sequence[str]) -> list[FileInfo]:
        """List, or tell of bucket and folder."""
        self.looks += 1
        if self.failure:
            raise OSError(self.failure)
        if not isinstance(asked, FileSelector):
            return [FileInfo(asked[0], self.bucket), FileInfo(asked[1], self.folder)]
        return [
            FileInfo(f"box/in/{name}", FileType.File, size=len(content), mtime_ns=at * SECOND + 7)
            for name, (content, _, at) in self.objects.items()
        ]

    def open_input_file(self, path: str) -> Object:
        """Open an object."""
        if self.failure:
            raise OSError(self.failure)
        found = self.objects.get(path.removeprefix("box/in/"))
        if found is None:
            raise FileNotFoundError(path)
        return Object(*found)


def source(**options: str) -> Source:
    options = {"path": "s3://box/in", **options}
    return Source("t", kept=True, columns=(), connector="files", options=options, encode="json")


def bucket(fake: Fake, **options: str) -> BucketPlace:
    place = BucketPlace(source(**options), ObjectStore())
    cast(Any, place).__dict__["_files"] = fake
    return place


def connector(fake: Fake, config: Config, *, once: bool = False) -> Files:
    files = Files(source(), config, once=once)
    files.place = bucket(fake)
    return files


@pytest.fixture
def config(tmp_path: Path) -> Config:
    return Config(tmp_path, "p", "p", tmp_path / "warehouse", tmp_path / "state")


def test_addresses_are_split() -> None:
    assert split_place("s3://b-1/in/x [1]%/") == ("b-1", "in/x [1]%")
    assert split_place("s3://b-1") == split_place("s3://b-1/") == ("b-1", "")
    for wrong in ("s3://b-1//x", "s3://b-1/./x", "s3://b-1/..", "s3:///x", "s3://B/x", "in"):
        assert split_place(wrong) is None


def test_hidden_names_and_those_that_do_not_match_are_not_read() -> None:
    names = ("a.json", "b.csv", "_c.json", ".d.json", "e.tmp", "x/f.json", "_x/g.json", "x/.h.json")
    fake = Fake(dict.fromkeys(names, (b"x", "e", 1)))
    listed = bucket(fake, recursive="true", pattern="*.json").listed()
    assert [(e.file, e.size, e.modified) for e in listed] == [
        ("a.json", 1, 1_000_000), ("x/f.json", 1, 1_000_000)
    ]  # fmt: skip


def test_a_name_that_no_path_can_have_is_refused_by_name() -> None:
    names = ("a//b.json", "./c.json", "x/../d.json", "x./..y.json")
    place = bucket(Fake(dict.fromkeys(names, (b"x", "e", 1))), recursive="true")
    listed = list(place.listed())
    assert [(e.file, bool(e.fault)) for e in listed] == [(name, True) for name in names[:3]]
    assert place.as_now(listed) == listed
    assert place.status("a//b.json") is None


def test_a_file_is_told_from_a_later_one_of_the_same_second() -> None:
    fake = Fake({"a.json": (b"1", "one", 1)})
    place = bucket(fake)
    (taken,) = place.as_now(list(place.listed()))
    assert taken == LedgerEntry("a.json", 1, 1_000_000, version="one")
    assert taken.is_still(place.now(taken))
    assert taken.is_still(next(place.listed()))  # a listing does not say the ETag
    fake.objects["a.json"] = (b"2", "two", 1)
    assert not taken.is_still(place.now(taken))
    fake.objects.clear()
    assert not taken.is_still(place.now(taken))


@pytest.mark.parametrize("once", [False, True])
def test_a_look_holds_for_a_while_and_gone_files_are_left_out(config: Config, once: bool) -> None:
    fake = Fake({f"{n}.json": (b"x", "e", 1) for n in range(4)})
    files = connector(fake, config, once=once)
    taken = files.next_range(None, Limits(files=2))
    assert taken and [e.file for e in taken.body] == ["0.json", "1.json"]
    files.done(taken)
    del fake.objects["2.json"]
    taken = files.next_range(taken.position, Limits(files=1))
    assert taken and [e.file for e in taken.body] == ["3.json"]
    files.done(taken)
    assert (files.next_range(taken.position, Limits()), files.backlog(None)) == (None, 0)
    assert fake.looks == 1
    assert bucket(fake).pause(0.1) == 3.0
    assert bucket(fake).pause(2.0) == 20.0


def test_an_object_that_was_replaced_while_it_was_read_is_read_anew(config: Config) -> None:
    fake = Fake({"a.json": (b"1", "one", 1)})
    files = connector(fake, config)
    taken = files.next_range(None, Limits())
    assert taken
    files.check_unchanged(taken)
    fake.objects["a.json"] = (b"2", "two", 1)
    with pytest.raises(ServiceError) as changed:
        files.check_unchanged(taken)
    assert changed.value.condition == "FILE_CHANGED"
    again = files.next_range(None, Limits())
    assert again and again.body[0].version == "two"
    with pytest.raises(ServiceError) as bound:
        files.planned(None, taken.body)
    assert bound.value.condition == "FILE_CHANGED"
    fake.objects.clear()
    with pytest.raises(ServiceError) as gone:
        files.planned(None, taken.body)
    assert gone.value.condition == "FILE_GONE"
    assert files.stat_files(["a.json"]) == []


@pytest.mark.parametrize(
    ("said", "condition"),
    [
        ("AWS Error NO_SUCH_BUCKET during ListObjectsV2 operation", "BUCKET_MISSING"),
        ("AWS Error ACCESS_DENIED during HeadObject operation", "STORE_REFUSED"),
        ("AWS Error SIGNATURE_DOES_NOT_MATCH during ListObjectsV2", "STORE_REFUSED"),
        ("AWS Error NETWORK_CONNECTION during ListObjectsV2 operation: curlCode: 7", "STORE_DOWN"),
        ("AWS Error SLOW_DOWN during ListObjectsV2 operation", "STORE_DOWN"),
        ("AWS Error UNKNOWN (HTTP status 503) during HeadObject", "STORE_DOWN"),
        ("AWS Error UNKNOWN (HTTP status -1): XML_ERROR", "STORE_FAILED"),
    ],
)
def test_a_store_that_does_not_answer_is_no_damaged_file(said: str, condition: str) -> None:
    place = bucket(Fake(failure=said))
    asks = (lambda: list(place.listed()), lambda: place.status("a"), lambda: place.content("a"))
    for ask in asks:
        with pytest.raises(ServiceError) as found:
            ask()
        assert found.value.condition == condition
        assert "s3://box/in" in found.value.message and '"t"' in found.value.message


def test_what_ends_in_the_middle_of_an_object_is_the_store_too() -> None:
    class Broken(Object):
        def read(self, size: int | None = -1, /) -> bytes:
            raise OSError("AWS Error NETWORK_CONNECTION during GetObject operation")

    fake = Fake({"a.csv.gz": (b"x", "e", 1)})
    fake.open_input_file = lambda _: Broken(b"x", "e", 1)  # type: ignore[method-assign]
    with bucket(fake).text("a.csv.gz") as file, pytest.raises(ServiceError) as found:
        file.readline()
    assert found.value.condition == "STORE_DOWN"


@pytest.mark.parametrize(
    ("said", "condition"),
    [
        ("Caused by: org.apache.hadoop.fs.s3a.AWSClientIOException: open s3a://b/in/a: x", "DOWN"),
        ("Caused by: java.net.SocketTimeoutException: Read timed out", "DOWN"),
        ("Caused by: java.nio.file.AccessDeniedException: s3a://b/in/a", "REFUSED"),
        ("org.apache.hadoop.fs.s3a.RemoteFileChangedException: open `s3a://b/in/a'", "CHANGED"),
        ("[FAILED_READ_FILE.NO_HINT] x\nCaused by: java.io.EOFException: Unexpected end", ""),
        ("Caused by: java.util.zip.ZipException: invalid distance too far back", ""),
    ],
)
def test_a_task_that_fails_is_the_stores_or_the_files_fault(said: str, condition: str) -> None:
    place = bucket(Fake())
    if not condition:
        place.check_reached(Exception(said))
        return
    with pytest.raises(ServiceError) as found:
        place.check_reached(Exception(said))
    assert found.value.condition.endswith(condition)


def test_nothing_is_told_from_no_bucket_and_from_an_object() -> None:
    assert list(bucket(Fake()).listed()) == []
    for fake, condition in (
        (Fake(bucket=FileType.NotFound), "BUCKET_MISSING"),
        (Fake(folder=FileType.File), "FOLDER_NOT_READABLE"),
    ):
        with pytest.raises(HeadwaterError) as found:
            list(bucket(fake).listed())
        assert found.value.condition == condition


def test_a_table_is_read_as_the_warehouse_is_or_says_all_of_it(
    config: Config, monkeypatch: pytest.MonkeyPatch
) -> None:
    warehouse = ObjectStore("http://s:9", "eu-north-1", "me", "${env:STORE_SECRET}")
    assert store_for(source(), warehouse) == warehouse
    assert store_for(source(), None) == ObjectStore()
    # its keys go to no other address
    assert store_for(source(endpoint="http://o:1"), warehouse) == ObjectStore("http://o:1")
    assert store_for(source(region="x-1"), warehouse) == ObjectStore(region="x-1")
    place = place_of(source(), replace(config, bucket=WAREHOUSE))
    assert isinstance(place, BucketPlace) and not isinstance(place, FolderPlace)
    monkeypatch.setenv("STORE_SECRET", "geheim-1")
    settings = warehouse.hadoop_settings()
    assert settings["fs.s3a.secret.key"] == "geheim-1"
    assert settings["fs.s3a.endpoint.region"] == "eu-north-1"
    assert settings[f"fs.{warehouse.scheme}.impl"].endswith("S3AFileSystem")
    assert "Default" in ObjectStore().hadoop_settings()["fs.s3a.aws.credentials.provider"]


def test_two_ways_to_one_bucket_have_two_schemes_and_no_secret_in_them(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    one, other = (ObjectStore("http://s:9", "r", key, "${env:STORE_SECRET}") for key in ("a", "b"))
    assert one.scheme != other.scheme
    before = one.scheme
    monkeypatch.setenv("STORE_SECRET", "geheim-2")
    assert one.scheme == before
    assert "geheim" not in repr(one)


def test_only_projects_that_read_objects_load_the_jars(config: Config) -> None:
    storage = Storage(catalog_backend(config), warehouse_for(config))
    assert not {"s3", "objects"}.intersection(storage.jars)
    reads = replace(storage, further=(OBJECTS,))
    assert {"s3", "objects"}.issubset(reads.jars)
    in_bucket = replace(config, bucket=WAREHOUSE, run=RunSection(lease=timedelta(seconds=1)))
    both = Storage(catalog_backend(in_bucket), warehouse_for(in_bucket), (OBJECTS,))
    assert sorted(both.jars).count("s3") == 1
