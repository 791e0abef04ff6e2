"""Who imports whom, read from the text of the repository's modules."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from functools import cache
from pathlib import Path

ROOT = Path(__file__).parents[2]


def imports(path: Path, *, lazy: bool) -> Iterator[str]:
    """Yield the full names a file imports; with lazy=False only those of its own import."""
    yield from _imports(ast.parse(path.read_text(encoding="utf-8")), lazy)


def _imports(node: ast.AST, lazy: bool) -> Iterator[str]:
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.Import):
            yield from (alias.name for alias in child.names)
        elif isinstance(child, ast.ImportFrom):
            yield from (f"{child.module}.{alias.name}" for alias in child.names)
        elif isinstance(child, ast.If) and _type_checking(child.test):
            yield from (_imports(child, lazy) if lazy else ())
        elif lazy or not isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda):
            yield from _imports(child, lazy)


def _type_checking(test: ast.expr) -> bool:
    return isinstance(test, ast.Name) and test.id == "TYPE_CHECKING"


@cache
def module_file(name: str) -> Path | None:
    """Return the file of a name such as headwater.plan.planner.plan_view, module or member."""
    parts = name.split(".")
    while parts:
        base = ROOT.joinpath(*parts)
        for candidate in (base.with_suffix(".py"), base / "__init__.py"):
            if candidate.is_file():
                return candidate
        parts.pop()
    return None


@cache
def imported_by(path: Path) -> frozenset[Path]:
    """Return the repository's files that a file imports itself, also within its functions."""
    found = {module_file(name) for name in imports(path, lazy=True)}
    return frozenset(file for file in found if file and file != path)


def reached_from(path: Path) -> set[Path]:
    """Return the repository's files that a file imports, directly or through others."""
    seen: set[Path] = set()
    waiting = [path]
    while waiting:
        new = imported_by(waiting.pop()) - seen
        seen |= new
        waiting += new
    return seen
