"""What a dialect means otherwise than Trino by the same words.

In: a statement as the parser of its dialect left it. Out: the same statement with Trino's meaning,
changed in place; or a refusal with place and hint, if the meaning depends on what the text does not
say. Names and forms that Trino lacks are translated by sqlglot, or refused by the binder.
"""

from __future__ import annotations

from collections.abc import Mapping
from decimal import Decimal

from sqlglot import exp

from headwater.dialect.json_paths import failing_value
from headwater.dialect.meanings import arrays, functions, json_made, times
from headwater.dialect.meanings import text as words
from headwater.dialect.meanings.duckdb import MEANINGS as DUCKDB
from headwater.dialect.meanings.flink import MEANINGS as FLINK
from headwater.dialect.meanings.postgres import MEANINGS as POSTGRES
from headwater.dialect.meanings.spark import MEANINGS as SPARK
from headwater.dialect.meanings.text import Meaning
from headwater.dialect.splitter import MEANT_AS
from headwater.dialect.syntax import DIALECT, GIVEN

_DIFFERENT = (
    *(exp.Anonymous, exp.Bracket, exp.AtTimeZone, exp.Cast),
    *(exp.Add, exp.Sub, exp.Div, exp.DPipe, exp.Avg, exp.Round, exp.Extract),
    *(exp.Stddev, exp.StddevPop, exp.StddevSamp, exp.Variance, exp.VariancePop),
    *(exp.EQ, exp.NEQ, exp.LT, exp.LTE, exp.GT, exp.GTE, exp.Between, exp.In),
)
"""Nodes of which the binder asks in which dialect they were written."""
_BITS = (exp.BitwiseAnd, exp.BitwiseOr, exp.BitwiseXor)


def give_trinos_meaning(statement: exp.Expr, dialect: str) -> None:
    """Rewrite a statement so that Trino's rules give what its dialect means.

    Args:
        statement: a parsed statement; changed in place.
        dialect: one of :data:`~headwater.dialect.splitter.BODY_DIALECTS`.

    Raises:
        DialectError: NOT_PORTABLE, the meaning cannot be kept.
    """
    dialect = MEANT_AS.get(dialect, dialect)
    meanings = MEANINGS.get(dialect, {})
    query = statement if isinstance(statement, exp.Query) else statement.args.get("expression")
    for node in reversed(list(query.walk())) if isinstance(query, exp.Query) else ():
        if isinstance(node, _DIFFERENT) and dialect != "trino":
            node.meta[DIALECT] = dialect
        meaning = meanings.get(type(node))
        changed = meaning(node) if meaning else node
        if changed is not node:
            node.replace(changed)
            place = {key: value for key, value in node.meta.items() if key != GIVEN}
            if isinstance(changed, exp.Anonymous):  # a call of Trino's function
                place.pop(DIALECT, None)
            changed.meta.update(place)


# -- NULL among arguments


def _extreme(node: exp.Expr) -> exp.Expr:
    """``greatest`` and ``least`` that leave NULLs out: each argument stands in for a NULL."""
    if not node.args.get("ignore_nulls"):
        return node
    node.set("ignore_nulls", False)
    given = [node.this, *node.expressions]
    if len(given) > 1:
        turned = [given[at:] + given[:at] for at in range(len(given))]
        first, *others = (_first_given(each) for each in turned)
        node.set("this", first)
        node.set("expressions", others)
    return node


def _first_given(values: list[exp.Expr]) -> exp.Coalesce:
    first, *others = (value.copy() for value in values)
    return exp.Coalesce(this=first, expressions=others)


def _joined(node: exp.Expr) -> exp.Expr:
    """``concat`` that takes NULL for an empty text."""
    if node.args.get("coalesce"):
        node.set("coalesce", False)
        parts = [
            part if part.is_string else exp.Coalesce(this=part.copy(), expressions=[words.text("")])
            for part in node.expressions
        ]
        node.set("expressions", parts)
    return node


def _joined_with(node: exp.Expr) -> exp.Expr:
    """``concat_ws`` that is NULL if one argument is: the operator joins the texts."""
    separator, first, *others = node.expressions
    joined = first.copy()
    for other in others:
        joined = exp.DPipe(this=joined, expression=separator.copy())
        joined = exp.DPipe(this=joined, expression=other.copy())
    return exp.paren(joined, copy=False)


def _texts_only(node: exp.Expr) -> exp.Expr:
    """``concat_ws`` of texts: that of Spark takes arrays as well, which the binder refuses."""
    node.set("safe", False)
    node.set("flatten", None)
    return node


