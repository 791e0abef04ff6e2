"""compose.yaml is one, and its servers read what the local processes read."""

from __future__ import annotations

import re
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from ruamel.yaml import YAML

from headwater.config.settings import load_config
from headwater.jars.store import LOCK
from headwater.serve.trino.catalog import PASSWORD, catalogs, properties_file
from headwater.servers.service import LocalServer
from jobs.demos.catalogs import FOLDER, settings
from jobs.demos.cdc.pipeline import copy_example
from jobs.demos.cdc.stack import IN_CONTAINERS, Database, ShopStack, catalog_of
from jobs.demos.servers import packages
from jobs.demos.servers.service import CONFIGURATION, DEFAULTS
from jobs.demos.servers.stack import servers as others

FILE = CONFIGURATION / "compose.yaml"
DOCKERFILE = CONFIGURATION / "headwater" / "Dockerfile"
COMPOSE: dict[str, Any] = YAML(typ="safe").load(FILE)
SERVICES: dict[str, dict[str, Any]] = COMPOSE["services"]
STACK = [*ShopStack(Path("unused")).choose(()), *others(Path("unused"))]
LOCAL = {service.name: service for service in STACK}
SERVERS = {name: each for name, each in LOCAL.items() if each.files}
NAMES = re.compile(r"\$\{(?:env:|ENV:)?([A-Z_]+)\}")
STAGE = re.compile(r"^FROM (\S+) AS (\w+)$((?:\n(?!FROM ).*)*)", re.MULTILINE)
STAGES = {name: (image, text) for image, name, text in STAGE.findall(DOCKERFILE.read_text())}
ONCE = {"prepare", "dashboards", "addresses"}
"""Containers that end when they are done."""
BUILT = {each["image"]: each["build"]["target"] for each in SERVICES.values() if "build" in each}
"""The target in the Dockerfile of each image that is built here."""
KEEPER = "keeper"
"""The process that starts the others again, which containers leave to their engine."""

servers = pytest.mark.parametrize("service", SERVERS.values(), ids=lambda service: service.name)
every = pytest.mark.parametrize("name", SERVICES)


def asked(service: LocalServer) -> set[str]:
    """The names that a server's configuration files ask for."""
    texts = [service.file(file).read_text() for file in service.files]
    return {
        name
        for text in texts
        for line in text.splitlines()
        if not line.startswith("#")
        for name in NAMES.findall(line)
    }


def validate(file: Path) -> int:
    command = [sys.executable, "-m", "check_jsonschema", "--builtin-schema", "vendor.compose-spec"]
    return subprocess.run([*command, file], capture_output=True).returncode


def test_it_keeps_to_the_specification(tmp_path: Path) -> None:
    assert validate(FILE) == 0
    wrong = tmp_path / "compose.yaml"
    wrong.write_text(FILE.read_text().replace("    image:", "    immage:", 1))
    assert validate(wrong) == 1


def image(name: str) -> str:
    """The image of a service, or the one that its stage of the Dockerfile begins with."""
    service = SERVICES[name]
    return STAGES[service["build"]["target"]][0] if "build" in service else service["image"]


def test_it_has_the_same_servers() -> None:
    assert set(SERVICES) - ONCE == set(LOCAL) - {KEEPER}
    shop = {service.name for service in ShopStack(Path("unused")).choose(())} - {KEEPER}
    assert {name for name, each in SERVICES.items() if "profiles" not in each} == shop | ONCE


def test_what_dies_is_started_again() -> None:
    lasting = {name for name, each in SERVICES.items() if "profiles" not in each} - ONCE
    assert {SERVICES[name].get("restart") for name in lasting} == {"on-failure"}


def test_each_image_is_built_once() -> None:
    assert len(BUILT) == sum("build" in each for each in SERVICES.values())
    for each in SERVICES.values():
        if each["image"] in BUILT and "build" not in each:
            assert each["pull_policy"] == "never"


def test_the_programs_of_the_shop_are_those_of_the_local_stack() -> None:
    shop = ShopStack(Path("unused"))
    shop.postgres.ports = {"POSTGRES_PORT": 1}
    shop.headwater.ports = {"METRICS_PORT": 2}
    inside = SERVICES["headwater"]["environment"]["PROJECT"]
    for name in ("headwater", "load"):
        local = [str(word) for word in LOCAL[name].command()[1:]]
        said = " ".join(local).replace(str(shop.project), inside).removeprefix("-m headwater ")
        words = SERVICES[name]["command"]
        assert " ".join(words[1:]) == said
    commands = {
        each["command"][-1] for each in SERVICES.values() if "jobs.demos.stack" in str(each)
    }
    assert commands >= set(IN_CONTAINERS)


