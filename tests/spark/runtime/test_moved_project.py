"""A project that is copied, renamed and relocated goes on, and nothing is read or counted twice."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import time
from pathlib import Path

from headwater.cli.main import main
from headwater.project import load_project
from headwater.serve.lake_reader import LakeReader

SQL = """
CREATE TABLE t (id BIGINT, g VARCHAR) WITH (connector = 'files', path = 'data/t')
FORMAT PLAIN ENCODE JSON;
CREATE SOURCE s (id BIGINT, g VARCHAR) WITH (connector = 'files', path = 'data/t')
FORMAT PLAIN ENCODE JSON;
CREATE STREAMING VIEW v AS SELECT g, count(*) AS n FROM t GROUP BY g;
CREATE STREAMING VIEW d WITH (format = 'delta') AS SELECT g, count(*) AS n FROM t GROUP BY g;
CREATE STREAMING VIEW straight AS SELECT id, g FROM s WHERE id > 0;
"""


def headwater(folder: Path, *command: str) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "headwater.cli.main", *command],
        cwd=folder,
        capture_output=True,
        text=True,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
    )
    assert done.returncode == 0, done.stderr


def land(folder: Path, *ids: int) -> None:
    for number in ids:
        row = json.dumps({"id": number, "g": "ab"[number % 2]})
        (folder / "data" / "t" / f"{number}.json").write_text(row + "\n")


def asked(folder: Path, sql: str, capsys) -> list[dict[str, object]]:
    capsys.readouterr()
    assert main(["sql", sql, "--project", str(folder), "--output", "json"]) == 0
    return json.loads(capsys.readouterr().out)


def assert_is_equal(folder: Path, ids: set[int], capsys) -> None:
    counts = {g: sum("ab"[n % 2] == g for n in ids) for g in "ab"}
    expected = [{"g": g, "n": n} for g, n in counts.items() if n]
    for view in ("v", "d"):
        assert asked(folder, f"SELECT g, n FROM {view} ORDER BY g", capsys) == expected
    for table in ("t", "straight"):
        rows = asked(folder, f"SELECT id FROM {table} ORDER BY id", capsys)
        assert [row["id"] for row in rows] == sorted(ids), "each row once"
    assert main(["verify", "--project", str(folder), "--output", "json"]) == 0
    results = {each["view"]: each["result"] for each in json.loads(capsys.readouterr().out)}
    assert (results["v"], results["d"]) == ("equal", "equal")


def test_a_copy_and_a_renamed_project_go_on(tmp_path: Path, capsys) -> None:
    first = tmp_path / "first of all"
    (first / "data" / "t").mkdir(parents=True)
    (first / "headwater.toml").write_text('name = "cp"\n[spark]\nmaster = "local[2]"\n')
    (first / "a.sql").write_text(SQL)
    land(first, 1, 2, 3)
    headwater(first, "run", "--once")
    land(first, 4)
    headwater(first, "run", "--once")
    table = LakeReader(load_project(first).config).table("v")
    deletes = [f for f in table.iceberg.inspect.files()["content"].to_pylist() if f == 1]
    assert deletes, "files of position deletes hold addresses"
    copy = tmp_path / "copy"
    shutil.copytree(first, copy)
    assert main(["relocate", "--project", str(copy)]) == 0
    # the original goes on, and loses what maintenance takes for orphans
    land(first, 5)
    headwater(first, "run", "--once")
    long_ago = time.time() - 10 * 86_400
    for file in (first / ".headwater" / "warehouse").rglob("*.*"):
        os.utime(file, (long_ago, long_ago))
    headwater(first, "maintain")
    assert_is_equal(copy, {1, 2, 3, 4}, capsys)
    land(copy, 6)
    headwater(copy, "run", "--once")
    assert_is_equal(copy, {1, 2, 3, 4, 6}, capsys)
    assert_is_equal(first, {1, 2, 3, 4, 5}, capsys)
    renamed = first.rename(tmp_path / "renamed")
    assert main(["relocate", "--project", str(renamed)]) == 0
    land(renamed, 7)
    headwater(renamed, "run", "--once")
    assert_is_equal(renamed, {1, 2, 3, 4, 5, 7}, capsys)
    headwater(renamed, "maintain")
    assert_is_equal(renamed, {1, 2, 3, 4, 5, 7}, capsys)
    shutil.rmtree(copy)
    assert_is_equal(renamed, {1, 2, 3, 4, 5, 7}, capsys)