# -- numbers and types


def _strict(node: exp.Expr) -> exp.Expr:
    """CAST of Spark, which fails (ANSI); sqlglot takes it for the one that gives NULL."""
    return node if node.args.get("safe") else exp.Cast(this=node.this.copy(), to=node.args["to"])


def _unsized(precision: int, scale: int) -> Meaning:
    """A DECIMAL without digits has those of its dialect."""

    def sized(node: exp.Expr) -> exp.Expr:
        if node.this is exp.DType.DECIMAL and not node.expressions:
            sizes = (exp.Literal.number(precision), exp.Literal.number(scale))
            node.set("expressions", [exp.DataTypeParam(this=size) for size in sizes])
        return node

    return sized


def _any_scale(node: exp.Expr) -> exp.Expr:
    """A numeric of PostgreSQL without digits keeps those of its value: of a literal, those it has.

    Of anything else its type says them, which the binder knows.
    """
    to = node.args["to"]
    if to.this is not exp.DType.DECIMAL or to.expressions:
        return node
    inner = node.this.unnest()
    literal = inner.this if isinstance(inner, exp.Neg) else inner
    written = isinstance(literal, exp.Literal)
    if not written and type(node) is exp.Cast:
        return node
    if not written or "e" in literal.name.lower():
        words.refuse(
            node,
            "numeric without digits keeps those of each value",
            "write CAST(x AS numeric(18, 6))",
        )
    number = Decimal(literal.name)
    scale = max(-int(number.as_tuple().exponent), 0)
    precision = max(len(number.as_tuple().digits), scale, 1)
    sizes = (exp.Literal.number(precision), exp.Literal.number(scale))
    to.set("expressions", [exp.DataTypeParam(this=size) for size in sizes])
    return node


def _real_is_double(node: exp.Expr) -> exp.Expr:
    if node.this is exp.DType.FLOAT:
        node.set("this", exp.DType.DOUBLE)
    return node


def _point_is_double(node: exp.Expr) -> exp.Expr:
    """A number with a point is a FLOAT64 in BigQuery."""
    plain = node.is_number and "." in node.name and "e" not in node.name.lower()
    if plain and not isinstance(node.parent, exp.Cast):
        node.set("this", f"{node.name}e0")
    return node


def _error_by_zero(node: exp.Expr) -> exp.Expr:
    """A division of Spark by zero fails (ANSI)."""
    node.set("safe", False)
    return node


def _bits_in_order(node: exp.Expr) -> exp.Expr:
    """``&`` binds before ``^``, and ``^`` before ``|``; sqlglot reads them from left to right."""
    for side in (node.this, node.args.get("expression")):
        if isinstance(side, _BITS) and type(side) is not type(node):
            words.refuse(
                node, "&, ^ and | stand beside each other", "put the inner part in brackets"
            )
    return node


def _is_not_null(node: exp.Expr) -> exp.Expr:
    """``x IS NOT NULL`` as sqlglot reads it in other dialects."""
    if not node.args.get("negate"):
        return node
    return exp.Not(this=exp.Is(this=node.this.copy(), expression=node.expression.copy()))


_EVERYWHERE: Mapping[type[exp.Expr], Meaning] = {
    exp.Left: functions.beginning,
    exp.Right: functions.end,
    exp.ILike: words.among(functions.alike),
}
_GATHERED: Mapping[type[exp.Expr], Meaning] = dict.fromkeys(
    (exp.ArrayAgg, exp.ArrayUniqueAgg), functions.gathered
)
_JSON: Mapping[type[exp.Expr], Meaning] = {exp.JSONExtractScalar: failing_value}
_JOINED = functions.named("array_join", "this", "expression", "null")
_DIGESTS: Mapping[type[exp.Expr], Meaning] = {
    exp.MD5: functions.digest("md5"),
    exp.SHA: functions.digest("sha1"),
    exp.SHA2: functions.digest("sha256"),
}
_LAMBDAS: Mapping[type[exp.Expr], Meaning] = {
    exp.Transform: functions.named("transform", "this", "expression"),
    exp.ArrayFilter: functions.named("filter", "this", "expression"),
}
_TRINO_CALLS: functions.Calls = {"json_array": (0, 99, json_made.array_of_values)}
_EXTREMES: Mapping[type[exp.Expr], Meaning] = {exp.Greatest: _extreme, exp.Least: _extreme}

