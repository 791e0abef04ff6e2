"""``INSERT INTO t VALUES …`` → rows of a file that the table reads.

In: literals. Out: objects for JSON, by column; nothing if a value is no literal.
"""

from __future__ import annotations

from sqlglot import exp

from headwater.importing.bodies import read_values
from headwater.importing.contract import LeftOut, TableDraft
from headwater.importing.run import ImportRun
from headwater.importing.statements import Cursor


def take_rows(run: ImportRun, name: str, columns: list[str], cursor: Cursor) -> bool:
    """Remember the rows of ``VALUES``, if the table reads files and they are literals.

    Args:
        run: the import.
        name: the table.
        columns: the columns behind its name; all by default.
        cursor: at ``VALUES``.

    Returns:
        Whether the rows will be in a file.
    """
    table = run.tables.get(name)
    if table is None or table.options != {"connector": "files", "path": f"data/{name}"}:
        return False
    names = [each.lower() for each in columns] or _names(table)
    try:
        values = read_values(run.system.grammar, cursor)
        rows = [[_value(each) for each in row.expressions] for row in values]
    except (LeftOut, ValueError):
        return False
    if any(len(row) != len(names) for row in rows):
        return False
    run.rows.setdefault(name, []).extend(dict(zip(names, row, strict=True)) for row in rows)
    return True


def _names(table: TableDraft) -> list[str]:
    return [each.name.strip('"') for each in table.columns if not each.computed]


def _value(node: exp.Expr) -> object:
    """Return a literal as JSON holds it.

    Raises:
        ValueError: it is no literal.
    """
    inner = node.unnest()
    if isinstance(inner, exp.Cast):
        return _value(inner.this)
    if isinstance(inner, exp.Neg):
        value = _value(inner.this)
        if isinstance(value, int | float):
            return -value
    if isinstance(inner, exp.Null):
        return None
    if isinstance(inner, exp.Boolean):
        return bool(inner.this)
    if isinstance(inner, exp.Array):
        return [_value(each) for each in inner.expressions]
    if isinstance(inner, exp.Literal):
        if inner.is_string:
            return inner.name
        return int(inner.name) if inner.is_int else float(inner.name)
    raise ValueError(inner.sql())
