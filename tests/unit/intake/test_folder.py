"""What a folder holds: every name as it is, and what is no file told by its name."""

from __future__ import annotations

import os
import re
import socket
import string
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from headwater.analyze.definitions import Source
from headwater.config.settings import RunSection
from headwater.connectors.contract import Limits
from headwater.connectors.files import folder as folder_module
from headwater.connectors.files.folder import FolderPlace, stream_of
from headwater.connectors.files.form import form_of
from headwater.connectors.files.place import FileFault, is_hidden
from headwater.connectors.files.source import Files
from headwater.connectors.ledger import LedgerEntry
from headwater.errors import ServiceError

PRINTABLE = [c for c in string.printable if c != "/"]
NAMES = st.text(
    st.characters(exclude_categories=("Cs",), exclude_characters="/\0"), min_size=1, max_size=30
).filter(lambda name: len(name.encode()) < 250 and not is_hidden(name))


def place(folder: Path, **options: str) -> FolderPlace:
    source = Source("t", True, (), "files", options={"path": ".", **options}, encode="json")
    return FolderPlace(source, folder)


def listed(folder: Path, **options: str) -> dict[str, str | None]:
    """The entries of a folder, each with its fault."""
    entries = list(place(folder, **options).listed())
    found = {entry.file: entry.fault for entry in entries}
    assert len(found) == len(entries)
    return found


def test_a_file_is_listed_once_whatever_its_name_is(tmp_path):
    names = {f"a{c}b" for c in PRINTABLE} | {f"{c}x.csv" for c in PRINTABLE if c not in "._"}
    for name in names:
        (tmp_path / name).write_text(name)
    assert listed(tmp_path) == dict.fromkeys(names)
    (tmp_path / "a[1] {b}" / "k=v").mkdir(parents=True)
    (tmp_path / "a[1] {b}" / "k=v" / "x*").write_text("")
    assert "a[1] {b}/k=v/x*" in listed(tmp_path, recursive="true")


@settings(max_examples=300)
@given(name=NAMES)
def test_a_file_of_any_name_is_found_as_it_is(tmp_path_factory, name):
    folder = tmp_path_factory.mktemp("in")
    if name in (".", ".."):
        return
    (folder / name).write_bytes(b"1")
    here = place(folder)
    (entry,) = here.listed()
    assert (entry.file, entry.fault, entry.size) == (name, None, 1)
    assert here.now(entry) == here.status(name) == entry
    with here.content(name) as content:
        assert content.read() == b"1"


def test_a_name_that_is_not_utf_8_is_told_apart_from_every_other(tmp_path):
    names = [b"b\xff", b"b\\xff", b"\xe9.csv", b"b\\xff\xfe", b"b\xff\xfe", b"b\\\\xff\xfe"]
    for name in names:
        Path(os.fsdecode(os.fsencode(tmp_path) + b"/" + name)).write_bytes(b"")
    found = listed(tmp_path)
    assert len(found) == len(names)
    assert {file for file, fault in found.items() if not fault} == {"b\\xff"}
    assert found["./b\\xff"] == "unreadable file: the name is not UTF-8"
    for file in found:
        file.encode()
    for entry in place(tmp_path).listed():
        now = place(tmp_path).now(entry)
        assert now == entry
        assert place(tmp_path).status(entry.file) == (None if entry.fault else entry)


def a_link_to_nothing(path: Path) -> None:
    path.symlink_to(path.with_name("nowhere"))


def a_link_to_itself(path: Path) -> None:
    path.symlink_to(path)


def a_pipe(path: Path) -> None:
    os.mkfifo(path)


def a_socket(path: Path) -> None:
    with socket.socket(socket.AF_UNIX) as server:
        server.bind(str(path))


def a_device(path: Path) -> None:
    path.symlink_to("/dev/zero")


ODD = {
    a_link_to_nothing: "a link to a file that does not exist",
    a_link_to_itself: "Too many levels of symbolic links",
    a_pipe: "a named pipe",
    a_socket: "a socket",
    a_device: "a device",
}


@pytest.mark.parametrize("make", ODD, ids=lambda make: make.__name__)
def test_what_is_no_file_is_named_and_the_others_are_read(tmp_path, make, monkeypatch):
    monkeypatch.chdir(tmp_path)  # the address of a socket is short
    make(Path("odd.json"))
    (tmp_path / "good.json").write_text("{}")
    found = listed(tmp_path)
    assert found == {"odd.json": f"unreadable file: {ODD[make]}", "good.json": None}
    assert listed(tmp_path, pattern="g*") == {"good.json": None}
    connector = Files(place(tmp_path)._source, _Config(tmp_path))
    taken = connector.next_range(None, Limits())
    assert [entry.file for entry in taken.body] == ["good.json", "odd.json"]
    connector.check_unchanged(taken)
    assert connector.planned(None, taken.body).body == taken.body
    connector.done(taken)
    assert connector.next_range(taken.position, Limits()) is None  # not told again
    assert connector.changed == 0
    os.unlink("odd.json")
    Path("odd.json").write_text('{"id": 1}')
    assert connector.next_range(taken.position, Limits()) is None
    assert connector.changed == 1  # its replay reads it
    assert [entry.fault for entry in connector.stat_files(["odd.json"])] == [None]