def test_the_dockerfile_is_linted() -> None:
    hadolint = Path(sys.executable).with_name("hadolint")
    done = subprocess.run([hadolint, DOCKERFILE], capture_output=True, text=True)
    assert (done.stdout, done.returncode) == ("", 0)


def test_the_dockerfile_copies_what_it_is_given() -> None:
    kept = Path(f"{DOCKERFILE}.dockerignore").read_text().splitlines()
    for name in (line[1:] for line in kept if line.startswith("!")):
        assert (CONFIGURATION.parent / name).exists()
    copied = re.findall(r"^COPY ([^-].*) \./$", DOCKERFILE.read_text(), re.MULTILINE)
    needed = {name.split("/")[0] for names in copied for name in names.split()}
    assert {f"!{name}" for name in needed} <= set(kept)


@every
def test_nothing_runs_as_root(name: str) -> None:
    service = SERVICES[name]
    if target := BUILT.get(service["image"]):
        users = re.findall(r"^USER (\S+)$", STAGES[target][1], re.MULTILINE)
        assert users and users[-1] not in ("0", "root")
    elif name not in ("kafka", "trino"):  # their images end with a user of their own
        assert service["user"] == "postgres"


def test_readers_of_the_lake_are_the_user_who_made_it() -> None:
    """Headwater's folders are for their owner; 1000 is the user of Trino's image."""
    assert "--uid 1000" in STAGES["headwater"][1]
    users = [name for name, each in SERVICES.items() if "lake:" in str(each.get("volumes"))]
    assert sorted(users) == ["dashboards", "headwater", "prepare", "trino"]
    for name in ("trino", "dashboards"):
        (mount,) = [each for each in SERVICES[name]["volumes"] if each.startswith("lake:")]
        assert mount.endswith(":ro")
    assert "--uid 1000" in STAGES["superset"][1], "whose password `dashboards` reads"


@every
def test_a_server_starts_after_what_it_needs(name: str) -> None:
    for needed, how in SERVICES[name].get("depends_on", {}).items():
        wanted = "service_completed_successfully" if needed in ONCE else "service_healthy"
        assert how == {"condition": wanted}
        assert needed in ONCE or "healthcheck" in SERVICES[needed]


def test_all_of_it_fits_into_8_gib() -> None:
    units = {"m": 2**20, "g": 2**30}
    limits = [
        int(each["mem_limit"][:-1]) * units[each["mem_limit"][-1]]
        for each in SERVICES.values()
        if "profiles" not in each
    ]
    assert sum(limits) <= 8 * 2**30
    assert all("mem_limit" in each for each in SERVICES.values())


