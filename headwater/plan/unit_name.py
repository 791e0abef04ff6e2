"""How the units of a view are named: a plan and a reader of its table ask the same."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class UnitName:
    """How the units of one branch of a query are named.

    Attributes:
        sql: the hash, as Spark SQL over what stands in FROM.
        tag: the number that is hashed first; None without one.
        columns: the columns of the table that are hashed; None if the table lacks one.
    """

    sql: str
    tag: int | None
    columns: tuple[str, ...] | None
