"""``headwater cut``: one state of all views of a project, by name.

In: a project. Out: tags of one name on the tables of its views and landed tables, at the newest
commits that have read the same of every landed table. Trino reads them by ``FOR VERSION AS OF
'name'``, PyIceberg by the tag, ``headwater sql`` by ``--cut``. Starts no JVM.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import islice

from headwater.analyze.definitions import Catalog
from headwater.errors import ConfigError
from headwater.plan.view_plan import ViewPlan
from headwater.project import Project
from headwater.serve.iceberg import StoredIcebergTable
from headwater.serve.lake_reader import LakeReader, tag_tables
from headwater.serve.stored_table import StoredTable

LOOKED_AT = 200
"""Commits of each view among which a common cut is looked for."""
_NAME = re.compile(r"[A-Za-z][A-Za-z0-9_-]{0,62}")
_RESERVED = "headwater"

Base = Mapping[str, int]
"""Landed table → the number of its newest commit that was read, from its first one on."""


@dataclass(frozen=True, slots=True)
class CutTable:
    """A table of a cut.

    Attributes:
        name: the table or view.
        snapshot_id: its snapshot.
        epoch: of the commit.
    """

    name: str
    snapshot_id: int
    epoch: int


@dataclass(frozen=True, slots=True)
class _Commit:
    snapshot_id: int
    epoch: int
    base: Base


def cut(
    project: Project, plans: Mapping[str, ViewPlan], name: str, *, replace: bool = False
) -> list[CutTable]:
    """Tag all views of a project, and the tables that they read, at their newest common cut.

    Args:
        project: the project.
        plans: of its views.
        name: of the cut.
        replace: move a cut of this name that is there.

    Returns:
        What was tagged.

    Raises:
        ConfigError: ``BAD_NAME``; ``CUT_EXISTS``; ``NO_COMMON_CUT`` if the views have read nothing
            in common among the commits that are kept.
    """
    if not _NAME.fullmatch(name) or name.lower().startswith(_RESERVED):
        raise ConfigError(
            "BAD_NAME",
            f'"{name}" is no name of a cut',
            hint=f"use a letter, then letters, digits, - and _; {_RESERVED}… is reserved",
        )
    lake = LakeReader(project.config, project.catalog.external)
    tables = {each.name: each for each in _tables(lake, project.catalog, plans)}
    there = [each.name for each in tables.values() if name in each.refs]
    if there and not replace:
        raise ConfigError(
            "CUT_EXISTS",
            f'cut "{name}" is there already, on {", ".join(there)}',
            hint=f"choose another name, or move it: headwater cut {name} --replace",
        )
    found = common_cut(tables, plans)
    tag_tables(project.config, name, {each.name: each.snapshot_id for each in found})
    return found


def common_cut(tables: Mapping[str, StoredTable], plans: Mapping[str, ViewPlan]) -> list[CutTable]:
    """Return the newest commits of all views that have read the same of every landed table.

    Args:
        tables: landed tables and views that have a commit, each after what it reads.
        plans: of the views.

    Raises:
        ConfigError: ``NO_COMMON_CUT``.
    """
    numbers = {name: _numbers(table) for name, table in tables.items() if name not in plans}
    commits: dict[str, list[_Commit]] = {}
    for name, table in tables.items():
        if name in plans:
            commits[name] = list(islice(_commits(table, numbers, commits), LOOKED_AT))
    bound: dict[str, int] = {}
    while True:
        chosen = {name: _newest(name, each, bound) for name, each in commits.items()}
        least: dict[str, int] = {}
        for commit in chosen.values():
            for base, number in commit.base.items():
                least[base] = min(number, least.get(base, number))
        if least == bound:
            break
        bound = least
    views = [CutTable(name, each.snapshot_id, each.epoch) for name, each in chosen.items()]
    landed = [_landed(name, tables[name], each, bound) for name, each in numbers.items()]
    return [*(each for each in landed if each), *views]


def _tables(
    lake: LakeReader, catalog: Catalog, plans: Mapping[str, ViewPlan]
) -> Iterator[StoredTable]:
    """The landed tables and views that can have a tag and have a commit."""
    for name in [n for n, source in catalog.sources.items() if source.landed] + list(plans):
        table = lake.table(name)
        if isinstance(table, StoredIcebergTable) and next(table.commits(), None):
            yield table


def _numbers(table: StoredTable) -> dict[int, int]:
    """The snapshots of a landed table that are kept, numbered from the oldest."""
    return {each.id: number for number, each in enumerate(reversed([*table.ancestors()]))}


def _commits(
    table: StoredTable,
    numbers: Mapping[str, Mapping[int, int]],
    views: Mapping[str, list[_Commit]],
) -> Iterator[_Commit]:
    """The commits of a view, the newest first, with what they have read of landed tables.

    One that has read two states of a table by way of two views, or what is not kept, is none.
    """
    for commit in table.commits():
        base: dict[str, int] = {}
        for name, position in commit.marker.cut_to.items():
            read = _read(name, position, numbers, views)
            if read is None or any(base.get(each, read[each]) != read[each] for each in read):
                break
            base |= read
        else:
            yield _Commit(commit.snapshot_id, commit.marker.epoch, base)


def _read(
    name: str,
    position: str,
    numbers: Mapping[str, Mapping[int, int]],
    views: Mapping[str, list[_Commit]],
) -> Base | None:
    if not position.isdigit():
        return {}  # straight from a SOURCE, or a table without a snapshot
    if name in numbers:
        number = numbers[name].get(int(position))
        return None if number is None else {name: number}
    found = (each.base for each in views.get(name, []) if each.snapshot_id == int(position))
    return next(found, None) if name in views else {}


def _newest(name: str, commits: list[_Commit], bound: Base) -> _Commit:
    for commit in commits:
        if all(number <= bound.get(base, number) for base, number in commit.base.items()):
            return commit
    raise ConfigError(
        "NO_COMMON_CUT",
        f'no commit of view "{name}" that is kept has read as little as the other views',
        hint="let the views catch up: headwater run --once, then try again",
    )


def _landed(
    name: str, table: StoredTable, numbers: Mapping[int, int], bound: Base
) -> CutTable | None:
    """What the views have read of a landed table; of one that nobody reads, its newest commit."""
    wanted = bound.get(name, max(numbers.values(), default=-1))
    at = next((each for each, number in numbers.items() if number == wanted), None)
    commit = table.newest(before=at) if at is not None else None
    return CutTable(name, at, commit.marker.epoch) if at is not None and commit else None
