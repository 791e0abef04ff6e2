"""Files of another system → a checked project in a folder.

In: paths and the name of the system. Out: the files of the project, and the report. What ``check``
says of the result is part of the report.
"""

from __future__ import annotations

import json
import re
import shutil
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from sqlglot import exp

from headwater.analyze.definitions import Catalog
from headwater.analyze.inference.casts import ROUNDS
from headwater.analyze.typing.common_type import type_of
from headwater.errors import ConfigError, HeadwaterError, Span, SqlError
from headwater.importing.contract import (
    Draft,
    ImportResult,
    LeftOut,
    Note,
    ReportLine,
    TableDraft,
    ViewDraft,
)
from headwater.importing.render import render, view_sql
from headwater.importing.repairs import REPAIRS, ViewRepair
from headwater.importing.run import Gap, ImportRun, System
from headwater.importing.statements import Statement, plain_name, split_text
from headwater.importing.systems import SYSTEMS
from headwater.plan.planner import plan_sound
from headwater.project import read_project

_SURPRISES = (
    *(ValueError, IndexError, KeyError, AttributeError, AssertionError),
    *(TypeError, RecursionError),
)
"""What a malformed statement brings about that no rule has a word for."""
_CREATED = re.compile(
    r"(?:CREATE|INSERT|EXECUTE INSERT) (?:OR REPLACE |TEMPORARY |TEMP |SYSTEM )*"
    r"(MATERIALIZED VIEW|SOURCE CONNECTOR|SINK CONNECTOR|SOURCE TABLE|SOURCE STREAM|[A-Z]+) "
    r"(?:IF NOT EXISTS )?([`\"\w.${}-]+)"
)
_MISSING = re.compile(r'table "(\w+)" does not exist')
_VARIABLE = re.compile(r"\$\{(\w+)\}")


@dataclass(frozen=True, slots=True)
class Imported:
    """What an import made.

    Attributes:
        statements: number of statements that define something.
        skipped: by first word, number of statements that define nothing.
        parts: by kind, number of parts of the project.
        findings: the report, in order of place.
        files: the files that were written.
    """

    statements: int
    skipped: Mapping[str, int]
    parts: Mapping[str, int]
    findings: Sequence[ReportLine]
    files: Sequence[Path]

    @property
    def lost(self) -> int:
        """Number of statements that were not turned, or whose result is refused."""
        lost = (ImportResult.LEFT_OUT, ImportResult.REFUSED)
        return len({(each.place, each.what) for each in self.findings if each.result in lost})


def import_files(
    paths: Sequence[Path], system: System, directory: Path, variables: Mapping[str, str]
) -> Imported:
    """Turn files into a project.

    Args:
        paths: the files; they exist.
        system: what they are written for.
        directory: folder of the project, new or empty.
        variables: values of ``${NAME}`` in the files.

    Raises:
        SqlError: INVALID_TEXT, a file is no text.
        ConfigError: NOTHING_TO_IMPORT, OTHER_SYSTEM.
    """
    run = ImportRun(system, variables)
    _right_system(paths, system)
    if system.collect:
        system.collect(run, paths)
    files = () if system.collect else _sql_files(paths)
    for path in files:
        text = _text(path, variables, system.defines)
        for statement in split_text(str(path), text, system.grammar.dialect):
            read_statement(run, statement)
    if system.finish:
        system.finish(run)
    run.parts = [
        each
        for each in run.parts
        if not isinstance(each, TableDraft) or each.name not in run.targets
    ]
    if not run.known or not run.statements or not run.parts:
        names = ", ".join(str(path) for path in paths)
        message = f"there is no statement of {system.title} in {names}"
        hint = "name files that define tables and views"
        raise ConfigError("NOTHING_TO_IMPORT", message, hint=hint)
    _printable(run)
    return _write(run, directory)


def _sql_files(paths: Sequence[Path]) -> list[Path]:
    """Return the files, and those that end in .sql of each folder."""
    found = [sorted(each.rglob("*.sql")) if each.is_dir() else [each] for each in paths]
    return [path for group in found for path in group if path.is_file()]


