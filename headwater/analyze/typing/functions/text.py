"""Functions over text."""

from __future__ import annotations

from sqlglot import exp

from headwater.analyze.typing import types as t
from headwater.analyze.typing.functions.entry import Function, Table, always
from headwater.analyze.typing.functions.lines import line, named

_TEXT, _LENGTH, _TEST = always(t.VARCHAR), always(t.BIGINT), always(t.BOOLEAN)
_PATTERN = (
    "Patterns mean what they mean in Trino: `\\w`, `\\d` and `\\s` are ASCII, `$` is also before a"
    " last line feed. What engines read differently is refused with its place: lookaround,"
    " backreferences, `\\b`, `\\p{…}`, `[[:alpha:]]`."
)
_NOT_EMPTY = "A pattern that matches an empty text, or that ends with `$`, is refused."
REGEXP_COUNT, REGEXP_EXTRACT_ALL, REGEXP_SPLIT = map(
    named, ("regexp_count", "regexp_extract_all", "regexp_split")
)
_STEPS = "list_transform(range(1, length(_{}) + 1), lambda {}: [{}])"
_LEVENSHTEIN = (
    "CASE WHEN strlen(_1) = length(_1) AND strlen(_2) = length(_2) THEN levenshtein(_1, _2)"
    f" ELSE list_last(list_reduce({_STEPS.format(1, 'i', 'i')}, lambda r, i: list_reduce("
    f"{_STEPS.format(2, 'j', 'j')}, lambda n, j: list_append(n, least(r[j[1] + 1] + 1,"
    " list_last(n) + 1, r[j[1]] + CASE WHEN substr(_1, i[1], 1) = substr(_2, j[1], 1) THEN 0"
    " ELSE 1 END)), [i[1]]), range(0, length(_2) + 1))) END"
)
"""DuckDB counts bytes; of other letters the distance is computed row by row."""

MOST_PADDED = 1_000_000
"""Characters of a padded text: a length beyond them is taken for a mistake."""


def _unpadded(node: exp.Expr) -> str:
    """The condition that lpad or rpad fails; check reads literals."""
    length, padding = node.expression, node.args["fill_pattern"]
    conditions = []
    if not isinstance(length, exp.Literal):
        conditions.append(f"_2 NOT BETWEEN 0 AND {MOST_PADDED}")
    if not isinstance(padding, exp.Literal):
        conditions.append("_3 = ''")
    return " OR ".join(conditions)


def _uncoded(node: exp.Expr) -> str:
    """The condition that codepoint fails; a text that is padded to a character never does."""
    value = node.expressions[0].unnest()
    one = isinstance(value, exp.Pad) and value.expression.name == "1"
    return "" if one else "length(_1) <> 1"


