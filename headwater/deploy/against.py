"""``headwater plan --against``: two states of a project's files, held against each other.

In: a project and another state of its files, a folder or a commit of git. Out: the same changes as
against a lake, without what only a lake knows. Needs no lake and starts no JVM.
"""

from __future__ import annotations

import subprocess
import tarfile
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from io import BytesIO
from pathlib import Path
from tempfile import TemporaryDirectory

from sqlglot import exp

from headwater.deploy.changes import Changes, Kind, ViewChange
from headwater.deploy.renames import Renames
from headwater.deploy.tables import TableChange, definition_changes
from headwater.dialect.syntax import CreateStreamingView
from headwater.errors import ConfigError
from headwater.plan.planner import plan_sound
from headwater.plan.view_plan import ViewPlan
from headwater.project import Project, read_project


class FileChanges(Changes):
    """A project held against another state of its files.

    Args:
        folder: of the other state; definitions in it that have an error count as missing.
    """

    def __init__(self, project: Project, plans: Mapping[str, ViewPlan], folder: Path) -> None:
        super().__init__(project, plans)
        before = read_project(folder)
        was, faults = plan_sound(before.catalog, thoroughly=False)
        self._renames = _renames(plans, was, project.definitions)
        if self._renames.former:
            before = read_project(folder, edit=self._in_names_of_now)
            was, faults = plan_sound(before.catalog, thoroughly=False)
        self._was, self._before = was, before.without(faults)

    def _in_names_of_now(self, statement: exp.Expression) -> Sequence[exp.Expression]:
        if isinstance(statement, CreateStreamingView):
            return [self._renames.of(statement)]
        return [statement]

    @property
    def _old_plans(self) -> Mapping[str, ViewPlan]:
        return self._was

    def _table_changes(self) -> Iterable[TableChange]:
        was = self._before.catalog.sources, self._was
        return definition_changes(was, (self.project.catalog.sources, self.plans))

    def _change(self, plan: ViewPlan) -> ViewChange:
        old = self._old_plans.get(plan.view.name)
        if old is None:
            broken = self._before.broken.get(plan.view.name)
            return self._built(plan, Kind.NEW, f"was {broken.state}" if broken else "")
        if plan.fingerprint != old.fingerprint:
            return self._differs(plan, old)
        was = {each.name: each.type for each in old.view.fields}
        for column in plan.view.fields:
            if was[column.name] != column.type:
                was_, is_ = was[column.name].sql(), column.type.sql()
                change = self._built(plan, Kind.REBUILD, f"column {column.name} has another type")
                return replace(change, old=was_, new=is_)
        name = plan.view.name
        if was_named := self._renames.pending.get(name):
            behind, breaks = self._behind.of(name), self._behind.left_alone(was_named)
            reason = f"was {was_named}"
            return ViewChange(name, Kind.RENAMED, reason, behind=behind, breaks=breaks)
        renamed = [
            f"{n}, was {o}" for n, o in self._renames.pending.items() if n in plan.view.inputs
        ]
        if renamed:
            return ViewChange(name, Kind.RENAMED, f"reads {'; '.join(renamed)}")
        same = plan.view.definition == old.view.definition
        return ViewChange(name, Kind.UNCHANGED if same else Kind.METADATA)

    def _removed(self) -> Iterator[ViewChange]:
        defined = {*self.project.catalog.sources, *self.plans, *self.project.definitions}
        for name, plan in self._old_plans.items():
            if name not in defined and not plan.view.changes:
                yield self._gone(name)


def against(project: Project, plans: Mapping[str, ViewPlan], state: str) -> FileChanges:
    """Hold a project against another state of its files.

    Args:
        project: as its files have it.
        plans: of all its views.
        state: a folder with a ``headwater.toml``, or what git calls a commit: ``main``, ``HEAD~1``.

    Raises:
        ConfigError: ``UNKNOWN_STATE`` if it is neither.
    """
    folder = Path(state)
    if folder.is_dir():
        return FileChanges(project, plans, folder)
    with _checked_out(project.root, state) as found:
        return FileChanges(project, plans, found)


def _renames(
    plans: Mapping[str, ViewPlan], was: Mapping[str, ViewPlan], defined: Collection[str]
) -> Renames:
    """The views that have another name: a comment says it, or one definition under a new name."""
    gone = [name for name in was if name not in defined]
    found: dict[str, str] = {}
    for name, plan in plans.items():
        if name in was:
            continue
        same = [old for old in gone if was[old].fingerprint == plan.fingerprint]
        twins = [each for each in plans.values() if each.fingerprint == plan.fingerprint]
        if plan.view.renamed_from in gone:
            found[name] = plan.view.renamed_from
        elif len(same) == 1 and len(twins) == 1:
            found[name] = same[0]
    return Renames(found, {old: name for name, old in found.items()})


@contextmanager
def _checked_out(root: Path, commit: str) -> Iterator[Path]:
    """The folder of a project as a commit has it, until the block ends."""
    try:
        # without a path it takes the folder that it runs in
        command = ["git", "-C", str(root), "archive", "--format=tar", "--end-of-options", commit]
        done = subprocess.run(command, capture_output=True, check=False)
    except OSError as error:
        raise _unknown(commit, f"git does not start: {error.strerror}") from error
    if done.returncode:
        said = done.stderr.decode("utf-8", "replace").strip().splitlines()
        raise _unknown(commit, said[0].removeprefix("fatal: ") if said else "git failed")
    with TemporaryDirectory(prefix="headwater-") as folder:
        with tarfile.open(fileobj=BytesIO(done.stdout)) as archive:
            archive.extractall(folder, filter="data")
        if not (Path(folder) / "headwater.toml").is_file():
            raise _unknown(commit, "there is no headwater.toml in it")
        yield Path(folder)


def _unknown(state: str, why: str) -> ConfigError:
    return ConfigError(
        "UNKNOWN_STATE",
        f'"{state}" is neither a folder nor a commit with this project: {why}',
        hint="name a folder, or a commit: headwater plan --against main",
    )