def _text(path: Path, variables: Mapping[str, str], defines: str = "") -> str:
    data = path.read_bytes()
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        place = Span(str(path), data.count(b"\n", 0, error.start) + 1, 1)
        message = f"the file is not UTF-8: byte {error.start}"
        raise SqlError("INVALID_TEXT", message, hint="name a text file", span=place) from None
    if "\0" in text:
        place = Span(str(path), text.count("\n", 0, text.index("\0")) + 1, 1)
        hint = "name a text file"
        raise SqlError("INVALID_TEXT", "the file contains a NUL character", hint=hint, span=place)
    if defines:
        variables = {**dict(re.findall(defines, text, re.IGNORECASE | re.MULTILINE)), **variables}
    return _VARIABLE.sub(lambda each: variables.get(each[1], each[0]), text.replace("\r\n", "\n"))


def _right_system(paths: Sequence[Path], system: System) -> None:
    """Refuse files that show signs of another system only."""
    found = [each for each in _sql_files(paths) if each.suffix not in (".yml", ".yaml", ".csv")]
    text = "\n".join(_text(path, {}) for path in found)

    def shown(other: System) -> bool:
        return any(re.search(sign, text, re.IGNORECASE | re.DOTALL) for sign in other.signs)

    others = [each for each in SYSTEMS.values() if each is not system and shown(each)]
    if others and not shown(system):
        names, other = ", ".join(str(path) for path in paths), others[0]
        message = f"{names} is written for {other.title}, not for {system.title}"
        raise ConfigError("OTHER_SYSTEM", message, hint=f"write --from {other.name}")


def read_statement(run: ImportRun, statement: Statement) -> None:
    """Turn one statement, or report why it cannot be turned."""
    head = statement.head
    phrases = (phrase for phrase in run.system.statements if _begins(head, phrase))
    phrase = max(phrases, key=len, default="")
    if not phrase:
        run.statements += 1
        reason = f"{run.system.title} has no such statement, or it is not known here"
        run.leave_out(statement, _what(head), LeftOut(reason, "write it by hand"))
        return
    run.known += 1
    before, skipped = list(run.parts), run.skipped.total()
    run.statements += 1
    try:
        run.system.statements[phrase](run, statement)
        run.statements -= run.skipped.total() - skipped
    except LeftOut as why:
        run.parts = before
        run.leave_out(statement, _what(head), why)
    except _SURPRISES:
        run.parts = before
        malformed = LeftOut("the statement cannot be read", "correct it, or write it by hand")
        run.leave_out(statement, _what(head), malformed)


def _begins(head: str, phrase: str) -> bool:
    return head == phrase or head.startswith((f"{phrase} ", f"{phrase}(", f"{phrase};"))


def _what(head: str) -> str:
    """Return the kind and the name that a statement begins with, for the report."""
    found = _CREATED.match(head)
    return f"{found[1].lower()} {found[2].lower()}" if found else head[:40].lower()


def _printable(run: ImportRun) -> None:
    """Leave out the views whose query has no words here."""
    for at, part in enumerate(run.parts):
        if isinstance(part, ViewDraft):
            try:
                view_sql(part)
            except LeftOut as why:
                finding = ReportLine(
                    part.place, part.what, ImportResult.LEFT_OUT, why.reason, why.remedy
                )
                run.findings.append(finding)
                gap = Gap(part.what, part.place, part.leading, reason=why.reason, remedy=why.remedy)
                run.parts[at] = gap


def _write(run: ImportRun, directory: Path) -> Imported:
    directory.mkdir(parents=True, exist_ok=True)
    settings = directory / "headwater.toml"
    name = plain_name(directory.resolve().name)
    settings.write_text(f'name = "{name}"\n', encoding="utf-8")
    faults = _settle(run, directory)
    _write_data(run, directory)
    faults = [(part, _told(run, errors)) for part, errors in faults]
    findings = [*run.findings]
    for part in run.parts:
        findings += [
            ReportLine(part.place, part.what, note.result, note.reason, note.remedy)
            for note in part.notes
        ]
    findings += [
        ReportLine(
            part.place, part.what, ImportResult.REFUSED, f"{e.condition}: {e.message}", e.hint
        )
        for part, errors in faults
        for e in errors
    ]
    kinds = Counter(part.kind for part in run.parts if not isinstance(part, Gap))
    files = sorted(path for path in directory.rglob("*") if path.is_file())
    return Imported(run.statements, Counter(run.skipped), kinds, _in_order(findings), files)


def _write_data(run: ImportRun, directory: Path) -> None:
    """Write the rows that were literals, and copy the files that tables read."""
    for name, rows in run.rows.items():
        path = directory / "data" / name / "imported.json"
        path.parent.mkdir(parents=True, exist_ok=True)
        lines = (json.dumps(row, ensure_ascii=False) for row in rows)
        path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    for relative, source in run.copies.items():
        path = directory / relative
        path.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(source, path)


