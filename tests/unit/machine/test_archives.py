"""Archives of servers: unpacked once, whole or not at all, by every Python that we support."""

from __future__ import annotations

import io
import tarfile
from pathlib import Path

import pytest

from headwater.errors import ServiceError
from headwater.jars.archives import unpacked


@pytest.fixture
def archive(tmp_path: Path) -> Path:
    path = tmp_path / "server-1.tar.gz"
    with tarfile.open(path, "w:gz") as tar:
        for name in ("server-1/lib/a.jar", "server-1/plugin/b/b.jar", "server-1/docs/c"):
            member = tarfile.TarInfo(name)
            member.size = 1
            tar.addfile(member, io.BytesIO(b"x"))
    return path


def files(folder: Path) -> list[str]:
    return sorted(str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file())


def test_the_parts_that_are_needed_are_unpacked_once(
    archive: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = unpacked(archive, ["lib", "plugin/b"])
    assert files(folder) == ["server-1/lib/a.jar", "server-1/plugin/b/b.jar"]
    assert unpacked(archive, ["lib"]) == folder
    assert capsys.readouterr().err == "unpacking server-1.tar.gz\n"


def test_a_python_without_filters_unpacks_too(
    archive: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delattr(tarfile, "data_filter")
    assert "server-1/docs/c" in files(unpacked(archive))


def test_a_broken_archive_leaves_nothing(archive: Path) -> None:
    archive.write_bytes(archive.read_bytes()[:40])
    with pytest.raises(ServiceError) as caught:
        unpacked(archive)
    assert caught.value.condition == "JAR_CACHE"
    assert sorted(path.name for path in archive.parent.iterdir()) == [archive.name]
