"""What of a project differs from the lake: one :class:`ViewChange` per view, with the reason.

In: a project, its plans, the tables of the lake. Out: what ``headwater plan`` shows and ``headwater
apply`` does. Starts no JVM. The old definition of a view is the SQL that its table holds; it is
bound beside the tables and views of the files, so both mean what they would mean now.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import Enum
from functools import cached_property

from sqlglot import exp

from headwater.algebra.nodes import Scan, nodes_of
from headwater.algebra.scalars import ties_left_out
from headwater.analyze.definitions import NEXT, ChangelogMode
from headwater.analyze.project import reads
from headwater.analyze.time.dated import as_written
from headwater.deploy.behind import Behind
from headwater.deploy.costs import Costs, Volume
from headwater.deploy.renames import Renames, find_renames
from headwater.deploy.tables import TableChange, table_changes
from headwater.dialect import parse_all, to_sql
from headwater.dialect.syntax import CreateSink, CreateStreamingView
from headwater.lake.protocol.marker import Marker
from headwater.plan.identity import CLAUSES, FORMAT, SELECT, WRITTEN
from headwater.plan.planner import plan_sound
from headwater.plan.view_plan import ViewPlan
from headwater.project import Project, read_project
from headwater.serve.doctor.unit_names import stored_otherwise
from headwater.serve.forecast import column_difference, in_words, read_otherwise
from headwater.serve.iceberg import StoredIcebergTable
from headwater.serve.lake_reader import LakeReader
from headwater.serve.stored_table import StoredTable


class Kind(Enum):
    """What becomes of a view."""

    NEW = "new"
    UNCHANGED = "unchanged"
    METADATA = "comments"
    RENAMED = "renamed"
    ONWARD = "from now on"
    REFUSED = "refused"
    ADDITIVE = "additive"
    REBUILD = "rebuild"
    REMOVED = "removed"


INTERRUPTED = "an apply was interrupted"
BUILT = (Kind.ADDITIVE, Kind.REBUILD)
"""What is computed anew from the beginning of its inputs."""


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
        seconds: how long that takes, by its own commits; None if none of them says.
        behind: the views and sinks that read it, directly or not, its charts and tests.
        breaks: which of them read a column that it no longer has, in words.
    """

    name: str
    kind: Kind
    reason: str = ""
    old: str = ""
    new: str = ""
    reads: Volume = field(default_factory=Volume)
    seconds: float | None = None
    behind: tuple[str, ...] = ()
    breaks: tuple[str, ...] = ()


class Changes(ABC):
    """A project held against something that had other definitions.

    Args:
        project: as its files have it, without errors.
        plans: of all its views.

    Attributes:
        project: the project.
        plans: the plans.
    """

    def __init__(self, project: Project, plans: Mapping[str, ViewPlan]) -> None:
        self.project, self.plans = project, plans
        self._behind = Behind(project)

    @cached_property
    def changes(self) -> tuple[ViewChange, ...]:
        """What becomes of every view, in topological order; at the end those that are gone."""
        found = {each.name: self._of_table(each) for each in self._table_changes()}
        for name, plan in self.plans.items():
            if not plan.view.changes:
                found[name] = self._follow(self._change(plan), plan, found)
        return (*found.values(), *self._removed())

    @property
    def due(self) -> tuple[ViewChange, ...]:
        """What is not in the lake yet."""
        return tuple(each for each in self.changes if each.kind is not Kind.UNCHANGED)

    @property
    @abstractmethod
    def _old_plans(self) -> Mapping[str, ViewPlan]:
        """The plans of the views as they were."""

    @abstractmethod
    def _table_changes(self) -> Iterable[TableChange]:
        """What becomes of the tables that differ."""

    @abstractmethod
    def _change(self, plan: ViewPlan) -> ViewChange:
        """What becomes of a view by its own definition."""

    @abstractmethod
    def _removed(self) -> Iterator[ViewChange]:
        """What has no definition any more."""

    def _follow(
        self, change: ViewChange, plan: ViewPlan, found: Mapping[str, ViewChange]
    ) -> ViewChange:
        """A view that reads one that is built anew is built too, if it cannot take the difference.

        Rows of it that went would have to go from this one: it was planned for rows that only come.
        """
        if change.kind not in (Kind.UNCHANGED, Kind.METADATA, Kind.RENAMED):
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
        """A view that is built; looks for what can fail in it, as building it does."""
        _ = plan.guard
        name = plan.view.name
        if kind is Kind.NEW:
            return ViewChange(name, kind, reason)
        had = self._old_plans.get(name)
        now = [each.name for each in plan.view.fields]
        gone = [each.name for each in had.view.fields if each.name not in now] if had else []
        behind, breaks = self._behind.of(name), self._behind.breaks(name, gone)
        return ViewChange(name, kind, reason, behind=behind, breaks=breaks)

    def _of_table(self, change: TableChange) -> ViewChange:
        kind, behind = Kind.REFUSED if change.refused else Kind.ONWARD, self._behind.of(change.name)
        return ViewChange(change.name, kind, change.reason, change.old, change.new, behind=behind)

    def _gone(self, name: str) -> ViewChange:
        """A view that no file defines."""
        behind, breaks = self._behind.of(name), self._behind.left_alone(name)
        return ViewChange(name, Kind.REMOVED, "no file defines it", behind=behind, breaks=breaks)

    def _differs(self, plan: ViewPlan, old: ViewPlan) -> ViewChange:
        """A view whose definition means something else now."""
        parts = plan.identity.differs(old.identity)
        if added := plan.identity.adds(old.identity):
            return self._built(plan, Kind.ADDITIVE, f"column {', '.join(added)} is new")
        renamed = plan.identity.renames(old.identity)
        said = [f"column {was} is named {name} now" for name, was in renamed.items()]
        where, before, after = _differing(old, plan, parts[0], renamed)
        if where or not said:
            said.append(f"{where or SELECT} differs")
        change = self._built(plan, Kind.REBUILD, "; ".join(said))
        return replace(change, old=before, new=after)


