"""A seed of dbt → the columns of a table.

In: a CSV file. Out: its columns, typed by their values.
"""

from __future__ import annotations

from pathlib import Path

from headwater.importing.contract import ColumnDraft, LeftOut
from headwater.importing.dbt.mapping import SEED_TYPES
from headwater.importing.statements import column_name


def seed_columns(path: Path) -> list[ColumnDraft]:
    """Return the columns of a seed.

    Raises:
        LeftOut: the file is no CSV with a header.
    """
    from pyarrow import ArrowException, csv

    try:
        table = csv.read_csv(path)
    except (ArrowException, OSError) as error:
        raise LeftOut("the seed is no CSV with a header", "correct the file") from error
    return [
        ColumnDraft(column_name(each.name), SEED_TYPES.get(str(each.type), "VARCHAR"))
        for each in table.schema
    ]
