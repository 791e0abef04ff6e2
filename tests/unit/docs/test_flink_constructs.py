"""What the page on Flink's constructs says of each is what the planner does."""

from __future__ import annotations

import pytest

from headwater.analyze.project import bind
from headwater.dialect import parse
from headwater.errors import HeadwaterError
from headwater.plan.planner import plan_project
from tests.flink.constructs import CONSTRUCTS, TABLES, Construct


def verdict(construct: Construct) -> str:
    text = f"{TABLES}CREATE STREAMING VIEW v AS {construct.view};"
    try:
        plan_project(bind({"v.sql": parse(text, file="v.sql")}))
    except HeadwaterError as error:
        return error.condition
    except BaseExceptionGroup as group:
        return str(group.exceptions[0].condition)  # type: ignore[attr-defined]
    return ""


@pytest.mark.parametrize("construct", CONSTRUCTS, ids=lambda each: f"{each.page}: {each.what}")
def test_it_runs_or_is_refused_as_the_page_says(construct: Construct) -> None:
    assert verdict(construct) == construct.refused
