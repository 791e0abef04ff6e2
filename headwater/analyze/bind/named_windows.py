"""Named windows → what they stand for: ``OVER w`` with ``WINDOW w AS (PARTITION BY k)``.

In: a query as parsed. Out: one whose windows all say themselves what they are, and not that they
respect NULLs, which is the default.
"""

from __future__ import annotations

from collections.abc import Mapping

from sqlglot import exp

from headwater.analyze.diagnostics import Diagnostics
from headwater.analyze.query_parts import is_over
from headwater.errors.nearest import did_you_mean

_PARTS = {"partition_by": "PARTITION BY", "order": "ORDER BY", "spec": "frame"}


def write_out_windows(query: exp.Query, report: Diagnostics) -> bool:
    """Replace the names of windows by what they stand for, in place.

    Returns:
        Whether all are known.
    """
    before = len(report.errors)
    for node in list(query.find_all(exp.RespectNulls)):
        if is_over(node):
            node.replace(node.this)
    owned: dict[int, list[exp.Window]] = {}
    for window in query.find_all(exp.Window):
        owned.setdefault(id(window.find_ancestor(exp.Select)), []).append(window)
    for select in query.find_all(exp.Select):
        known: dict[str, exp.Expr] = {}
        for definition in select.args.get("windows") or []:
            _write_out(definition, known, report)
            if definition.name in known:
                message = f'window "{definition.name}" is defined twice'
                report.add("DUPLICATE_NAME", message, definition, "rename one of them")
            known[definition.name] = definition
        select.set("windows", None)
        for window in owned.get(id(select), []):
            _write_out(window, known, report)
    return len(report.errors) == before


def _write_out(window: exp.Expr, known: Mapping[str, exp.Expr], report: Diagnostics) -> None:
    """Give a window what the one that it names has; it may add an order or a frame."""
    name = window.args.get("alias")
    if name is None:
        return
    window.set("alias", None)
    base = known.get(name.name)
    if base is None:
        hint = did_you_mean(name.name, known, "windows") if known else "define it: WINDOW w AS (…)"
        report.add("UNKNOWN_WINDOW", f'window "{name.name}" does not exist', name, hint)
        return
    for part, words in _PARTS.items():
        own, given = window.args.get(part), base.args.get(part)
        if own and (given or part == "partition_by"):
            message = f'the window cannot have another {words} than "{name.name}"'
            report.add("UNSUPPORTED_SYNTAX", message, window, "write the window after OVER")
        elif given:
            copies = [each.copy() for each in given] if isinstance(given, list) else given.copy()
            window.set(part, copies)
