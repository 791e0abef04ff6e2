"""Functions over text at their edges: expressions and rows whose answers Trino has given.

In: :data:`EXPRESSIONS` over the columns of :data:`ROWS`. Out: Trino's answers, recorded in
``tests/unit/analyze/answers/text.json``; the serving lane asks Trino again.
"""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path
from typing import Any

from headwater.analyze.definitions import View
from headwater.analyze.project import bind
from headwater.dialect import parse

RECORDED = Path(__file__).parents[1] / "unit/analyze/answers/text.json"

ROWS: tuple[tuple[str | None, str | None, int | None], ...] = (
    ("", "", 0),
    ("ab", "b", -5),
    ("\tab\n", "\t", 1),
    ("a,b,c", ",", 2),
    ("a\\_b", "\\", -2),
    ("a_b", "a\\_b", 3),
    ("a%b\\", "%\\", 2147483647),
    ("Straße", "ß", -6),
    ("ﬁrst claß", "ss", 5),
    ("İi ΟΔΟΣ ΣΑΣ.", "Σ", -2147483647),
    ("e\u0301é", "é", 7),
    ("a\U0001f600b", "\U0001f600", 2),
    ("\U0001f600", "_", 4),
    ("a\nb", "a_b", None),
    ("a\nb\n", "a%", 1),
    ("\n", "\n", 1),
    ("ab \n", " ", 3),
    ("Ä", "ä", 1),
    ("KſK", "k", 2),
    ("\xa0a\xa0", "\xa0", 2),
    ("\u2003a\u2003\u2028", "a", 2),
    ("\x1ca\x00b\x1f", "\x00", 2),
    ("foo-12 bar_7", "-1", -3),
    ("2026-11-25T17:30", "T", -16),
    ("$1\\x.y", "$1", 2),
    ("aaa", "aa", 1),
    ("x@y.com, z@w.org", "@", 100),
    ("'quoted' \"twice\"", "'", 1),
    ("ᾳ ᾼ ŉ ǰ ß", "ᾳ", 1),
    ("[a]{b}(c)", "[a]", 1),
    (None, "a", 1),
    ("a", None, 1),
    ("fooBARfoo", "foo", 4),
    ("1 234,50 €", "€", 3),
    ("=cmd", "=", 1),
    ('{"a":12.10}', "a", 1),
    ('{"a":{"b":1.5e7},"c":[10,"x",null,true]}', "b", 1),
    ('{"a":null,"b":"null","c":[]}', "null", 1),
    ('{"a":"{}","b":"[1]","k.k":"dot","k k":"blank","":"none"}', "{}", 1),
    ('{"a":-0,"b":123456789012345678901234567890.10,"c":{"0":"key"}}', "0", 1),
    ('{"a":"\\u00e4\\ud83d\\ude00\\n\\"\\\\","ä":"ö"}', "ä", 1),
    ('[1.50,{"a":[false,"two"]}]', "1", 1),
    ('"just text"', "t", 1),
    ("12.10", "1", 1),
    ("true", "t", 1),
    ("null", "n", 1),
    ('{"a":NaN}', "N", 1),
    ('{"a":[1,2,]}', "1", 1),
    ('{"a":00012}', "0", 1),
    ("{'a':1}", "'", 1),
    ('{"b":tru,"a":1}', "b", 1),
    ('{"b":"x\ty","a":1}', "b", 1),
    (' {"a" : "x" } ', "b", 1),
)
"""Text, a neighbour of it, a number."""

