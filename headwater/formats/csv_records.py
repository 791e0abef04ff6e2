"""Where a record of CSV begins and ends, as RFC 4180 says, also in files that others cut by lines.

In: the options of ``ENCODE CSV``. Out: a regular expression, the same for Java and Python, and the
Spark SQL that cuts a file by it.

A value may be in quotes, and then holds separators and line breaks; a quote within is written twice
or behind the option ``escape``. Without quotes a value has none of these. A line ends with CR LF,
LF or CR. What is no record by these rules is cut off at the end of its line, so that it spoils
no other one.

Nearly every line of nearly every file is a record. So files are read by lines, which Spark splits
and spreads, unless a scan finds a line that is not for sure (:func:`is_no_record`). Such a file is
read as one text.
"""

from __future__ import annotations

import re

from headwater.analyze.definitions import Source
from headwater.formats.columns import VALUE
from headwater.plan.sql.spark_text import text

WHOLE = ("text", "value STRING", {"wholetext": "true"})
"""Format, columns and options of files as one text each."""
MAX_WHOLE_BYTES = 128_000_000
_END = r"(?:\r\n|\n|\r|\Z)"


def pattern(source: Source) -> str:
    """Return the regular expression of the next record, its first group, with the line's end."""
    return rf"({record(source)}(?=[\r\n]|\Z)|[^\r\n]*+){_END}"


def record(source: Source) -> str:
    """Return the regular expression of one record."""
    between, value = re.escape(_delimiter(source)), _value(source)
    return f"{value}(?:{between}{value})*+"


def values(source: Source, one: str) -> tuple[str, ...]:
    """Return the values of a record as text; all of it, if it is none.

    Args:
        one: the record.
    """
    if not re.fullmatch(record(source), one):
        return (one,)
    quote, escape = _quote(source)
    between = re.compile(f"{re.escape(_delimiter(source))}({_value(source)})")
    found = between.findall(_delimiter(source) + one)
    hidden = re.compile(f"{re.escape(escape)}([{re.escape(quote + escape)}])")
    return tuple(
        hidden.sub(r"\1", each[len(quote) : -len(quote)]) if each.startswith(quote) else each
        for each in found
    )


def _value(source: Source) -> str:
    quote, escape = _quote(source)
    between, q, e = (re.escape(each) for each in (_delimiter(source), quote, escape))
    in_quotes = rf"{q}[^{q}]*+(?:{q}{q}[^{q}]*+)*+{q}"
    if escape != quote:
        in_quotes = rf"{q}(?:[^{q}{e}]++|{e}[\s\S])*+{q}"
    return rf"(?:{in_quotes}|(?:(?!{between})[^{q}\r\n])*+)"


def _delimiter(source: Source) -> str:
    return source.encode_options.get("delimiter", ",").replace(r"\t", "\t")


def _quote(source: Source) -> tuple[str, str]:
    """The quote, and what stands before one within a value."""
    return source.encode_options.get("quote", '"'), source.encode_options.get("escape", '"')


def is_no_record(source: Source, line: str) -> str:
    """Return the condition that a line may be a part of a record, or hold more than one.

    Args:
        line: expression of the line, split off at LF.
    """
    quote, escape = _quote(source)
    odd = [_is_odd(line, quote)]
    if escape != quote:
        bare = f"replace(replace({line}, {text(escape * 2)}, ''), {text(escape + quote)}, '')"
        odd.append(_is_odd(bare, quote))
    carriage_returns = f"contains(rtrim('\\r', {line}), '\\r')"
    return f"({' OR '.join([*odd, carriage_returns])})"


def _is_odd(value: str, quote: str) -> str:
    rest = f"octet_length(replace({value}, {text(quote)}, ''))"
    return f"(octet_length({value}) - {rest}) % {2 * len(quote.encode())} <> 0"


def cut(source: Source, content: str) -> str:
    """Return the array of the records of a file, also the empty ones.

    Args:
        content: expression of the file as one text.
    """
    # a character a byte: bytes that are no UTF-8 stay what they are, and are found later
    bare = f"IF(startswith({content}, '\\ufeff'), substring({content}, 2), {content})"
    of_bytes = f"decode(CAST({bare} AS BINARY), 'ISO-8859-1')"
    expression = rf"\G{pattern(source)}".encode().decode("latin-1")
    cut_off = f"regexp_extract_all({of_bytes}, {text(expression)}, 1)"
    return f"transform({cut_off}, r -> CAST(encode(r, 'ISO-8859-1') AS STRING))"


def misplaced_quote(source: Source) -> tuple[str, str]:
    """Return the condition that a record is none, and the reason."""
    quote = text(_quote(source)[0])
    whole = text(rf"^{record(source)}\Z")
    reason = "unbalanced quotes: a value with a quote in it is in quotes, and has it twice"
    return (
        f"contains({VALUE}, {quote}) AND NOT rtrim('\\r', {VALUE}) RLIKE {whole}",
        text(reason),
    )
