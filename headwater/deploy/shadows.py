"""A project beside itself: next to each view that changes, its next version under another name.

In: a project and the views that are built anew. Out: a project in which each of them is twice: as
the lake has it, and as ``<view>__next``, which reads the next versions of the others.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace

from sqlglot import exp

from headwater.analyze.definitions import NEXT
from headwater.project import Project, read_project


def with_shadows(
    project: Project, names: Collection[str], applied: Mapping[str, exp.Expression]
) -> Project:
    """Read a project with the next versions of some views beside them.

    Args:
        project: as its files have it.
        names: the views.
        applied: the definitions that the lake has, where it has others than the files.
    """

    def both(statement: exp.Expression) -> Sequence[exp.Expression]:
        own = applied.get(statement.name, statement)
        return [own, _shadow(statement, names)] if statement.name in names else [own]

    return replace(read_project(project.root, edit=both), config=project.config)


def _shadow(statement: exp.Expression, names: Collection[str]) -> exp.Expression:
    found = statement.copy()
    _rename(found.this)
    late = found.args.get("late")
    if late is not None and late.args.get("into") is not None:
        _rename(late.args["into"])
    for table in found.expression.find_all(exp.Table):
        if table.name in names and isinstance(table.this, exp.Identifier):
            if not table.alias:
                table.set("alias", exp.TableAlias(this=exp.to_identifier(table.name)))
            _rename(table.this)
    return found


def _rename(node: exp.Expression) -> None:
    name = node if isinstance(node, exp.Identifier) else node.this
    name.set("this", f"{name.name}{NEXT}")
    node.meta[NEXT] = name.meta[NEXT] = True
