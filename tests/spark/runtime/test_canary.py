"""Planted secrets: after every command they stand nowhere but in the environment.

Searched: what the commands print, the arguments of every process meanwhile, and every byte of the
project's folder, with Avro and Parquet files opened. Without the redaction the search must find
them, or it proves nothing.
"""

from __future__ import annotations

import base64
import json
import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from urllib.parse import quote

import pyarrow.parquet as pq
import pyspark
import pytest
from pyiceberg.avro.file import AvroFile
from pyiceberg.catalog.sql import SqlCatalog
from pyiceberg.io.pyarrow import PyArrowFileIO
from pyiceberg.schema import Schema
from pyiceberg.types import NestedField, StringType

import headwater
from headwater import redact
from headwater.cli.main import main
from headwater.machine.java import find_java

CANARIES = {
    "CANARY_KEY": "Kanari/Key+7f3a",
    "CANARY_PASSWORD": "Kanari'Pass\\91\u00fc",
    "CANARY_URL": "Kanari@Url 55",
    "CANARY_WRONG": "KanariWrong{13}",
}
SETTINGS = """
name = "shop"
[spark]
master = "local[2]"
[spark.settings]
"spark.hadoop.fs.s3a.secret.key" = "${env:CANARY_KEY}"
"spark.shop.password" = "${env:CANARY_PASSWORD}"
"spark.shop.url" = "https://me:${env:CANARY_URL}@host/x?y=1"
"""
WRONG = '"spark.serializer" = "${env:CANARY_WRONG}"\n'
VIEWS = """
CREATE TABLE orders (id BIGINT, product VARCHAR, at TIMESTAMP,
  WATERMARK FOR at AS at - INTERVAL '10' SECOND)
WITH (connector = 'datagen', number_of_rows = 200);
CREATE STREAMING VIEW totals AS SELECT product, count(*) AS n FROM orders GROUP BY product;
CREATE STREAMING VIEW large AS SELECT id, '${env:CANARY_KEY}' AS text FROM orders WHERE id > 100;
CREATE STREAMING VIEW broken AS SELECT id FROM orders;
"""
ENVIRON = os.environ | CANARIES | {"PYTHONPATH": str(Path(headwater.__file__).parents[1])}
COMMAND = "import sys; from headwater.cli.main import main; sys.exit(main())"
UNGUARDED = "import headwater.config.secrets as s; s.remember = lambda secret: None; " + COMMAND


def needles() -> Iterator[bytes]:
    """Every canary as it is, in URLs, in JSON and in base64, alone or behind a user's name."""
    for canary in CANARIES.values():
        yield canary.encode()
        yield quote(canary, safe="").encode()
        yield json.dumps(canary)[1:-1].encode()
        for before in ("", "u", "me"):
            digits = base64.b64encode(f"{before}{canary}".encode())
            yield digits[4:-4]
            yield digits[4:-4].replace(b"+", b"-").replace(b"/", b"_")


NEEDLES = tuple(needles())


def found(content: bytes) -> list[bytes]:
    return [needle for needle in NEEDLES if needle in content]


def opened(path: Path) -> bytes:
    """The bytes of a file, and of what is compressed in it."""
    content = path.read_bytes()
    if path.suffix == ".avro":
        with AvroFile(PyArrowFileIO().new_input(str(path))) as entries:
            content += repr((entries.header, list(entries))).encode()
    elif path.suffix == ".parquet":
        content += repr((pq.read_metadata(path).metadata, pq.read_table(path).to_pylist())).encode()
    return content


def run(folder: Path, code: str, *arguments: str) -> tuple[bytes, bytes]:
    """Run a command in a process of its own; return its words and every command line seen."""
    command = [sys.executable, "-c", code, *arguments]
    with (folder / ".." / "words").open("w+b") as words:
        process = subprocess.Popen(command, cwd=folder, env=ENVIRON, stdout=words, stderr=words)
        lines: set[bytes] = set()
        while process.poll() is None:
            lines |= set(command_lines(process.pid))
            with suppress(subprocess.TimeoutExpired):
                process.wait(0.5)
        words.seek(0)
        return words.read(), b"\n".join(lines)


def command_lines(of: int) -> Iterator[bytes]:
    """Yield the command lines of a process and of those that it started; others run beside it."""
    parents = {}
    for entry in Path("/proc").glob("[0-9]*"):
        try:  # "number (name) state parent …"; the name may hold anything
            stat = (entry / "stat").read_text(errors="replace")
            parents[int(entry.name)] = int(stat.rpartition(")")[2].split()[1])
        except OSError:
            continue
    ours = {of}
    while more := {child for child, parent in parents.items() if parent in ours} - ours:
        ours |= more
    for number in ours:
        with suppress(OSError):
            yield Path(f"/proc/{number}/cmdline").read_bytes()


