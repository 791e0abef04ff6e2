"""DuckDB's own answers to the views of TPC-DI: it reads the source files and runs the same text.

In: the folder of a project. Out: a DuckDB with a table per view, made anew from all files so far.
A function becomes a macro; nothing of Headwater computes a value.
"""

from __future__ import annotations

import re
from pathlib import Path

import duckdb

from headwater.analyze.definitions import Source
from headwater.project import Project

_FUNCTION = re.compile(r"CREATE FUNCTION (\w+)\((.*?)\) RETURNS \w+\s+RETURN (.*?);\n", re.S)
_VIEW = re.compile(r"CREATE STREAMING VIEW (\w+) AS\s(.*?);\n", re.S)
_BATCH = "TRY_CAST(regexp_extract(filename, 'Batch([0-9]+)', 1) AS INTEGER) AS batch_id"


def view_texts(folder: Path) -> dict[str, str]:
    """Return the query of each view, as it is written."""
    files = sorted(folder.glob("*.sql"))
    return {name: text for file in files for name, text in _VIEW.findall(file.read_text())}


class Judge:
    """The answers over the files that are there.

    Args:
        folder: of the project.
        project: what Headwater has read there.
    """

    def __init__(self, folder: Path, project: Project) -> None:
        self._folder, self._catalog = folder, project.catalog
        self._views = view_texts(folder)
        self._functions = [
            found for file in folder.glob("*.sql") for found in _FUNCTION.findall(file.read_text())
        ]

    def answers(self) -> duckdb.DuckDBPyConnection:
        """Return a DuckDB with the rows of every view."""
        duck = duckdb.connect()
        for name, parameters, body in self._functions:
            names = ", ".join(each.split()[0] for each in parameters.split(","))
            duck.execute(f"CREATE MACRO {name}({names}) AS {body}")
        for source in self._catalog.sources.values():
            duck.execute(f"CREATE TABLE {source.name} AS {self._rows(source)}")
        for name in self._catalog.views:
            duck.execute(f"CREATE TABLE {name} AS {self._views[name]}")
        return duck

    def _rows(self, source: Source) -> str:
        """Return the SELECT of what the files of a source hold; none before the first batch."""
        fields = [each for each in source.columns if not each.metadata and each.computed is None]
        typed = ", ".join(f"'{each.name}': '{each.type.sql('duckdb')}'" for each in fields)
        columns = ", ".join(each.name for each in fields)
        folder, pattern = self._folder / source.options["path"], source.options["pattern"]
        files = [str(file) for file in sorted(folder.rglob(pattern))]
        if not files:
            nothing = ", ".join(
                f"NULL::{each.type.sql('duckdb')} AS {each.name}" for each in fields
            )
            return f"SELECT {nothing}, '' AS file, 0 AS batch_id LIMIT 0"
        delimiter = source.encode_options.get("delimiter", ",")
        return (
            f"SELECT {columns}, filename AS file, {_BATCH} FROM read_csv("
            f"{files}, delim = '{delimiter}', header = false, columns = {{{typed}}},"
            " filename = true, auto_detect = false)"
        )
