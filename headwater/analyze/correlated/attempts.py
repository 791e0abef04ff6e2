"""One binding after another, until one has no errors.

In: ways to write a subquery. Out: the first one that can be bound; if none can, the errors of the
first way, which is the user's own.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Protocol

from sqlglot import exp

from headwater.analyze.definitions import Catalog, Field
from headwater.analyze.diagnostics import Diagnostics
from headwater.analyze.names.scope import Relation
from headwater.errors import SqlError


class SubqueryBinder(Protocol):
    """What binds a subquery."""

    catalog: Catalog
    report: Diagnostics
    tainted: bool

    def number(self) -> int:
        """Return a number that it returned never before."""

    def bind_within(self, around: Sequence[Relation], query: exp.Query) -> tuple[Field, ...]:
        """Bind a subquery, which may name columns of the SELECT around it."""


class BindingAttempt:
    """Attempts to bind what stands among some relations."""

    def __init__(self, binder: SubqueryBinder, around: Sequence[Relation]) -> None:
        self.binder, self.around = binder, around
        self.tainted, self.errors = binder.tainted, len(binder.report.errors)
        self.first: tuple[bool, Sequence[SqlError]] | None = None

    def holds(self, run: Callable[[], object]) -> bool:
        """Return whether something can be bound; if not, its errors are taken back."""
        for relation in self.around:
            relation.reads.clear()
        run()
        errors = self.binder.report.take_back(self.errors)
        if self.first is None:
            self.first = self.binder.tainted, errors
        if errors:
            self.binder.tainted = self.tainted
        return not errors

    @property
    def is_sound(self) -> bool:
        """Whether nothing was wrong with the first attempt but that its shape is not supported."""
        assert self.first is not None
        return all(error.condition == "NOT_YET" for error in self.first[1])

    def give_up(self) -> None:
        """Report what was wrong with the first attempt.

        Beside a broken relation no other form could be tried: its own error says what is wrong.
        """
        assert self.first is not None
        self.binder.tainted, errors = self.first
        beside = any(relation.broken for relation in self.around)
        for error in errors:
            if not beside or error.condition != "NOT_YET":
                self.binder.report.put_back(error)


class SubqueryPlace:
    """Where the query of IN, of EXISTS or of a scalar subquery stands."""

    def __init__(self, found: exp.Expr) -> None:
        self.found, self.parent = found, found.parent
        self.key, self.index = found.arg_key, found.index

    def put(self, query: exp.Query) -> exp.Expr:
        """Let another query stand there; return the expression that has it."""
        if isinstance(self.found, exp.Exists):
            self.found.set("this", query)
        elif isinstance(self.found, exp.In):
            self.found.set("query", exp.Subquery(this=query))
        else:
            scalar = exp.Subquery(this=query)
            assert self.parent is not None and self.key is not None
            self.parent.set(self.key, scalar, self.index)
            return scalar
        return self.found
