"""Tables over files in an object store: each row once, whatever is killed or replaced when."""

from __future__ import annotations

import gzip
import io
import json
import os
import signal
import subprocess
import sys
import uuid
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from pyarrow.fs import S3FileSystem

from headwater.analyze.definitions import Source
from headwater.connectors.files.bucket import BucketPlace
from headwater.lake.storage.object_store import ObjectStore
from jobs.demos.servers.store import ACCESS_KEY, SECRET_KEY, Store
from tests.support.waiting import wait_for

pytestmark = pytest.mark.services

BUCKET = "inbox"
COLUMNS = "id BIGINT NOT NULL, note VARCHAR, file VARCHAR METADATA FROM 'file'"
ODD = (
    "a b.json", "50%.json", "%20.json", "x[1].json", "1.json", "h#1.json", "q?.json", "*.json",
    "{a,b}.json", "plus+.json", "co:lon.json", "back\\slash.json", "ü–日本.json", "é😀.json",
    "t'\"`.json",
)  # fmt: skip


@dataclass(frozen=True)
class Inbox:
    """A project with an empty catalog, and the folder of the bucket that its tables read."""

    project: Path
    name: str
    store: Store

    @property
    def options(self) -> str:
        """How a table says where the store is."""
        return (
            f"endpoint = '{self.store.address}', access_key = '{ACCESS_KEY}',"
            " secret_key = '${env:STORE_SECRET}'"
        )

    def table(self, name: str, encode: str = "JSON", more: str = "", columns: str = COLUMNS) -> str:
        """Return the definition of a table over a folder of its name."""
        return (
            f"CREATE TABLE {name} ({columns}) WITH (connector = 'files',"
            f" path = 's3://{BUCKET}/{self.name}/{name}', {self.options}{more})"
            f" FORMAT PLAIN ENCODE {encode};\n"
        )

    def define(self, *statements: str, config: str = "") -> None:
        """Write the project."""
        self.project.mkdir(exist_ok=True)
        text = f'name = "{self.name}"\n[spark]\nmaster = "local[2]"\n[run]\nlease = "2 seconds"\n'
        (self.project / "headwater.toml").write_text(text + config)
        (self.project / "project.sql").write_text("".join(statements))

    def put(self, file: str, content: bytes) -> None:
        """Write an object of the folder."""
        with client(self.store).open_output_stream(
            f"{BUCKET}/{self.name}/{file}", compression=None
        ) as sink:
            sink.write(content)

    def rows(self, file: str, *ids: int, note: str = "") -> None:
        """Write an object of JSON lines."""
        lines = [json.dumps({"id": each, "note": note or f"n{each}"}) for each in ids]
        self.put(file, "".join(f"{line}\n" for line in lines).encode())

    def delete(self, file: str) -> None:
        """Delete an object of the folder."""
        client(self.store).delete_file(f"{BUCKET}/{self.name}/{file}")

    def run(self, *arguments: str, **environ: str) -> subprocess.CompletedProcess[str]:
        """Run a command of Headwater's on the project."""
        return subprocess.run(
            self.command(*arguments),
            env=environment(environ),
            capture_output=True,
            text=True,
            timeout=500,
            start_new_session=True,  # a crash point kills the group
        )

    def command(self, *arguments: str) -> list[str]:
        """Return the command line of a command on the project."""
        return [sys.executable, "-m", "headwater", "--project", str(self.project), *arguments]

    def succeed(self, *arguments: str) -> str:
        """Run a command that succeeds; return what it says on its error stream."""
        done = self.run(*arguments)
        assert done.returncode == 0, done.stderr
        assert SECRET_KEY not in done.stdout + done.stderr
        return done.stderr

    def ask(self, query: str) -> list[list[object]]:
        """Return the rows of a query."""
        done = self.run("sql", query, "--output", "json")
        assert done.returncode == 0, done.stderr
        return [list(row.values()) for row in json.loads(done.stdout)]


