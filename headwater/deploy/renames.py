"""Which views of a project have another name than their tables in the lake.

In: a project, the names of the tables. Out: :class:`Renames`: the tables that get another name, and
the names by which markers and definitions of the lake know them. A view says it by a comment right
before its definition, ``-- renamed from: old_name``; or one of the files has the definition that a
view had whose file is gone. A table notes the names that it had, so a comment may stay.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, replace

from sqlglot import exp

from headwater.dialect import parse_all, to_sql
from headwater.dialect.syntax import CreateStreamingView
from headwater.errors import ConfigError, HeadwaterError, TerminalError
from headwater.lake.protocol.marker import Marker
from headwater.lake.reserved_names import quarantine_of
from headwater.plan.rules.contract import InputKind
from headwater.plan.view_plan import ViewPlan
from headwater.project import Project
from headwater.serve.stored_table import StoredTable

Stored = Callable[[str], StoredTable | None]


@dataclass(frozen=True, slots=True)
class Renames:
    """The views that have another name now.

    Attributes:
        pending: by view, the name that its table still has.
        former: by a name that no table has any more, or soon, the view that had it.
    """

    pending: Mapping[str, str]
    former: Mapping[str, str]

    def of(self, statement: CreateStreamingView) -> CreateStreamingView:
        """Return a stored definition in the names of now."""
        if not self.former:
            return statement
        found = statement.copy()
        if found.name in self.former:
            found.set("this", exp.to_identifier(self.former[found.name]))
        given = {each.name for each in found.find_all(exp.TableAlias)}
        for table in list(found.expression.find_all(exp.Table)):
            if isinstance(table.this, exp.Identifier) and table.name in self.former:
                if any(each.alias == table.name for each in found.find_all(exp.CTE)):
                    continue
                if not table.alias and table.name in given:
                    table.set("alias", exp.TableAlias(this=exp.to_identifier(table.name)))
                table.set("this", exp.to_identifier(self.former[table.name]))
        for column in found.expression.find_all(exp.Column):
            if column.table in self.former and column.table not in given:
                column.set("table", exp.to_identifier(self.former[column.table]))
        return found

    def in_names_of_now(self, marker: Marker) -> Marker:
        """Return a marker with its cut in the names of now."""
        return replace(marker, cut_to=self.cut(marker.cut_to)) if self.former else marker

    def cut(self, cut: Mapping[str, str]) -> dict[str, str]:
        """Return a cut in the names of now."""
        return {self.former.get(name, name): position for name, position in cut.items()}


def find_renames(
    project: Project, plans: Mapping[str, ViewPlan], names: Collection[str], stored: Stored
) -> Renames:
    """Find the views that have another name now.

    Args:
        project: as its files have it.
        plans: of all its views.
        names: of all tables of the lake.
        stored: returns the table of a name.

    Raises:
        ConfigError: ``RENAME_COLLIDES``.
        TerminalError: ``NOT_YET`` for what cannot have another name.
    """
    defined = {*project.catalog.sources, *plans, *project.definitions}
    pending = {
        name: old
        for name, plan in plans.items()
        if (old := plan.view.renamed_from) and _is_due(name, old, defined, names, stored)
    }
    olds = list(pending.values())
    for name, old in pending.items():
        if olds.count(old) > 1:
            raise _collides(name, old, f'another view is renamed from "{old}", too')
    former = {
        was: name
        for name in plans
        if name in names and (table := stored(name))
        for was in table.formerly
        if was not in names and was not in defined
    }
    gone = [n for n in names if n not in defined and "__" not in n and n not in olds]
    if gone and any(name not in names and name not in pending for name in plans):
        pending |= _alike(plans, {*names, *pending}, gone, former, stored)
    former |= {old: name for name, old in pending.items()}
    for name, old in pending.items():
        _check(plans, name, old, names, stored)
    return Renames(pending, former)


def _is_due(
    name: str, old: str, defined: Collection[str], names: Collection[str], stored: Stored
) -> bool:
    """Whether a view that says what it was has to be renamed."""
    table = stored(name) if name in names else None
    if table is not None and old in table.formerly:
        return False
    if old in defined and old in names:
        raise _collides(name, old, f'the files still define "{old}"')
    if old not in names:
        return False
    if table is not None:
        raise _collides(name, old, f'there is a table "{name}" already')
    return True


def _alike(
    plans: Mapping[str, ViewPlan],
    taken: Collection[str],
    gone: Collection[str],
    former: Mapping[str, str],
    stored: Stored,
) -> dict[str, str]:
    """New views with the definition of one whose file is gone, if there is no doubt which."""
    found: dict[str, str] = {}
    for name, plan in plans.items():
        if name in taken or plan.view.changes or plan.view.is_delta:
            continue
        renames = Renames({}, {**former, **{old: new for new, old in found.items()}})
        same = [each for each in gone if _is_same(stored(each), plan, renames)]
        twins = [each for each in plans.values() if each.fingerprint == plan.fingerprint]
        if len(same) == 1 and len(twins) == 1:
            found[name] = same[0]
    return found


def _is_same(table: StoredTable | None, plan: ViewPlan, renames: Renames) -> bool:
    if table is None or not table.definition:
        return False
    marker = table.marker()
    if marker is None or table.is_delta:
        return False
    if marker.fingerprint in (plan.fingerprint, plan.former):
        return True
    statements, errors = parse_all(table.definition)
    if errors or not isinstance(statements[0], CreateStreamingView):
        return False
    had = renames.of(statements[0])
    had.set("this", exp.to_identifier(plan.view.name))
    return to_sql(had) == plan.view.definition


def _check(
    plans: Mapping[str, ViewPlan],
    name: str,
    old: str,
    names: Collection[str],
    stored: Stored,
) -> None:
    """Refuse what would lose something."""
    table = stored(old)
    if table is None or not table.definition:
        raise _collides(name, old, f'"{old}" is no view')
    if quarantine_of(name) in names:
        raise _collides(name, old, f'there is a table "{quarantine_of(name)}" already')
    if any(item.kind is InputKind.SOURCE for item in plans[name].inputs):
        raise _not_yet(name, old, "it reads a SOURCE, and only its state knows how far")
    renamed = {old, name}
    for each in plans.values():
        if each.view.is_delta and (each.view.name == name or renamed & set(each.view.inputs)):
            raise _not_yet(name, old, f'"{each.view.name}" is a Delta table')


def _collides(name: str, old: str, why: str) -> HeadwaterError:
    return ConfigError(
        "RENAME_COLLIDES",
        f'view "{name}" cannot be renamed from "{old}": {why}',
        hint=f"remove the comment -- renamed from: {old}, or choose another name",
    )


def _not_yet(name: str, old: str, why: str) -> HeadwaterError:
    return TerminalError(
        "NOT_YET",
        f'view "{name}" cannot be renamed from "{old}": {why}',
        hint=f"name it {old} again; or apply it as a new view, after its old table is dropped",
    )
