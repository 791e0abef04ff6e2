"""Whether both sides are equal: every table and view, in PostgreSQL and in the lake.

In: the project, PostgreSQL. Out: for each keyed table the rows that only one side has, and the same
for each view, whose SELECT is run by PostgreSQL over its own tables: an engine that shares no code
with the lake's.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from headwater.analyze.definitions import View
from headwater.errors import HeadwaterError
from headwater.project import Project
from headwater.serve.embedded import Embedded
from jobs.demos.servers.postgres import Postgres

Row = Sequence[object]


@dataclass(frozen=True, slots=True)
class Judgement:
    """One table or view.

    Attributes:
        name: its name.
        kind: ``table`` or ``view``.
        rows: how many rows PostgreSQL has.
        missing: rows that the lake lacks.
        surplus: rows that only the lake has.
    """

    name: str
    kind: str
    rows: int
    missing: tuple[Row, ...]
    surplus: tuple[Row, ...]

    @property
    def equal(self) -> bool:
        """Whether both sides hold the same rows."""
        return not self.missing and not self.surplus

    @property
    def verdict(self) -> str:
        """The same in words."""
        if self.equal:
            return "equal"
        return f"NOT EQUAL: {len(self.missing):,} rows missing, {len(self.surplus):,} too many"


def judge(project: Project, server: Postgres) -> list[Judgement]:
    """Compare every keyed table and every view of a project with PostgreSQL.

    Args:
        project: the project.
        server: PostgreSQL, in which nothing changes meanwhile.

    Raises:
        HeadwaterError: the lake cannot be read.
        psycopg.Error: PostgreSQL cannot be read.
    """
    found = []
    with server.connect() as connection:
        for view in project.catalog.views.values():
            query = select_of(view)
            source = connection.execute(query.encode()).fetchall()
            kind = "table" if view.changes else "view"
            found.append(compared(view.name, kind, source, _held(project, view.name)))
    return found


def select_of(view: View) -> str:
    """Return the SELECT, for PostgreSQL, whose rows a table or view must hold.

    Args:
        view: its definition; a keyed table stands for the table of its name.
    """
    return f"SELECT * FROM {view.name}" if view.changes else view.query.sql(dialect="postgres")


def compared(name: str, kind: str, source: Iterable[Row], held: Iterable[Row]) -> Judgement:
    """Compare rows without their order, each as often as it is there.

    Args:
        name: of the table or view.
        kind: ``table`` or ``view``.
        source: what PostgreSQL has.
        held: what the lake has.
    """
    ours, theirs = Counter(map(tuple, source)), Counter(map(tuple, held))
    missing, surplus = ours - theirs, theirs - ours
    return Judgement(name, kind, ours.total(), tuple(missing.elements()), tuple(surplus.elements()))


def _held(project: Project, name: str) -> list[Row]:
    """The rows of a table of the lake; none before its first commit."""
    try:
        with Embedded(project).query(f"SELECT * FROM {name}") as result:
            return [*result.rows]
    except HeadwaterError as error:
        if error.condition != "NO_DATA_YET":
            raise
        return []