def environment(more: Mapping[str, str]) -> dict[str, str]:
    """Return what a process is told: the environment, the store's secret, and more."""
    return {**os.environ, "STORE_SECRET": SECRET_KEY, **more}


def client(store: Store) -> S3FileSystem:
    """Return a client of the store."""
    return S3FileSystem(
        access_key=ACCESS_KEY, secret_key=SECRET_KEY, endpoint_override=store.address,
        region="us-east-1", allow_bucket_creation=True,
    )  # fmt: skip


@pytest.fixture
def inbox(store: Store, tmp_path: Path) -> Iterator[Inbox]:
    """A project and its part of the bucket."""
    with suppress(OSError):
        client(store).create_dir(BUCKET)
    yield Inbox(tmp_path / "pro ject", f"in{uuid.uuid4().hex}", store)


def parquet(**columns: list[object]) -> bytes:
    """Return a file of Parquet."""
    sink = io.BytesIO()
    pq.write_table(pa.table(columns), sink)
    return sink.getvalue()


def test_every_format_lands_with_its_bad_rows_and_odd_names(inbox: Inbox) -> None:
    inbox.define(
        inbox.table("odd", more=", recursive = true"),
        inbox.table("sheets", "CSV", ", pattern = '*.csv*'"),
        inbox.table("blocks", "PARQUET"),
        "CREATE STREAMING VIEW notes AS SELECT note, count(*) AS n FROM odd GROUP BY note;",
    )
    for number, name in enumerate(ODD):
        inbox.rows(f"odd/{name}", number)
    inbox.rows("odd/deep/er [x]/1.json", 100)
    inbox.put("odd/bad.json", b'{"id": 101, "note": "ok"}\n{"id": "x"}\nnothing\n')
    for hidden in ("_x.json", ".x.json", "x.tmp", "_deep/x.json"):
        inbox.rows(f"odd/{hidden}", 999)
    inbox.put("sheets/a.csv", b"id,note\n1,one\n2,two\n")
    inbox.put("sheets/b.csv.gz", gzip.compress(b"note,id\nthree,3\nbad,x\n"))
    inbox.put("sheets/c.csv.gz", b"this is not gzip")
    inbox.put("sheets/d.csv", b"other,note\n1,2\n")
    inbox.put("blocks/a.parquet", parquet(id=[1, 2, None], note=["x", None, "z"]))
    inbox.put("blocks/b.parquet", b"this is not parquet")
    inbox.succeed("run", "--once", "--end-of-input")
    every = [[n, name] for n, name in enumerate(ODD)]
    assert inbox.ask("SELECT id, file FROM odd ORDER BY id") == [
        *every, [100, "deep/er [x]/1.json"], [101, "bad.json"]
    ]  # fmt: skip
    assert inbox.ask("SELECT id, note FROM sheets ORDER BY id") == [
        [1, "one"], [2, "two"], [3, "three"]
    ]  # fmt: skip
    assert inbox.ask("SELECT id, note FROM blocks ORDER BY id") == [[1, "x"], [2, None]]
    kept = "SELECT _path, _row, reason FROM {}__quarantine ORDER BY _path, _row"
    assert [row[:2] for row in inbox.ask(kept.format("odd"))] == [["bad.json", 1], ["bad.json", 2]]
    sheets = inbox.ask(kept.format("sheets"))
    assert [row[:2] for row in sheets] == [["b.csv.gz", 2], ["c.csv.gz", None], ["d.csv", None]]
    assert "unreadable file" in str(sheets[1][2]) and 'not name column "id"' in str(sheets[2][2])
    blocks = inbox.ask(kept.format("blocks"))
    assert [row[:2] for row in blocks] == [["a.parquet", 2], ["b.parquet", None]]
    inbox.put("sheets/c.csv.gz", gzip.compress(b"id,note\n4,four\n"))
    inbox.succeed("quarantine", "replay", "sheets")
    assert inbox.ask("SELECT count(*), max(id) FROM sheets") == [[4, 4]]
    assert len(inbox.ask(kept.format("sheets"))) == 2
    for command in ("verify", "status", "doctor"):
        inbox.succeed(command)
    assert not holds(inbox.project, SECRET_KEY)


