from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from headwater.lake.delta.changed_files import are_there, differing


def commit(table: Path, version: int, *actions: dict[str, Any]) -> None:
    log = table / "_delta_log"
    log.mkdir(exist_ok=True)
    (log / f"{version:020}.json").write_text("".join(json.dumps(a) + "\n" for a in actions))


def add(path: str, rows: int | None = 1, **more: Any) -> dict[str, Any]:
    stats = {} if rows is None else {"stats": json.dumps({"numRecords": rows})}
    return {"add": {"path": path, "size": 9, "modificationTime": 7, **stats, **more}}


def remove(path: str, rows: int | None = 1, **more: Any) -> dict[str, Any]:
    file = add(path, rows, **more)["add"]
    return {"remove": {"deletionTimestamp": 7, "extendedFileMetadata": True, **file}}


def paths(table: Path, after: int, upto: int) -> tuple[list[str], list[str], int]:
    found = differing(table, after, upto)
    gone, come = (
        sorted(json.loads(file.action)["add"]["path"] for file in files)
        for files in (found.gone, found.come)
    )
    return gone, come, found.rows


def test_what_came_and_went_between_two_versions_is_neither(tmp_path: Path) -> None:
    commit(tmp_path, 0, add("a", 5))
    commit(tmp_path, 1, add("b", 3))
    commit(tmp_path, 2, remove("b", 3), remove("a", 5), add("c", 7))
    assert paths(tmp_path, -1, 0) == ([], ["a"], 5)
    assert paths(tmp_path, 0, 1) == ([], ["b"], 3)
    assert paths(tmp_path, 0, 2) == (["a"], ["c"], 12)
    assert paths(tmp_path, 2, 2) == ([], [], 0)


def test_what_was_restored_is_neither(tmp_path: Path) -> None:
    commit(tmp_path, 0, add("a"))
    commit(tmp_path, 1, remove("a"))
    commit(tmp_path, 2, add("a"))
    assert paths(tmp_path, 0, 2) == ([], [], 0)


def test_compactions_and_statistics_change_no_rows(tmp_path: Path) -> None:
    commit(tmp_path, 0, add("a", 2), add("b", 2))
    commit(tmp_path, 1, add("a", 2, dataChange=False))
    commit(
        tmp_path,
        2,
        remove("a", 2, dataChange=False),
        remove("b", 2, dataChange=False),
        add("ab", 4, dataChange=False),
    )
    assert paths(tmp_path, 0, 2) == ([], [], 0)
    commit(tmp_path, 3, remove("ab", 4), add("less", 3))
    assert paths(tmp_path, 0, 3) == (["ab"], ["less"], 7)


def test_a_file_with_other_deletions_is_another_file(tmp_path: Path) -> None:
    commit(tmp_path, 0, add("a", 5))
    first = {"pathOrInlineDv": "x", "offset": 1, "cardinality": 1}
    second = {"pathOrInlineDv": "x", "offset": 9, "cardinality": 3}
    commit(tmp_path, 1, remove("a", 5), add("a", 5, deletionVector=first))
    commit(tmp_path, 2, remove("a", 5, deletionVector=first), add("a", 5, deletionVector=second))
    assert paths(tmp_path, 0, 1) == (["a"], ["a"], 5 + 4)
    assert paths(tmp_path, 0, 2) == (["a"], ["a"], 5 + 2)
    assert paths(tmp_path, 1, 2) == (["a"], ["a"], 4 + 2)
    (come,) = differing(tmp_path, 0, 2).come
    assert json.loads(come.action)["add"]["deletionVector"] == second


def test_files_that_were_not_counted_are_changes_all_the_same(tmp_path: Path) -> None:
    commit(tmp_path, 0, {"commitInfo": {}}, add("a", None))
    assert paths(tmp_path, -1, 0) == ([], ["a"], 1)


def test_files_that_were_vacuumed_are_missed(tmp_path: Path) -> None:
    name = "p=a b/é%.parquet"
    (tmp_path / "p=a b").mkdir()
    (tmp_path / name).touch()
    commit(tmp_path, 0, add("p=a%20b/%C3%A9%25.parquet"))
    commit(tmp_path, 1, remove("p=a%20b/%C3%A9%25.parquet", dataChange=False))
    assert are_there(tmp_path, 0, 1)
    (tmp_path / name).unlink()
    assert not are_there(tmp_path, 0, 1)
    assert are_there(tmp_path, 1, 1)