MEANINGS: Mapping[str, Mapping[type[exp.Expr], Meaning]] = {
    "trino": {
        **_EVERYWHERE,
        exp.Anonymous: functions.by_name(_TRINO_CALLS, times.called),
        exp.Extract: times.part,
        exp.Floor: times.rounded_down,
        exp.JSONFormat: json_made.formatted,
        exp.JSONObject: json_made.object_of_pairs,
        exp.StrToTime: times.read,
        exp.ParseDatetime: times.read_datetime,
    },
    "spark": {
        **_EVERYWHERE,
        **SPARK,
        **_EXTREMES,
        **_GATHERED,
        **_JSON,
        **_LAMBDAS,
        exp.Bracket: functions.element(0, fails=True),
        exp.ArrayToString: _JOINED,
        exp.RegexpSplit: functions.named("regexp_split", "this", "expression"),
        exp.DayOfWeek: functions.day_of_week(1),
        **dict.fromkeys((exp.Ln, exp.Log), functions.of_positive),
        exp.TimeToStr: functions.exact_letters,
        exp.Substring: words.counted_from_end(shorter=True),
        exp.ConcatWs: _texts_only,
        exp.SplitPart: words.part,
        exp.Like: words.among(words.escaped),
        exp.RegexpExtract: words.or_empty,
        exp.TryCast: _strict,
        exp.DataType: _unsized(10, 0),
        exp.Div: _error_by_zero,
        exp.Any: functions.any_row,
        exp.Extract: times.parts(1),
        exp.StrToTime: times.read,
        exp.TimestampDiff: times.elapsed,
        exp.TsOrDsToDate: times.as_date,
        exp.TsOrDsAdd: times.days_later,
        **_DIGESTS,
        **dict.fromkeys(_BITS, _bits_in_order),
    },
    "duckdb": {
        **_EVERYWHERE,
        **DUCKDB,
        **_EXTREMES,
        **_JSON,
        exp.Like: words.among(),
        **_DIGESTS,
        **_LAMBDAS,
        exp.Bracket: arrays.element_or_part,
        exp.ArrayToString: _JOINED,
        exp.DayOfWeek: functions.day_of_week(0),
        exp.Log: functions.common_logarithm,
        exp.Levenshtein: functions.bytes_apart,
        exp.StrToTime: times.read,
        exp.DateDiff: times.boundaries,
        exp.Concat: _joined,
        exp.ConcatWs: _texts_only,
        exp.Substring: words.zero_is_a_place,
        exp.SplitPart: words.part,
        exp.RegexpReplace: words.replaced_once,
        exp.RegexpExtract: words.or_empty,
        exp.Extract: times.parts(0, "DOUBLE"),
    },
    "postgres": {
        **_EVERYWHERE,
        **POSTGRES,
        **_EXTREMES,
        **_JSON,
        exp.MD5: functions.digest("md5"),
        exp.Bracket: arrays.element_or_part,
        exp.ArrayToString: _JOINED,
        exp.ArraySize: functions.length_or_null,
        exp.Log: functions.common_logarithm,
        exp.Concat: _joined,
        exp.ConcatWs: _texts_only,
        exp.Substring: words.placed,
        exp.SplitPart: words.part,
        exp.Like: words.among(words.escaped),
        exp.RegexpReplace: words.replaced_once,
        exp.Cast: _any_scale,
        exp.TryCast: _any_scale,
        exp.Extract: times.parts(0, "DECIMAL(20, 6)"),
        exp.Is: _is_not_null,
    },
    "snowflake": {
        exp.Trim: words.blanks,
        **_EXTREMES,
        **_GATHERED,
        **_JSON,
        exp.Like: words.among(),
        **_DIGESTS,
        **_EVERYWHERE,
        exp.Bracket: functions.element(0, fails=False),
        exp.DateDiff: times.boundaries,
        exp.ConcatWs: _joined_with,
        exp.Substring: words.counted_from_end(shorter=True),
        exp.SplitPart: words.part,
        exp.RegexpLike: words.matches_all,
        exp.RegexpReplace: words.references,
        exp.DataType: _real_is_double,
    },
    "bigquery": {
        **_EVERYWHERE,
        exp.Substring: words.counted_from_end(shorter=False),
        exp.Like: words.among(words.escaped),
        exp.RegexpReplace: words.references,
        exp.DataType: _unsized(38, 9),
        exp.Literal: _point_is_double,
        exp.Extract: times.parts(1, week="isoweek"),
        **dict.fromkeys(_BITS, _bits_in_order),
    },
    "flink": {**_EVERYWHERE, **_DIGESTS, **FLINK},
}
"""By dialect and class of a node, what it means there."""