def holds(folder: Path, secret: str) -> bool:
    """Return whether a file of a folder has a text in it."""
    files = (path for path in folder.rglob("*") if path.is_file())
    return any(secret.encode() in path.read_bytes() for path in files)


@pytest.mark.parametrize(
    "point", ["4-published@events__files", "5-staged@events", "5-published@events"]
)
def test_each_row_lands_once_whatever_is_killed(inbox: Inbox, point: str) -> None:
    inbox.define(inbox.table("events", more=", max_files_per_epoch = 2"))
    for number in range(6):
        inbox.rows(f"events/{number}.json", 2 * number, 2 * number + 1)
    inbox.put("events/bad.json", b'{"id": "x"}\n')
    killed = inbox.run("run", "--once", "--end-of-input", HEADWATER_CRASH_POINT=f"{point}:2:group")
    assert killed.returncode == -signal.SIGKILL, killed.stderr
    inbox.rows("events/0-new.json", 12)
    inbox.succeed("run", "--once", "--end-of-input")
    assert inbox.ask("SELECT count(*), count(DISTINCT id), max(id) FROM events") == [[13, 13, 12]]
    assert inbox.ask("SELECT count(*) FROM events__quarantine") == [[1]]
    inbox.succeed("run", "--once", "--end-of-input")
    assert inbox.ask("SELECT count(*) FROM events") == [[13]]


def test_an_epoch_that_was_begun_is_bound_to_its_objects(inbox: Inbox) -> None:
    inbox.define(inbox.table("events"))
    inbox.rows("events/a.json", 1)
    killed = inbox.run(
        "run", "--once", "--end-of-input", HEADWATER_CRASH_POINT="5-staged@events:1:group"
    )
    assert killed.returncode == -signal.SIGKILL, killed.stderr
    inbox.rows("events/a.json", 2)  # as long, and perhaps in the same second
    changed = inbox.run("run", "--once", "--end-of-input")
    assert (changed.returncode, "FILE_CHANGED" in changed.stderr) == (3, True), changed.stderr
    inbox.delete("events/a.json")
    gone = inbox.run("run", "--once", "--end-of-input")
    assert (gone.returncode, "FILE_GONE" in gone.stderr) == (3, True), gone.stderr
    inbox.rows("events/a.json", 1)
    inbox.succeed("run", "--once", "--end-of-input")
    assert inbox.ask("SELECT id FROM events") == [[1]]


def test_what_is_wrong_with_the_store_is_said(inbox: Inbox) -> None:
    inbox.define(inbox.table("events"))
    inbox.succeed(
        "run", "--once", "--end-of-input"
    )  # nothing is there: nobody has to make a folder
    assert inbox.ask("SELECT count(*) FROM events") == [[0]]
    right = (inbox.project / "project.sql").read_text()
    inbox.rows("events/a.json", 1)
    wrong = {
        "STORE_DOWN": right.replace(inbox.store.address, "http://127.0.0.1:9"),
        "BUCKET_MISSING": right.replace(f"s3://{BUCKET}/", "s3://nobody-has-it/"),
        "FOLDER_NOT_READABLE": right.replace("/events'", "/events/a.json'"),
        "SECRET_MISSING": right.replace("env:STORE_SECRET", "env:NOT_SET"),
        "STORE_REFUSED": right,
    }
    for condition, text in wrong.items():
        (inbox.project / "project.sql").write_text(text)
        secret = "wrong-secret" if condition == "STORE_REFUSED" else SECRET_KEY
        done = inbox.run("run", "--once", "--end-of-input", STORE_SECRET=secret)
        assert condition in done.stderr, (condition, done.stderr)
        assert done.returncode == 3, done.stderr  # a table failed, the run did not
        assert secret not in done.stdout + done.stderr
    (inbox.project / "project.sql").write_text(right)
    inbox.succeed("run", "--once", "--end-of-input")
    assert inbox.ask("SELECT id FROM events") == [[1]]


