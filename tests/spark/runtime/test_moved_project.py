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
from headwater.lake.iceberg.merge import SMALL_VIEW
from headwater.project import load_project
from headwater.serve.lake_reader import LakeReader

SQL = """
CREATE TABLE t (id BIGINT, g VARCHAR) WITH (connector = 'files', path = 'data/t')
FORMAT PLAIN ENCODE JSON;
CREATE SOURCE s (id BIGINT, g VARCHAR) WITH (connector = 'files', path = 'data/t')
FORMAT PLAIN ENCODE JSON;
CREATE STREAMING VIEW v AS SELECT g, count(*) AS n FROM t GROUP BY g;
CREATE STREAMING VIEW d WITH (format = 'delta') AS SELECT g, count(*) AS n FROM t GROUP BY g;
CREATE TABLE u (id BIGINT) WITH (connector = 'files', path = 'data/u') FORMAT PLAIN ENCODE JSON;
CREATE STREAMING VIEW many AS SELECT id, count(*) AS n FROM u GROUP BY id;
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
    main(["verify", "--project", str(folder), "--output", "json"])
    results = {each["view"]: each["result"] for each in json.loads(capsys.readouterr().out)}
    assert results.pop("straight") == "not verifiable", "a SOURCE is not landed"
    assert results == {"v": "equal", "d": "equal", "many": "equal"}
    (row,) = asked(folder, "SELECT count(*) AS r, sum(n) AS n FROM many", capsys)
    assert row == {"r": SMALL_VIEW + 1, "n": SMALL_VIEW + 2}


def test_a_copy_and_a_renamed_project_go_on(tmp_path: Path, capsys) -> None:
    first = tmp_path / "first of all"
    (first / "data" / "t").mkdir(parents=True)
    (first / "headwater.toml").write_text('name = "cp"\n[spark]\nmaster = "local[2]"\n')
    (first / "a.sql").write_text(SQL)
    land(first, 1, 2, 3)
    many = first / "data" / "u"
    many.mkdir()
    # a smaller view is written anew
    rows = (json.dumps({"id": number}) for number in range(SMALL_VIEW + 1))
    (many / "0.json").write_text("\n".join(rows) + "\n")
    headwater(first, "run", "--once")
    land(first, 4)
    (many / "1.json").write_text('{"id": 7}\n')
    headwater(first, "run", "--once")
    table = LakeReader(load_project(first).config).table("many")
    assert table.iceberg.inspect.delete_files().num_rows, "files of deletes hold addresses"
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
    shutil.rmtree(copy)
    assert_is_equal(renamed, {1, 2, 3, 4, 5, 7}, capsys)
