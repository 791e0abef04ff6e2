"""The rows that a bound ``MATCH_RECOGNIZE`` reads, within what stands for it in FROM."""

from __future__ import annotations

from sqlglot import exp

from headwater.analyze.query_parts import relations
from headwater.dialect.syntax import PatternRows

PLACE = "_place"
"""Name of the column with the place of a row in its partition, and key of the ``meta`` of the
subquery that has it."""


def rows_read(matches: PatternRows) -> exp.Expr:
    """Return the bound rows that a clause reads, without their places."""
    (item,) = relations(matches.this.this)
    return relations(item.this)[0] if item.meta.get(PLACE) else item
