"""What the product makes of a form: refused, or SQL for an engine over the table of its columns.

In: a form. Out: :class:`Translation`, as a project with one table and one view gives it.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

from sqlglot import exp

from headwater.analyze.definitions import Catalog
from headwater.analyze.project import bind
from headwater.analyze.typing.types import UNKNOWN
from headwater.dialect import parse
from headwater.errors import ErrorGroup, HeadwaterError
from headwater.plan.at_rest import at_rest
from headwater.plan.planner import plan_project
from headwater.plan.view_plan import ViewPlan
from tests.conformance.forms import Form
from tests.conformance.values import column, table_of


@dataclass(frozen=True, slots=True, eq=False)
class Translation:
    """A form in the product.

    Attributes:
        form: the form.
        refused: condition of the first error, empty if it is accepted.
        kind: the type of the value.
        catalog: the table and the view.
        plan: of the view, if it is accepted.
    """

    form: Form
    refused: str
    kind: exp.DataType = UNKNOWN
    catalog: Catalog | None = None
    plan: ViewPlan | None = None

    def sql(self, engine: str) -> str:
        """Return the view at rest over the table of the form's columns, without fallible rows.

        Args:
            engine: ``duckdb`` or ``spark``.
        """
        assert self.plan is not None and self.catalog is not None
        table = table_of(self.form.columns)
        return at_rest(self.plan, self.catalog, engine, relation=lambda name: table).text()


@cache
def translated(form: Form) -> Translation:
    """Return what the product makes of a form."""
    columns = ", ".join(["g BIGINT", "k BIGINT", *(f"{c} {column(c).type}" for c in form.columns)])
    text = (
        f"CREATE TABLE t ({columns}) WITH (connector = 'files', path = 't')"
        f" FORMAT PLAIN ENCODE JSON; CREATE STREAMING VIEW v AS {form.query('t')};"
    )
    try:
        catalog = bind({"t.sql": parse(text, file="t.sql")})
        plan = plan_project(catalog)["v"]
    except HeadwaterError as error:
        first = error.errors[0] if isinstance(error, ErrorGroup) else error
        return Translation(form, first.condition)
    return Translation(form, "", plan.view.fields[1].type, catalog, plan)
