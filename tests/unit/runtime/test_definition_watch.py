"""A run notices new, changed and broken SQL files, and says what to type."""

from __future__ import annotations

from pathlib import Path

import pytest

from headwater.project import load_project
from headwater.runtime.definition_watch import DefinitionWatch, watched
from headwater.runtime.events import DefinitionsChanged, Event
from tests.support.waiting import wait_for

TABLE = """
CREATE TABLE t (id BIGINT, name VARCHAR) WITH (connector = 'files', path = 'in')
FORMAT PLAIN ENCODE JSON;
"""
VIEW = "CREATE STREAMING VIEW v AS SELECT id FROM t;\n"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "headwater.toml").write_text("")
    (tmp_path / "a.sql").write_text(TABLE + VIEW)
    return tmp_path


@pytest.mark.parametrize(
    ("file", "text", "words"),
    [
        ("b.sql", "CREATE STREAMING VIEW w AS SELECT id FROM v;", ["new: w"]),
        ("b.sql", TABLE.replace("TABLE t", "TABLE u"), ["new: u"]),
        ("a.sql", TABLE + VIEW.replace("id", "name"), ["changed: v"]),
        ("a.sql", TABLE.replace("path = 'in'", "path = 'im'") + VIEW, ["changed: t"]),
        ("a.sql", TABLE, ["removed: v"]),
        ("a.sql", "\n\n-- a comment\n" + TABLE + VIEW, ["The definitions are the same"]),
        ("b.sql", "CREATE STREAMING VIEW w AS SELECT nme FROM t;", ["errors", "UNKNOWN_COLUMN"]),
        ("tests/c.sql", "nonsense", []),
    ],
)
def test_what_changed_is_said_once(folder: Path, file: str, text: str, words: list[str]) -> None:
    watch = DefinitionWatch(load_project(folder))
    assert watch.look() is None
    (folder / file).parent.mkdir(exist_ok=True)
    (folder / file).write_text(text)
    said = watch.look()
    assert (said is None) == (not words)
    for word in words:
        assert word in str(said)
    if said is not None and any(said.changes.values()):
        assert str(said).endswith("for a table, start the run again")
    assert watch.look() is None


def test_a_run_is_told(folder: Path) -> None:
    events: list[Event] = []
    with watched(load_project(folder), events.append, every=0.01):
        (folder / "b.sql").write_text("CREATE STREAMING VIEW w AS SELECT id FROM v;")
        wait_for(lambda: events, "an event")
    (event,) = events
    assert isinstance(event, DefinitionsChanged) and event.changes["new"] == ("w",)
