"""The layers: who may import whom, what starts no JVM, how large rooms and files may grow."""

from __future__ import annotations

import ast
import subprocess
import sys
from graphlib import TopologicalSorter
from pathlib import Path

import pytest

from tests.support.imports import imported_by, imports, module_file

ROOT = Path(__file__).parents[2]
PACKAGE = ROOT / "headwater"

# A layer imports itself and what stands in its row, nothing else of the package.
BASE = {"errors", "config", "project", "redact"}
COMPILER = {*BASE, "dialect", "algebra", "patterns", "analyze", "plan"}
READERS = {*COMPILER, "lake", "checkpoints"}
ENGINES = {"lake", "checkpoints", "formats", "connectors", "intake", "engine"}
MAY_IMPORT: dict[str, set[str]] = {
    "redact": set(),
    "errors": {"redact"},
    "config": {"errors", "redact"},
    "machine": {"errors"},
    "jars": {"errors", "machine"},
    "dialect": {"errors"},
    "algebra": {"errors", "dialect"},
    "analyze": {"errors", "dialect", "algebra", "patterns", "redact", "config"},
    "patterns": {"errors", "dialect"},
    "project": {"errors", "config", "dialect", "algebra", "patterns", "analyze"},
    "plan": {*BASE, "dialect", "algebra", "patterns", "analyze"},
    "importing": COMPILER,
    "lake": COMPILER,
    "checkpoints": {*COMPILER, "lake"},
    "formats": {*COMPILER, "lake"},
    "connectors": {*READERS, "formats", "__init__"},
    "intake": {*READERS, "formats", "connectors"},
    "engine": {*READERS, "formats", "connectors", "intake"},
    "serve": {*READERS, "machine"},
    "runtime": {*COMPILER, *ENGINES, "jars", "machine"},
    "profile": {*COMPILER, *ENGINES, "jars", "machine", "runtime"},
    "console": {*READERS, "machine", "serve", "__init__"},
    "servers": {*READERS, "jars", "machine", "serve"},
    "testing": {*COMPILER, *ENGINES, "jars", "machine", "runtime", "serve"},
    "deploy": {*COMPILER, *ENGINES, "jars", "machine", "runtime", "serve"},
    "cli": {
        *COMPILER,
        *ENGINES,
        "console",
        "deploy",
        "importing",
        "jars",
        "machine",
        "profile",
        "runtime",
        "serve",
        "servers",
        "testing",
    },
    "__main__": {"cli"},
    "__init__": set(),
}

AFTER_BINDING = ("algebra", "patterns", "plan", "engine", "serve", "deploy", "console", "runtime")
STILL_MARKED = {
    "algebra/scalars.py",
    "deploy/shadows.py",
    *(f"patterns/{name}.py" for name in ("clause", "navigation")),
    *(f"plan/{name}.py" for name in ("at_rest", "identity", "tolerant")),
    *(f"plan/guards/{name}.py" for name in ("bad_rows", "reasons", "shared_values")),
    "plan/rules/affected_groups.py",
    *(f"plan/sql/{name}.py" for name in ("as_of", "from_algebra", "late", "native_patterns")),
    "plan/sql/render.py",
    *(f"serve/why/{name}.py" for name in ("body", "lineage", "matched", "stages", "traced")),
}
"""Modules behind the binder that still read or set marks of nodes: none may come to them, and what
no longer needs one leaves."""

NO_JVM = ("errors", "config", "project", "dialect", "algebra", "analyze", "plan", "importing")
SPARK_FOLDERS = ENGINES
SPARK_FILES = ("runtime/session.py", "testing/harness.py")
SOURCES = sorted(PACKAGE.rglob("*.py"))
JOBS = sorted([*(ROOT / "jobs").glob("*.py"), *(ROOT / "jobs" / "demos").glob("*.py")])


def layer_of(path: Path) -> str:
    first = path.relative_to(PACKAGE).parts[0]
    return first.removesuffix(".py")


def ids(path: Path) -> str:
    return str(path.relative_to(ROOT))


def test_every_layer_is_in_the_table() -> None:
    assert {layer_of(path) for path in SOURCES} <= set(MAY_IMPORT)


@pytest.mark.parametrize("path", SOURCES, ids=ids)
def test_imports_go_down(path: Path) -> None:
    layer = layer_of(path)
    above = {
        name
        for name in imports(path, lazy=True)
        if name.startswith("headwater.")
        and (target := name.split(".")[1]) not in MAY_IMPORT[layer] | {layer, "__version__"}
        and target in MAY_IMPORT
    }
    assert not above