TEXT: Table = {
    exp.Concat: Function(
        "concat",
        "concat(text, …)",
        "Joins texts, or arrays; the operator `||` does the same.",
        (
            ("concat('head', 'water')", "'headwater'"),
            ("concat('head', NULL)", "NULL"),
            ("concat(ARRAY[1], ARRAY[2, 3])", "[1, 2, 3]"),
        ),
        "A value beside an array is joined to it as an element.",
        params=("text", "text*"),
        result=_TEXT,
    ),
    exp.ConcatWs: Function(
        "concat_ws",
        "concat_ws(separator, text, …)",
        "Joins texts with a separator between them and leaves out texts that are NULL.",
        (("concat_ws('-', 'a', NULL, 'b')", "'a-b'"),),
        params=("text", "text*"),
        result=_TEXT,
    ),
    exp.Lower: Function(
        "lower",
        "lower(text)",
        "Returns the text in lower case.",
        (("lower('ÅRE')", "'åre'"), ("lower('ΣΑΣ')", "'σασ'")),
        "Each letter becomes one letter, as in Trino; Spark looks at the word around it.",
        params=("text",),
        result=_TEXT,
    ),
    exp.Upper: Function(
        "upper",
        "upper(text)",
        "Returns the text in upper case.",
        (("upper('åre')", "'ÅRE'"), ("upper('straße')", "'STRAßE'")),
        "Each letter becomes one letter, as in Trino; Spark writes `SS` for `ß`, DuckDB `ẞ`.",
        params=("text",),
        result=_TEXT,
    ),
    exp.Trim: Function(
        "trim",
        "trim([BOTH characters FROM] text)",
        "Removes white space, or the characters given, from both ends; `ltrim` and `rtrim` do one"
        " end.",
        (
            ("trim('  a b ')", "'a b'"),
            ("ltrim('  a b ')", "'a b '"),
            ("trim(TRAILING '.,' FROM 'a.,.')", "'a'"),
        ),
        "White space is what Trino takes for it: tabs and line breaks too, but no no-break space."
        " Spark removes blanks only.",
        params=("text", "text?"),
        result=_TEXT,
    ),
    exp.Reverse: Function(
        "reverse",
        "reverse(text)",
        "Returns the text with its characters in reverse order.",
        (("reverse('abc')", "'cba'"),),
        "DuckDB keeps accents behind their letters; Headwater turns round every character.",
        params=("text",),
        result=_TEXT,
    ),
    exp.Replace: Function(
        "replace",
        "replace(text, search[, replacement])",
        "Replaces every occurrence of a text; without a replacement, removes it.",
        (
            ("replace('a-b-c', '-', '+')", "'a+b+c'"),
            ("replace('a-b-c', '-')", "'abc'"),
            ("replace('ab', '', '-')", "'-a-b-'"),
        ),
        "An empty text is found around every character, as in Trino; Spark and DuckDB find none.",
        params=("text", "text", "text?"),
        result=_TEXT,
    ),
    exp.Substring: Function(
        "substr",
        "substr(text, start[, length])",
        "Returns a part of the text; the first character is 1, and a negative start counts from"
        " the end.",
        (
            ("substr('headwater', 5)", "'water'"),
            ("substr('headwater', -5, 3)", "'wat'"),
            ("substr('ab', -5)", "''"),
        ),
        "A start of 0, or before the first character, gives an empty text, as in Trino.",
        params=("text", "integer", "integer?"),
        result=_TEXT,
    ),
    exp.Pad: Function(
        "lpad",
        "lpad(text, length, padding)",
        "Fills the text on the left to a length, and cuts longer text; `rpad` fills on the right.",
        (("lpad('7', 3, '0')", "'007'"), ("rpad('7', 3, '.')", "'7..'")),
        "It fails for a negative length, a length over 1,000,000, and an empty padding.",
        params=("text", "integer", "text"),
        result=_TEXT,
        fails=_unpadded,
    ),
    exp.SplitPart: Function(
        "split_part",
        "split_part(text, delimiter, n)",
        "Returns the n-th part between delimiters, or NULL beyond the last part.",
        (("split_part('a/b/c', '/', 2)", "'b'"), ("split_part('a/b/c', '/', 9)", "NULL")),
        "Spark and DuckDB return an empty text beyond the last part; Headwater translates.",
        params=("text", "text", "integer"),
        result=_TEXT,
        constant=(1, 2),
        nullable="always",
    ),
    exp.Translate: Function(
        "translate",
        "translate(text, from, to)",
        "Replaces each character of `from` by the character of `to` at the same position.",
        (("translate('2,50', ',', '.')", "'2.50'"),),
        params=("text", "text", "text"),
        result=_TEXT,
    ),
    exp.Length: Function(
        "length",
        "length(x)",
        "Counts the characters of a text, or bytes.",
        (("length('åre')", "3"), ("length(to_utf8('åre'))", "4")),
        params=("string",),
        result=_LENGTH,
    ),
    exp.StrPosition: Function(
        "strpos",
        "strpos(text, search)",
        "Returns the position of the first occurrence, or 0 if there is none.",
        (("strpos('headwater', 'water')", "5"), ("strpos('headwater', 'fire')", "0")),
        params=("text", "text"),
        result=_LENGTH,
    ),
    exp.StartsWith: Function(
        "starts_with",
        "starts_with(text, prefix)",
        "Tests whether the text begins with a prefix.",
        (("starts_with('headwater', 'head')", "true"),),
        params=("text", "text"),
        result=_TEST,
    ),
    exp.RegexpLike: Function(
        "regexp_like",
        "regexp_like(text, pattern)",
        "Tests whether the pattern matches anywhere in the text.",
        (("regexp_like('order 17', '[0-9]+$')", "true"),),
        _PATTERN,
        params=("text", "text"),
        result=_TEST,
        constant=(1,),
    ),
    exp.RegexpReplace: Function(
        "regexp_replace",
        "regexp_replace(text, pattern[, replacement])",
        "Replaces every match; `$1` is the first group, `\\$` a dollar sign; without a"
        " replacement, removes matches.",
        (
            ("regexp_replace('a1b22', '[0-9]+', '#')", "'a#b#'"),
            ("regexp_replace('17 EUR', '([0-9]+) EUR', '\\$$1')", "'$17'"),
        ),
        _PATTERN,
        params=("text", "text", "text?"),
        result=_TEXT,
        constant=(1, 2),
    ),
    exp.RegexpExtract: Function(
        "regexp_extract",
        "regexp_extract(text, pattern[, group])",
        "Returns the first match, or one of its groups; NULL if nothing matches.",
        (
            ("regexp_extract('order 17', '([a-z]+) ([0-9]+)', 2)", "'17'"),
            ("regexp_extract('order', '[0-9]+')", "NULL"),
        ),
        "Spark and DuckDB return an empty text if nothing matches. The group must take part in"
        " every match: write `(a?)`, not `(a)?`.",
        params=("text", "text", "integer?"),
        result=_TEXT,
        constant=(1, 2),
        nullable="always",
    ),
    exp.Split: Function(
        "split",
        "split(text, delimiter)",
        "Splits the text at every delimiter into an array.",
        (("split('a,b,c', ',')", "[a, b, c]"),),
        params=("text", "text"),
        result=always(t.array(t.VARCHAR)),
        constant=(1,),
    ),
    **dict(
        (
            line(
                "chr(n: bigint) -> VARCHAR",
                "Returns the character with a number in Unicode.",
                "chr(229) -> 'å'",
                # a decoder takes 65279 for the mark of the order of bytes, and leaves it out
                spark="CASE WHEN _1 = 65279 THEN decode(unhex('EFBBBF'), 'UTF-8')"
                " ELSE decode(unhex(lpad(hex(_1), 8, '0')), 'UTF-32') END",
                duckdb="chr(CAST(_1 AS INTEGER))",
                fails="_1 < 0 OR _1 > 1114111 OR _1 BETWEEN 55296 AND 57343",
            ),
            line(
                "codepoint(character: text) -> INTEGER",
                "Returns the number in Unicode of a character.",
                "codepoint('å') -> 229",
                spark="ascii(_1)",
                duckdb="unicode(_1)",
                trino="codepoint(CAST(_1 AS VARCHAR(1)))",
                fails=_uncoded,
                engines="It fails for a text that is not one character.",
            ),
            line(
                "hamming_distance(x: text, y: text) -> BIGINT",
                "Counts the places at which two texts of one length differ.",
                "hamming_distance('karolin', 'kathrin') -> 3",
                spark="aggregate(zip_with(split(_1, ''), split(_2, ''), (l, r) -> l <> r), 0,"
                " (n, d) -> n + CASE WHEN d THEN 1 ELSE 0 END)",
                duckdb="CASE WHEN _1 IS NOT NULL AND _2 IS NOT NULL THEN len(list_filter("
                "range(1, length(_1) + 1), lambda i: substr(_1, i, 1) <> substr(_2, i, 1))) END",
                fails="length(_1) <> length(_2)",
                engines="It fails for texts of different lengths.",
            ),
            line(
                "levenshtein_distance(x: text, y: text) -> BIGINT",
                "Counts the characters to insert, remove or replace to make one text of another.",
                "levenshtein_distance('kitten', 'sitting') -> 3",
                spark="levenshtein(_1, _2)",
                duckdb=_LEVENSHTEIN,
                node=exp.Levenshtein,
                engines="DuckDB counts bytes; Headwater counts characters.",
            ),
            line(
                "regexp_count(text: text, pattern: text!) -> BIGINT",
                "Counts the matches of a pattern.",
                "regexp_count('a1b22', '[0-9]+') -> 2",
                node=REGEXP_COUNT,
                engines=_NOT_EMPTY,
            ),
            line(
                "regexp_extract_all(text: text, pattern: text!, group: integer?!) ->"
                " ARRAY(VARCHAR)",
                "Returns all matches of a pattern, or one of their groups.",
                "regexp_extract_all('a1b22', '[0-9]+') -> [1, 22]",
                "regexp_extract_all('a1b22', '([a-z])[0-9]+', 1) -> [a, b]",
                node=REGEXP_EXTRACT_ALL,
                engines=_NOT_EMPTY,
            ),
            line(
                "regexp_split(text: text, pattern: text!) -> ARRAY(VARCHAR)",
                "Splits the text at every match of a pattern.",
                "regexp_split('a1b22c', '[0-9]+') -> [a, b, c]",
                node=REGEXP_SPLIT,
                engines=_NOT_EMPTY,
            ),
        )
    ),
}
