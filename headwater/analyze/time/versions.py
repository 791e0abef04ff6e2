"""What an as-of join is, as parsed and as bound.

In: a join as parsed, or a bound SELECT. Out: whether it asks for the version that held at a time,
and by the time of which column.
"""

from __future__ import annotations

from sqlglot import exp

from headwater.analyze.time.bounds import Name, differences

AS_OF = "as_of"
"""Key of the ``meta`` of a subquery that stands for the versions of an as-of join: the name of
their time."""
UNTIL = "__until"
"""Its column with the time of the next version of the key, NULL for the newest one."""


def version_of(join: exp.Join) -> exp.Expr | None:
    """Return what stands behind the table of a join: ``FOR SYSTEM_TIME AS OF …``."""
    version: exp.Expr | None = join.this.args.get("version")
    return version if version is not None and version.name == "TIMESTAMP" else None


def is_as_of(join: exp.Join) -> bool:
    """Return whether a join as parsed is an as-of join: not a comma in FROM."""
    comma = join.kind in ("", "CROSS") and not any(map(join.args.get, ("on", "using", "side")))
    return join.method == "ASOF" or (version_of(join) is not None and not comma)


def moments(select: exp.Select) -> list[tuple[exp.Expr, Name | None]]:
    """Return the as-of joins of a bound SELECT, and the column by whose time each is asked."""
    found: list[tuple[exp.Expr, Name | None]] = []
    for join in select.args.get("joins") or []:
        time = join.this.meta.get(AS_OF)
        if time is not None:
            version = (join.this.alias_or_name, time)
            known = differences(join.args.get("on"))
            asked = next((greater for lesser, greater, _ in known if lesser == version), None)
            found.append((join.this, asked))
    return found
