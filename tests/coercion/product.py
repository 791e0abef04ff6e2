"""Forms as Headwater writes them for an engine.

In: a form. Out: the bound view, or why it is refused; its SQL for an engine.
"""

from __future__ import annotations

from headwater.analyze.definitions import View
from headwater.analyze.portable.rewrites import portable
from headwater.analyze.project import bind
from headwater.dialect import parse
from headwater.errors import ErrorGroup, SqlError
from tests.coercion.pairs import COLUMNS, query_of

_TABLE = parse(
    f"CREATE TABLE t ({', '.join(f'{name} {kind}' for name, kind in COLUMNS.items())})"
    " WITH (connector = 'files', path = 't') FORMAT PLAIN ENCODE JSON"
)


def bound(form: str) -> View | SqlError:
    """Return the view that a form makes, or the first error."""
    try:
        statements = parse(f"CREATE STREAMING VIEW v AS {query_of(form)}")
        return bind({"t.sql": [each.copy() for each in _TABLE], "v.sql": statements}).views["v"]
    except SqlError as error:
        return error
    except ErrorGroup as group:
        first = group.errors[0]
        assert isinstance(first, SqlError)
        return first


def sql_of(view: View, dialect: str) -> str:
    """Return the SELECT of a view as an engine runs it."""
    return str(portable(view.query, dialect).sql(dialect))
