"""Starter charts: what a view that has no chart of its own is shown as.

In: :class:`~headwater.serve.superset.facts.ViewFacts`. Out: charts, chosen by the view's rows:

=====================  ===================================================
one row                big numbers
the first N rows       bars, the longest first
groups over time       lines
rows with a time       a line that counts them
else                   a table
=====================  ===================================================
"""

from __future__ import annotations

from headwater.analyze.typing.types import family
from headwater.serve.superset import viz
from headwater.serve.superset.datasets import ROWS, metrics_of
from headwater.serve.superset.facts import ViewFacts
from headwater.serve.superset.model import Chart
from headwater.serve.superset.naming import title_of

_NUMBERS = 4  # big numbers of a view
_LINES = 2  # charts of a view over time: one a measure, since their units differ
_GROUPS = 1  # columns that lines are told apart by: more make too many lines


def starter_charts(facts: ViewFacts) -> list[Chart]:
    """Return the charts of a view."""
    if facts.single and facts.measures:
        return _big_numbers(facts)
    if facts.top and (chart := _bars(facts)):
        return [chart]
    if facts.time and facts.grouped and facts.measures:
        return _lines(facts)
    if facts.time and not facts.grouped:
        return [_counted(facts)]
    settings = viz.rows([field.name for field in facts.fields], facts.time)
    return [_chart(facts, "rows", title_of(facts.name), settings, width=12)]


def _big_numbers(facts: ViewFacts) -> list[Chart]:
    shown = list(metrics_of(facts))[:_NUMBERS]
    return [
        _chart(
            facts,
            measure.field.name,
            _title(facts, measure.field.name),
            viz.big_number(metric.name, number=metric.format),
            width=12 // len(shown),
            height=20,
        )
        for measure, metric in shown
    ]


def _bars(facts: ViewFacts) -> Chart | None:
    names = [field.name for field in facts.fields if family(field.type) == "text"]
    names += [name for name in facts.keys if name not in names]
    for measure, metric in metrics_of(facts):
        if measure.field.name == facts.top and names:
            settings = viz.bar(names[0], metric.name, number=metric.format)
            return _chart(facts, "top", _title(facts, metric.title), settings)
    return None


def _lines(facts: ViewFacts) -> list[Chart]:
    assert facts.time is not None
    shown = list(metrics_of(facts))[:_LINES]
    by = facts.keys[:_GROUPS]
    return [
        _chart(
            facts,
            measure.field.name,
            _title(facts, measure.field.name),
            viz.line(
                viz.Times(facts.time), metric.name, by, number=metric.format, title=metric.title
            ),
            width=12 // len(shown),
        )
        for measure, metric in shown
    ]


def _counted(facts: ViewFacts) -> Chart:
    assert facts.time is not None
    times = viz.Times(facts.time, grain="PT1H")
    settings = viz.line(times, ROWS.name, number=",d", title="Rows")
    return _chart(facts, "rows", _title(facts, "rows per hour"), settings, width=12)


def _title(facts: ViewFacts, what: str) -> str:
    return f"{title_of(facts.name)}: {title_of(what).lower()}"


def _chart(
    facts: ViewFacts,
    what: str,
    title: str,
    settings: viz.Settings,
    width: int = 6,
    height: int = 40,
) -> Chart:
    kind, params = settings
    comment = facts.plan.view.comment
    name = f"{facts.name}.{what}"
    return Chart(name, facts.name, title, kind, params, comment, width, height)