@pytest.mark.parametrize("path", SOURCES, ids=ids)
def test_pyspark_is_imported_only_where_spark_is_spoken(path: Path) -> None:
    relative = path.relative_to(PACKAGE).as_posix()
    if relative.split("/")[0] in SPARK_FOLDERS or relative in SPARK_FILES:
        return
    assert not [name for name in imports(path, lazy=False) if name.split(".")[0] == "pyspark"]


@pytest.mark.parametrize("layer", NO_JVM)
def test_no_import_of_the_compiler_reaches_pyspark(layer: str) -> None:
    seen: set[Path] = set()
    waiting = [path for path in SOURCES if layer_of(path) == layer]
    while waiting:
        path = waiting.pop()
        if path in seen:
            continue
        seen.add(path)
        for name in imports(path, lazy=False):
            assert name.split(".")[0] not in ("pyspark", "py4j"), f"{ids(path)} imports {name}"
            if name.startswith("headwater") and (target := module_file(name)):
                waiting.append(target)


def test_the_command_line_starts_without_heavy_libraries() -> None:
    code = (
        "import sys, headwater.cli.main; "
        "print([m for m in ('pyspark', 'duckdb', 'pyarrow', 'pyiceberg', 'sqlalchemy')"
        " if m in sys.modules])"
    )
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, cwd=ROOT)
    assert (run.stdout.strip(), run.stderr) == ("[]", "")


@pytest.mark.parametrize("path", JOBS, ids=ids)
def test_a_job_is_an_entry_point_only(path: Path) -> None:
    assert len(path.read_text(encoding="utf-8").splitlines()) <= 40


@pytest.mark.parametrize("path", SOURCES, ids=ids)
def test_nothing_imports_from_the_fixed_folders(path: Path) -> None:
    fixed = {"sql", "jobs", "catalog", "docker", "dashboards", "bench", "tests"}
    assert not {name.split(".")[0] for name in imports(path, lazy=True)} & fixed


def test_no_modules_import_each_other_in_a_circle() -> None:
    graph = {path: imported_by(path) for path in SOURCES}
    TopologicalSorter(graph).prepare()  # raises CycleError and names the circle


ROOMS = sorted({path.parent.parent for path in SOURCES if path.parent != PACKAGE})


@pytest.mark.parametrize("room", ROOMS, ids=ids)
def test_no_folders_import_each_other_in_a_circle(room: Path) -> None:
    """A folder is one thing, and so is each module beside it."""
    graph: dict[str, set[str]] = {}
    for path in (path for path in SOURCES if path.is_relative_to(room)):
        own = path.relative_to(room).parts[0]
        others = {
            each.relative_to(room).parts[0]
            for each in imported_by(path)
            if each.is_relative_to(room) and each != room / "__init__.py"
        }
        graph.setdefault(own, set()).update(others - {own})
    TopologicalSorter(graph).prepare()


def test_no_more_modules_behind_the_binder_know_marks() -> None:
    """What is known of a query stands in its tree, where one can see it."""
    known = {
        path.relative_to(PACKAGE).as_posix()
        for path in SOURCES
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.Attribute) and node.attr == "meta"
    }
    assert {each for each in known if each.split("/")[0] in AFTER_BINDING} == STILL_MARKED


NAMES_OF_THE_FIELD = {"Column", "Project"}
"""Names that the algebra gives what everybody calls so, and that something else has, too."""


def test_a_public_class_name_means_one_thing() -> None:
    where: dict[str, list[str]] = {}
    for path in SOURCES:
        shared = NAMES_OF_THE_FIELD if path == PACKAGE / "algebra" / "nodes.py" else set()
        for node in ast.parse(path.read_text(encoding="utf-8")).body:
            if isinstance(node, ast.ClassDef) and node.name not in shared and node.name[0] != "_":
                where.setdefault(node.name, []).append(ids(path))
    assert {name: paths for name, paths in where.items() if len(paths) > 1} == {}


def test_no_rows_are_cached_where_a_write_plans_them_again() -> None:
    """``headwater/lake/java.py::cached`` says why."""
    found = [
        f"{path.relative_to(ROOT)}:{node.lineno}"
        for path in PACKAGE.rglob("*.py")
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute)
        if node.func.attr in ("persist", "cacheTable")
        or (node.func.attr == "cache" and not node.args)
    ]
    assert not found