def make_project(folder: Path, settings: str) -> Path:
    folder.mkdir()
    (folder / "headwater.toml").write_text(settings, encoding="utf-8")
    (folder / "views.sql").write_text(VIEWS, encoding="utf-8")
    return folder


def make_another_table(warehouse: Path, name: str) -> None:
    """Make a table that is in the way of a view, so that the view fails for good."""
    warehouse.mkdir(parents=True, mode=0o700)
    uri = f"sqlite:///{warehouse}/catalog.db"
    catalog = SqlCatalog("lake", uri=uri, warehouse=warehouse.as_uri())
    catalog.create_namespace("shop")
    catalog.create_table(("shop", name), Schema(NestedField(1, "other", StringType())))


@pytest.fixture
def _forget() -> Iterator[None]:
    yield
    redact.forget()


@pytest.mark.usefixtures("_forget")
def test_planted_secrets_stand_nowhere(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    folder = make_project(tmp_path / "shop", SETTINGS)
    warehouse = folder / ".headwater" / "warehouse"
    make_another_table(warehouse, "broken")
    said, lines = run(
        folder, COMMAND, "run", "--once", "--end-of-input", "--debug", "--output", "json"
    )
    text = said.decode()
    assert b"-Dheadwater.logs" in lines  # the JVM was seen
    assert "SCHEMA_CHANGED" in text and "broken" in text, text
    monkeypatch.chdir(folder)
    for name, canary in CANARIES.items():
        monkeypatch.setenv(name, canary)
    capfd.readouterr()
    codes = [
        main([*command, "--debug", *output])
        for output in ([], ["--output", "json"])
        for command in (
            ["check"],
            ["explain", "large"],
            ["explain", "totals", "--sql"],
            *(["explain", "large", "--at-rest", engine] for engine in ("trino", "duckdb", "spark")),
            ["status"],
            ["sql", "SELECT * FROM large"],
            ["sql", 'SELECT * FROM "totals$snapshots"'],
            ["verify", "large", "totals"],
        )
    ]
    assert codes == [0] * len(codes)
    shown = capfd.readouterr()
    assert "${env:CANARY_KEY}" in shown.out  # a text in a query is not a reference
    files = [path for path in folder.rglob("*") if path.is_file()]
    assert {".avro", ".parquet", ".json", ".log", ".db"} <= {path.suffix for path in files}
    assert found(said + lines + shown.out.encode() + shown.err.encode()) == []
    assert {str(path): hits for path in files if (hits := found(opened(path)))} == {}
    for private in (warehouse.parent / "state", warehouse.parent / "state" / "_logs"):
        assert private.stat().st_mode & 0o077 == 0


def test_a_setting_that_spark_refuses_is_not_repeated(tmp_path: Path) -> None:
    folder = make_project(tmp_path / "shop", SETTINGS + WRONG)
    said, lines = run(folder, COMMAND, "run", "--once", "--end-of-input", "--debug")
    assert b"ClassNotFoundException" in said and b"Traceback" in said
    files = b"".join(path.read_bytes() for path in folder.rglob("*") if path.is_file())
    assert found(said + lines + files) == []


def test_the_search_finds_what_is_not_guarded(tmp_path: Path) -> None:
    folder = make_project(tmp_path / "shop", SETTINGS + WRONG)
    said, lines = run(folder, UNGUARDED, "run", "--once", "--end-of-input", "--debug")
    assert CANARIES["CANARY_WRONG"].encode() in found(said)
    assert CANARIES["CANARY_KEY"].encode() in found(lines)


@pytest.mark.parametrize("guarded", [True, False])
def test_the_log_of_the_jvm_is_scrubbed(tmp_path: Path, guarded: bool) -> None:
    canary = CANARIES["CANARY_WRONG"]
    redact.remember(canary)
    pattern = redact.java_pattern()
    redact.forget()
    jars = Path(pyspark.__file__).parent / "jars" / "*"
    properties = Path(headwater.__file__).parent / "runtime" / "log4j2.properties"
    logs = [f"-Dlog4j2.configurationFile={properties.as_uri()}", f"-Dheadwater.logs={tmp_path}"]
    submit = ["org.apache.spark.deploy.SparkSubmit", "--class", "X", f"{tmp_path}/{canary}.jar"]
    subprocess.run(  # warns of the jar that is not there
        [str(find_java().executable), "-cp", str(jars), *logs, *submit],
        env=os.environ | ({"HEADWATER_REDACTION": pattern} if guarded else {}),
        capture_output=True,
        check=False,
    )
    log = (tmp_path / "spark.log").read_text(encoding="utf-8")
    assert f"{redact.MASK if guarded else canary}.jar" in log
    assert (canary in log) != guarded
