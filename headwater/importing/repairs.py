"""What ``check`` refuses of an imported view, and how its query is changed so that it is accepted.

In: a view and its errors. Out: the changed view, with a note of what differs. A repair that does
not help is undone.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from sqlglot import exp

from headwater.errors import HeadwaterError
from headwater.importing.clock import BY_WATERMARK, without_filters
from headwater.importing.contract import ViewDraft


@dataclass(frozen=True)
class ViewRepair:
    """A change of a view.

    Attributes:
        name: what it is called.
        said: words of the errors that it may mend; any error if empty.
        change: changes the view.
        note: what differs then; ``{}`` is the system.
        applies: whether it can be tried at all.
    """

    name: str
    said: str
    change: Callable[[ViewDraft], None]
    note: str
    applies: Callable[[ViewDraft], bool] = lambda view: True

    def fits(self, view: ViewDraft, errors: Sequence[HeadwaterError]) -> bool:
        """Whether the repair may mend one of the errors."""
        return self.applies(view) and self.fits_again(errors)

    def fits_again(self, errors: Sequence[HeadwaterError]) -> bool:
        """Whether an error is there that the repair is for."""
        return any(self.said in error.message for error in errors)


def _show_at_once(view: ViewDraft) -> None:
    view.final = False


def _without_filters(view: ViewDraft) -> None:
    view.query = without_filters(view.query)
    view.notes = [note for note in view.notes if note.reason != BY_WATERMARK]


def _divide_doubles(view: ViewDraft) -> None:
    view.query = view.query.copy()
    for node in list(view.query.find_all(exp.Div)):
        value = node.this.unnest()
        if isinstance(value, exp.Cast) and value.is_type(exp.DType.DECIMAL):
            value = value.this
        node.set("this", exp.cast(value.copy(), exp.DType.DOUBLE))


REPAIRS = (
    ViewRepair(
        "filter",
        "watermark() has no value",
        _without_filters,
        "the filter by the present time is left out, as no input has a watermark: all rows stay",
    ),
    ViewRepair(
        "quotient",
        "the quotient of decimals",
        _divide_doubles,
        "quotients are DOUBLE here, numeric there",
    ),
    ViewRepair(
        "final",
        "",
        _show_at_once,
        "{} shows rows once they are final; here they appear at once and are corrected",
        lambda view: view.final,
    ),
)
"""In the order in which they are tried."""
