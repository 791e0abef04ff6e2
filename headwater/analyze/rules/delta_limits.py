"""What the format of a view's table cannot do, said before it runs.

In: a bound view. Out: errors in the report. Iceberg, the default, can do everything.
"""

from __future__ import annotations

from sqlglot import exp

from headwater.analyze.rules.contract import Checked

_NOT_IN_NAMES = frozenset(" ()")
"""What Delta refuses of what the language takes."""


def delta_views(checked: Checked) -> None:
    """Refuse what a Delta table cannot hold."""
    if checked.view.is_delta:
        _straight_from_a_source(checked)
        _partitioned(checked)
        _named(checked)


def _straight_from_a_source(checked: Checked) -> None:
    """Bad rows of a source are found while a batch is written, before it is published."""
    for table in checked.statement.expression.find_all(exp.Table):
        source = checked.catalog.sources.get(table.name)
        if source is not None and not source.kept and source.encode:
            hint = "write CREATE TABLE instead of CREATE SOURCE, or use format = 'iceberg'"
            checked.report.not_yet(f"format = 'delta' over source \"{source.name}\"", table, hint)


def _partitioned(checked: Checked) -> None:
    nodes = checked.statement.args.get("partitioned_by") or []
    for node in nodes:
        if not isinstance(node, exp.Column | exp.Identifier):
            hint = "select it as a column and partition by that, or use format = 'iceberg'"
            message = f"Delta partitions by columns, not by {node.sql().lower()}"
            checked.report.add("UNSUPPORTED_PARTITION", message, node, hint)
    if nodes and {node.name for node in nodes} >= {field.name for field in checked.view.fields}:
        hint = "leave one column out"
        message = "Delta does not partition by all columns"
        checked.report.add("UNSUPPORTED_PARTITION", message, nodes[0], hint)


def _named(checked: Checked) -> None:
    for at, field in zip(checked.outputs, checked.view.fields, strict=True):
        if _NOT_IN_NAMES.intersection(field.name):
            hint = "write _ instead, or use format = 'iceberg'"
            message = f'Delta has no names with spaces or brackets, such as "{field.name}"'
            checked.report.add("BAD_NAME", message, at, hint)