class ProjectChanges(Changes):
    """A project held against the lake."""

    def __init__(self, project: Project, plans: Mapping[str, ViewPlan]) -> None:
        super().__init__(project, plans)
        self._lake = LakeReader(project.config, project.catalog.external)
        self._tables: dict[str, StoredTable | None] = {}
        self._costs = Costs(self.table)
        self._stored_so: dict[str, str] = {}

    @cached_property
    def renames(self) -> Renames:
        """Which views have another name now.

        Raises:
            ConfigError: ``RENAME_COLLIDES``; ``NOT_YET`` for what cannot have another name.
        """
        return find_renames(self.project, self.plans, self._names, self._stored)

    @cached_property
    def applied(self) -> Project:
        """The project with the definitions that the lake holds, where those of files differ."""
        if not self.old:
            return self.project
        applied = read_project(self.project.root, edit=self._as_applied)
        return replace(applied, config=self.project.config)

    @property
    def renamed(self) -> bool:
        """Whether a table or a marker has a name that is gone."""
        if self.renames.pending:
            return True
        former = self.renames.former
        markers = (
            [table.marker() for table in map(self.table, self.plans) if table] if former else []
        )
        return any(
            marker and (marker.view in former or marker.cut_to.keys() & former.keys())
            for marker in markers
        )

    def means_the_same(self, name: str) -> bool:
        """Return whether the definition of a view is that of its newest commit, by other names."""
        return name not in self.old or self.old_fingerprint(name) == self.plans[name].fingerprint

    def old_fingerprint(self, name: str, *, former: bool = False) -> str:
        """Return the fingerprint of what a view was, in the names of now; empty if unknown.

        Args:
            name: the view.
            former: whether it is the fingerprint of the format before.
        """
        plan = self._old_plans.get(name)
        return "" if plan is None else plan.former if former else plan.fingerprint

    def renamed_columns(self, name: str) -> Mapping[str, str]:
        """Return the columns of a view that only have another name now: that name, the old one."""
        old = self._old_plans.get(name) if name in self.old else None
        return self.plans[name].identity.renames(old.identity) if old else {}

    def table(self, name: str) -> StoredTable | None:
        """Return the table of a view, which may still have its old name; None if there is none."""
        return self._stored(self.renames.pending.get(name, name))

    def goes_on(self, name: str) -> bool:
        """Return whether a view that serves can go on by the definition that is applied."""
        plan, table, marker = self.plans.get(name), self.table(name), self.marker(name)
        if plan is None or table is None or marker is None:
            return True
        if name in self.old:
            return not self._stored_otherwise(plan, table, marker)
        return not self._otherwise(plan, table, marker)

    @property
    def restored(self) -> tuple[str, ...]:
        """The views whose rows an earlier format stored otherwise, whatever their files say."""
        found = []
        for name, plan in self.plans.items():
            table = self.table(name)
            marker = table.marker() if table else None
            if table and marker and self._stored_otherwise(plan, table, marker):
                found.append(name)
        return tuple(found)

    def marker(self, name: str) -> Marker | None:
        """Return the newest marker of a view, its cut in the names of now; None if it has none."""
        table = self.table(name)
        marker = table.marker() if table else None
        return self.renames.in_names_of_now(marker) if marker else None

    def _stored(self, name: str) -> StoredTable | None:
        if name not in self._tables:
            self._tables[name] = self._lake.table(name)
        return self._tables[name]

    @cached_property
    def _names(self) -> tuple[str, ...]:
        return self._lake.names()

    # -- what is defined

    @cached_property
    def old(self) -> dict[str, CreateStreamingView]:
        """The stored definitions of views whose newest commit is, or may be, of another one."""
        found = {}
        for name, plan in self.plans.items():
            table = self.table(name)
            marker = table.marker() if table else None
            if table and marker and table.definition and _may_differ(plan, table, marker):
                statements, errors = parse_all(table.definition, file=f"{name} in the lake")
                if not errors and isinstance(statements[0], CreateStreamingView):
                    found[name] = self.renames.of(statements[0])
        return found

    def _as_applied(self, statement: exp.Expression) -> Sequence[exp.Expression]:
        return [self.old.get(statement.name, statement)]

    @cached_property
    def _old_plans(self) -> Mapping[str, ViewPlan]:
        if not self.old:
            return self.plans
        concerned = self._concerned()

        def edit(statement: exp.Expression) -> Sequence[exp.Expression]:
            view = isinstance(statement, CreateStreamingView)
            if isinstance(statement, CreateSink) or (view and statement.name not in concerned):
                return []
            return self._as_applied(statement)

        applied = read_project(self.project.root, edit=edit)
        return {**self.plans, **plan_sound(applied.catalog, thoroughly=False)[0]}

    def _concerned(self) -> set[str]:
        """The views that a changed one changes, and all that these read, or have read."""
        found = set(self.old)
        for name, plan in self.plans.items():
            if found & set(plan.view.inputs):
                found.add(name)
        found |= {read for statement in self.old.values() for read in reads(statement)}
        for name, plan in reversed(list(self.plans.items())):
            if name in found:
                found |= set(plan.view.inputs)
        return found

    # -- what becomes of it

    def _change(self, plan: ViewPlan) -> ViewChange:
        name, table = plan.view.name, self.table(plan.view.name)
        marker = table.marker() if table else None
        if table is None or marker is None:
            return self._built(plan, Kind.NEW, "")
        shadow = self._stored(name + NEXT) if name + NEXT in self._names else None
        if shadow is not None and shadow.is_shadow:
            return self._built(plan, Kind.REBUILD, INTERRUPTED)
        old = self._old_plans.get(name) if name in self.old else None
        if old.fingerprint == plan.fingerprint if old else plan.is_of(marker.fingerprint):
            if differs := self._otherwise(plan, table, marker):
                return self._built(plan, Kind.REBUILD, differs)
            return self._same(plan, marker, table.definition)
        change = (
            self._differs(plan, old)
            if old
            else self._built(plan, Kind.REBUILD, "its definition has changed")
        )
        if marker.view == name:
            return change
        return replace(change, reason=f"was {marker.view}; {change.reason}")

    def _otherwise(self, plan: ViewPlan, table: StoredTable, marker: Marker) -> str:
        """How a view differs by what it reads: such a one cannot go on as it is."""
        now, catalog = self.renames.in_names_of_now(marker), self.project.catalog
        differs = _columns(table, plan) or read_otherwise(catalog, plan, now, self.table)
        return differs or self._stored_otherwise(plan, table, marker)

    def _stored_otherwise(self, plan: ViewPlan, table: StoredTable, marker: Marker) -> str:
        """How the rows of a view differ from those that its newest commit would write today."""
        name = plan.view.name
        if name not in self._stored_so:
            applied = self._old_plans.get(name, plan) if name in self.old else plan
            self._stored_so[name] = stored_otherwise(applied, table, marker)
        return self._stored_so[name]

    def _table_changes(self) -> Iterable[TableChange]:
        return table_changes(self.project.catalog.sources, self.plans, self.table)

    def _same(self, plan: ViewPlan, marker: Marker, definition: str) -> ViewChange:
        """A view that means what it meant."""
        name = plan.view.name
        if marker.view != name:
            behind, breaks = self._behind.of(name), self._behind.left_alone(marker.view)
            reason = f"was {marker.view}"
            return ViewChange(name, Kind.RENAMED, reason, behind=behind, breaks=breaks)
        read = [
            f"{self.renames.former[n]}, was {n}" for n in marker.cut_to.keys() & self.renames.former
        ]
        if read:
            return ViewChange(name, Kind.RENAMED, f"reads {'; '.join(sorted(read))}")
        same = definition in ("", plan.view.definition)
        return ViewChange(name, Kind.UNCHANGED if same else Kind.METADATA)

    def _built(self, plan: ViewPlan, kind: Kind, reason: str) -> ViewChange:
        change, reads = super()._built(plan, kind, reason), self._costs.reads(plan)
        seconds = None if kind is Kind.NEW else self._costs.seconds(plan.view.name, reads.rows)
        return replace(change, reads=reads, seconds=seconds)

    def _removed(self) -> Iterator[ViewChange]:
        """Views of the lake that no file defines; a broken one is no removed one."""
        defined = {*self.project.catalog.sources, *self.plans, *self.project.definitions}
        renamed = self.renames.pending.values()
        for name in self._names:
            known = name in defined or "__" in name or name in renamed
            table = None if known else self._stored(name)
            if table is not None and table.definition:
                yield self._gone(name)


