"""The jars: fetched once, verified always, retried when broken; no network in here."""

from __future__ import annotations

import hashlib
import io
import os
import re
from collections.abc import Callable, Iterable, Sequence
from functools import partial
from pathlib import Path
from xml.etree import ElementTree

import pyspark
import pytest

from headwater.errors import ServiceError
from headwater.jars import fetch as fetching
from headwater.jars.fetch import (
    IVY_FILE,
    SETTINGS,
    IvyRunner,
    fetch,
    ivy_configurations,
    lock_jars,
    progress_line,
    run_pyspark_ivy,
)
from headwater.jars.store import LOCK, Cache, LockedJar, read_lock, select, write_lock
from headwater.machine.cache import cache_folder
from headwater.project import load_project
from headwater.runtime.spark_requirements import jars_needed
from jobs.demos.servers import packages

ROOT = Path(__file__).parents[2]
Ticks = Callable[[], None]
CONTENT = {"a-1.jar": b"first" * 1000, "b-2.jar": b"second" * 1000}


class FakeIvy:
    """Delivers files; each try may deliver something else. Counts its runs."""

    def __init__(self, *tries: dict[str, bytes] | ServiceError) -> None:
        self.tries = tries or (CONTENT,)
        self.runs = 0

    def __call__(self, configurations: Sequence[str], staging: Path, tick: Ticks) -> None:
        files = self.tries[min(self.runs, len(self.tries) - 1)]
        self.runs += 1
        if isinstance(files, ServiceError):
            raise files
        for configuration in configurations:
            folder = staging / "jars" / configuration
            folder.mkdir(parents=True)
            for name, content in files.items():
                (folder / name).write_bytes(content)
        tick()


def no_ivy(configurations: Sequence[str], staging: Path, tick: Ticks) -> None:
    raise AssertionError("nothing was to be fetched")


def locked(name: str, content: bytes) -> LockedJar:
    return LockedJar("core", name, len(content), hashlib.sha256(content).hexdigest())


@pytest.fixture
def lock(tmp_path: Path) -> Path:
    path = tmp_path / "jars.lock"
    write_lock((locked(name, content) for name, content in CONTENT.items()), path)
    return path


@pytest.fixture
def cache(tmp_path: Path) -> Path:
    return tmp_path / "cache" / "jars"