def test_a_live_table_follows_its_folder_through_a_dead_store(inbox: Inbox, store: Store) -> None:
    inbox.define(inbox.table("events"))
    inbox.rows("events/1.json", 1)
    with subprocess.Popen(
        inbox.command("run"), env=environment({}), stderr=subprocess.PIPE, text=True
    ) as running:
        comes_to(inbox, "SELECT count(*) FROM events", 1)
        inbox.rows("events/2.json", 2)
        inbox.delete("events/1.json")
        comes_to(inbox, "SELECT max(id) FROM events", 2)
        inbox.rows("events/2.json", 20, 21)  # a later version of what was read is not
        store.kill()
        assert running.stderr
        next(line for line in running.stderr if "STORE_DOWN" in line)
        store.start()
        inbox.rows("events/3.json", 3)
        comes_to(inbox, "SELECT max(id) FROM events", 3)
        running.send_signal(signal.SIGINT)
        running.stderr.read()
    assert inbox.ask("SELECT id FROM events ORDER BY id") == [[1], [2], [3]]


def comes_to(inbox: Inbox, query: str, value: int) -> None:
    """Wait until a query has a value."""

    def look() -> bool:
        try:
            return inbox.ask(query) == [[value]]
        except AssertionError:  # the table is not there yet
            return False

    wait_for(look, query, within=240, every=1)


def test_a_table_that_says_nothing_of_its_store_asks_that_of_the_warehouse(inbox: Inbox) -> None:
    place = f"s3://{BUCKET}/{inbox.name}"
    warehouse = f"""[warehouse]
path = "{place}/lake"
endpoint = "{inbox.store.address}"
access_key = "{ACCESS_KEY}"
secret_key = "${{env:STORE_SECRET}}"
"""
    own = inbox.table("own", columns="id BIGINT")
    shared = own.replace("TABLE own", "TABLE shared").replace(f", {inbox.options}", "")
    whole = shared.replace("TABLE shared", "TABLE whole").replace(f"{place}/own", "s3://only-this")
    inbox.define(own, shared, whole, config=warehouse)
    inbox.rows("own/a.json", 7)
    client(inbox.store).create_dir("only-this")
    with client(inbox.store).open_output_stream("only-this/b.json") as sink:
        sink.write(b'{"id": 8}\n')
    inbox.succeed("run", "--once", "--end-of-input")
    asked = "SELECT o.id, s.id AS s, w.id AS w, w._path FROM own AS o, shared AS s, whole AS w"
    assert inbox.ask(asked) == [[7, 7, 8, "b.json"]]
    inbox.succeed("verify")


def test_two_thousand_objects_are_listed_at_once(inbox: Inbox) -> None:
    folder = inbox.store.folder / "data" / BUCKET / inbox.name / "many"
    folder.mkdir(parents=True)
    for number in range(2000):
        (folder / f"{number:05}.json").write_text(f'{{"id": {number}}}\n')
    options = {"path": f"s3://{BUCKET}/{inbox.name}/many"}
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("STORE_SECRET", SECRET_KEY)
        keys = (ACCESS_KEY, "${env:STORE_SECRET}")
        store = ObjectStore(inbox.store.address, "us-east-1", *keys)
        place = BucketPlace(Source("t", True, (), "files", options=options), store)
        asked = []
        listing = place._asked
        patch.setattr(place, "_asked", lambda ask: asked.append(ask) or listing(ask))
        found = list(place.listed())
    assert len(found) == 2000
    assert len(asked) == 1, "no object is asked for by itself"
