"""JSON that a query makes: objects, arrays, and values as JSON, all of them texts.

In: nodes as the parser of a dialect left them. Out: :class:`~headwater.dialect.syntax.JSONText` of
values, and texts around them::

    json_object('a': x, 'b': y)    '{"a":' || coalesce(json(x), 'null') || …  || '}'
    jsonb_agg(x)                   json(array_agg(x))

JSON within JSON is known by the call that makes it. A column of text could hold either, so that the
dialects that have a type for JSON say ``x::text`` for a text.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from functools import reduce

from sqlglot import exp

from headwater.dialect.meanings.arrays import call
from headwater.dialect.meanings.text import Meaning
from headwater.dialect.meanings.text import text as literal
from headwater.dialect.rows import values_of
from headwater.dialect.syntax import JSONText

_MADE = "makes JSON"
"""Key of ``meta`` of an expression whose text is JSON."""
_TYPES = (exp.DType.JSON, exp.DType.JSONB)
_NULL = "null"

Pair = tuple[str, exp.Expr]


def formatted(node: exp.Expr) -> exp.Expr:
    """``json_format(CAST(x AS JSON))`` of Trino."""
    value = node.this
    if not isinstance(value, exp.Cast) or value.to.this not in _TYPES or _says_more(node):
        return node
    return JSONText(this=value.this.copy())


def _says_more(node: exp.Expr) -> bool:
    return any(value for key, value in node.args.items() if key not in ("this", "is_json"))


def of_struct(node: exp.Expr) -> exp.Expr:
    """``to_json(x)`` of Spark, which leaves out fields that are NULL; it is a text."""
    made = _of_struct(node)
    made.unnest().meta.pop(_MADE, None)
    return made


def _of_struct(node: exp.Expr) -> exp.Expr:
    if _says_more(node):
        return node
    if not isinstance(node.this, exp.Struct):
        return JSONText(this=node.this.copy(), no_rows=True)
    names = [each.name for each in node.this.expressions if isinstance(each, exp.PropertyEQ)]
    values = [
        _of_struct(exp.JSONFormat(this=each.copy())) if isinstance(each, exp.Struct) else each
        for each in values_of(node.this)
    ]
    if len(names) != len(values) or not all(map(_is_plain, names)):
        return node
    return _object(list(zip(names, values, strict=True)), nulls=False, no_rows=True) or node


def object_of_pairs(node: exp.Expr) -> exp.Expr:
    """``json_object('a': x)``, with NULL unless it says ABSENT ON NULL."""
    handling = node.args.get("null_handling")
    said = any(node.args.get(key) for key in ("unique_keys", "return_type", "encoding"))
    pairs = [_pair(each.this, each.expression) for each in node.expressions]
    if said or None in pairs or handling not in (None, "NULL ON NULL", "ABSENT ON NULL"):
        return node
    return _object([each for each in pairs if each], nulls=handling != "ABSENT ON NULL") or node


def array_of_values(node: exp.Expr) -> exp.Expr:
    """``json_array(x, y)``, without NULLs."""
    return _around("[", _listed([_value(each) for each in node.expressions]), "]")


def built(*, by_key: bool) -> Meaning:
    """``jsonb_build_object('a', x)``.

    Args:
        by_key: whether its keys are in order, and each of them is there once.
    """

    def made(node: exp.Expr) -> exp.Expr:
        given = node.expressions
        pairs = [_pair(*each) for each in zip(given[::2], given[1::2], strict=False)]
        found = [each for each in pairs if each]
        if len(given) != 2 * len(found):
            return node
        if by_key:
            found = sorted(dict(found).items(), key=_place)
        return _object(found, nulls=True, strict=True) or node

    return made


def _place(pair: Pair) -> tuple[int, bytes]:
    """Shorter keys come first in a jsonb."""
    key = pair[0].encode()
    return len(key), key


def built_array(node: exp.Expr) -> exp.Expr:
    """``jsonb_build_array(x, y)``."""
    values = [_or_null(_value(each, strict=True)) for each in node.expressions]
    return _around("[", _joined(values), "]")


def of_value(node: exp.Expr) -> exp.Expr:
    """``to_jsonb(x)``."""
    return _value(node.expressions[0], strict=True)


def gathered(node: exp.Expr) -> exp.Expr:
    """``jsonb_agg(x)``; with FILTER or OVER around it is left."""
    if isinstance(node.parent, (exp.Filter, exp.Window)):
        return node
    return _gathered(node, None)


def gathered_where(node: exp.Expr) -> exp.Expr:
    """``jsonb_agg(x) FILTER (WHERE …)``."""
    inner = node.this
    if isinstance(node.parent, exp.Window) or not _gathers(inner):
        return node
    return _gathered(inner, node.expression)


def _gathers(node: exp.Expr) -> bool:
    named = isinstance(node, exp.Anonymous) and node.name.lower() == "jsonb_agg"
    return named or isinstance(node, exp.JSONArrayAgg)


def _gathered(node: exp.Expr, where: exp.Expr | None) -> exp.Expr:
    said = any(value for key, value in node.args.items() if key not in ("this", "expressions"))
    given = node.expressions if isinstance(node, exp.Anonymous) else [node.this]
    if len(given) != 1 or (said and not isinstance(node, exp.Anonymous)):
        return node
    value = given[0].this if isinstance(given[0], (exp.Order, exp.Distinct)) else given[0]
    made: exp.Expr = exp.ArrayAgg(this=given[0].copy())
    if where is not None:
        made = exp.Filter(this=made, expression=where.copy())
    if not value.unnest().meta.get(_MADE):
        return _marked(JSONText(this=made, strict=True))
    return _around("[", call("array_join", made, literal(",")), "]")


# -- texts


def _pair(key: exp.Expr, value: exp.Expr) -> Pair | None:
    return (key.name, value) if key.is_string and _is_plain(key.name) else None


def _is_plain(key: str) -> bool:
    """Whether a key has no control characters, which are escaped in several ways."""
    return key.isprintable()


def _value(value: exp.Expr, *, no_rows: bool = False, strict: bool = False) -> exp.Expr:
    if value.unnest().meta.get(_MADE):
        return value.copy()
    return _marked(JSONText(this=value.copy(), no_rows=no_rows, strict=strict))


def _object(
    pairs: Sequence[Pair], *, nulls: bool, no_rows: bool = False, strict: bool = False
) -> exp.Expr | None:
    """The text of an object; of none if it has no fields."""
    values = [(key, _value(each, no_rows=no_rows, strict=strict)) for key, each in pairs]
    if not values:
        return _marked(exp.paren(literal("{}")))
    if nulls:
        return _around("{", _joined([_field(key, _or_null(each)) for key, each in values]), "}")
    return _around("{", _listed([_field(key, each) for key, each in values]), "}")


def _field(key: str, value: exp.Expr) -> exp.Expr:
    return exp.DPipe(this=literal(f"{json.dumps(key, ensure_ascii=False)}:"), expression=value)


def _or_null(value: exp.Expr) -> exp.Expr:
    return exp.Coalesce(this=value, expressions=[literal(_NULL)])


def _joined(values: Sequence[exp.Expr]) -> exp.Expr:
    """Texts with commas between them."""
    if not values:
        return literal("")
    return reduce(
        lambda left, right: exp.DPipe(
            this=exp.DPipe(this=left, expression=literal(",")), expression=right
        ),
        values,
    )


def _listed(values: Sequence[exp.Expr]) -> exp.Expr:
    """Texts that are not NULL with commas between them."""
    if not values:
        return literal("")
    return call("array_join", exp.Array(expressions=list(values)), literal(","))


def _around(before: str, inner: exp.Expr, after: str) -> exp.Expr:
    whole = exp.DPipe(this=literal(before), expression=exp.paren(inner, copy=False))
    return _marked(exp.paren(exp.DPipe(this=whole, expression=literal(after)), copy=False))


def _marked(node: exp.Expr) -> exp.Expr:
    node.unnest().meta[_MADE] = True
    return node


OF_POSTGRES: Mapping[str, tuple[int, int, Meaning]] = {
    "json_build_array": (0, 99, built_array),
    "json_build_object": (0, 198, built(by_key=False)),
    "jsonb_agg": (1, 1, gathered),
    "jsonb_build_array": (0, 99, built_array),
    "jsonb_build_object": (0, 198, built(by_key=True)),
    "to_json": (1, 1, of_value),
    "to_jsonb": (1, 1, of_value),
}
"""Calls by name."""
