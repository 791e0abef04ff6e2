"""Which conditions the code of a package can raise, read from its syntax trees.

A condition is a literal that reaches a parameter or field named ``condition``: of an error's class,
of a function that makes one, of a record that one is made from. A place that could raise what
nobody can see is an error here, so that the answer is complete.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from types import MappingProxyType

_NAME = re.compile(r"[A-Z][A-Z0-9_]{3,}")
_FORWARDED = "condition"


@dataclass(frozen=True)
class Module:
    """One file, with the constants that it defines and what takes a condition in it."""

    path: Path
    calls: list[ast.Call]
    classes: list[ast.ClassDef]
    constants: Mapping[str, ast.expr]
    takers: Mapping[str, tuple[int, ast.expr | None]]


@cache
def raised(package: Path) -> Mapping[str, list[str]]:
    """Return the places of each condition; the key ``""`` has those that cannot be read."""
    modules = [_module(path) for path in sorted(package.rglob("*.py"))]
    shared: dict[str, tuple[int, ast.expr | None]] = {}
    errors = {"HeadwaterError"}
    for module in modules:
        shared |= module.takers
    while more := {name for each in modules for name in _subclasses(each, errors)} - errors:
        errors |= more
    shared |= dict.fromkeys(errors - shared.keys(), (0, None))
    found: dict[str, list[str]] = {}
    for module in modules:
        takers = {**shared, **module.takers}
        for node, value in _conditions(module, takers):
            for condition in _names(value, module, node):
                place = f"{module.path.relative_to(package.parent)}:{node.lineno}"
                found.setdefault(condition, []).append(place)
    return MappingProxyType(found)


def _module(path: Path) -> Module:
    tree = ast.parse(path.read_text(encoding="utf-8"))
    calls: list[ast.Call] = []
    classes: list[ast.ClassDef] = []
    constants: dict[str, ast.expr] = {}
    takers: dict[str, tuple[int, ast.expr | None]] = {}
    for node in _with_what_is_above(tree):
        if isinstance(node, ast.Call):
            calls.append(node)
        elif isinstance(node, ast.Assign) and isinstance(target := node.targets[0], ast.Name):
            if target.id.isupper() or target.id == _FORWARDED:
                constants.setdefault(target.id, node.value)
        elif isinstance(node, ast.FunctionDef):
            names = [each.arg for each in node.args.args if each.arg != "self"]
            alone = [each.arg for each in node.args.kwonlyargs]
            texts = {each.arg: each.annotation for each in (*node.args.args, *node.args.kwonlyargs)}
            if _FORWARDED in texts and ast.unparse(texts[_FORWARDED] or ast.Constant("")) == "str":
                at = names.index(_FORWARDED) if _FORWARDED in names else 99
                defaults = dict(zip(alone, node.args.kw_defaults, strict=True))
                takers[_owner(node)] = (at, defaults.get(_FORWARDED))
        elif isinstance(node, ast.ClassDef):
            classes.append(node)
            fields = [
                each for each in node.body
                if isinstance(each, ast.AnnAssign) and isinstance(each.target, ast.Name)
            ]  # fmt: skip
            listed = [each.target.id for each in fields if isinstance(each.target, ast.Name)]
            if _FORWARDED in listed:
                takers[node.name] = (listed.index(_FORWARDED), None)
    return Module(path, calls, classes, constants, takers)


def _with_what_is_above(tree: ast.Module) -> Iterator[ast.AST]:
    """Yield every node, level by level; each knows its parent as ``above``."""
    level: list[ast.AST] = [tree]
    while level:
        below: list[ast.AST] = []
        for node in level:
            yield node
            for child in ast.iter_child_nodes(node):
                child.above = node  # type: ignore[attr-defined]
                below.append(child)
        level = below


def _owner(node: ast.FunctionDef) -> str:
    above = node.above  # type: ignore[attr-defined]
    return above.name if node.name == "__init__" and isinstance(above, ast.ClassDef) else node.name


def _subclasses(module: Module, of: set[str]) -> Iterator[str]:
    for node in module.classes:
        if any(isinstance(base, ast.Name) and base.id in of for base in node.bases):
            yield node.name


def _conditions(
    module: Module, takers: Mapping[str, tuple[int, ast.expr | None]]
) -> Iterator[tuple[ast.Call, ast.expr]]:
    for node in module.calls:
        called = node.func
        name = called.attr if isinstance(called, ast.Attribute) else getattr(called, "id", "")
        # a set's add() takes one argument, a report's add() a condition, a message and more
        if name not in takers or len(node.args) + len(node.keywords) < 2:
            continue
        at, default = takers[name]
        named = {each.arg: each.value for each in node.keywords}
        if _FORWARDED in named:
            yield node, named[_FORWARDED]
        elif at < len(node.args):
            yield node, node.args[at]
        elif default is not None:
            yield node, default


def _names(value: ast.expr, module: Module, call: ast.Call) -> Iterator[str]:
    """Yield the conditions that an expression can be; nothing for one that is handed on."""
    match value:
        case ast.Constant(value=str(text)):
            if _NAME.fullmatch(text):
                yield text
        case ast.IfExp():
            yield from _names(value.body, module, call)
            yield from _names(value.orelse, module, call)
        case ast.Attribute(attr="condition"):
            pass
        case ast.Name(id="condition") if _is_parameter(call):
            pass
        case ast.Name(id=name) if name in module.constants:
            yield from _names(module.constants[name], module, call)
        case ast.Subscript(value=ast.Name(id=name)) if name in module.constants:
            for inner in ast.walk(module.constants[name]):
                if isinstance(inner, ast.Constant) and _NAME.fullmatch(str(inner.value)):
                    yield str(inner.value)
        case ast.JoinedStr() | ast.BinOp():
            yield ""


def _is_parameter(node: ast.AST) -> bool:
    """Whether the function around has its condition from its caller."""
    while not isinstance(node, ast.FunctionDef | ast.Module):
        node = node.above  # type: ignore[attr-defined]
    given = node.args if isinstance(node, ast.FunctionDef) else None
    return given is not None and any(
        each.arg == _FORWARDED for each in (*given.args, *given.kwonlyargs)
    )