def _may_differ(plan: ViewPlan, table: StoredTable, marker: Marker) -> bool:
    """Whether the definition that a table holds can mean something else than its plan."""
    if not plan.is_of(marker.fingerprint):
        return True
    # an earlier format gave one fingerprint to orders of terms that differ
    earlier = not marker.fingerprint.startswith(f"{FORMAT}:")
    return earlier and table.definition != plan.view.definition


def _columns(table: StoredTable, plan: ViewPlan) -> str:
    """How the columns of a table differ from those of its view: something that it reads changed."""
    if not isinstance(table, StoredIcebergTable):
        return ""
    differs = column_difference(table, None, plan.view.fields)
    return in_words(differs) if differs else ""


def _differing(
    old: ViewPlan, new: ViewPlan, word: str, renamed: Mapping[str, str]
) -> tuple[str, str, str]:
    """The first difference in a part of the definition: where it is, and both texts.

    Where it is is empty if names of columns are all that differs.
    """
    if word != SELECT:
        return word, *_texts(_clause(old, word), _clause(new, word))
    before = {
        next((new_name for new_name, was in renamed.items() if was == name), name): text
        for name, text in old.identity.columns.items()
    }
    for name in dict.fromkeys([*new.identity.columns, *before]):
        if before.get(name) != new.identity.columns.get(name):
            both = _column(old, renamed.get(name, name)), _column(new, name)
            return f"column {name}", *_texts(*both)
    if [*before] != [*new.identity.columns]:
        return "order of columns", ", ".join(old.identity.columns), ", ".join(new.identity.columns)
    further = new.identity.differs(old.identity)[1:]
    return _differing(old, new, further[0], renamed) if further else ("", "", "")