def test_a_folder_that_links_to_one_that_it_is_in_is_not_walked_for_ever(tmp_path):
    (tmp_path / "deep" / "er").mkdir(parents=True)
    (tmp_path / "deep" / "er" / "up").symlink_to(tmp_path / "deep")
    (tmp_path / "self").symlink_to(tmp_path)
    (tmp_path / "again").symlink_to(tmp_path / "deep" / "er")
    for folder in ("", "deep", "deep/er"):
        (tmp_path / folder / "a.json").write_text("{}")
    fault = "unreadable file: the folder is a link to one that it is in"
    assert listed(tmp_path, recursive="true") == {
        "a.json": None,
        "deep/a.json": None,
        "deep/er/a.json": None,
        "deep/er/up": fault,
        "self": fault,
        "again/a.json": None,
        "again/up/a.json": None,
        "again/up/er": fault,
    }
    assert listed(tmp_path) == {"a.json": None}


def test_a_folder_of_the_name_of_a_file_is_a_folder(tmp_path):
    (tmp_path / "x.csv").mkdir()
    (tmp_path / "x.csv" / "part.csv").write_text("")
    assert listed(tmp_path, pattern="*.csv") == {}
    assert listed(tmp_path, pattern="*.csv", recursive="true") == {"x.csv/part.csv": None}


@pytest.mark.parametrize("name", ["secret", "gone"])
def test_a_folder_below_that_cannot_be_listed_is_named_or_left_out(tmp_path, monkeypatch, name):
    (tmp_path / name).mkdir()
    (tmp_path / "a.json").write_text("{}")
    scandir = os.scandir

    def refused(path):
        if str(path).rstrip("/").endswith("/secret"):
            raise PermissionError(13, "Permission denied")
        if str(path).rstrip("/").endswith("/gone"):
            raise FileNotFoundError(2, "No such file or directory")
        return scandir(path)

    monkeypatch.setattr(folder_module.os, "scandir", refused)
    odd = {"secret": "unreadable file: Permission denied"} if name == "secret" else {}
    assert listed(tmp_path, recursive="true") == {"a.json": None, **odd}


@pytest.mark.parametrize(
    ("error", "raised"),
    [
        (PermissionError(13, "Permission denied"), FileFault),
        (OSError(5, "Input/output error"), ServiceError),
        (FileNotFoundError(2, "No such file or directory"), ServiceError),
    ],
)
@pytest.mark.parametrize("encode", ["json", "csv", "parquet"])
def test_a_file_without_permission_is_at_fault_and_a_failing_disk_is_not(
    tmp_path, monkeypatch, error, raised, encode
):
    here = place(tmp_path)
    source = Source("t", True, (), "files", options={"path": "."}, encode=encode)

    def refused(file):
        raise error

    monkeypatch.setattr(here, "content", refused)
    with pytest.raises(raised) as caught:
        form_of(source, here, LedgerEntry("a.json", 1, 1))
    assert error.strerror in str(caught.value)


def test_a_file_that_vanishes_before_it_is_read_is_left_out(tmp_path):
    for name in "abc":
        (tmp_path / name).write_text("{}")
    connector = Files(place(tmp_path)._source, _Config(tmp_path))
    assert connector.backlog(None) == 3
    (tmp_path / "b").unlink()
    connector.place.listed = lambda: iter(())  # the listing that was made
    connector._found = [LedgerEntry(name, 2, 1) for name in "abc"]
    connector._look_at = float("inf")
    taken = connector.next_range(None, Limits())
    assert [entry.file for entry in taken.body] == ["a", "c"]


class _Config:
    bucket = None
    run = RunSection()

    def __init__(self, directory: Path) -> None:
        self.directory = directory


class _Reader:
    """What a stream's reader is told."""

    def __init__(self) -> None:
        self.told: dict[str, str] = {}

    def option(self, key: str, value: str) -> _Reader:
        self.told[key] = value
        return self

    def options(self, **more: str) -> _Reader:
        self.told |= more
        return self


@given(name=NAMES)
def test_the_folder_of_a_stream_is_a_pattern_of_nothing_else(name):
    reader, path = stream_of(_Reader(), Path("/in") / name, 7)
    # as Hadoop's patterns: behind a backslash, a character stands for itself
    assert re.sub(r"\\(.)", r"\1", path, flags=re.DOTALL) == f"/in/{name}"
    assert not re.search(r"[\[\]{}*?\\]", re.sub(r"\\.", "", path, flags=re.DOTALL))
    assert reader.told["maxFilesPerTrigger"] == ("7" if path == f"/in/{name}" else "1")
