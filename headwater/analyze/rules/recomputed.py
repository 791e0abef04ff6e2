"""What is refused around queries that are computed anew at each change.

In: a bound view, with recursive rows or with a part that reads no table.
Out: errors in the report.
"""

from __future__ import annotations

from sqlglot import exp

from headwater.analyze.definitions import Emit
from headwater.analyze.query_parts import relations, selects
from headwater.analyze.rules.contract import Checked
from headwater.analyze.time.recent import RECENT
from headwater.dialect.syntax import PatternRows, RecursiveRows


def recomputed_queries(checked: Checked) -> None:
    """Refuse inputs that are read once, and what needs a time of its rows."""
    query, report = checked.view.query, checked.report
    if rows := query.find(RecursiveRows):
        _refuse(checked, rows, "WITH RECURSIVE")
        if checked.view.emit is Emit.ON_WINDOW_CLOSE:
            hint = "write EMIT CHANGES: any row can still lead to further ones"
            report.not_yet("WITH RECURSIVE with EMIT ON WINDOW CLOSE", rows, hint)
    elif checked.view.inputs:
        constants = (each for each in selects(query) if not relations(each))
        if first := next(constants, None):
            _refuse(checked, first, "a part that reads no table")
            if checked.view.emit is Emit.ON_WINDOW_CLOSE:
                hint = "write EMIT CHANGES, or make that part a view of its own"
                report.not_yet("a part that reads no table with EMIT ON WINDOW CLOSE", first, hint)


def _refuse(checked: Checked, part: exp.Expr, what: str) -> None:
    query, report = checked.view.query, checked.report
    sources = (checked.catalog.sources.get(name) for name in checked.view.inputs)
    if any(source is not None and not source.kept for source in sources):
        hint = "land the input: CREATE TABLE instead of CREATE SOURCE"
        report.not_yet(f"{what} over a SOURCE", part, hint)
    elif any(RECENT in table.meta for table in query.find_all(exp.Table)):
        hint = "make the newest rows a view of their own"
        report.not_yet(f"watermark() beside {what}", part, hint)
    elif matches := query.find(PatternRows):
        hint = "make the part with MATCH_RECOGNIZE a view of its own"
        report.not_yet(f"MATCH_RECOGNIZE beside {what}", matches, hint)
