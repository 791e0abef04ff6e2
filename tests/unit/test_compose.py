"""compose.yaml is one, and its servers read what the local processes read."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from ruamel.yaml import YAML

from docker.local.service import CONFIGURATION, DEFAULTS, Service
from docker.local.stack import Stack

FILE = CONFIGURATION / "compose.yaml"
COMPOSE: dict[str, Any] = YAML(typ="safe").load(FILE)
LOCAL = {service.name: service for service in Stack(Path("unused")).choose(())}
NAMES = re.compile(r"\$\{(?:env:)?([A-Z_]+)\}")

servers = pytest.mark.parametrize("service", LOCAL.values(), ids=lambda service: service.name)


def asked(service: Service) -> set[str]:
    """The names that a server's configuration files ask for."""
    texts = [(CONFIGURATION / file).read_text() for file in service.files]
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


def test_it_has_the_same_servers() -> None:
    assert set(COMPOSE["services"]) == set(LOCAL)


@servers
def test_a_server_reads_the_same_files(service: Service) -> None:
    mounted = [volume.split(":") for volume in COMPOSE["services"][service.name]["volumes"]]
    files = {source: target for source, target, *_ in mounted if source.startswith("./")}
    assert files == {f"./{file}": f"/etc/headwater/{file}" for file in service.files}
    assert all((CONFIGURATION / file).is_file() for file in service.files)


def test_every_mounted_file_is_named_in_a_command() -> None:
    for server in COMPOSE["services"].values():
        used = str([server.get("command"), server.get("environment")])
        targets = [volume.split(":")[1] for volume in server["volumes"] if volume.startswith("./")]
        assert all(target in used for target in targets), server


@servers
def test_names_in_files_have_values_everywhere(service: Service) -> None:
    assert asked(service) <= set(DEFAULTS)
    assert COMPOSE["services"][service.name]["env_file"] == "stack.env"
    assert set(service.port_names) <= set(DEFAULTS)
    known = {*service.port_names, *LOCAL["kafka"].port_names}  # Connect asks for the broker's
    assert {name for name in asked(service) if name.endswith("_PORT")} <= known


@servers
def test_published_ports_are_those_of_the_files(service: Service) -> None:
    published = COMPOSE["services"][service.name]["ports"]
    for port in published:
        host, _, inside = port.split(":")
        assert host == "127.0.0.1"
        assert inside in {DEFAULTS[name] for name in service.port_names}


def test_images_are_pinned_to_the_versions_that_run_as_processes() -> None:
    pinned = (CONFIGURATION / "local" / "servers.lock").read_text()
    jars = {
        "kafka": "kafka_2.13", "connect": "connect-runtime", "registry": "apicurio-registry-app",
        "store": "s3proxy",
    }  # fmt: skip
    for name, jar in jars.items():
        version = COMPOSE["services"][name]["image"].rpartition(":")[2].removeprefix("s3proxy-")
        assert f"{jar}-{version}." in pinned
    assert re.fullmatch(r"postgres:\d+\.\d+", COMPOSE["services"]["postgres"]["image"])
