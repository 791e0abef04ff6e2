"""Which Java is chosen, and the one line that says what is missing."""

from __future__ import annotations

import ssl
import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path

import pytest

from headwater.errors import ServiceError
from headwater.machine import java as module
from headwater.machine.java import Java, java_version
from headwater.machine.packaged_java import java_home, key_store


def find_java(
    environ: Mapping[str, str], installations: Sequence[Path], *, oldest: int | None = None
) -> Java:
    """Without the package, which the machine of the tests may have."""
    return module.find_java(environ, installations, "no_such_package", oldest=oldest)


def fake_java(home: Path, version: str) -> Path:
    program = home / "bin" / "java"
    program.parent.mkdir(parents=True)
    program.write_text(f"#!/bin/sh\necho 'openjdk version \"{version}\" 2025-01-01' >&2\n")
    program.chmod(0o755)
    return home


def test_java_home_is_taken_first(tmp_path: Path) -> None:
    home = fake_java(tmp_path / "a", "21.0.2")
    other = fake_java(tmp_path / "b", "17.0.1")
    java = find_java({"JAVA_HOME": str(home), "PATH": str(other / "bin")}, ())
    assert (java.home, java.version) == (home, 21)
    assert java.executable == home / "bin" / "java"


def test_java_on_the_path_is_taken_next_through_links(tmp_path: Path) -> None:
    home = fake_java(tmp_path / "jvm", "17.0.1")
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin" / "java").symlink_to(home / "bin" / "java")
    assert find_java({"PATH": str(tmp_path / "bin")}, ()).home == home


def test_a_wrong_default_gives_way_to_a_fitting_installation(tmp_path: Path) -> None:
    wrong = fake_java(tmp_path / "wrong", "11.0.2")
    right = fake_java(tmp_path / "jvm" / "java-17", "17")
    assert find_java({"JAVA_HOME": str(wrong), "PATH": ""}, [tmp_path / "jvm"]).home == right


def test_only_wrong_ones_are_named_in_one_line(tmp_path: Path) -> None:
    home = fake_java(tmp_path / "old", "1.8.0_392")
    fake_java(tmp_path / "jvm" / "java-25", "25")
    with pytest.raises(ServiceError) as caught:
        find_java({"JAVA_HOME": str(home), "PATH": ""}, [tmp_path / "jvm"])
    assert caught.value.condition == "JAVA_VERSION"
    assert caught.value.exit_code == 3
    assert caught.value.message == (
        f"Java 17 or 21 is needed, found Java 8 (JAVA_HOME={home}),"
        f" Java 25 ({tmp_path}/jvm/java-25)"
    )
    assert "pip install 'headwater[java]'" in caught.value.hint


def test_no_java_is_one_line_and_what_to_install(tmp_path: Path) -> None:
    with pytest.raises(ServiceError) as caught:
        find_java({"PATH": str(tmp_path)}, [tmp_path / "jvm"])
    assert caught.value.condition == "JAVA_MISSING"
    assert caught.value.message == "Java 17 or 21 is needed, found no Java"
    assert "pip install 'headwater[java]'" in caught.value.hint


def test_a_server_may_need_a_newer_one_than_spark(tmp_path: Path) -> None:
    default = fake_java(tmp_path / "default", "17")
    newer = fake_java(tmp_path / "jvm" / "java-25", "25")
    environ = {"JAVA_HOME": str(default), "PATH": ""}
    assert find_java(environ, [tmp_path / "jvm"], oldest=17).home == default
    assert find_java(environ, [tmp_path / "jvm"], oldest=21).home == newer
    with pytest.raises(ServiceError) as caught:
        find_java(environ, (), oldest=21)
    assert caught.value.condition == "JAVA_VERSION"
    assert caught.value.message.startswith("Java 21 or newer is needed, found Java 17")
    assert "pip install" in caught.value.hint


def test_a_java_that_does_not_run_is_no_java(tmp_path: Path) -> None:
    assert java_version(tmp_path / "java") is None
    with pytest.raises(ServiceError) as caught:
        find_java({"JAVA_HOME": str(tmp_path / "gone"), "PATH": ""}, ())
    assert caught.value.condition == "JAVA_MISSING"


def test_the_package_is_taken_last(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    package = tmp_path / "a_java_for_tests"
    fake_java(package / "java-runtime", "21.0.8")
    (package / "__init__.py").touch()
    installed = fake_java(tmp_path / "installed", "17")
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setenv("HEADWATER_JARS", str(tmp_path / "cache"))
    environ = {"JAVA_HOME": str(installed), "PATH": ""}
    assert module.find_java(environ, (), package.name).home == installed
    found = module.find_java({"PATH": ""}, (), package.name)
    assert found.version == 21
    assert found.home.parent == tmp_path / "cache"


def test_the_launcher_drops_the_module_that_the_runtime_lacks_and_nothing_else(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    program = tmp_path / "a runtime" / "bin" / "java"
    program.parent.mkdir(parents=True)
    program.write_text('#!/bin/sh\nprintf "%s\\n" "$@"\n')
    program.chmod(0o755)
    monkeypatch.setenv("HEADWATER_JARS", str(tmp_path / "cache"))
    home = java_home(tmp_path / "a runtime")
    words = ["-cp", "a b", "--add-modules=jdk.incubator.vector", "", "$x"]
    done = subprocess.run([home / "bin" / "java", *words], capture_output=True, text=True)
    said = [line for line in done.stdout.split("\n") if "trustStore" not in line]
    assert said == ["-cp", "a b", "", "$x", ""]
    assert java_home(tmp_path / "a runtime") == home


@pytest.mark.spark
def test_java_reads_the_key_store_that_we_write(tmp_path: Path) -> None:
    import trustme

    certificate = ssl.PEM_cert_to_DER_cert(trustme.CA().cert_pem.bytes().decode())
    (tmp_path / "cacerts").write_bytes(key_store([certificate, certificate]))
    tool = module.find_java().home / "bin" / "keytool"
    command = [tool, "-list", "-keystore", tmp_path / "cacerts", "-storepass", "changeit"]
    done = subprocess.run(command, capture_output=True, text=True)
    assert "contains 2 entries" in done.stdout, done.stdout + done.stderr
