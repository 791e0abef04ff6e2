"""Who may see what in Trino: everybody reads, and nobody writes.

In: the rules of ``headwater/servers``, and plans. Out: the same rules with the columns that hold
the state of these views. Trino matches the names of columns by letter, not by a pattern, so the
rules cannot say "all that begin with ``_``".
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from pathlib import Path

from headwater.plan.view_plan import ViewPlan


def state_columns(plans: Iterable[ViewPlan]) -> list[str]:
    """Return the names of the columns in which views remember what their SELECT does not show."""
    return sorted({column.name for plan in plans for column in plan.columns if column.hidden})


def with_hidden(rules: Path, columns: Iterable[str]) -> str:
    """Return the text of rules that hide more columns, wherever they hide any.

    Args:
        rules: the file of Trino's file-based access control.
        columns: names.
    """
    found: Mapping[str, list[Mapping[str, list[object]]]] = json.loads(rules.read_text("utf-8"))
    for rule in found["tables"]:
        if "columns" in rule:
            rule["columns"].extend({"name": name, "allow": False} for name in columns)
    return json.dumps(found, indent=2) + "\n"
