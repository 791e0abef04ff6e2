"""What a rule over a bound view looks at."""

from __future__ import annotations

from dataclasses import dataclass

from sqlglot import exp

from headwater.analyze.definitions import Catalog, View
from headwater.analyze.diagnostics import Diagnostics
from headwater.analyze.query_parts import union_branches
from headwater.dialect import syntax


@dataclass(frozen=True, slots=True)
class Checked:
    """What a rule looks at.

    Attributes:
        view: the bound view.
        statement: as parsed, for places.
        catalog: what the view reads.
        report: where errors go.
    """

    view: View
    statement: syntax.CreateStreamingView
    catalog: Catalog
    report: Diagnostics

    @property
    def outputs(self) -> list[exp.Expr]:
        """The nodes of the view's columns, for places."""
        return list(union_branches(self.view.query)[0].selects)

    @property
    def bounded(self) -> bool:
        """Whether state must be bounded (it must, unless the user takes the risk)."""
        return self.view.options.get("allow_unbounded_state") != "true"
