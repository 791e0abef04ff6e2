"""What is written into a table → a view, and a sink if its rows go elsewhere.

In: a query and the table that takes its rows. Out: the view of that name, with the table's names of
columns; a sink that delivers it.
"""

from __future__ import annotations

from sqlglot import exp

from headwater.importing.bodies import Body
from headwater.importing.contract import SinkDraft, TableDraft
from headwater.importing.run import ImportRun
from headwater.importing.statements import Statement, column_name


def rename(body: Body, columns: list[str]) -> None:
    """Give the columns of a query other names, by position."""
    if not columns:
        return
    query = body.query
    while isinstance(query, exp.SetOperation):
        query = query.this.unnest()
    items = query.selects if isinstance(query, exp.Select) else []
    if any(item.is_star for item in items) or len(items) != len(columns):
        return
    for item, name in zip(items, columns, strict=True):
        ours = name.lower()
        if item.alias_or_name != ours:
            plain = column_name(ours).startswith('"')
            item.replace(exp.alias_(item.unalias().copy(), ours, quoted=plain))


def write_into(
    run: ImportRun,
    statement: Statement,
    table: TableDraft,
    body: Body,
    *,
    columns: list[str],
    final: bool,
) -> None:
    """Make a view of what is written into a table; what is written later is added to it.

    Args:
        run: the import.
        statement: the statement that writes.
        table: the table; it is no table of the project any more.
        body: the rows.
        columns: names of the columns, in order; by default those of the table.
        final: whether the rows are shown once they are final.
    """
    run.targets.setdefault(table.name, table)
    declared = [each.name.strip('"') for each in table.columns if not each.computed]
    rename(body, columns or declared)
    if view := run.views.get(table.name):
        view.query = exp.union(view.query, body.query, distinct=False, copy=False)
        view.notes += [note for note in body.notes if note not in view.notes]
        view.final = view.final and final
        return
    view = run.view(statement, table.name, body, final=final)
    if table.outside:
        reason = f"rows went to the connector {table.outside}; here they stay in the view"
        view.remark(reason, "write CREATE SINK, or let the other side read the view")
    if table.options.get("connector") in ("kafka", "iceberg", "delta"):
        run.add(sink_of(f"{table.name}_out", statement.place(), table.name, table))


def sink_of(name: str, place: str, view: str, to: TableDraft) -> SinkDraft:
    """Return a sink with the options of a table, without those that only readers need."""
    sink = SinkDraft(name, place, view=view, to=to)
    to.options.pop("isolation", None)
    to.encode_options = {
        key: value for key, value in to.encode_options.items() if key.startswith("registry")
    }
    if to.options.get("connector") == "kafka" and to.encode not in ("JSON", "AVRO"):
        sink.remark(f"a sink writes JSON or AVRO, not {to.encode or 'bytes'}")
        to.encode = "JSON"
    if to.format == "UPSERT" and to.key:
        to.options["key"] = ", ".join(to.key)
    return sink


def setting(statement: Statement) -> tuple[str, str]:
    """Return name and value of ``SET name = value``, in lower case."""
    text = statement.text[statement.start : statement.end]
    name, _, value = text.partition("=")
    name = name.strip()[len("SET") :].strip().strip("'\"").lower()
    return name, value.strip().strip("'\"").lower()


def skip(run: ImportRun, statement: Statement) -> None:
    """Pass over a statement that defines nothing."""
    run.skip(statement.head.split(" ")[0])
