"""Names that those who write the lake and those who only read it must agree on. Knows no Spark.

In: a table or view. Out: its side tables, its state folder, the names of its branches and tag.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from headwater.analyze.definitions import CHANGES, NEXT

if TYPE_CHECKING:
    from headwater.plan.view_plan import ViewPlan

MARKER_TAG = "headwater-marker"
"""Tag on the snapshot with the newest marker of an Iceberg table, so that expiry cannot lose it."""

QUARANTINE = "__quarantine"
"""Suffix of the table with the rows that a table, SOURCE or view could not take."""

SINK, BEGUN = "__sink", "__begun"
"""Suffixes of the tables whose markers say what a sink has delivered, and has begun to deliver."""

FILES = "__files"
"""Suffix of the table with the names of the files that a landed table has read."""

SIDE_TABLES = (CHANGES, QUARANTINE, SINK, BEGUN, FILES, NEXT)
"""The suffixes of tables that belong to another, of whose commits they say no more than that."""

LANE = "_path"
"""Column of a landed table that names the part of the input which a row came from."""

PLACE = "@place"
"""In the cut of a sink, beside its view: what its connector says of the place records go to."""

DEFINITION = "headwater.definition"
"""Property of a view's table: the definition that its newest commit is of, as SQL."""

LANDED_BY = "headwater.landed_by"
"""Property of a landed table: the parts of the definition that its newest rows were landed by."""

SWAPPING = "headwater.swapping"
"""Property of a shadow whose files its view is about to take over, or has."""

FORMERLY = "headwater.formerly"
"""Property of a view's table: the names that it had, as a JSON list."""

TAKEN = "headwater.taken."
"""Begin of properties of a namespace: names whose folder a renamed table has."""

PAUSED = "headwater.paused."
"""Begin of properties of a namespace: the views that are paused."""

LAKE = "headwater.lake"
"""Property of a namespace: a note of the lake that it is (``headwater.lake.identity``)."""

_TAG = "headwater.tag."

BRANCH_PREFIX = "headwater_"
"""Begin of the names of staging branches."""

VERSION = 1
"""Version of every view; it stands in its markers and names its state folder."""


def version_tag(number: int) -> str:
    """Return the name of the tag on the last snapshot of an earlier version of a view."""
    return f"headwater-v{number}"


def definition_of(number: int) -> str:
    """Return the property with the definition of an earlier version of a view."""
    return f"{DEFINITION}.v{number}"


def landed_by(properties: Mapping[str, str]) -> dict[str, str]:
    """Return the parts of the definition that the newest rows of a table were landed by.

    Args:
        properties: of the table; those of an earlier release say nothing.
    """
    found: dict[str, str] = json.loads(properties.get(LANDED_BY) or "{}")
    return found


def definitions_in(properties: Mapping[str, str]) -> dict[int, str]:
    """Return the definitions of earlier versions by number, from the properties of a table."""
    begin = definition_of(0)[:-1]
    return {
        int(key.removeprefix(begin)): text
        for key, text in properties.items()
        if key.startswith(begin)
    }


def tag_property(tag: str) -> str:
    """Return the property of a Delta table, which has no tags, that stands for one."""
    return f"{_TAG}{tag}"


def tags_in(properties: Mapping[str, str]) -> dict[str, int]:
    """Return the versions of a Delta table that have a tag, by the tag."""
    return {
        key.removeprefix(_TAG): int(number)
        for key, number in properties.items()
        if key.startswith(_TAG)
    }


def quarantine_of(name: str) -> str:
    """Return the name of the quarantine of a table, SOURCE or view.

    Args:
        name: its name; the log of a keyed table and the table have one quarantine.
    """
    return name.removesuffix(CHANGES) + QUARANTINE


def tables_of(plan: ViewPlan) -> tuple[str, ...]:
    """Return the tables that a view writes, its own first; side tables may not exist yet."""
    name = plan.view.name
    return (name, *filter(None, (quarantine_of(name) if plan.guard else None, plan.late.into)))


def state_folder(state: Path, name: str) -> Path:
    """Return where the runner keeps what belongs to a view or to the quarantine of a SOURCE.

    Args:
        state: the project's state folder.
        name: the view, or the quarantine's table.
    """
    return state / name / f"v{VERSION}"