def test_headwater_s_settings_are_some(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    said = SERVICES["headwater"]["environment"]
    environ = {name: str(value).replace("$$", "$") for name, value in said.items()} | DEFAULTS
    catalog = catalog_of(Database.of(environ))
    copy_example(tmp_path, said["BROKER"], catalog)
    assert catalog.strip() == settings("postgres").strip(), "the file has the container's address"
    assert DEFAULTS[PASSWORD] == DEFAULTS["POSTGRES_PASSWORD"]
    monkeypatch.setenv(PASSWORD, DEFAULTS[PASSWORD])
    config = load_config(tmp_path, environ=environ)
    assert (config.catalog, config.metrics.host) == ("jdbc", "0.0.0.0")
    assert SERVICES["headwater"]["ports"] == [f"127.0.0.1:1{config.metrics.port}:9464"]
    assert config.trino.url == f"http://trino:{DEFAULTS['TRINO_PORT']}"
    assert config.superset.url == f"http://superset:{DEFAULTS['SUPERSET_PORT']}"
    assert config.superset.password == "${env:SUPERSET_PASSWORD}"
    assert "export SUPERSET_PASSWORD" in str(SERVICES["dashboards"]["command"])
    # and Trino finds the same catalogs
    trino = SERVICES["trino"]
    warehouse = Path(trino["environment"]["WAREHOUSE"])
    assert warehouse == Path(said["PROJECT"]) / ".headwater" / "warehouse"
    mounted = {"lake": "postgres", "lake_delta": "delta"}
    for name, found in catalogs(replace(config, warehouse=warehouse)).items():
        file = FOLDER / "trino" / f"{mounted.pop(name)}.properties"
        text = re.sub(r"^#.*\n", "", file.read_text(), flags=re.MULTILINE)
        assert text.replace("${ENV:WAREHOUSE}", str(warehouse)) == properties_file(found)
        target = f"{trino['environment']['TRINO_CATALOGS']}/{name}.properties"
        assert f"../catalog/trino/{file.name}:{target}:ro" in trino["volumes"]
    assert not mounted


def test_containers_are_told_what_they_ask_for() -> None:
    for name in IN_CONTAINERS:
        said = {key: str(value) for key, value in SERVICES[name]["environment"].items()}
        database = Database.of(DEFAULTS | said)
        host, port = ("127.0.0.1", 15432) if name == "addresses" else ("postgres", 5432)
        assert (database.host, database.port) == (host, port)


def test_the_addresses_are_those_that_are_published() -> None:
    said = "\n".join(
        IN_CONTAINERS["addresses"](
            DEFAULTS | {k: str(v) for k, v in SERVICES["addresses"]["environment"].items()}
        )
    )
    for name in ("postgres", "kafka", "trino", "headwater", "superset"):
        host, port, _ = SERVICES[name]["ports"][0].split(":")
        assert f"{host}:{port}" in said
    assert "trino://me@127.0.0.1:18080/lake/shop" in said


@servers
def test_a_server_reads_the_same_files(service: LocalServer) -> None:
    mounted = [volume.split(":") for volume in SERVICES[service.name]["volumes"]]
    files = {
        (CONFIGURATION / source).resolve(): target
        for source, target, *_ in mounted
        if source.startswith(".") and not source.startswith("../catalog/")
    }
    read = {service.file(file): f"/etc/headwater/{file}" for file in service.files}
    made = {target for source, target, *_ in mounted if source.startswith("../catalog/")}
    assert files == {file: place for file, place in read.items() if place not in made}
    assert all(service.file(file).is_file() for file in service.files)


def test_every_mounted_file_is_named_in_a_command() -> None:
    for server in SERVICES.values():
        used = str([server.get("command"), server.get("environment")])
        mounted = [volume for volume in server.get("volumes", ()) if volume.startswith(".")]
        targets = [volume.split(":")[1] for volume in mounted]
        # Trino is told the folder, and the names are its own
        found = [target in used or str(Path(target).parent) in used for target in targets]
        assert all(found), server


@servers
def test_names_in_files_have_values_everywhere(service: LocalServer) -> None:
    said = SERVICES[service.name].get("environment", {})
    assert asked(service) <= {*DEFAULTS, *said}
    assert SERVICES[service.name]["env_file"] == "stack.env"
    assert set(service.port_names) <= set(DEFAULTS)
    known = {*service.port_names, *LOCAL["kafka"].port_names}  # Connect asks for the broker's
    assert {name for name in asked(service) if name.endswith("_PORT")} <= known


@servers
def test_published_ports_are_those_of_the_files(service: LocalServer) -> None:
    published = SERVICES[service.name]["ports"]
    for port in published:
        host, _, inside = port.split(":")
        assert host == "127.0.0.1"
        assert inside in {DEFAULTS[name] for name in service.port_names}


def test_images_are_pinned_to_the_versions_that_run_as_processes() -> None:
    pinned = packages.LOCK.read_text() + LOCK.read_text()
    jars = {
        "kafka": "kafka_2.13", "connect": "connect-runtime", "registry": "apicurio-registry-app",
        "store": "s3proxy", "trino": "trino-server",
    }  # fmt: skip
    for name, jar in jars.items():
        version = image(name).rpartition(":")[2].removeprefix("s3proxy-")
        assert re.search(rf"{re.escape(f'{jar}-{version}')}[.-]", pinned)
    assert re.fullmatch(r"postgres:\d+\.\d+", image("postgres"))
    for tag in [image for image, _ in STAGES.values() if image not in STAGES]:
        assert re.search(r":.*\d+\.\d+\.\d+", tag)