@pytest.fixture(autouse=True)
def no_waiting(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tenacity.nap.time.sleep", lambda _: None)


def names(paths: Iterable[Path]) -> list[str]:
    return sorted(path.name for path in paths)


def test_a_first_run_fetches_and_leaves_only_jars(lock: Path, cache: Path) -> None:
    told: list[tuple[int, int]] = []
    paths = fetch(
        cache=cache, progress=lambda *amounts: told.append(amounts), lock=lock, run_ivy=FakeIvy()
    )
    assert [path.read_bytes() for path in paths] == list(CONTENT.values())
    assert names(cache.iterdir()) == [".verified.json", "a-1.jar", "b-2.jar"]
    assert told == [(11000, 11000), (11000, 11000)]


class SlowIvy(FakeIvy):
    """Downloads as Ivy does: into its cache, in parts; then it copies."""

    def __call__(self, configurations: Sequence[str], staging: Path, tick: Ticks) -> None:
        tick()
        cache = staging / "ivy" / "org" / "module" / "jars"
        cache.mkdir(parents=True)
        (cache.parent / "ivy-1.xml.original").write_bytes(b"x" * 7000)
        tick()
        for name, content in CONTENT.items():
            part = cache / f"{name}.part"
            part.write_bytes(content[:2000])
            tick()
            part.write_bytes(content)
            part.rename(cache / name)
            tick()
        super().__call__(configurations, staging, tick)


def test_progress_counts_parts_of_jars_once_and_nothing_else(lock: Path, cache: Path) -> None:
    told: list[tuple[int, int]] = []
    fetch(cache=cache, progress=lambda *now: told.append(now), lock=lock, run_ivy=SlowIvy())
    assert [done for done, _ in told] == [0, 0, 2000, 5000, 7000, 11000, 11000, 11000]


def test_the_total_is_what_is_absent(lock: Path, cache: Path) -> None:
    cache.mkdir(parents=True)
    (cache / "a-1.jar").write_bytes(CONTENT["a-1.jar"])
    told: list[tuple[int, int]] = []
    fetch(cache=cache, progress=lambda *now: told.append(now), lock=lock, run_ivy=SlowIvy())
    assert [done for done, _ in told] == [0, 0, 0, 0, 2000, 6000, 6000, 6000]
    assert {total for _, total in told} == {6000}


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def test_a_terminal_has_one_line_that_is_rewritten() -> None:
    err = Terminal()
    with progress_line(err) as progress:
        for done in (0, 400_000_000, 821_000_000):
            progress(done, 821_000_000)
    assert re.sub(r", \d+ s", "", err.getvalue()).split("\r\033[K") == [
        "",
        "  fetching jars: 0 of 821 MB",
        "  fetching jars: 400 of 821 MB",
        "  fetched 821 MB of jars\n",
    ]


def test_without_a_terminal_no_line_comes_twice() -> None:
    err = io.StringIO()
    with progress_line(err) as progress:
        for done in (0, 0, 0, 400_000_000, 821_000_000):
            progress(done, 821_000_000)
    assert err.getvalue().splitlines() == [
        "  fetching jars: 0 of 821 MB",
        "  fetched 821 MB of jars",
    ]


def test_nothing_is_said_if_nothing_is_fetched() -> None:
    err = io.StringIO()
    with progress_line(err):
        pass
    assert err.getvalue() == ""


def test_a_second_run_fetches_nothing_and_hashes_nothing(
    lock: Path, cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = fetch(cache=cache, lock=lock, run_ivy=FakeIvy())
    monkeypatch.setattr("headwater.jars.store.measure", no_ivy)
    assert fetch(cache=cache, lock=lock, run_ivy=no_ivy) == first


def test_jars_put_there_by_hand_are_accepted_if_they_match(lock: Path, cache: Path) -> None:
    cache.mkdir(parents=True)
    for name, content in CONTENT.items():
        (cache / name).write_bytes(content)
    fetch(cache=cache, lock=lock, run_ivy=no_ivy)


@pytest.mark.parametrize("damage", [b"short", b"FIRST" * 1000])
def test_a_damaged_jar_is_fetched_again(lock: Path, cache: Path, damage: bytes) -> None:
    fetch(cache=cache, lock=lock, run_ivy=FakeIvy())
    (cache / "a-1.jar").write_bytes(damage)
    os.utime(cache / "a-1.jar", ns=(1, 1))
    assert Cache(cache).missing(read_lock(lock))
    ivy = FakeIvy()
    fetch(cache=cache, lock=lock, run_ivy=ivy)
    assert ivy.runs == 1
    assert (cache / "a-1.jar").read_bytes() == CONTENT["a-1.jar"]


def test_a_broken_download_is_tried_again(lock: Path, cache: Path) -> None:
    ivy = FakeIvy(ServiceError("JAR_FETCH", "connection reset"), {"a-1.jar": b"x"}, CONTENT)
    fetch(cache=cache, lock=lock, run_ivy=ivy)
    assert ivy.runs == 3


def test_after_three_tries_the_reason_is_told(lock: Path, cache: Path) -> None:
    ivy = FakeIvy(ServiceError("JAR_FETCH", "connection reset"))
    with pytest.raises(ServiceError, match="connection reset"):
        fetch(cache=cache, lock=lock, run_ivy=ivy)
    assert ivy.runs == 3
    assert names(cache.iterdir()) == []


def test_a_jar_that_is_not_the_locked_one_never_reaches_the_cache(lock: Path, cache: Path) -> None:
    forged = b"other" * 1000
    with pytest.raises(ServiceError) as caught:
        fetch(cache=cache, lock=lock, run_ivy=FakeIvy(CONTENT | {"a-1.jar": forged}))
    error = caught.value
    assert error.condition == "JAR_CHECKSUM"
    assert error.exit_code == 3
    for part in ("a-1.jar", locked("", CONTENT["a-1.jar"]).sha256, locked("", forged).sha256):
        assert part in error.message
    assert not (cache / "a-1.jar").exists()


def test_what_a_killed_run_left_is_removed_and_a_running_one_is_not(
    lock: Path, cache: Path
) -> None:
    for folder in (cache / ".staging-dead", cache / ".staging-alive"):
        folder.mkdir(parents=True)
    os.utime(cache / ".staging-dead", (1, 1))
    fetch(cache=cache, lock=lock, run_ivy=FakeIvy())
    assert names(cache.glob(".staging-*")) == [".staging-alive"]


def test_a_folder_that_cannot_be_made_is_one_line(lock: Path, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("in the way")
    with pytest.raises(ServiceError) as caught:
        fetch(cache=tmp_path / "file" / "jars", lock=lock, run_ivy=FakeIvy())
    assert caught.value.condition == "JAR_CACHE"
    assert "HEADWATER_JARS" in caught.value.hint


def test_a_broken_record_only_costs_a_new_hash(lock: Path, cache: Path) -> None:
    fetch(cache=cache, lock=lock, run_ivy=FakeIvy())
    (cache / ".verified.json").write_text("{")
    fetch(cache=cache, lock=lock, run_ivy=no_ivy)
    assert (cache / ".verified.json").read_text() != "{"


def test_the_cache_folder_can_be_named() -> None:
    assert cache_folder({"HEADWATER_JARS": "/jars"}) == Path("/jars")
    assert cache_folder({}).parts[-3:] == (".cache", "headwater", "jars")


def test_the_lock_covers_every_configuration_of_ivy_xml() -> None:
    jars = read_lock()
    assert ivy_configurations() == [
        *("core", "kafka", "delta", "postgres", "s3", "objects", "profile", "trino")
    ]
    for configuration in ivy_configurations():
        assert select(jars, [configuration])
    assert len({jar.name for jar in jars}) == len(jars)


@pytest.mark.parametrize(
    ("ivy", "lock"), [(fetching.IVY_FILE, LOCK), (packages.IVY_FILE, packages.LOCK)]
)
def test_every_dependency_of_an_ivy_file_is_locked(ivy: Path, lock: Path) -> None:
    from xml.etree import ElementTree

    dependencies = list(ElementTree.parse(ivy).iter("dependency"))
    assert all(d.attrib["transitive"] == "false" for d in dependencies)
    classifier = "{http://ant.apache.org/ivy/maven}classifier"
    wanted = {
        (conf, f"{'-'.join(parts)}.{file.get('ext', 'jar')}")
        for d in dependencies
        for conf in d.attrib["conf"].split(",")
        for file in d.findall("artifact") or [d]
        for parts in [filter(None, (d.get("name"), d.get("rev"), file.get(classifier)))]
    }
    assert wanted == {(jar.configuration, jar.name) for jar in read_lock(lock)}
    assert {conf for conf, _ in wanted} == set(ivy_configurations(ivy))


def test_an_unknown_configuration_is_refused() -> None:
    with pytest.raises(ServiceError, match="no configuration named 'flink'"):
        fetch(["flink"], run_ivy=no_ivy)


def test_a_lock_that_is_no_lock_is_refused(tmp_path: Path) -> None:
    (tmp_path / "jars.lock").write_text("core a.jar many\n")
    with pytest.raises(ServiceError) as caught:
        read_lock(tmp_path / "jars.lock")
    assert caught.value.condition == "JAR_LOCK"


def test_a_lock_can_be_written_and_read_back(tmp_path: Path) -> None:
    lock_jars(tmp_path / "jars.lock", configurations=["core"], run_ivy=FakeIvy())
    assert read_lock(tmp_path / "jars.lock") == tuple(locked(*item) for item in CONTENT.items())
    write_lock(read_lock(), tmp_path / "copy")
    assert (tmp_path / "copy").read_text() == LOCK.read_text()


def test_a_lock_holds_archives_too(tmp_path: Path) -> None:
    archive = FakeIvy({"server-1.tar.gz": b"packed"})
    lock_jars(tmp_path / "servers.lock", configurations=["server"], run_ivy=archive)
    assert [jar.name for jar in read_lock(tmp_path / "servers.lock")] == ["server-1.tar.gz"]


@pytest.fixture
def repository(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A repository in a folder, with the Ivy settings and the coordinates that go with it."""
    root = tmp_path / "repository"
    for name in CONTENT:
        artifact, revision = name.removesuffix(".jar").split("-")
        (root / artifact / revision).mkdir(parents=True)
        (root / artifact / revision / name).write_bytes(CONTENT[name])
        (root / artifact / revision / f"{artifact}-{revision}.pom").write_text(
            f"<project><modelVersion>4.0.0</modelVersion><groupId>t</groupId>"
            f"<artifactId>{artifact}</artifactId><version>{revision}</version></project>"
        )
    settings = tmp_path / "settings.xml"
    pattern = f"{root}/[module]/[revision]/[module]-[revision]"
    settings.write_text(
        '<ivysettings><settings defaultResolver="site"/><resolvers>'
        f'<filesystem name="site" m2compatible="true"><ivy pattern="{pattern}.pom"/>'
        f'<artifact pattern="{pattern}.[ext]"/></filesystem></resolvers></ivysettings>'
    )
    ivy = tmp_path / "ivy.xml"
    ivy.write_text(
        '<ivy-module version="2.0"><info organisation="test" module="test"/>'
        '<configurations defaultconfmapping="*->master"><conf name="core"/></configurations>'
        '<dependencies><dependency org="t" name="a" rev="1" conf="core" transitive="false"/>'
        '<dependency org="t" name="b" rev="2" conf="core" transitive="false"/></dependencies>'
        "</ivy-module>"
    )
    monkeypatch.setenv("HEADWATER_IVY_SETTINGS", str(settings))
    return root


def site_ivy(repository: Path) -> IvyRunner:
    return partial(run_pyspark_ivy, ivy_file=repository.with_name("ivy.xml"))


@pytest.mark.spark
def test_ivy_itself_fetches_from_a_sites_repository(
    repository: Path, lock: Path, cache: Path
) -> None:
    paths = fetch(cache=cache, lock=lock, run_ivy=site_ivy(repository))
    assert [path.read_bytes() for path in paths] == list(CONTENT.values())


def test_our_settings_read_no_poms_and_name_no_host() -> None:
    """With the POM of Trino's server come those of hundreds of others: two minutes of silence."""
    (resolver,) = ElementTree.parse(SETTINGS).iter("ibiblio")
    assert resolver.attrib == {"name": "central", "m2compatible": "true", "usepoms": "false"}
    for file in (fetching.IVY_FILE, packages.IVY_FILE):
        (mapped,) = ElementTree.parse(file).iter("configurations")
        assert mapped.attrib["defaultconfmapping"] == "*->master(default)", "a module without POM"


def test_setup_fetches_the_jars_of_the_demo_and_of_the_fast_lane() -> None:
    """Then a download that fails is told before the first test, and the demo starts at once."""
    (line,) = re.findall(r"jars\.fetch((?: --conf \w+)+)", (ROOT / "Makefile").read_text())
    fetched = set(re.findall(r"--conf (\w+)", line))
    flights = load_project(ROOT / "sql" / "flights")
    names = [*flights.catalog.sources, *flights.catalog.views]
    sinks = [*flights.catalog.sinks.values()]
    needed = {"core", *jars_needed(flights.catalog, names, sinks, flights.config.directory)}
    for file in ("tests/conftest.py", "tests/faults/contender.py", "headwater/testing/harness.py"):
        (further,) = re.findall(r"further=\(([A-Z, ]+)\)", (ROOT / file).read_text())
        needed |= {name.lower() for name in re.findall("[A-Z]+", further)}
    assert needed == fetched


@pytest.mark.spark
def test_ivys_own_reason_is_told(
    repository: Path, lock: Path, cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(fetching, "TRIES", 1)
    (repository / "b" / "2" / "b-2.jar").unlink()
    with pytest.raises(ServiceError) as caught:
        fetch(cache=cache, lock=lock, run_ivy=site_ivy(repository))
    assert caught.value.condition == "JAR_FETCH"
    assert "t#b;2" in caught.value.message


def test_every_jar_is_for_the_one_spark() -> None:
    """ADR 0119: Spark's own jars are of one minor version, and all others are built for it."""
    spark = [jar["rev"] for jar in dependencies() if jar["org"] == "org.apache.spark"]
    (minor,) = {rev.rpartition(".")[0] for rev in spark}
    names = " ".join(jar["name"] for jar in dependencies())
    assert set(re.findall(r"spark(?:-runtime)?[-_](4\.\d+)", names)) == {minor}
    assert pyspark.__version__.startswith(f"{minor}.")


def dependencies() -> list[dict[str, str]]:
    """Return what ``ivy.xml`` names."""
    return [each.attrib for each in ElementTree.parse(IVY_FILE).iter("dependency")]
