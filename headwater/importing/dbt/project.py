"""A dbt project: its models become views, its sources and seeds tables.

In: the folder of a project, or files of it. Out: drafts of tables and views.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from sqlglot import exp

from headwater.errors import ConfigError, SqlError
from headwater.importing.bodies import Body, Grammar
from headwater.importing.clock import filter_by_watermark
from headwater.importing.contract import LeftOut
from headwater.importing.dbt.files import find_files, listed, read_yaml, variables_of
from headwater.importing.dbt.jinja import Model, read_model
from headwater.importing.dbt.mapping import ADAPTERS, CONFIGS, MATERIALIZED
from headwater.importing.dbt.sources import (
    DIALECT,
    SourceTable,
    add_seeds,
    add_source,
    name_sources,
    sources_of,
)
from headwater.importing.postgres import TYPES, first_of_each
from headwater.importing.run import ImportRun, System
from headwater.importing.statements import Statement, plain_name

REWRITES = (filter_by_watermark, first_of_each)


@dataclass(frozen=True)
class _Read:
    """A model that was read, up to its query."""

    statement: Statement
    model: Model
    body: Body

    @property
    def name(self) -> str:
        return Path(self.statement.file).stem


@dataclass
class _Names:
    """What a model can refer to."""

    sources: dict[tuple[str, str], SourceTable]
    variables: dict[str, Any]

    def source(self, group: str, table: str) -> str:
        """Return the name of a source's table; one that no YAML file has is made up."""
        made = SourceTable(plain_name(table), f"{group}:1", f"{group}.{table}")
        return self.sources.setdefault((group, table), made).name


def collect(run: ImportRun, paths: Sequence[Path]) -> None:
    """Read the files of a dbt project."""
    files = find_files(paths)
    run.known = len(files.models) + len(files.seeds)
    names, comments = _Names({}, {}), dict[str, str]()
    for path in files.yaml:
        found = read_yaml(path)
        if path.name == "profiles.yml":
            _take_dialect(run, found)
            continue
        if path.name == "dbt_project.yml":
            names.variables |= variables_of(found)
        names.sources |= sources_of(path, found)
        comments |= {str(each.get("name")): _text(each) for each in listed(found, "models")}
    names.variables |= run.variables
    if dialect := run.variables.get("dialect"):
        _set_dialect(run, dialect)
    add_seeds(run, files)
    name_sources(run, names.sources, files)
    read = list(_models(run, files.models, names))
    trees = [each.body.query for each in read]
    tables = {table.name for tree in trees for table in tree.find_all(exp.Table)}
    for source in names.sources.values():
        if source.name in tables and source.name not in run.tables:
            add_source(run, source, trees)
    for each in read:
        _view(run, each, comments.get(each.name, ""))
    for path in files.others:
        run.statements += 1
        why = LeftOut("a snapshot or a model in Python is not read", "define it as a view")
        run.leave_out(Statement(str(path), "", 0, 0, DIALECT), f"model {path.stem}", why)


def _text(found: Mapping[str, Any]) -> str:
    return str(found.get("description", "") or "")


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
    run.system = replace(run.system, grammar=Grammar(dialect, dialect, rewrites=REWRITES))


def _models(run: ImportRun, models: Mapping[str, Path], names: _Names) -> Iterator[_Read]:
    for name, path in models.items():
        try:
            text = path.read_bytes().decode("utf-8-sig")
        except UnicodeDecodeError as error:
            message = f'"{path}" is not UTF-8: byte {error.start}'
            raise SqlError("INVALID_TEXT", message, hint="name a text file") from None
        run.statements += 1
        statement = Statement(str(path), text, 0, len(text), DIALECT)
        try:
            model = read_model(text, name, names.source, names.variables)
            if model.config.get("enabled") is False:
                run.statements -= 1
                run.skip("disabled model")
                continue
            sql = model.sql.rstrip().rstrip(";")
            statement = replace(statement, text=sql, end=len(sql))
            yield _Read(statement, model, run.body(statement.cursor()))
        except LeftOut as why:
            run.leave_out(statement, f"model {name}", why)


def _view(run: ImportRun, read: _Read, comment: str) -> None:
    try:
        view = run.view(read.statement, read.name, read.body)
    except LeftOut as why:
        run.leave_out(read.statement, f"model {read.name}", why)
        return
    view.comment = comment
    how = str(read.model.config.get("materialized", "view")).lower()
    if how not in MATERIALIZED:
        view.remark(f'materialized as "{how}" is not known here: it is a streaming view')
    elif MATERIALIZED[how] or read.model.incremental:
        view.remark(MATERIALIZED[how] or MATERIALIZED["incremental"])
    for key in read.model.config:
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
