"""What Tab completes: keywords, tables, columns, functions and what SHOW can show.

In: a project and the text before the cursor. Out: the words that may stand there.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from headwater.project import Project

KEYWORDS = (
    *("SELECT", "DISTINCT", "FROM", "WHERE", "GROUP BY", "HAVING", "QUALIFY", "WINDOW", "ORDER BY"),
    *("LIMIT", "OFFSET", "JOIN", "LEFT JOIN", "RIGHT JOIN", "FULL JOIN", "CROSS JOIN", "ON"),
    *("USING", "UNION", "ALL", "INTERSECT", "EXCEPT", "WITH", "AS", "AND", "OR", "NOT", "IN"),
    *("BETWEEN", "LIKE", "IS", "NULL", "EXISTS", "CASE", "WHEN", "THEN", "ELSE", "END", "CAST"),
    *("TRY_CAST", "EXTRACT", "INTERVAL", "TIMESTAMP", "DATE", "OVER", "PARTITION BY", "ROWS"),
    *("FILTER", "WITHIN GROUP", "ASC", "DESC", "NULLS LAST", "NULLS FIRST", "TRUE", "FALSE"),
    *("FOR VERSION AS OF", "SHOW", "DESCRIBE", "help", "quit"),
)
_NAME = re.compile(r"(?:(\w+)\.)?([\w$]*)$")
_TABLES_FOLLOW = re.compile(r"\b(?:FROM|JOIN|DESCRIBE|DESC|TABLE|VIEW|IN)\s+$", re.IGNORECASE)
_SHOW_FOLLOWS = re.compile(r"^\s*SHOW\s+$", re.IGNORECASE)
_ALIASED = re.compile(r"\b(?:FROM|JOIN|,)\s*(\w+)(?:\s+(?:AS\s+)?(\w+))?", re.IGNORECASE)
_READ = re.compile(r"\w+")


@dataclass(frozen=True, slots=True)
class Words:
    """The names that a query may use.

    Attributes:
        tables: by table or view, its columns.
        functions: names of functions.
    """

    tables: Mapping[str, Sequence[str]]
    functions: Sequence[str]

    @classmethod
    def of(cls, project: Project) -> Words:
        """Return the words of a project."""
        from headwater.analyze.inference.catalogue import find
        from headwater.lake.protocol.commits import COLUMNS, COMMITS
        from headwater.serve.information_schema import INFORMATION_SCHEMA, RELATIONS, defined

        tables: dict[str, Sequence[str]] = {COMMITS: [name for name, *_ in COLUMNS]}
        for each in defined(project):
            tables[each.name] = [field.name for field in each.fields or ()]
        tables[INFORMATION_SCHEMA] = RELATIONS
        names = {each.name for each in find("") if re.fullmatch(r"[a-z]\w*", each.name)}
        return cls(tables, sorted(names))

    def fitting(self, before: str) -> tuple[str, list[str]]:
        """Return the word at the cursor, and what it may become.

        Args:
            before: the text before the cursor.
        """
        found = _NAME.search(before)
        assert found is not None  # it matches the empty text
        owner, word = found[1], found[2]
        start = before[: found.start()]
        if owner:
            alias = {made.lower(): name.lower() for name, made in _ALIASED.findall(before) if made}
            offered: Iterable[str] = self.tables.get(alias.get(owner.lower(), owner.lower()), ())
        elif _SHOW_FOLLOWS.match(start):
            from headwater.serve.show import SUBJECTS

            offered = SUBJECTS
        elif _TABLES_FOLLOW.search(start):
            offered = self.tables
        elif not word:
            offered = ()
        else:
            offered = self._everywhere(before)
        fits = (each for each in offered if each.lower().startswith(word.lower()))
        return word, list(dict.fromkeys(_in_case(each, word) for each in fits))

    def _everywhere(self, before: str) -> Iterator[str]:
        """Columns of the tables that the text names come first."""
        named = {each.lower() for each in _READ.findall(before)}
        for table, columns in self.tables.items():
            if table in named:
                yield from columns
        yield from self.tables
        yield from KEYWORDS
        yield from self.functions
        for columns in self.tables.values():
            yield from columns


def _in_case(word: str, typed: str) -> str:
    """Keywords are completed in the case in which a person types them."""
    if word.isupper() and typed[:1].islower():
        return word.lower()
    return word
