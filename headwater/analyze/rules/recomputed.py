"""What is refused around queries that are computed anew at each change.

In: a bound view, with recursive rows or with a part that reads no table.
Out: errors in the report.
"""

from __future__ import annotations

from sqlglot import exp

from headwater.algebra.properties.moves import moves
from headwater.analyze.definitions import Emit
from headwater.analyze.query_parts import relations, selects
from headwater.analyze.rules.contract import Checked
from headwater.dialect.syntax import PatternRows, RecursiveRows


def recomputed_queries(checked: Checked) -> None:
    """Refuse inputs that are read once, and what needs a time of its rows."""
    query = checked.view.query
    if rows := query.find(RecursiveRows):
        hint = "write EMIT CHANGES: any row can still lead to further ones"
        _refuse(checked, rows, "WITH RECURSIVE", hint)
    elif checked.view.inputs:
        constants = (each for each in selects(query) if not relations(each))
        if part := next(constants, None):
            hint = "write EMIT CHANGES, or make that part a view of its own"
            _refuse(checked, part, "a part that reads no table", hint)


def _refuse(checked: Checked, part: exp.Expr, what: str, to_emit: str) -> None:
    view, report = checked.view, checked.report
    sources = (checked.catalog.sources.get(name) for name in view.inputs)
    if any(source is not None and not source.kept for source in sources):
        hint = "land the input: CREATE TABLE instead of CREATE SOURCE"
        report.not_yet(f"{what} over a SOURCE", part, hint)
    elif view.emit is Emit.ON_WINDOW_CLOSE:
        report.not_yet(f"{what} with EMIT ON WINDOW CLOSE", part, to_emit)
    elif moves(view.tree.root):
        hint = "make the newest rows a view of their own"
        report.not_yet(f"watermark() beside {what}", part, hint)
    elif matches := view.query.find(PatternRows):
        hint = "make the part with MATCH_RECOGNIZE a view of its own"
        report.not_yet(f"MATCH_RECOGNIZE beside {what}", matches, hint)
