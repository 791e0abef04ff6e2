"""A view as a dataset: its columns, and metrics that mean what the SELECT means.

In: :class:`~headwater.serve.superset.facts.ViewFacts`. Out: a
:class:`~headwater.serve.superset.model.Dataset`.
"""

from __future__ import annotations

from collections.abc import Iterator

from sqlglot import exp

from headwater.analyze.definitions import Field
from headwater.analyze.typing.types import digits, family, is_integer, trino_type
from headwater.serve.superset.facts import Measure, ViewFacts, is_time
from headwater.serve.superset.model import Dataset, DatasetColumn, Metric
from headwater.serve.superset.naming import title_of

ROWS = Metric("count__rows", "Rows", "COUNT(*)", ",d", "How many rows the view has")
"""The metric that every dataset has."""

_INEXACT = "the highest of the rows shown: these values of several rows cannot be combined"


def dataset_of(facts: ViewFacts) -> Dataset:
    """Return the dataset of a view."""
    measures = {measure.field.name for measure in facts.measures}
    columns = tuple(
        DatasetColumn(
            name=field.name,
            type=trino_type(field.type),
            is_time=is_time(field),
            groupable=field.name not in measures,
            description=field.comment or facts.definitions[field.name],
            format=_column_format(field, names=field.name not in measures),
        )
        for field in facts.fields
    )
    metrics = (ROWS, *map(metric_of, facts.measures))
    view = facts.plan.view
    return Dataset(view.name, view.comment, facts.time, columns, metrics, view.is_delta)


def metric_of(measure: Measure) -> Metric:
    """Return the metric of a column of numbers.

    Args:
        measure: the column, and how its values fold.
    """
    name = measure.field.name
    title = title_of(name)
    return Metric(
        name=f"{measure.fold.lower()}__{name}",
        title=title if measure.exact else f"{title} (highest)",
        expression=f'{measure.fold}("{name}")',
        format=number_format(measure.field.type),
        description="" if measure.exact else _INEXACT,
    )


def number_format(kind: exp.DataType) -> str:
    """Return how numbers of a type are written: grouped, with the digits that the type has.

    Args:
        kind: a number type.
    """
    if is_integer(kind):
        return ",d"
    if kind.this is exp.DType.DECIMAL:
        return f",.{digits(kind)[1]}f"
    return ",.2f"


def _column_format(field: Field, *, names: bool) -> str:
    """A whole number that names something, such as a year, has no separators."""
    if family(field.type) != "number" or (names and is_integer(field.type)):
        return ""
    return number_format(field.type)


def metrics_of(facts: ViewFacts) -> Iterator[tuple[Measure, Metric]]:
    """Yield each measure of a view with its metric."""
    for measure in facts.measures:
        yield measure, metric_of(measure)
