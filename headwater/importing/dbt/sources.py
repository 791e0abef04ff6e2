"""The tables that the models of a dbt project read: sources and seeds.

In: YAML files, CSV files, the queries of the models. Out: drafts of tables.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from sqlglot import exp

from headwater.importing.contract import ColumnDraft, ImportResult, LeftOut, TableDraft
from headwater.importing.dbt.files import DbtFiles, listed
from headwater.importing.dbt.seeds import seed_columns
from headwater.importing.postgres import TYPES
from headwater.importing.run import ImportRun
from headwater.importing.statements import Cursor, Statement, column_name, plain_name
from headwater.importing.tables import placeholder
from headwater.importing.types import read_type

DIALECT = "postgres"
"""The dialect of words without one."""


@dataclass
class SourceTable:
    """A table of a source, as the YAML files describe it.

    Attributes:
        name: its name in the project.
        place: file and line.
        identifier: schema and table in the warehouse.
        columns: names and types; a type may be empty.
        comment: its description.
    """

    name: str
    place: str
    identifier: str
    columns: list[tuple[str, str]] = field(default_factory=list)
    comment: str = ""


def sources_of(
    path: Path, found: Mapping[str, Any]
) -> Iterator[tuple[tuple[str, str], SourceTable]]:
    """Yield the tables that a YAML file lists, by source and name."""
    for group in listed(found, "sources"):
        schema = str(group.get("schema", group.get("name")))
        for table in listed(group, "tables"):
            name = str(table.get("name"))
            columns = [
                (str(each.get("name")), str(each.get("data_type", "") or ""))
                for each in listed(table, "columns")
            ]
            yield (
                (str(group.get("name")), name),
                SourceTable(
                    name,
                    f"{path}:{_line(path, name)}",
                    f"{schema}.{table.get('identifier', name)}",
                    columns,
                    str(table.get("description", "") or ""),
                ),
            )


def _line(path: Path, name: str) -> int:
    lines = path.read_text(encoding="utf-8").splitlines()
    found = (n for n, line in enumerate(lines, 1) if line.strip() == f"- name: {name}")
    return next(found, 1)


def name_sources(
    run: ImportRun, sources: Mapping[tuple[str, str], SourceTable], files: DbtFiles
) -> None:
    """Give each table of a source a name that no model has."""
    taken = {*files.models, *files.seeds}
    for (group, table), source in sources.items():
        name = plain_name(table)
        if table in files.seeds and table not in files.models:
            continue  # the seed is what fills the table
        name = plain_name(f"{group}_{table}") if name in taken else name
        taken.add(name)
        source.name = name
        run.scope.names[source.identifier.lower()] = name


def add_seeds(run: ImportRun, files: DbtFiles) -> None:
    """Add a table for each CSV file, which is copied into the project."""
    for name, path in files.seeds.items():
        run.statements += 1
        table = TableDraft(plain_name(name), f"{path}:1")
        statement = Statement(str(path), "", 0, 0, DIALECT)
        try:
            table.columns = seed_columns(path)
        except LeftOut as why:
            run.leave_out(statement, f"seed {name}", why)
            continue
        table.options = {"connector": "files", "path": f"data/{table.name}"}
        table.format, table.encode = "PLAIN", "CSV"
        table.remark("types are those of the values in the seed", "check them")
        run.copies[f"data/{table.name}/{path.name}"] = path
        run.add(table)


def add_source(run: ImportRun, source: SourceTable, trees: Sequence[exp.Query]) -> None:
    """Add the table of a source that a model reads."""
    run.statements += 1
    table = TableDraft(source.name, source.place, comment=source.comment)
    notes = list[str]()
    for name, kind in source.columns:
        column = ColumnDraft(column_name(name), _type(kind, notes) if kind else "VARCHAR")
        table.columns.append(column)
    read = _columns_read(source.name, trees)
    known = {each.name for each in table.columns}
    table.columns += [ColumnDraft(each, "VARCHAR") for each in read if each not in known]
    untyped = [name for name, kind in source.columns if not kind]
    untyped += [each for each in read if each not in known]
    statement = Statement(source.place.rpartition(":")[0], "", 0, 0, DIALECT)
    if not table.columns:
        why = LeftOut("the columns are not in the YAML files", "write them with data_type")
        run.leave_out(statement, f"source {source.name}", why)
        return
    placeholder(
        table,
        f"dbt reads the table {source.identifier} of a warehouse",
        f"if it is an Iceberg table: connector = 'iceberg', table = '{source.identifier}'",
    )
    if untyped:
        reason = f"no data_type in the YAML files, so VARCHAR: {', '.join(untyped[:8])}"
        table.remark(reason, "write the types", ImportResult.EDIT)
    for note in notes:
        table.remark(note)
    run.add(table)


def _type(text: str, notes: list[str]) -> str:
    statement = Statement("", text, 0, len(text), DIALECT)
    try:
        return read_type(Cursor(text, statement.tokens), TYPES, notes)
    except LeftOut:
        notes.append(f"type {text} is not known here: VARCHAR")
        return "VARCHAR"


def _columns_read(name: str, trees: Sequence[exp.Query]) -> list[str]:
    """Return the columns that queries read of a table, as far as their text says whose they are."""
    found: dict[str, None] = {}
    for tree in trees:
        starred = {cte.alias for cte in tree.find_all(exp.CTE) if _is_all_of(cte.this, name)}
        for select in tree.find_all(exp.Select):
            start = select.args.get("from_")
            joins = select.args.get("joins") or []
            relations = [start.this, *(each.this for each in joins)] if start else []
            own = [each for each in relations if each.name in {name, *starred}]
            for column in select.find_all(exp.Column) if own else ():
                here = column.find_ancestor(exp.Select) is select
                whose = {own[0].alias_or_name, *([""] if len(relations) == 1 else ())}
                if here and column.table in whose and not isinstance(column.this, exp.Star):
                    found[column_name(column.name)] = None
    return list(found)


def _is_all_of(query: exp.Expr, name: str) -> bool:
    """Whether a query is ``SELECT * FROM name``, dbt's usual first step."""
    start = query.args.get("from_")
    starred = isinstance(query, exp.Select) and query.is_star
    return starred and start is not None and start.this.name == name
