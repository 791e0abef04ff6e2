"""What building a view anew costs, by what its own commits have cost.

In: the tables of a project. Out: rows and bytes to read, from the summaries of snapshots; seconds,
by the commit of the view that has read most. Starts no JVM.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from itertools import accumulate

from headwater.plan.view_plan import ViewPlan
from headwater.serve.stored_table import StoredTable


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


class Costs:
    """Costs of the views of one project.

    Args:
        table: returns the table of a name, None if there is none.
    """

    def __init__(self, table: Callable[[str], StoredTable | None]) -> None:
        self._table = table
        self._changed: dict[str, dict[str, int]] = {}

    def reads(self, plan: ViewPlan) -> Volume:
        """Return what a view has to read to be built from the beginning of its inputs."""
        return sum((self._size(item.name) for item in plan.inputs), Volume())

    def seconds(self, name: str, rows: int) -> float | None:
        """Return how long a view needs for so many rows; None if no commit of it says.

        Small commits say more of what a commit costs than of what a row does. So the commit that
        has read most rows decides.
        """
        table = self._table(name)
        best: tuple[int, float] | None = None
        for commit in table.commits() if table else ():
            if (seconds := commit.seconds) is None:
                continue
            read = sum(
                self._read(*each, commit.marker.cut_from) for each in commit.marker.cut_to.items()
            )
            if read > (best[0] if best else 0):
                best = read, seconds
        return rows * best[1] / best[0] if best else None

    def _size(self, name: str) -> Volume:
        table = self._table(name)
        snapshot = table.current() if table else None
        return Volume(snapshot.total, snapshot.count("total-files-size")) if snapshot else Volume()

    def _read(self, name: str, end: str, cut_from: Mapping[str, str]) -> int:
        """The changed rows of an input that a commit has read; 0 if nobody knows any more."""
        changed = self._places(name)
        begin = cut_from.get(name)
        if end not in changed or (begin is not None and begin not in changed):
            return 0
        return changed[end] - (changed[begin] if begin is not None else 0)

    def _places(self, name: str) -> dict[str, int]:
        """By snapshot of a table, how many rows had been added and removed up to it."""
        if name not in self._changed:
            table = self._table(name)
            kept = [*table.ancestors()][::-1] if table else []
            before = kept[0].total - kept[0].added + kept[0].removed if kept else 0
            rows = accumulate((each.added + each.removed for each in kept), initial=before)
            self._changed[name] = {
                str(each.id): at for each, at in zip(kept, [*rows][1:], strict=True)
            }
        return self._changed[name]