def _texts(*both: Sequence[exp.Expr | str]) -> tuple[str, str]:
    """Both sides as SQL, without what breaks ties, unless that is the difference."""

    def text(node: exp.Expr | str, short: bool) -> str:
        if isinstance(node, str):
            return node
        said = as_written(node)
        return to_sql(ties_left_out(said) if short else said, pretty=False)

    before, after = (" ".join(text(node, short=True) for node in side) for side in both)
    if before == after:
        before, after = (" ".join(text(node, short=False) for node in side) for side in both)
    return before, after


def _column(plan: ViewPlan, name: str) -> Sequence[exp.Expr | str]:
    found = (item for item in plan.view.query.selects if item.alias_or_name == name)
    return [item.unalias() for item in found][:1]


def _clause(plan: ViewPlan, word: str) -> Sequence[exp.Expr | str]:
    """The parts of a clause; of what has no clause, what the identity says."""
    query = plan.view.query
    if word == WRITTEN:
        return [query]
    keys = [key for key, said in CLAUSES.items() if said == word]
    if isinstance(query, exp.Select) and keys:
        joins = query.args.get("joins") if keys[0] == "from_" else []
        nodes = [query.args.get(keys[0]), *(joins or [])]
        scans = nodes_of(plan.view.tree.root, Scan)
        ages = [each.ages.within for each in scans if each.ages.within]
        said = [f"({age.clause})" for age in ages if keys[0] == "from_"]
        return [*filter(None, nodes), *said]
    return [plan.identity.parts.get(word, "")]