def _told(run: ImportRun, errors: list[HeadwaterError]) -> list[HeadwaterError]:
    """Say of a view that reads what was left out only that."""
    lost = {plain_name(each.name.split(" ")[-1]) for each in run.parts if isinstance(each, Gap)}
    for error in errors:
        found = _MISSING.match(error.message)
        if error.condition == "UNKNOWN_TABLE" and found and found[1] in lost:
            hint = f"import {found[1]} first"
            return [SqlError("UNKNOWN_TABLE", f'"{found[1]}" was left out', hint=hint)]
    return errors


def _in_order(findings: Sequence[ReportLine]) -> list[ReportLine]:
    def key(finding: ReportLine) -> tuple[str, int]:
        file, _, line = finding.place.rpartition(":")
        return file, int(line) if line.isdigit() else 0

    return sorted(dict.fromkeys(findings), key=key)


def _settle(run: ImportRun, directory: Path) -> list[tuple[Draft, list[HeadwaterError]]]:
    """Write the project, and mend what ``check`` refuses as far as the table of repairs goes."""
    tried: set[tuple[str, str]] = set()
    faults = _check(run, directory)
    while True:
        changed: list[tuple[ViewDraft, ViewDraft, ViewRepair]] = []
        for part, errors in faults:
            if not isinstance(part, ViewDraft):
                continue
            for repair in REPAIRS:
                if (part.name, repair.name) not in tried and repair.fits(part, errors):
                    tried.add((part.name, repair.name))
                    changed.append((part, replace(part, notes=list(part.notes)), repair))
                    repair.change(part)
                    part.remark(repair.note.format(run.system.title))
                    break
        if not changed:
            return faults
        faults = _check(run, directory)
        left = {part.name: errors for part, errors in faults}
        for part, before, repair in changed:
            if repair.fits_again(left.get(part.name, [])):
                part.query, part.final, part.notes = before.query, before.final, before.notes
        faults = _check(run, directory)


def _check(run: ImportRun, directory: Path) -> list[tuple[Draft, list[HeadwaterError]]]:
    """Write the files and return what ``check`` says of each part; casts that round are noted."""
    rendered = render(run.parts, run.system.title)
    for file, (text, _) in rendered.items():
        (directory / file).write_text(text, encoding="utf-8")
    project = read_project(directory)
    _, faults = plan_sound(project.catalog)
    found: dict[str, tuple[Draft, list[HeadwaterError]]] = {}
    by_name = {part.name: part for part in run.parts if not isinstance(part, Gap)}
    faults |= {n: each.error for n, each in project.broken.items() if each.error}
    faults |= _quotients(project.catalog)
    _remark_rounding(run, project.catalog)
    named = {id(error) for error in faults.values()}
    for name, error in faults.items():
        if name in by_name:
            found[name] = (by_name[name], [error])
    for error in project.errors:
        if id(error) not in named:
            lines = rendered[Path(error.span.file).name][1] if error.span else {}
            part = _part_at(lines, error.span) if error.span else None
            part = part or Draft("project", str(directory))
            found.setdefault(part.name, (part, []))[1].append(error)
    return list(found.values())


def _remark_rounding(run: ImportRun, catalog: Catalog) -> None:
    """Say of views with casts to integers how they round."""
    note = f"casts to integers round half away from zero here, perhaps not in {run.system.title}"
    for part in run.parts:
        view = catalog.views.get(part.name) if isinstance(part, ViewDraft) else None
        if view and any(node.meta.get(ROUNDS) for node in view.query.find_all(exp.Cast)):
            part.remark(note)


def _quotients(catalog: Catalog) -> dict[str, HeadwaterError]:
    """By view, that it divides decimals: it is accepted, but has other digits elsewhere."""
    error = SqlError("UNSUPPORTED_SYNTAX", "the quotient of decimals has other digits elsewhere")
    return {
        name: error
        for name, view in catalog.views.items()
        if any(type_of(node).this is exp.DType.DECIMAL for node in view.query.find_all(exp.Div))
    }


def _part_at(lines: Mapping[int, Draft], span: Span) -> Draft | None:
    line = max((each for each in lines if each <= span.line), default=None)
    return None if line is None else lines[line]


__all__ = ["Imported", "Note", "import_files", "read_statement"]
