"""Flink's constructs of SQL over time, and what becomes of each."""

from __future__ import annotations

from collections.abc import Iterator

from docs.generate.markdown import code, table
from tests.flink.constructs import CONSTRUCTS


def constructs() -> Iterator[str]:
    """Yield a table of the constructs by page, and how many run."""
    runs = sum(not each.refused for each in CONSTRUCTS)
    yield f"**{len(CONSTRUCTS)} constructs: {runs} run, {len(CONSTRUCTS) - runs} are refused.**"
    yield ""
    rows = [
        (
            each.page,
            each.what,
            f"refused: {code(each.refused)}" if each.refused else "runs",
            each.instead,
        )
        for each in CONSTRUCTS
    ]
    yield from table(("page", "construct", "here", "instead, or what differs"), rows)
