"""The refusals of ``MATCH_RECOGNIZE``: where nothing says when a match is final, or how it is kept.

In: a bound view. Out: errors in the report.
"""

from __future__ import annotations

from sqlglot import exp

from headwater.analyze.correlated.subqueries import has_predicates
from headwater.analyze.definitions import ChangelogMode, Emit
from headwater.analyze.patterns.rows import rows_read
from headwater.analyze.query_parts import is_stateful, is_union_all, union_branches
from headwater.analyze.rules.changelog import ChangelogModes
from headwater.analyze.rules.contract import Checked
from headwater.analyze.time.finality import relation_times
from headwater.dialect.syntax import PatternRows, WindowTable
from headwater.patterns import MatchClause, unbounded


def row_patterns(checked: Checked) -> None:
    """Refuse patterns over rows that are corrected or not landed, and what reads their matches."""
    for rows in checked.view.query.find_all(PatternRows):
        if refusal := _way_of_keeping(checked):
            checked.report.not_yet(refusal[0], rows, refusal[1])
            continue
        _check_state(rows, checked)
        _check_order(rows, checked)
        _check_place(rows, checked)


def _way_of_keeping(checked: Checked) -> tuple[str, str] | None:
    view, catalog = checked.view, checked.catalog
    landed = "land the input: CREATE TABLE instead of CREATE SOURCE"
    if any(not catalog.sources[name].kept for name in view.inputs if name in catalog.sources):
        return "MATCH_RECOGNIZE over a SOURCE", landed
    modes = ChangelogModes(catalog)
    corrected = [each for each in view.inputs if modes.named(each) is not ChangelogMode.APPEND]
    if corrected:
        hint = "read a log table, or a view EMIT ON WINDOW CLOSE"
        return f"MATCH_RECOGNIZE over {corrected[0]}, whose rows are corrected", hint
    if view.options.get("engine") not in (None, "", "incremental"):
        return f"MATCH_RECOGNIZE with engine = '{view.options['engine']}'", "remove the option"
    return None


def _check_state(rows: PatternRows, checked: Checked) -> None:
    clause: MatchClause = rows.args["clause"]
    if checked.bounded and _waits(checked) and (reason := unbounded(clause)):
        hint = "write WITHIN INTERVAL '5' MINUTE behind PATTERN (…), or quantifiers such as {1,10}"
        checked.report.add("UNBOUNDED_STATE", reason, rows, hint)


def _check_order(rows: PatternRows, checked: Checked) -> None:
    clause: MatchClause = rows.args["clause"]
    times = relation_times(rows_read(rows), checked.catalog)
    if clause.time not in times:
        hint = "declare WATERMARK FOR ts AS … in the table, and order by ts"
        if times:
            hint = f"write ORDER BY {next(iter(times))} first"
        message = f"nothing says when a match is final: {clause.time} is no event time"
        checked.report.add("UNBOUNDED_STATE", message, rows.args["order"], hint)
    elif not _waits(checked):
        return
    elif times[clause.time].kind == "time" and rows_read(rows).find(WindowTable):
        # a row is in time as long as its window is open, so it can be below the watermark
        hint = "read the table itself, or order by window_end"
        checked.report.not_yet("patterns of rows in windows", rows.args["order"], hint)


def _waits(checked: Checked) -> bool:
    """Return whether matches appear once they are final; corrected ones are searched again."""
    return checked.view.emit is Emit.ON_WINDOW_CLOSE


def _check_place(rows: PatternRows, checked: Checked) -> None:
    """Refuse a query around the clause that does more than filter and compute."""
    query, select = checked.view.query, rows.find_ancestor(exp.Select)
    assert isinstance(select, exp.Select)
    outermost = is_union_all(query) and any(select is each for each in union_branches(query))
    if not outermost or is_stateful(select) or has_predicates(select):
        hint = "make the part with MATCH_RECOGNIZE a view of its own"
        checked.report.not_yet("a query that joins or groups matches", rows, hint)
