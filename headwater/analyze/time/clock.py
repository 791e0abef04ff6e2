"""``watermark()`` of a view: which inputs move it, and its type.

In: a query as parsed and the catalog. Out: the same query with a typed
:class:`~headwater.dialect.syntax.ViewWatermark` for each call; or an error if nothing moves it. The
watermark of a view is the least of its inputs that have one.
"""

from __future__ import annotations

from collections.abc import Iterator

from sqlglot import exp

from headwater.analyze.definitions import Catalog, Source
from headwater.analyze.diagnostics import Diagnostics
from headwater.analyze.typing import types as t
from headwater.dialect.syntax import MatchRecognize, ViewWatermark

NAME = "watermark"


def reads_clock(node: exp.Expr) -> bool:
    """Return whether ``watermark()`` is called anywhere below a node, as parsed."""
    return any(map(_is_call, node.find_all(exp.Anonymous)))


def has_watermark(name: str, catalog: Catalog) -> bool:
    """Return whether a source, table or view has a watermark."""
    return any(True for _ in _clocks(name, catalog))


def has_clock(query: exp.Expr, catalog: Catalog) -> bool:
    """Return whether a query reads anything that has a watermark, as parsed without WITH."""
    return bool(_kinds(query, catalog))


def with_clock(query: exp.Expr, catalog: Catalog, report: Diagnostics) -> None:
    """Put typed clocks in the place of the calls of ``watermark()``, in place.

    Args:
        query: as parsed, without WITH.
    """
    calls = [each for each in query.find_all(exp.Anonymous) if _is_call(each)]
    kinds = _kinds(query, catalog)
    for call in calls:
        if call.expressions:
            report.add("WRONG_ARGUMENTS", "watermark takes no arguments", call, "write watermark()")
        elif not kinds:
            hint = "declare WATERMARK FOR … AS … in a table that the view reads"
            message = "watermark() has no value: no input of the view has a watermark"
            report.add("MISPLACED_CLAUSE", message, call, hint)
        elif call.find_ancestor(MatchRecognize):
            hint = "compare the time outside: SELECT … FROM (…) WHERE ts > watermark() - …"
            report.not_yet("watermark() in MATCH_RECOGNIZE", call, hint)
        clock = ViewWatermark()
        clock.type = t.TIMESTAMPTZ if t.TIMESTAMPTZ in kinds else t.TIMESTAMP
        clock.meta.update(call.meta)
        call.replace(clock)


def _kinds(query: exp.Expr, catalog: Catalog) -> list[exp.DataType]:
    names = {table.name for table in query.find_all(exp.Table)}
    return [kind for name in sorted(names) for kind in _clocks(name, catalog)]


def _clocks(name: str, catalog: Catalog) -> Iterator[exp.DataType]:
    """The types of the event times that move the watermark of a source, table or view."""
    source: Source | None = catalog.sources.get(name)
    if source is not None and source.watermark and not source.external:
        yield next(each.type for each in source.columns if each.name == source.watermark.column)
    if view := catalog.views.get(name):
        for read in view.inputs:
            yield from _clocks(read, catalog)


def _is_call(node: exp.Expr) -> bool:
    return isinstance(node, exp.Anonymous) and node.name.lower() == NAME
