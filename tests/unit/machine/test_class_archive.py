"""Which options a JVM gets for the archive of its classes, and when one is taken for whole."""

from __future__ import annotations

import os
import time
from pathlib import Path

import pytest

from headwater.machine.class_archive import CLAIM, archive_options
from headwater.machine.java import Java

JARS = (Path("/jars/a-1.0.jar"),)


@pytest.fixture
def java(tmp_path):
    (tmp_path / "release").write_text('JAVA_VERSION="17.0.1"')
    return Java(tmp_path, 17)


def option(java, folder, jars=JARS):
    return next(iter(archive_options(java, jars, folder)), "")


def target(text):
    return Path(text.partition("=")[2])


def test_the_first_jvm_writes_it_and_the_next_ones_read_it(java, tmp_path):
    first = option(java, tmp_path / "classes")
    assert first.startswith("-XX:ArchiveClassesAtExit=")
    assert option(java, tmp_path / "classes") == "", "one writes it at a time"
    target(first).write_bytes(bytes(4096))  # what the JVM has done so far
    assert option(java, tmp_path / "classes") == ""
    target(first).write_bytes(b"\xa8\xba\x0b\xf0" + bytes(4096))
    second = option(java, tmp_path / "classes")
    assert second.startswith("-XX:SharedArchiveFile=") and target(second).exists()
    assert not target(first).exists()


def test_a_jvm_that_was_killed_does_not_keep_others_from_writing_it(java, tmp_path):
    first = option(java, tmp_path / "classes")
    long_ago = target(first).stat().st_mtime - CLAIM - 1
    os.utime(target(first), (long_ago, long_ago))
    assert option(java, tmp_path / "classes") == first
    assert option(java, tmp_path / "classes") == ""


@pytest.mark.parametrize("other", ["jars", "java"])
def test_other_jars_and_another_java_have_an_archive_of_their_own(java, tmp_path, other):
    first = option(java, tmp_path / "classes")
    if other == "java":
        (tmp_path / "release").write_text('JAVA_VERSION="17.0.2"')
    jars = (Path("/jars/a-1.1.jar"),) if other == "jars" else JARS
    assert option(java, tmp_path / "classes", jars) not in ("", first)


def test_archives_that_nobody_uses_any_more_go(java, tmp_path):
    folder = tmp_path / "classes"
    folder.mkdir()
    for name, days in (("old.jsa", 31), ("old.making", 31), ("used.jsa", 29)):
        then = time.time() - days * 86400
        (folder / name).write_bytes(b"x")
        os.utime(folder / name, (then, then))
    unfinished = target(option(java, folder))
    assert sorted(each.name for each in folder.iterdir()) == sorted(["used.jsa", unfinished.name])


def test_without_a_folder_to_write_a_jvm_starts_as_ever(java, tmp_path):
    (tmp_path / "file").write_text("")
    assert archive_options(java, JARS, tmp_path / "file" / "classes") == []
