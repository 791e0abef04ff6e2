"""A judge of ``.slt`` files: DuckDB answers the author's own text over the inputs of the commit.

In: a project and its plans, after a tick. Out: the views whose table differs from that answer. A
view that cannot be asked is no failure; the judge counts it, with the reason.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace

import duckdb

from headwater.analyze.definitions import WATERMARK_COLUMN, OnError
from headwater.dialect.vocabulary import is_system_column
from headwater.errors import HeadwaterError
from headwater.plan.at_rest import at_rest
from headwater.plan.view_plan import ViewPlan
from headwater.project import Project
from headwater.serve.connection import quoted
from headwater.serve.lake_reader import LakeReader
from headwater.serve.verify import Case, VerifyResult, case_of
from headwater.serve.verify import Verdict as Checked
from tests.support.author_text import (
    Answer,
    AuthorView,
    NotAskable,
    Verdict,
    ask,
    author_views,
    give,
    open_oracle,
    relations,
    set_watermark,
)
from tests.support.bags import Bag


class AuthorJudge:
    """Compares tables with DuckDB's answers to the texts of the project's files.

    Attributes:
        asked: how many answers were compared.
        reasons: how often a view could not be asked, by reason.
    """

    def __init__(self) -> None:
        self.asked = 0
        self.reasons: Counter[str] = Counter()

    def __call__(
        self, project: Project, plans: Mapping[str, ViewPlan], views: Sequence[str]
    ) -> list[VerifyResult]:
        """Return a failure for every view whose rows are others."""
        lake = LakeReader(project.config, project.catalog.external)
        found = []
        for file in sorted(project.root.glob("*.sql")):
            for written in author_views(file.read_text(encoding="utf-8")):
                plan = plans.get(written.name)
                if plan is None or (views and written.name not in views):
                    continue
                case = case_of(project, lake, plan)
                answer = _answer(case, written) if isinstance(case, Case) else _NO_COMMIT
                if unread := relations(written) & _unread(project, plan):
                    said = f"the view does not read {', '.join(unread)}, which its author names"
                    answer = Answer(Verdict.DIFFERENT, said)
                if answer.verdict is Verdict.NOT_ASKABLE:
                    self.reasons[answer.reason] += 1
                    continue
                self.asked += 1
                if answer.verdict is Verdict.DIFFERENT:
                    said = f"unlike the author's text: {answer.reason}"
                    found.append(VerifyResult(written.name, Checked.FAILED, said))
        return found


_LEFT_OUT = ("quarantined", "dropped")
_FAILED = Answer(Verdict.NOT_ASKABLE, "rows on which an expression fails are left out")
_NO_COMMIT = Answer(Verdict.NOT_ASKABLE, "no commit whose inputs can be read")


def _unread(project: Project, plan: ViewPlan) -> set[str]:
    """The sources, tables and views that a view does not read, not even by their log."""
    catalog, read = project.catalog, {*plan.view.inputs}
    logs = {name for name, view in catalog.views.items() if view.changes in read}
    return {*catalog.sources, *catalog.views} - read - logs


def _answer(case: Case, written: AuthorView) -> Answer:
    plan, names = case.plan, case.columns.names
    if any(each.marker.counts.get(word) for each in case.table.commits() for word in _LEFT_OUT):
        return _FAILED
    with open_oracle() as duck:
        set_watermark(duck, case.commit.marker.watermark)
        case.table.create_view(duck, "@table", case.read_at, names)
        for name, (table, position) in case.inputs.items():
            table.create_view(duck, f"{name}@cut", position, [*table.columns()])
        try:
            for name in case.inputs:
                _give(duck, case, name)
                _expect_whole_milliseconds(duck, name, written)
            _expect_no_failure(duck, case)
        except (NotAskable, HeadwaterError, duckdb.Error) as error:
            return Answer(Verdict.NOT_ASKABLE, str(error).splitlines()[0])
        shown = ", ".join(map(quoted, names))
        held = Bag.of(duck.sql(f'SELECT {shown} FROM main."@table"'))
        # what the watermark has not passed yet is in the answer, and not in the table
        waits = plan.final or plan.decision.engine.value == "streaming"
        return ask(duck, replace(written, final=written.final or waits), names, held)


def _give(duck: duckdb.DuckDBPyConnection, case: Case, name: str) -> None:
    """Make an input as its author sees it.

    Raises:
        NotAskable: it has rows that came too late for the view, which the text does not say.
    """
    catalog = case.project.catalog
    source = catalog.sources.get(name)
    rows = f"main.{quoted(f'{name}@cut')}"
    if source and source.watermark and case.plan.lateness is not None:
        late = f"{quoted(source.watermark.column)} < {WATERMARK_COLUMN}"
        if duck.sql(f"SELECT 1 FROM {rows} WHERE {late} LIMIT 1").fetchall():
            raise NotAskable("rows came late, and the text does not say which of them count")
    fields = source.fields if source else catalog.views[name].fields
    give(duck, name, f"SELECT {', '.join(quoted(each.name) for each in fields)} FROM {rows}")


def _expect_whole_milliseconds(
    duck: duckdb.DuckDBPyConnection, name: str, written: AuthorView
) -> None:
    """An interval has milliseconds in Trino, and microseconds in DuckDB.

    Raises:
        NotAskable: the text takes something from something, and times of an input are finer.
    """
    if " - " not in written.query:
        return
    relation = duck.sql(f"FROM main.{quoted(f'{name}@cut')}")
    for column, kind in zip(relation.columns, relation.types, strict=True):
        if is_system_column(column):
            continue
        finer = f"epoch_us({quoted(column)}) % 1000 <> 0"
        if str(kind).startswith("TIMESTAMP") and relation.filter(finer).limit(1).fetchall():
            raise NotAskable("times are finer than an interval of Trino")


def _expect_no_failure(duck: duckdb.DuckDBPyConnection, case: Case) -> None:
    """Run the SELECT at rest as ON ERROR FAIL would: rows that fail are no rows of the table.

    Raises:
        duckdb.Error: a row fails.
    """
    plan = replace(case.plan, view=replace(case.plan.view, on_error=OnError.FAIL))
    select = at_rest(
        plan,
        case.project.catalog,
        "duckdb",
        watermark=case.commit.marker.watermark,
        relation=lambda name: f"main.{quoted(f'{name}@cut')}",
    )
    duck.execute(select.text()).fetchall()
