"""The law, checked by Trino: it runs the SELECT at rest and compares it with the view's table.

In: a case of :mod:`headwater.serve.verify`. Out: the difference. Both sides are read and subtracted
in Trino; only rows without a twin come here, where floating-point columns and sketches are compared
within their tolerance as for the embedded engine.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from sqlglot import exp

from headwater.analyze.portable.rewrites import portable
from headwater.analyze.typing import types as t
from headwater.dialect.syntax import PatternRows, RecursiveRows
from headwater.plan.sql.native_patterns import inexpressible, not_told
from headwater.serve.compare import RowDifference, subtraction, tolerant_difference
from headwater.serve.connection import duckdb_connection, quoted
from headwater.serve.iceberg import StoredIcebergTable
from headwater.serve.iceberg_files import duckdb_type
from headwater.serve.trino.catalog import delta_catalog
from headwater.serve.trino.client import trino_query
from headwater.serve.verify import Unseen

if TYPE_CHECKING:
    import pyarrow as pa

    from headwater.analyze.definitions import Field
    from headwater.serve.stored_table import StoredTable
    from headwater.serve.verify import Case


def compare_in_trino(case: Case, limit: int) -> RowDifference:
    """Compare in Trino.

    Args:
        limit: how many differing rows of each side to return.

    Raises:
        Unseen: a view in Delta has a column that Trino does not read as it is, or the view has
            patterns whose final matches Trino cannot find, or recursion by UNION.
        ConfigError: ``TRINO_UNKNOWN``.
        ServiceError: as :func:`headwater.serve.trino.client.trino_connection`.
        SqlError: likewise.
    """
    refused = not_told if case.plan.final else inexpressible
    for matches in case.plan.view.query.find_all(PatternRows):
        if reason := refused(matches.args["clause"]):
            raise Unseen(reason)
    for recursion in case.plan.view.query.find_all(RecursiveRows):
        if recursion.this.args.get("distinct"):
            raise Unseen("Trino does not leave out rows of earlier rounds, as UNION does")
    columns, config = case.columns, case.project.config
    names = ", ".join(map(quoted, columns.names))
    table = f"SELECT {names} FROM {_relation(case, case.plan.view.name, case.table, case.read_at)}"
    with trino_query(config, f"SELECT count(*) FROM ({table}) AS counted") as result:
        ((rows,),) = result.rows
    with trino_query(config, subtraction(columns, table, _at_rest(case))) as result:
        left_over = _arrow(result.columns, [tuple(map(_plain, row)) for row in result.rows])
    if not left_over.num_rows:
        return RowDifference(int(str(rows)), 0, 0)
    with duckdb_connection() as connection:
        connection.register("_rows", left_over)
        connection.execute("CREATE TEMP TABLE _left_over AS FROM _rows")
        return tolerant_difference(connection, columns, int(str(rows)), limit)


def _at_rest(case: Case) -> str:
    from headwater.plan.at_rest import at_rest

    return at_rest(
        case.plan,
        case.project.catalog,
        "trino",
        watermark=case.commit.marker.watermark,
        relation=lambda name: _relation(case, name, *case.inputs[name]),
        bounds=bool(case.columns.bounded),
    ).text()


def _relation(case: Case, name: str, table: StoredTable, snapshot_id: int | None) -> str:
    """A table as one of its snapshots, with the columns that it has now."""
    config, project = case.project.config, case.project
    catalog = delta_catalog(config) if table.is_delta else config.trino.catalog
    place = project.catalog.external.get(name) or f"{config.namespace}.{name}"
    whole = ".".join(map(quoted, [catalog, *place.split(".")]))
    if snapshot_id is None:
        return f"(SELECT * FROM {whole} WHERE false)"
    pinned = f"{whole} FOR VERSION AS OF {snapshot_id}"
    if not isinstance(table, StoredIcebergTable):
        if name in project.catalog.external:
            raise Unseen(f"{name} is a Delta table of another system, which Trino does not know")
        if any(map(_holds_instants, case.plan.view.fields)):
            raise Unseen(f"{name} is a Delta table, whose instants Trino rounds to milliseconds")
        return pinned
    then, now = table.columns(snapshot_id), table.columns()
    if then == now:
        return pinned
    kinds = {field.name: duckdb_type(field.field_type) for field in table.iceberg.schema().fields}
    columns = (
        quoted(column) if then.get(column) == kind else _evolved(column, column in then, kinds)
        for column, kind in now.items()
    )
    return f"(SELECT {', '.join(columns)} FROM {pinned})"


def _holds_instants(field: Field) -> bool:
    kinds = field.type.find_all(exp.DataType)
    return any(kind.this == t.Type.TIMESTAMPTZ for kind in kinds)


def _evolved(column: str, was_there: bool, kinds: Mapping[str, str]) -> str:
    """A column that a table got, or widened, after a snapshot: as rows of then have it now."""
    value = exp.column(column, quoted=True) if was_there else exp.null()
    kind = exp.DataType.build(kinds[column], dialect="duckdb")
    cast = portable(exp.select(exp.alias_(exp.cast(value, kind), column, quoted=True)), "trino")
    return cast.selects[0].sql(dialect="trino")


def _plain(value: object) -> object:
    """A value as Arrow takes it: maps as lists of pairs, rows as lists of texts."""
    if isinstance(value, Mapping):
        pairs = sorted(value.items(), key=repr)
        return [{"key": _plain(key), "value": _plain(each)} for key, each in pairs]
    if isinstance(value, tuple):
        return {f"_{number}": _plain(each) for number, each in enumerate(value)}
    return [_plain(each) for each in value] if isinstance(value, list) else value


def _arrow(names: Sequence[str], rows: Sequence[tuple[object, ...]]) -> pa.Table:
    import pyarrow as pa

    columns = zip(*rows, strict=True) if rows else ((),) * len(names)
    return pa.table([pa.array(column) for column in columns], names=list(names))
