"""A dbt project: its models, the sources in its YAML files, its seeds.

In: the folder of a project, or files of it. Out: drafts of tables and views.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from ruamel.yaml import YAML
from ruamel.yaml.error import YAMLError
from sqlglot import exp

from headwater.errors import ConfigError, SqlError
from headwater.importing.bodies import Grammar
from headwater.importing.clock import filter_by_watermark
from headwater.importing.contract import ColumnDraft, ImportResult, LeftOut, TableDraft
from headwater.importing.dbt.jinja import Model, read_model
from headwater.importing.dbt.mapping import ADAPTERS, CONFIGS, MATERIALIZED
from headwater.importing.dbt.seeds import seed_columns
from headwater.importing.postgres import TYPES, first_of_each
from headwater.importing.run import ImportRun, System
from headwater.importing.statements import Cursor, Statement, column_name, plain_name
from headwater.importing.tables import placeholder
from headwater.importing.types import read_type

DIALECT = "postgres"
REWRITES = (filter_by_watermark, first_of_each)
_SKIPPED = ("target", "dbt_packages", "dbt_modules", "logs", "tests", "analyses", "macros")


@dataclass
class _Source:
    """A table of a source, as the YAML files describe it."""

    name: str
    place: str
    identifier: str
    columns: list[tuple[str, str]] = field(default_factory=list)
    comment: str = ""


@dataclass
class _Files:
    """What a dbt project consists of."""

    models: dict[str, Path] = field(default_factory=dict)
    seeds: dict[str, Path] = field(default_factory=dict)
    yaml: list[Path] = field(default_factory=list)
    others: list[Path] = field(default_factory=list)


def collect(run: ImportRun, paths: Sequence[Path]) -> None:
    """Read the files of a dbt project."""
    files = _files(paths)
    run.known = len(files.models) + len(files.seeds)
    variables: dict[str, Any] = {}
    sources: dict[tuple[str, str], _Source] = {}
    comments: dict[str, str] = {}
    for path in files.yaml:
        found = _yaml(path)
        if path.name == "dbt_project.yml":
            variables |= _variables(found)
        if path.name == "profiles.yml":
            _take_dialect(run, found)
            continue
        for each in _sources(path, found):
            sources[each[0]] = each[1]
        for model in _listed(found, "models"):
            comments[str(model.get("name", ""))] = str(model.get("description", "") or "")
    variables |= run.variables
    if dialect := run.variables.get("dialect"):
        _set_dialect(run, dialect)
    _seeds(run, files)
    _name_sources(run, sources, files)
    used: dict[tuple[str, str], list[str]] = {}
    views: list[tuple[Statement, Model]] = []
    for name, path in files.models.items():
        read = _model(run, name, path, sources, used, variables)
        if read is not None:
            views.append(read)
    for key, source in sources.items():
        if key in used and source.name not in run.tables:
            _source_table(run, source, used.get(key, []), [each for _, each in views])
    for statement, each_model in views:
        _view(run, statement, each_model, comments)
    for path in files.others:
        run.statements += 1
        statement = Statement(str(path), "", 0, 0, DIALECT)
        why = LeftOut("a snapshot or a model in Python is not read", "define it as a view")
        run.leave_out(statement, f"model {path.stem}", why)


def _files(paths: Sequence[Path]) -> _Files:
    found = _Files()
    for path in paths:
        for each in sorted(path.rglob("*")) if path.is_dir() else [path]:
            inside = each.relative_to(path).parts if path.is_dir() else ()
            if any(part in _SKIPPED or part.startswith(".") for part in inside[:-1]):
                continue
            kind = each.suffix.lower()
            if kind == ".sql" and "snapshots" not in inside:
                found.models[each.stem] = each
            elif kind in (".yml", ".yaml"):
                found.yaml.append(each)
            elif kind == ".csv":
                found.seeds[each.stem] = each
            elif kind in (".py", ".sql"):
                found.others.append(each)
    found.yaml.sort(key=lambda path: path.name != "dbt_project.yml")
    return found


def _yaml(path: Path) -> Mapping[str, Any]:
    try:
        found = YAML(typ="safe").load(path.read_text(encoding="utf-8"))
    except (YAMLError, UnicodeDecodeError) as error:
        message = f'"{path}" is not valid YAML'
        raise SqlError("INVALID_TEXT", message, hint="correct the file") from error
    return found if isinstance(found, Mapping) else {}


def _listed(found: Mapping[str, Any], key: str) -> Iterator[Mapping[str, Any]]:
    listed = found.get(key)
    yield from (
        (each for each in listed or () if isinstance(each, Mapping))
        if isinstance(listed, list)
        else ()
    )


def _variables(found: Mapping[str, Any]) -> dict[str, Any]:
    given = found.get("vars")
    flat: dict[str, Any] = {}
    for key, value in given.items() if isinstance(given, Mapping) else ():
        flat |= value if isinstance(value, Mapping) else {key: value}
    return flat


def _take_dialect(run: ImportRun, found: Mapping[str, Any]) -> None:
    for profile in found.values():
        outputs = profile.get("outputs", {}) if isinstance(profile, Mapping) else {}
        for output in outputs.values() if isinstance(outputs, Mapping) else ():
            _set_dialect(run, str(output.get("type", DIALECT)))
            return


def _set_dialect(run: ImportRun, name: str) -> None:
    dialect = ADAPTERS.get(name.lower())
    if dialect is None:
        hint = f"use one of {', '.join(sorted(ADAPTERS))}"
        raise ConfigError("UNKNOWN_DIALECT", f'dialect "{name}" is not known', hint=hint)
    grammar = Grammar(dialect, dialect, rewrites=REWRITES)
    run.system = replace(run.system, grammar=grammar)


# -- sources and seeds


def _sources(path: Path, found: Mapping[str, Any]) -> Iterator[tuple[tuple[str, str], _Source]]:
    for group in _listed(found, "sources"):
        schema = str(group.get("schema", group.get("name")))
        for table in _listed(group, "tables"):
            name = str(table.get("name"))
            columns = [
                (str(each.get("name")), str(each.get("data_type", "") or ""))
                for each in _listed(table, "columns")
            ]
            yield (
                (str(group.get("name")), name),
                _Source(
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


def _name_sources(
    run: ImportRun, sources: Mapping[tuple[str, str], _Source], files: _Files
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
        run.scope.names[f"{group}.{table}".lower()] = name


def _seeds(run: ImportRun, files: _Files) -> None:
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
        table.remark("types are those of the values in the seed", "check them", ImportResult.EDIT)
        run.copies[f"data/{table.name}/{path.name}"] = path
        run.add(table)


def _source_table(run: ImportRun, source: _Source, used: list[str], models: list[Model]) -> None:
    run.statements += 1
    table = TableDraft(source.name, source.place, comment=source.comment)
    notes = list[str]()
    for name, kind in source.columns:
        column = ColumnDraft(column_name(name), _type(kind, notes) if kind else "VARCHAR")
        table.columns.append(column)
    read = _columns_read(run, source.name, models)
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


def _columns_read(run: ImportRun, name: str, models: list[Model]) -> list[str]:
    """Return the columns that models read of a table, as far as their text says whose they are."""
    found: dict[str, None] = {}
    for model in models:
        try:
            statement = Statement("", model.sql, 0, len(model.sql), DIALECT)
            tree = run.body(statement.cursor()).query
        except LeftOut:
            continue
        starred = {
            cte.alias
            for cte in tree.find_all(exp.CTE)
            if isinstance(cte.this, exp.Select)
            and cte.this.is_star
            and cte.this.args["from_"].this.name == name
        }
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


# -- models


def _model(
    run: ImportRun,
    name: str,
    path: Path,
    sources: Mapping[tuple[str, str], _Source],
    used: dict[tuple[str, str], list[str]],
    variables: Mapping[str, Any],
) -> tuple[Statement, Model] | None:
    try:
        text = path.read_bytes().decode("utf-8-sig")
    except UnicodeDecodeError as error:
        message = f'"{path}" is not UTF-8: byte {error.start}'
        raise SqlError("INVALID_TEXT", message, hint="name a text file") from None

    def source(group: str, table: str) -> str:
        used.setdefault((group, table), [])
        found = sources.get((group, table))
        return found.name if found else plain_name(table)

    run.statements += 1
    try:
        model = read_model(text, name, source, variables)
    except LeftOut as why:
        run.leave_out(Statement(str(path), text, 0, len(text), DIALECT), f"model {name}", why)
        return None
    if model.config.get("enabled") is False:
        run.statements -= 1
        run.skip("disabled model")
        return None
    for key in used:
        if key not in sources:
            sources[key] = _Source(plain_name(key[1]), f"{path}:1", ".".join(key))  # type: ignore[index]
    sql = model.sql.rstrip().rstrip(";")
    return Statement(str(path), sql, 0, len(sql), DIALECT), model


def _view(run: ImportRun, statement: Statement, model: Model, comments: Mapping[str, str]) -> None:
    name = Path(statement.file).stem
    try:
        view = run.view(statement, name, run.body(statement.cursor()))
    except LeftOut as why:
        run.leave_out(statement, f"model {name}", why)
        return
    view.comment = comments.get(name, "")
    how = str(model.config.get("materialized", "view")).lower()
    if how not in MATERIALIZED:
        view.remark(f'materialized as "{how}" is not known here: it is a streaming view')
    elif MATERIALIZED[how] or model.incremental:
        view.remark(MATERIALIZED[how] or MATERIALIZED["incremental"])
    for key in model.config:
        if note := CONFIGS.get(key):
            view.remark(note)


DBT = System(
    name="dbt",
    title="dbt",
    grammar=Grammar(DIALECT, DIALECT, rewrites=REWRITES),
    types=TYPES,
    statements={},
    signs=(r"\{\{\s*(ref|source|config)\s*\(",),
    collect=collect,
)
