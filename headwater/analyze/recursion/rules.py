"""What is refused around recursive rows, once the query is bound.

In: a bound view. Out: errors in the report.
"""

from __future__ import annotations

from sqlglot import exp

from headwater.analyze.definitions import Emit
from headwater.analyze.rules.contract import Checked
from headwater.analyze.time.recent import RECENT
from headwater.dialect.syntax import PatternRows, RecursiveRows


def recursive_queries(checked: Checked) -> None:
    """Refuse recursion over inputs that are read once, and what needs a time of its rows."""
    view = checked.view
    rows = view.query.find(RecursiveRows)
    if rows is None:
        return
    sources = (checked.catalog.sources.get(name) for name in view.inputs)
    if any(source is not None and not source.kept for source in sources):
        hint = "land the input: CREATE TABLE instead of CREATE SOURCE"
        checked.report.not_yet("WITH RECURSIVE over a SOURCE", rows, hint)
    elif not view.inputs:
        hint = "read a table in the step, or in the query that reads the recursion"
        checked.report.add("NO_INPUT", "the recursion reads no table", rows, hint)
    elif view.emit is Emit.ON_WINDOW_CLOSE:
        hint = "write EMIT CHANGES: any row can still lead to further ones"
        checked.report.not_yet("WITH RECURSIVE with EMIT ON WINDOW CLOSE", rows, hint)
    elif any(RECENT in table.meta for table in view.query.find_all(exp.Table)):
        hint = "make the newest rows a view of their own"
        checked.report.not_yet("watermark() beside WITH RECURSIVE", rows, hint)
    elif matches := view.query.find(PatternRows):
        hint = "make the part with MATCH_RECOGNIZE a view of its own"
        checked.report.not_yet("MATCH_RECOGNIZE beside WITH RECURSIVE", matches, hint)
