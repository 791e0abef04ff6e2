"""Readers leave no connection to the catalog's database open: it allows few at a time."""

from __future__ import annotations

import gc
from collections import Counter
from collections.abc import Callable, Iterator

import pytest
from fake_lake import CLICKS, FakeLake
from sqlalchemy import event
from sqlalchemy.pool import Pool

from headwater.lake.catalogs.sqlite import SqliteDatabase
from headwater.project import Project
from headwater.serve.commits import commits_table
from headwater.serve.lake_reader import LakeReader, drop_table
from headwater.serve.status import status


@pytest.fixture
def seen() -> Iterator[Counter[str]]:
    """How many connections of SQLAlchemy's were opened and closed, without any collection."""
    seen: Counter[str] = Counter()
    listeners = {name: lambda *_, name=name: seen.update([name]) for name in ("connect", "close")}
    gc.collect()
    gc.disable()
    for name, listener in listeners.items():
        event.listen(Pool, name, listener)
    yield seen
    for name, listener in listeners.items():
        event.remove(Pool, name, listener)
    gc.enable()


@pytest.mark.parametrize(
    "read",
    [
        status,
        lambda project: commits_table(LakeReader(project.config)),
        lambda project: drop_table(project.config, "clicks"),
    ],
    ids=["status", "commits", "drop_table"],
)
def test_connections_are_closed_when_their_reader_is_done(
    lake: FakeLake,
    seen: Counter[str],
    read: Callable[[Project], object],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    # as with a catalog whose tables only SQLAlchemy finds
    monkeypatch.setattr(SqliteDatabase, "pointers", lambda database, namespace: None)
    lake.create("clicks", CLICKS)
    before = seen["connect"] - seen["close"]
    opened = seen["connect"]
    read(lake.project)
    assert seen["connect"] > opened
    assert seen["connect"] - seen["close"] == before
