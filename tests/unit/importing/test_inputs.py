"""Files of each system → the project and the report, compared with golden files."""

from __future__ import annotations

from collections.abc import Mapping
from importlib import import_module
from pathlib import Path
from random import Random

import pytest

from headwater.importing import SYSTEMS, Imported, import_files
from headwater.importing.contract import RefusedCall
from headwater.importing.convert import read_statement
from headwater.importing.dbt.mapping import ADAPTERS
from headwater.importing.run import ImportRun
from headwater.importing.statements import split_text
from tests.support.golden_files import GOLDEN, check_golden

FOLDER = GOLDEN / "importing"
INPUTS = FOLDER / "inputs"
CASES = {
    f"{system}/{path.stem}": path
    for system in SYSTEMS
    for path in sorted((INPUTS / system).iterdir())
}
VARIABLES = {"EVENTS": "datagen"}
SECRET = "do-not-copy-me"


def imported(case: str, target: Path) -> Imported:
    system, _, _ = case.partition("/")
    path = CASES[case].relative_to(INPUTS)
    compiled = path / "target" / "compiled"
    paths = [path, compiled] if compiled.exists() else [path]
    return import_files(paths, SYSTEMS[system], target, VARIABLES)


@pytest.fixture(autouse=True)
def _here(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(INPUTS)


def transcript(found: Imported, target: Path) -> str:
    lines = [
        f"turned {found.statements - found.lost} of {found.statements},"
        f" passed over {sum(found.skipped.values())}",
        "",
        *(
            f"{each.place}  {each.what}\n  {each.result}: {each.reason}"
            + (f"\n  remedy: {each.remedy}" if each.remedy else "")
            for each in found.findings
        ),
    ]
    for path in found.files:
        lines += ["", f"--- {path.relative_to(target)}", path.read_text(encoding="utf-8").rstrip()]
    return "\n".join(lines) + "\n"


@pytest.mark.parametrize("case", CASES)
def test_a_file_becomes_a_project_and_a_report(case: str, tmp_path: Path) -> None:
    found = imported(case, tmp_path / "project")
    text = transcript(found, tmp_path / "project")
    assert SECRET not in text
    check_golden(FOLDER / f"{case}.txt", text)


def keys_of(system: str) -> dict[str, list[str]]:
    """Return by table of a system the words that it maps."""
    names = [f"headwater.importing.{system}.mapping"]
    names += ["headwater.importing.postgres"] if system == "risingwave" else []
    found = {"statements": list(SYSTEMS[system].statements)}
    for name in names:
        for table, value in vars(import_module(name)).items():
            if (
                table != "ADAPTERS"
                and table.isupper()
                and table[0] != "_"
                and isinstance(value, Mapping)
            ):
                found[f"{name}.{table}"] = [str(key).removesuffix("*") for key in value]
    return found


@pytest.mark.parametrize("system", SYSTEMS)
def test_every_line_of_every_table_is_in_an_input(system: str) -> None:
    files = [path for path in (INPUTS / system).rglob("*") if path.is_file()]
    text = " ".join(path.read_text(encoding="utf-8") for path in files).lower()
    words = " ".join(text.split()).replace(" encode ", " ")
    missing = {
        table: lacking
        for table, keys in keys_of(system).items()
        if (lacking := [key for key in keys if not _is_in(key.lower(), words)])
    }
    assert missing == {}


def _is_in(key: str, words: str) -> bool:
    """Whether a key is in a text; Materialize's names of several words have blanks there."""
    return key in words or key.replace("_", " ") in words


def test_the_dialect_of_every_adapter_is_one_that_is_read(tmp_path: Path) -> None:
    for number, name in enumerate(ADAPTERS):
        model = tmp_path / f"m{number}.sql"
        model.write_text("select 1 as one")
        found = import_files([model], SYSTEMS["dbt"], tmp_path / name, {"dialect": name})
        assert found.parts == {"view": 1}


@pytest.mark.parametrize("system", ["flink", "risingwave", "ksqldb", "materialize"])
def test_every_function_that_is_turned_is_one_of_the_language(system: str, tmp_path: Path) -> None:
    found = imported(f"{system}/functions", tmp_path / "project")
    unknown = [each for each in found.findings if "UNKNOWN_FUNCTION" in each.reason]
    assert unknown == []


@pytest.mark.parametrize("system", ["flink", "risingwave", "ksqldb", "materialize"])
def test_a_function_without_an_equal_says_what_to_write(system: str) -> None:
    functions = import_module(f"headwater.importing.{system}.mapping").FUNCTIONS
    refused = [each for each in functions.values() if isinstance(each, RefusedCall)]
    assert refused
    assert [each.reason for each in refused if not each.remedy] == []


@pytest.mark.parametrize("system", ["flink", "risingwave", "ksqldb", "materialize"])
def test_a_statement_that_is_cut_off_is_left_out_and_no_surprise(system: str) -> None:
    random = Random(7)
    for path in sorted((INPUTS / system).glob("*.sql")):
        text = path.read_text(encoding="utf-8")
        for statement in split_text("x", text, SYSTEMS[system].grammar.dialect):
            whole = text[statement.start : statement.end]
            run = ImportRun(SYSTEMS[system])
            for _ in range(3):
                start, end = sorted(random.sample(range(len(whole) + 1), 2))
                for damaged in (whole[:end], whole[:start] + whole[end:]):
                    for each in split_text("x", damaged, SYSTEMS[system].grammar.dialect):
                        read_statement(run, each)
            assert not [
                each for each in run.findings if each.reason.startswith("the statement cannot")
            ]
