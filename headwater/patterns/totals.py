"""Aggregates over the rows of matches.

In: an aggregate and the rows it ends before. Out: its values, of Trino's types. Counts and sums of
integers are differences of running totals; other aggregates over whole matches are grouped by the
match. What is left goes row by row.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from headwater.errors import SqlError
from headwater.patterns.aggregates import FOLDS
from headwater.patterns.matches import MatchedRows, Numbers
from headwater.patterns.navigation import Aggregation

_GROUPED = {"min": "min", "max": "max", "bool_and": "all", "bool_or": "any"}
_GROUPED_NUMBERS = {"sum": "sum", "avg": "mean"}
"""Aggregates that Arrow computes by group as Trino does; the second ones of binary numbers."""


def aggregate(
    aggregation: Aggregation, rows: MatchedRows, match: Numbers, stop: Numbers
) -> pa.Array | pa.ChunkedArray:
    """Return an aggregate for each row of a result.

    Args:
        aggregation: the aggregate.
        rows: the rows of all matches.
        match: the match of each result row; negative without one, which gives NULL.
        stop: the place behind the last row that counts.
    """
    arguments = [rows.argument(column) for column in aggregation.arguments]
    kind = result_type(aggregation.function, [each.type for each in arguments])
    if not len(rows.matches):
        return pa.nulls(len(match), kind)
    begin = rows.matches.offsets[match]
    stop = np.maximum(stop, begin)
    has = rows.has(aggregation.labels)
    unmatched = match < 0
    summed = _summed(aggregation.function, arguments, has)
    if summed is not None:
        return _difference(summed, begin, stop, unmatched, kind)
    whole = bool(np.all((stop == rows.matches.offsets[match + 1]) | unmatched))
    if whole and (name := _grouped(aggregation.function, arguments)):
        return _by_match(name, arguments[0], has, rows, match, kind)
    values = _row_by_row(aggregation, arguments, has, rows, kind)
    index = np.where(stop > begin, stop - 1, len(rows.match))
    return values.take(pa.array(index, mask=unmatched))


def result_type(function: str, arguments: list[pa.DataType]) -> pa.DataType:
    """Return the type of an aggregate of arguments of some types, as Trino has it."""
    if function in ("count", "count_if"):
        return pa.int64()
    kind = arguments[0]
    if function == "sum":
        if pa.types.is_integer(kind):
            return pa.int64()
        return pa.decimal128(38, kind.scale) if pa.types.is_decimal(kind) else kind
    if function == "avg":
        return pa.float64() if pa.types.is_integer(kind) else kind
    return pa.list_(kind) if function == "array_agg" else kind


def _grouped(function: str, arguments: list[pa.Array]) -> str:
    kind = arguments[0].type
    if function in _GROUPED:
        return "" if pa.types.is_nested(kind) else _GROUPED[function]
    binary = pa.types.is_integer(kind) or pa.types.is_float64(kind)
    return _GROUPED_NUMBERS.get(function, "") if binary else ""


class _Sums:
    """Running totals of values and of how many there are."""

    def __init__(self, values: Numbers | None, counted: npt.NDArray[np.bool_]) -> None:
        self.counts = _running(counted)
        self.values = None
        if values is not None:
            values = np.where(counted, values, 0)
            self.values = _running(values)
            rough = np.cumsum(np.abs(values.astype(np.float64)))
            if len(rough) and rough[-1] >= 2.0**62:
                self.values = _running(values.astype(object))


def _running(values: npt.NDArray[Any]) -> npt.NDArray[Any]:
    kind = values.dtype if values.dtype == object else np.int64
    return np.concatenate([np.zeros(1, kind), np.cumsum(values, dtype=kind)])


def _summed(function: str, arguments: list[pa.Array], has: npt.NDArray[np.bool_]) -> _Sums | None:
    if function == "count":
        return _Sums(None, has & _valid(arguments[0]) if arguments else has)
    if function == "count_if":
        return _Sums(None, has & np.asarray(pc.fill_null(arguments[0], False)))
    if function == "sum" and pa.types.is_integer(arguments[0].type):
        values = np.asarray(pc.fill_null(arguments[0], 0)).astype(np.int64)
        return _Sums(values, has & _valid(arguments[0]))
    return None


def _difference(
    sums: _Sums,
    begin: Numbers,
    stop: Numbers,
    unmatched: npt.NDArray[np.bool_],
    kind: pa.DataType,
) -> pa.Array:
    counts = sums.counts[stop] - sums.counts[begin]
    if sums.values is None:
        return pa.array(counts, mask=unmatched)
    found = sums.values[stop] - sums.values[begin]
    if found.dtype == object:
        for each in found:
            if not -(2**63) <= each < 2**63:
                hint = "cast the argument to DECIMAL(38, 0)"
                raise SqlError("MATCH_FAILED", f"the sum {each} does not fit BIGINT", hint=hint)
        found = found.astype(np.int64)
    return pa.array(found, kind, mask=unmatched | (counts == 0))


def _valid(values: pa.Array) -> npt.NDArray[np.bool_]:
    return np.asarray(pc.is_valid(values))


def _by_match(
    name: str,
    values: pa.Array,
    has: npt.NDArray[np.bool_],
    rows: MatchedRows,
    match: Numbers,
    kind: pa.DataType,
) -> pa.Array | pa.ChunkedArray:
    places = np.flatnonzero(has)
    table = pa.table({"v": values.take(pa.array(places)), "m": rows.match[places]})
    options = pc.ScalarAggregateOptions(skip_nulls=True, min_count=1)
    grouped = table.group_by("m", use_threads=False).aggregate([("v", name, options)])
    where = np.full(len(rows.matches) + 1, -1)
    where[np.asarray(grouped["m"])] = np.arange(grouped.num_rows)
    index = where[match]
    return grouped[f"v_{name}"].cast(kind).take(pa.array(index, mask=index < 0))


def _row_by_row(
    aggregation: Aggregation,
    arguments: list[pa.Array],
    has: npt.NDArray[np.bool_],
    rows: MatchedRows,
    kind: pa.DataType,
) -> pa.Array:
    """Return the aggregate behind each row of each match, and at the end that of no rows."""
    fold = FOLDS[aggregation.function]
    values = zip(*(_python(each) for each in arguments), strict=True)
    state, before, found = fold.begin, -1, []
    for match, counts, row in zip(rows.match.tolist(), has.tolist(), values, strict=True):
        if match != before:
            state, before = fold.begin, match
        if counts:
            state = fold.add(state, *row)
        found.append(fold.result(state))
    found.append(fold.result(fold.begin))
    return pa.array(found, kind)


def _python(values: pa.Array) -> list[Any]:
    found: list[Any] = values.to_pylist()
    return found