_WRITTEN = r"""
substr(s, 0)
substr(s, 0, 2)
substr(s, 1)
substr(s, 2, 1)
substr(s, -5)
substr(s, -3, 2)
substr(s, -1)
substr(s, 2, 0)
substr(s, 2, -1)
substr(s, 3000000000)
substr(s, 1, 3000000000)
substr(s, i)
substr(s, i, 2)
substr(s, 1, i)
substr(s, -2, abs(i) % 4)
substring(s FROM 2 FOR 3)
trim(s)
ltrim(s)
rtrim(s)
trim(BOTH 'a' FROM s)
trim(LEADING 'ab' FROM s)
trim(TRAILING FROM s)
trim(u FROM s)
trim(s, 'a,')
replace(s, '', '-')
replace(s, 'a', '')
replace(s, u, '_')
replace(s, u, '$1\')
replace(s, u)
replace(s, 'a', u)
replace(s, '', u)
split_part(s, ',', 1)
split_part(s, ',', 2)
split_part(s, ',', 9)
split_part(s, '\', 2)
split_part(s, 'aa', 2)
cardinality(split(s, ','))
element_at(split(s, '\E'), 1)
element_at(split(s, '.'), -1)
upper(s)
lower(s)
reverse(s)
length(s)
length(upper(s))
lpad(s, 4, 'ä')
rpad(s, 4, 'xy')
lpad(s, 0, 'x')
strpos(s, u)
strpos(s, '')
position(u IN s)
starts_with(s, u)
starts_with(s, '')
translate(s, 'ab', 'x')
translate(s, 'aa', 'xy')
translate(s, u, 'z')
translate(s, '', 'z')
concat(s, u)
s || u
concat_ws('-', s, u)
concat_ws(u, s, s)
s LIKE 'a\_b'
s LIKE '%\'
s LIKE 'a_b'
s LIKE 'a%'
s LIKE '%_'
s LIKE '_'
s LIKE ''
s LIKE '%'
s NOT LIKE '%b%'
s LIKE u
s NOT LIKE u
s LIKE '\%'
s LIKE 'a!_b' ESCAPE '!'
s LIKE 'a\_b' ESCAPE '\'
s LIKE '%\\' ESCAPE '\'
s NOT LIKE 'a%%b' ESCAPE '%'
s LIKE '%__b' ESCAPE '_'
s LIKE '[a]%'
regexp_like(s, '(?i)ä')
regexp_like(s, '(?i)Ä')
regexp_like(s, '(?i)ss')
regexp_like(s, '(?i)FIRST CLASS')
regexp_like(s, '(?i)k')
regexp_like(s, '(?i)[a-k]s')
regexp_like(s, '(?i)σ')
regexp_like(s, '(?i:A)b')
regexp_like(s, 'a$')
regexp_like(s, 'b$')
regexp_like(s, 'b\z')
regexp_like(s, '^b')
regexp_like(s, '(?m)^b')
regexp_like(s, '(?m)a$')
regexp_like(s, 'a.b')
regexp_like(s, '(?s)a.b')
regexp_like(s, '^.$')
regexp_like(s, '^.{3}$')
regexp_like(s, '\s$')
regexp_like(s, '^\S+$')
regexp_like(s, '^\w+$')
regexp_like(s, '\W')
regexp_like(s, '\d{2}')
regexp_like(s, '[^\d\W]\D')
regexp_like(s, '[\w.]+@[a-z]+\.(com|org)')
regexp_like(s, '^$')
regexp_like(s, '')
regexp_like(s, '\x{1F600}')
regexp_like(s, '[😀-😂]')
regexp_like(s, '\u00e9|\x41|\t')
regexp_like(s, '[]a-]')
regexp_like(s, '\[a\]\{b}\(c\)')
regexp_like(s, '(a|b)+,')
regexp_like(s, '(?:a{2,}|ab)$')
regexp_like(s, '(,|$)')
regexp_like(s, '\\')
regexp_like(s, '''')
regexp_like(s, '["$]')
regexp_like(s, '\$1')
regexp_replace(s, '.', 'x')
regexp_replace(s, '[^a]', '')
regexp_replace(s, '(.)', '<$1>')
regexp_replace(s, '(.)(.)', '$2$1')
regexp_replace(s, 'a+', '\$')
regexp_replace(s, 'a', '\\')
regexp_replace(s, 'a', '\n')
regexp_replace(s, '(a)', '$12')
regexp_replace(s, '(?<first>a)', '[${first}]')
regexp_replace(s, '(a)?b', '[$1]')
regexp_replace(s, 'a|b')
regexp_replace(s, '^\s+|\s+$', '')
regexp_replace(s, '\s*', '')
regexp_replace(s, 'b$', 'B')
regexp_replace(s, '(b)$|(a)', '<$1$2>')
regexp_replace(s, '[ab]$|1', '<$0>')
regexp_replace(s, '^', '>')
regexp_replace(s, '\z', '<')
regexp_replace(s, '(?m)^a', 'A')
regexp_replace(s, '(?m)a$', 'A')
regexp_replace(s, '[\d.]+', '#')
regexp_replace(s, '(?i)S{2}', 'x')
regexp_replace(s, '(?i)ss', 'x')
regexp_replace(s, 'a*?b', 'x')
regexp_replace(s, '[\t\n]', ' ')
regexp_extract(s, 'l+')
regexp_extract(s, 'b$')
regexp_extract(s, '[^,]*$')
regexp_extract(s, 'a.*$|\S+')
regexp_extract(s, '(\w+)-(\w*)', 2)
regexp_extract(s, '(a+)$', 1)
regexp_extract(s, '(a|b)\s*$', 1)
regexp_extract(s, '^(.).*?(.)$', 1)
regexp_extract(s, '(z?)b', 1)
regexp_extract(s, '(?s)^.+')
regexp_extract(s, 'a*')
regexp_extract(s, '([^@,\s]+)@([a-z]+)', 2)
regexp_extract(s, '(?i)[a-z]+')
regexp_extract(s, '.')
json_extract_scalar(s, '$')
json_extract_scalar(s, '$.a')
json_extract_scalar(s, '$.a.b')
json_extract_scalar(s, '$.b')
json_extract_scalar(s, '$.c[0]')
json_extract_scalar(s, '$.c[2]')
json_extract_scalar(s, '$.c[3]')
json_extract_scalar(s, '$.c.0')
json_extract_scalar(s, '$.c["0"]')
json_extract_scalar(s, '$[0]')
json_extract_scalar(s, '$[1].a[1]')
json_extract_scalar(s, '$["a"]')
json_extract_scalar(s, '$[a]')
json_extract_scalar(s, '$["k.k"]')
json_extract_scalar(s, '$["k k"]')
json_extract_scalar(s, '$[""]')
json_extract_scalar(s, '$.ä')
json_extract_scalar(s, '$.A')
json_extract_scalar(s, '$.a.a')
"""

EXPRESSIONS = tuple(line for line in _WRITTEN.splitlines() if line)
"""Calls that ``check`` accepts."""

ON_PURPOSE = {("json_extract_scalar(s, '$')", "1 234,50 €")}
"""Expression and text: Trino reads what stands before a fault; Headwater's answer is NULL."""

TABLE = (
    "CREATE TABLE t (id INTEGER, s VARCHAR, u VARCHAR, i INTEGER)"
    " WITH (connector = 'files', path = 't') FORMAT PLAIN ENCODE JSON;"
)


@cache
def text_view(expressions: tuple[str, ...] = EXPRESSIONS) -> View:
    """The view that computes all expressions."""
    columns = ", ".join(f"{each} AS x{at}" for at, each in enumerate(expressions))
    sql = f"{TABLE} CREATE STREAMING VIEW v AS SELECT id, {columns} FROM t"
    return bind({"t.sql": parse(sql, file="t.sql")}).views["v"]


def recorded() -> dict[str, list[Any]]:
    """Return Trino's answers by expression, one for each row."""
    answers: dict[str, list[Any]] = json.loads(RECORDED.read_text(encoding="utf-8"))
    return answers
