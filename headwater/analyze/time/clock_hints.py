"""What to write in the place of a clock: ``WHERE ts > now() - INTERVAL '1' HOUR``.

In: a call that is refused. Out: the same condition with ``watermark()``, which follows the event
times of the rows, if it bounds how old a row may be.
"""

from __future__ import annotations

from sqlglot import exp

from headwater.analyze.time.bounds import differences

_CLOCK = "watermark"
_AROUND = (exp.Cast, exp.TryCast, exp.Paren, exp.AtTimeZone)


def rewritten_condition(call: exp.Expr) -> str:
    """Return a condition with ``watermark()`` in the place of a clock; empty if there is none.

    Args:
        call: of a function that reads the clock, in a bound WHERE.
    """
    term: exp.Expr = call
    while isinstance(term.parent, exp.Expr) and not isinstance(term.parent, (exp.And, exp.Where)):
        term = term.parent
    if term.parent is None or not _in_where(term):
        return ""
    if isinstance(call, exp.CurrentDate):
        return ""  # the beginning of a day
    whole = exp.Paren(this=term.copy())
    if isinstance(term, exp.Between):  # BETWEEN now() - INTERVAL '1' HOUR AND now()
        low = exp.GTE(this=term.this.copy(), expression=term.args["low"].copy())
        whole.this.replace(low)
    for clock in [node for node in whole.walk() if node == call]:
        outer = clock
        while isinstance(outer.parent, _AROUND) and outer.parent is not whole:
            outer = outer.parent
        outer.replace(exp.column(_CLOCK, table=_CLOCK))
    found = list(differences(whole.this))
    if len(found) != 1 or found[0][0] != (_CLOCK, _CLOCK):
        return ""
    for column in list(whole.find_all(exp.Column)):
        if column.table == _CLOCK:
            column.replace(exp.Anonymous(this=_CLOCK))
        else:
            column.set("table", None)
    return str(whole.this.sql("trino", normalize_functions=False))


def _in_where(term: exp.Expr) -> bool:
    node = term.parent
    while isinstance(node, exp.And):
        node = node.parent
    return isinstance(node, exp.Where)
