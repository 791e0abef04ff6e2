"""The relations of one FROM clause and the names in them.

In: bound FROM items. Out: columns resolved to ``alias.column`` with type and nullability, or an
error that names the nearest column.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from sqlglot import exp

from headwater.algebra.scalars import BOUND
from headwater.algebra.scalars import NULLABLE as NULLABLE
from headwater.analyze.definitions import Field
from headwater.analyze.diagnostics import Diagnostics
from headwater.analyze.query_parts import outputs_named
from headwater.analyze.typing import types as t
from headwater.dialect.advice import CURLY, text_hint
from headwater.dialect.syntax import IN_QUOTES
from headwater.dialect.vocabulary import (
    UNITS,
    is_repeated,
    is_system_column,
    name_shown,
    told_apart,
)
from headwater.errors.nearest import did_you_mean, nearest, slip_of

OF_STAR = "of_star"
"""Key of ``meta`` of what ``*`` stands for: the name of the relation or row that it is of."""
_WORDS = ("DISTINCT", "NULL", "TRUE", "FALSE", "CURRENT_DATE", "CURRENT_TIMESTAMP", "LOCALTIME")
"""Words that stand where a column may."""
_COMPARED = (exp.Predicate, exp.In, exp.Between, exp.If, exp.Case, exp.Coalesce, exp.DPipe)
"""Where a text stands beside a column."""
MARK = "mark"
"""Key of ``Column.meta``: the number of a column of a subquery, in every copy of it."""


@dataclass(frozen=True, slots=True)
class Relation:
    """One FROM item.

    Attributes:
        alias: the name its columns are qualified with.
        fields: its columns by name, in order.
        node: the bound node.
        hidden: columns that ``*`` leaves out and plain names do not find (the second one of USING).
        broken: whether its columns are unknown because it has errors of its own.
        computed: what stands for its columns if no FROM item has them (LATERAL): bound expressions
            over the relations before it.
        twice: columns that more than one FROM item in brackets has.
        key: columns that no two of its rows share, as far as known; None if no key is.
        reads: the marks of columns of subqueries that belong to it.
    """

    alias: str
    fields: Mapping[str, Field]
    node: exp.Expr
    hidden: frozenset[str] = frozenset()
    broken: bool = False
    computed: Mapping[str, exp.Expr] | None = None
    twice: frozenset[str] = frozenset()
    key: Sequence[str] | None = None
    reads: dict[int, exp.Column] = dataclasses.field(default_factory=dict, compare=False)

    @property
    def shown(self) -> list[str]:
        """The columns that ``*`` shows."""
        names = (name for name in self.fields if name not in self.hidden)
        return [name for name in names if not is_system_column(name)]

    def repeats(self, name: str) -> bool:
        """Return whether more than one of its columns was written with a name."""
        return told_apart((name, name))[1] in self.fields

    def optional(self) -> Relation:
        """Return the relation as an outer join shows it: every column can be NULL."""
        fields = {name: replace(field, nullable=True) for name, field in self.fields.items()}
        computed = self.computed and {name: _optional(each) for name, each in self.computed.items()}
        return replace(self, fields=fields, computed=computed)


def _optional(value: exp.Expr) -> exp.Expr:
    """A copy of a value over columns that an outer join can leave NULL."""
    root = exp.Paren(this=value.copy())
    for column in root.find_all(exp.Column):
        column.meta[NULLABLE] = True
    found: exp.Expr = root.this
    return found.pop()


def as_fields(fields: Sequence[Field]) -> dict[str, Field]:
    """Return fields by name, the first one of each name."""
    found: dict[str, Field] = {}
    for field in fields:
        found.setdefault(field.name, field)
    return found


def knows(column: exp.Column, relations: Sequence[Relation]) -> bool:
    """Return whether some relations have the column that a name can mean."""
    parts = [part.name for part in column.parts]
    by_alias = {relation.alias for relation in relations}
    if len(parts) > 1 and parts[0] in by_alias:
        return True
    return any(parts[0] in each.fields and parts[0] not in each.hidden for each in relations)


def note_read(column: exp.Column, relations: Sequence[Relation]) -> None:
    """Note that a column of a subquery belongs to the nearest one of the relations around it.

    Args:
        column: as parsed.
        relations: what the queries around read, the nearest query last.
    """
    mark = column.meta.get(MARK)
    owner = next((each for each in reversed(relations) if knows(column, [each])), None)
    if mark is not None and owner is not None:
        owner.reads[mark] = column.copy()


def is_beyond(
    column: exp.Column,
    relations: Sequence[Relation],
    beyond: Sequence[Relation],
    report: Diagnostics,
) -> bool:
    """Refuse a column that only a query around has, where none can be read; return whether it is.

    Args:
        relations: what can be read here.
        beyond: what the queries around read.
    """
    if any(each.broken for each in relations) or knows(column, relations):
        return False
    if not knows(column, beyond):
        return False
    note_read(column, beyond)
    words = "a column of a query around, in FROM, in ON or two levels below it"
    report.not_yet(words, column, "write it as a join, or make the subquery a view of its own")
    column.type = t.UNKNOWN
    return True


def resolve(column: exp.Column, relations: Sequence[Relation], report: Diagnostics) -> None:
    """Qualify a column, set its type and nullability; report a name that is unknown or ambiguous.

    Args:
        column: as parsed; changed in place (a field of a row becomes ``exp.Dot``).
    """
    parts = [part.name for part in column.parts]
    if any(relation.broken for relation in relations):
        column.type = t.UNKNOWN
        return
    by_alias = {relation.alias: relation for relation in relations}
    if len(parts) > 1 and parts[0] in by_alias:
        relation, name, rest = by_alias[parts[0]], parts[1], parts[2:]
        if name not in relation.fields:
            _unknown(column, name, [relation], report)
            return
    else:
        holders = [
            relation
            for relation in relations
            if parts[0] in relation.fields and parts[0] not in relation.hidden
        ]
        if not holders and len(parts) > 1:
            hint = did_you_mean(parts[0], by_alias, "relations")
            report.add("UNKNOWN_TABLE", f'"{parts[0]}" is not in FROM', column, hint)
            column.type = t.UNKNOWN
            return
        if len(holders) != 1:
            _unknown(column, parts[0], holders or relations, report, ambiguous=bool(holders))
            return
        relation, name, rest = holders[0], parts[0], parts[1:]
    if OF_STAR in column.meta:
        _bind(column, relation, name, rest)
        return
    if is_repeated(name):
        _unknown(column, name, [relation], report)
        return
    if relation.repeats(name):
        column.type = t.UNKNOWN
        hint = "rename one of them with AS, or name the columns: AS q (a, b)"
        message = f'column "{name}" is ambiguous: "{relation.alias}" has two of that name'
        report.add("AMBIGUOUS_COLUMN", message, column, hint)
        return
    _bind(column, relation, name, rest)


def _bind(column: exp.Column, relation: Relation, name: str, rest: Sequence[str]) -> None:
    identifiers = {part.name: part for part in column.parts}
    field = relation.fields[name]
    bound: exp.Expr
    if relation.computed:
        bound = relation.computed[name].copy()
    else:
        bound = exp.Column(this=identifiers[name].copy(), table=exp.to_identifier(relation.alias))
        bound.meta.update({**column.meta, NULLABLE: field.nullable, BOUND: field.bound})
        bound.type = field.type.copy()
    if not rest and isinstance(bound, exp.Column):
        column.set("this", bound.this)
        column.set("table", bound.args["table"])
        column.set("db", None)
        column.set("catalog", None)
        column.meta.update(bound.meta)
        column.type = bound.type
        return
    nested = bound
    for part in rest:
        nested = exp.Dot(this=nested, expression=identifiers[part].copy())
    column.replace(nested)


def _unknown(
    column: exp.Column,
    name: str,
    relations: Sequence[Relation],
    report: Diagnostics,
    *,
    ambiguous: bool = False,
) -> None:
    column.type = t.UNKNOWN
    if ambiguous:
        choices = " or ".join(f"{relation.alias}.{name}" for relation in relations)
        report.add("AMBIGUOUS_COLUMN", f'column "{name}" is ambiguous', column, f"write {choices}")
        return
    fields = [known for relation in relations for known in relation.fields]
    known = [*dict.fromkeys(name_shown(known) for known in fields if not is_system_column(known))]
    only = relations[0].alias if len(relations) == 1 else "_"
    where = "" if only.startswith("_") else f' in "{only}"'  # queries that nobody wrote: _ordered
    hint = meant_by(column, name, known)
    report.add("UNKNOWN_COLUMN", f'column "{name}" does not exist{where}', column, hint)


def meant_by(column: exp.Column, name: str, known: Sequence[str]) -> str:
    """Return a hint for a column that does not exist.

    Args:
        column: as parsed.
        name: the part of it that is not known.
        known: the columns that there are.
    """
    if hint := _other_word(column, name):
        return hint
    is_plain = len(column.parts) == 1
    written = str(column.this.meta.get(IN_QUOTES, ""))
    slip = slip_of(name, known)
    is_text = name[:1] in CURLY or (written and _is_value(column, name, known))
    if is_plain and not slip and is_text:
        return text_hint((written or name).strip(CURLY))
    if is_plain and not slip and not written and (word := slip_of(name, _WORDS)):
        return f"did you mean {word}?"
    if not known:
        return "is FROM missing? Name the table: SELECT … FROM table"
    return did_you_mean(name, known, "columns")


def _is_value(column: exp.Column, name: str, known: Sequence[str]) -> bool:
    """Whether a name in double quotes is rather a text: it is like no column, or compared."""
    return isinstance(column.parent, _COMPARED) or not nearest(name, known)


def _other_word(column: exp.Column, name: str) -> str:
    """Return a hint for a word that other systems do not read as a column."""
    if isinstance(column.parent, exp.Func) and name.upper() in UNITS:
        return f"a unit is a text: date_trunc('{name}', x), date_diff('{name}', from, to)"
    if isinstance(column.parent, exp.Bracket) and name == "map":
        return "write map(ARRAY[key, …], ARRAY[value, …])"
    return ""


def output_named(select: exp.Select, column: exp.Column, report: Diagnostics) -> exp.Expr | None:
    """Return the output that a plain name means, if there is one; report a name that means two."""
    found = outputs_named(select, column.name)
    if len(found) > 1:
        message = f'column "{column.name}" is ambiguous: it is selected twice'
        report.add("AMBIGUOUS_COLUMN", message, column, "rename one of them with AS")
    return found[0] if found else None


def column_of(alias: str, field: Field) -> exp.Column:
    """Return a typed column of a relation."""
    column = exp.column(field.name, table=alias)
    column.type = field.type.copy()
    column.meta.update({NULLABLE: field.nullable, BOUND: field.bound})
    return column


def named_subquery(query: exp.Query, alias: str) -> exp.Subquery:
    """Return a query as a relation of FROM."""
    return exp.Subquery(this=query, alias=exp.TableAlias(this=exp.to_identifier(alias)))
