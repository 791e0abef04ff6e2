"""Which files an epoch takes, without Spark."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path

import pytest

from headwater.analyze.definitions import Source
from headwater.config.settings import RunSection
from headwater.connectors.contract import Limits
from headwater.connectors.files.place import is_hidden
from headwater.connectors.files.source import Files, fault_of
from headwater.errors import ServiceError


@dataclass(frozen=True)
class Project:
    directory: Path
    run: RunSection = RunSection(max_bytes_per_epoch=1000)


def files(folder, **options):
    source = Source("t", True, (), "files", options={"path": ".", **options}, encode="json")
    return Files(source, Project(folder))


def put(folder, name, size=1, modified=1000.0):
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(b"x" * size)
    os.utime(path, (modified, modified))


def taken(connector, after=None, limits=Limits()):  # noqa: B008
    found = connector.next_range(after, limits)
    return [entry.file for entry in found.body] if found else []


def test_names_that_are_never_read():
    assert all(map(is_hidden, [".a.json", "_a.json", "a.tmp", "a.json.crc"]))
    assert not is_hidden("a_.json")


def test_pattern_and_recursion(tmp_path):
    for name in ("a.json", "b.csv", "sub/c.json", "sub/_d.json", "_sub/e.json"):
        put(tmp_path, name)
    assert taken(files(tmp_path, pattern="*.json")) == ["a.json"]
    assert taken(files(tmp_path, pattern="*.json", recursive="true")) == ["a.json", "sub/c.json"]


def test_order_is_name_or_whole_seconds_then_name(tmp_path):
    put(tmp_path, "c", modified=5.9)
    put(tmp_path, "b", modified=5.1)
    put(tmp_path, "a", modified=9)
    assert taken(files(tmp_path)) == ["a", "b", "c"]
    assert taken(files(tmp_path, order="modified")) == ["b", "c", "a"]


def test_limits_take_at_least_one_file(tmp_path):
    for name in "abc":
        put(tmp_path, name, size=600)
    assert taken(files(tmp_path)) == ["a"]
    assert taken(files(tmp_path, max_bytes_per_epoch="5000")) == ["a", "b", "c"]
    assert taken(files(tmp_path, max_bytes_per_epoch="5000", max_files_per_epoch="2")) == ["a", "b"]
    assert taken(files(tmp_path), limits=Limits(bytes=10)) == ["a"]


def test_position_depends_on_every_file_before_it(tmp_path):
    put(tmp_path, "a")
    put(tmp_path, "b")
    one = files(tmp_path)
    first = one.next_range(None, Limits(files=1))
    one.done(first)
    second = one.next_range(first.position, Limits())
    assert [entry.file for entry in second.body] == ["b"]
    again = files(tmp_path)
    planned = again.planned(first.position, second.body)
    assert planned.position == second.position
    put(tmp_path, "0")
    other = files(tmp_path).next_range(None, Limits(files=2))
    assert other.position != second.position


def test_missing_folder_is_a_clear_error(tmp_path):
    with pytest.raises(ServiceError) as error:
        files(tmp_path, path="nowhere").next_range(None, Limits())
    assert error.value.condition == "FOLDER_NOT_READABLE"


@pytest.mark.parametrize(
    ("cause", "reason"),
    [
        ("java.io.EOFException", "its compression is damaged or cut off"),
        ("java.io.IOException: not a gzip file", "its compression is damaged or cut off"),
        ("java.io.IOException: incorrect data check", "its compression is damaged or cut off"),
        ("java.lang.RuntimeException: a.b.C: it is torn", "it is torn"),
    ],
)
def test_fault_of_says_the_deepest_cause_without_names_of_classes(cause, reason):
    message = f"An error.\nCaused by: java.io.IOException: outer\nCaused by: {cause}\n"
    assert fault_of(message) == f"unreadable file: {reason}"


def test_fault_of_names_column_and_types():
    parquet = (
        "Data type mismatches when reading Parquet column [id]. "
        "Expected Spark type int, actual Parquet type INT64. SQLSTATE: KD001"
    )
    assert (
        fault_of(parquet) == "unreadable file: column id is INT64 in the file, not readable as int"
    )
