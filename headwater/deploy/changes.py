"""What of a project differs from the lake: one :class:`ViewChange` per view, with the reason.

In: a project, its plans, the tables of the lake. Out: what ``headwater plan`` shows and ``headwater
apply`` does. Starts no JVM. The old definition of a view is the SQL that its table holds; it is
bound beside the tables and views of the files, so both mean what they would mean now.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import Enum
from functools import cached_property

from sqlglot import exp

from headwater.analyze.definitions import NEXT, Catalog, ChangelogMode
from headwater.analyze.time.recent import RECENT
from headwater.deploy.tables import TableChange, table_changes
from headwater.dialect import parse_all, to_sql
from headwater.dialect.syntax import CreateStreamingView
from headwater.plan.identity import CLAUSES, SELECT
from headwater.plan.planner import plan_sound
from headwater.plan.view_plan import ViewPlan
from headwater.project import Project, read_project
from headwater.serve.forecast import column_difference, in_words, read_otherwise
from headwater.serve.iceberg import StoredIcebergTable
from headwater.serve.lake_reader import LakeReader
from headwater.serve.stored_table import StoredTable


class Kind(Enum):
    """What becomes of a view."""

    NEW = "new"
    UNCHANGED = "unchanged"
    METADATA = "comments"
    ONWARD = "from now on"
    REFUSED = "refused"
    ADDITIVE = "additive"
    REBUILD = "rebuild"
    REMOVED = "removed"


INTERRUPTED = "an apply was interrupted"
BUILT = (Kind.ADDITIVE, Kind.REBUILD)
"""What is computed anew from the beginning of its inputs."""


@dataclass(frozen=True, slots=True)
class Volume:
    """Rows and bytes.

    Attributes:
        rows: how many.
        bytes: of the files that hold them.
    """

    rows: int = 0
    bytes: int = 0

    def __add__(self, other: Volume) -> Volume:
        """Return both together."""
        return Volume(self.rows + other.rows, self.bytes + other.bytes)


@dataclass(frozen=True, slots=True)
class ViewChange:
    """What becomes of one view.

    Attributes:
        name: the view.
        kind: what becomes of it.
        reason: why, in a few words.
        old: the first part of its definition that differs, as it was.
        new: the same part, as it is now.
        reads: what it has to read.
        behind: the views and sinks that read it, directly or not.
    """

    name: str
    kind: Kind
    reason: str = ""
    old: str = ""
    new: str = ""
    reads: Volume = field(default_factory=Volume)
    behind: tuple[str, ...] = ()


class ProjectChanges:
    """A project held against the lake.

    Args:
        project: as its files have it, without errors.
        plans: of all its views.

    Attributes:
        project: the project.
        plans: the plans.
    """

    def __init__(self, project: Project, plans: Mapping[str, ViewPlan]) -> None:
        self.project, self.plans = project, plans
        self._lake = LakeReader(project.config, project.catalog.external)
        self._tables: dict[str, StoredTable | None] = {}

    @cached_property
    def changes(self) -> tuple[ViewChange, ...]:
        """What becomes of every view, in topological order; at the end those that are gone."""
        sources = self.project.catalog.sources
        tables = table_changes(sources, self.plans, self.table)
        found = {each.name: self._of_table(each) for each in tables}
        for name, plan in self.plans.items():
            if not plan.view.changes:
                found[name] = self._follow(self._change(plan), plan, found)
        return (*found.values(), *self._removed())

    @property
    def due(self) -> tuple[ViewChange, ...]:
        """What is not in the lake yet."""
        return tuple(each for each in self.changes if each.kind is not Kind.UNCHANGED)

    @cached_property
    def applied(self) -> Project:
        """The project with the definitions that the lake holds, where those of files differ."""
        if not self.old:
            return self.project
        applied = read_project(self.project.root, edit=self._as_applied)
        return replace(applied, config=self.project.config)

    def table(self, name: str) -> StoredTable | None:
        """Return the table of a name, None if there is none."""
        if name not in self._tables:
            self._tables[name] = self._lake.table(name)
        return self._tables[name]

    # -- what is defined

    @cached_property
    def old(self) -> dict[str, CreateStreamingView]:
        """The stored definitions of views whose newest commit is of another one."""
        found = {}
        for name, plan in self.plans.items():
            table = self.table(name)
            marker = table.marker() if table else None
            if table and marker and not plan.is_of(marker.fingerprint) and table.definition:
                statements, errors = parse_all(table.definition, file=f"{name} in the lake")
                if not errors and isinstance(statements[0], CreateStreamingView):
                    found[name] = statements[0]
        return found

    def _as_applied(self, statement: exp.Expression) -> Sequence[exp.Expression]:
        return [self.old.get(statement.name, statement)]

    @cached_property
    def _old_plans(self) -> Mapping[str, ViewPlan]:
        return plan_sound(self.applied.catalog)[0]

    # -- what becomes of it

    def _change(self, plan: ViewPlan) -> ViewChange:
        name, table = plan.view.name, self.table(plan.view.name)
        marker = table.marker() if table else None
        if table is None or marker is None:
            return self._built(plan, Kind.NEW, "")
        shadow = self.table(name + NEXT)
        if shadow is not None and shadow.is_shadow:
            return self._built(plan, Kind.REBUILD, INTERRUPTED)
        if plan.is_of(marker.fingerprint):
            catalog = self.project.catalog
            if differs := _columns(table, plan) or read_otherwise(
                catalog, plan, marker, self.table
            ):
                return self._built(plan, Kind.REBUILD, differs)
            same = table.definition in ("", plan.view.definition)
            return ViewChange(name, Kind.UNCHANGED if same else Kind.METADATA)
        old = self._old_plans.get(name) if name in self.old else None
        if old is None:
            return self._built(plan, Kind.REBUILD, "its definition has changed")
        parts = plan.identity.differs(old.identity)
        added = plan.identity.adds(old.identity)
        if added:
            return self._built(plan, Kind.ADDITIVE, f"column {', '.join(added)} is new")
        where, before, after = _differing(old, plan, parts[0])
        change = self._built(plan, Kind.REBUILD, f"{where} differs")
        return replace(change, old=before, new=after)

    def _follow(
        self, change: ViewChange, plan: ViewPlan, found: Mapping[str, ViewChange]
    ) -> ViewChange:
        """A view that reads one that is built anew is built too, if it cannot take the difference.

        Rows of it that went would have to go from this one: it was planned for rows that only come.
        """
        if change.kind not in (Kind.UNCHANGED, Kind.METADATA):
            return change
        for item in plan.inputs:
            above = found.get(item.name)
            if above is None or above.kind not in BUILT:
                continue
            if self.plans[item.name].mode is ChangelogMode.APPEND:
                reason = f"reads {item.name}, whose rows are replaced"
                return self._built(plan, Kind.REBUILD, reason)
            if column := self._retyped(plan, item.name):
                reason = f"reads {item.name}.{column}, which changes"
                return self._built(plan, Kind.REBUILD, reason)
        return change

    def _retyped(self, plan: ViewPlan, read: str) -> str:
        """A column of a changed view that a view reads and that has another type now."""
        old = self._old_plans.get(read)
        had = {each.name: each.type for each in old.view.fields} if old else {}
        used = {column.name for column in plan.view.query.find_all(exp.Column)}
        for each in self.plans[read].view.fields:
            if (each.name in used or plan.view.reads_all) and had.get(each.name) != each.type:
                return each.name
        return ""

    def _built(self, plan: ViewPlan, kind: Kind, reason: str) -> ViewChange:
        name = plan.view.name
        reads = sum((self._size(item.name) for item in plan.inputs), Volume())
        behind = self._behind(name) if kind is not Kind.NEW else ()
        return ViewChange(name, kind, reason, reads=reads, behind=behind)

    def _of_table(self, change: TableChange) -> ViewChange:
        kind = Kind.REFUSED if change.refused else Kind.ONWARD
        behind = self._behind(change.name)
        return ViewChange(change.name, kind, change.reason, change.old, change.new, behind=behind)

    def _behind(self, name: str) -> tuple[str, ...]:
        return tuple(_behind(self.project.catalog, name))

    def _size(self, name: str) -> Volume:
        table = self.table(name)
        snapshot = table.current() if table else None
        return Volume(snapshot.total, snapshot.count("total-files-size")) if snapshot else Volume()

    def _removed(self) -> Iterator[ViewChange]:
        """Views of the lake that no file defines; a broken one is no removed one."""
        defined = {*self.project.catalog.sources, *self.plans, *self.project.definitions}
        for name in self._lake.names():
            table = None if name in defined or "__" in name else self.table(name)
            if table is not None and table.definition:
                behind = self._behind(name)
                yield ViewChange(name, Kind.REMOVED, "no file defines it", behind=behind)


def _columns(table: StoredTable, plan: ViewPlan) -> str:
    """How the columns of a table differ from those of its view: something that it reads changed."""
    if not isinstance(table, StoredIcebergTable):
        return ""
    differs = column_difference(table, None, plan.view.fields)
    return in_words(differs) if differs else ""


def _behind(catalog: Catalog, name: str) -> Iterator[str]:
    """The views and sinks that read a view, directly or not."""
    reached = {name}
    for view in catalog.views.values():
        if reached & set(view.inputs):
            reached.add(view.name)
            yield view.name
    yield from (sink.name for sink in catalog.sinks.values() if sink.view in reached)


def _differing(old: ViewPlan, new: ViewPlan, word: str) -> tuple[str, str, str]:
    """The first difference in a part of the definition: where it is, and both texts."""
    if word != SELECT:
        return word, _clause(old, word), _clause(new, word)
    names = dict.fromkeys([*new.identity.columns, *old.identity.columns])
    for name in names:
        if old.identity.columns.get(name) != new.identity.columns.get(name):
            return f"column {name}", _column(old, name), _column(new, name)
    return "order of columns", ", ".join(old.identity.columns), ", ".join(new.identity.columns)


def _column(plan: ViewPlan, name: str) -> str:
    found = (item for item in plan.view.query.selects if item.alias_or_name == name)
    return next((to_sql(item.unalias(), pretty=False) for item in found), "")


def _clause(plan: ViewPlan, word: str) -> str:
    """A clause as SQL; of what has no clause, what the identity says."""
    query = plan.view.query
    keys = [key for key, said in CLAUSES.items() if said == word]
    if isinstance(query, exp.Select) and keys:
        joins = query.args.get("joins") if keys[0] == "from_" else []
        nodes = [query.args.get(keys[0]), *(joins or [])]
        recent = [table.meta[RECENT] for table in query.find_all(exp.Table) if RECENT in table.meta]
        said = [f"({age.clause})" for age in recent if keys[0] == "from_"]
        return " ".join([*(to_sql(node, pretty=False) for node in nodes if node), *said])
    return plan.identity.parts.get(word, "")
