"""Expressions that fail on one row of a table, made from the allow-list of functions.

The poison row has the id 3. Every function is called with an argument that fails there; operators
and casts that fail by themselves stand in lists.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from headwater.analyze.typing.functions import FUNCTIONS, INTERNAL, Function

TABLE = """
CREATE TABLE t (id INTEGER, g INTEGER, i INTEGER, b BIGINT, c BIGINT, z BIGINT, m BIGINT,
  v DECIMAL(38, 0), w DECIMAL(38, 10), d DOUBLE, s VARCHAR, p VARCHAR, secs BIGINT,
  tags ARRAY(VARCHAR), ts TIMESTAMP WITH TIME ZONE)
WITH (connector = 'files', path = 't') FORMAT PLAIN ENCODE JSON;
"""
COLUMNS = (
    "id INT, g INT, i INT, b BIGINT, c BIGINT, z BIGINT, m BIGINT, v DECIMAL(38, 0),"
    " w DECIMAL(38, 10), d DOUBLE, s {text}, p {text}, secs BIGINT, tags {texts}, ts {time}"
)
LEAST, MOST = -(2**63), 2**63 - 1
MOST_DIGITS = "9" * 38
POISON = 3
_NOON = "2024-02-10 12:00:00"


def row(id_: int, group: int) -> dict[str, object]:
    """Return a row on which nothing fails."""
    return {
        "id": id_,
        "g": group,
        "i": 5,
        "b": 7,
        "c": 9,
        "z": 2,
        "m": 1,
        "v": "12",
        "w": "1.5",
        "d": 0.5,
        "s": "8",
        "p": "8!%",
        "secs": 60,
        "tags": ["1", "2"],
        "ts": _NOON,
    }


def poison(id_: int = POISON, group: int = 1) -> dict[str, object]:
    """Return the row on which everything here fails."""
    return {
        **row(id_, group),
        "i": -(2**31),
        "b": LEAST,
        "c": MOST,
        "z": 0,
        "m": -1,
        "v": MOST_DIGITS,
        "w": f"{MOST_DIGITS[:28]}.{MOST_DIGITS[28:]}",
        "d": 1e300,
        "s": "x",
        "p": "8!x",
        "secs": MOST,
        "tags": ["1", "x"],
    }


ROWS = (row(1, 0), row(2, 1), poison(), row(4, 0))

_FAILING: Mapping[str, str] = {
    "any": "10 / z",
    "comparable": "10 / z",
    "collected": "10 / z",
    "number": "10 / z",
    "summable": "10 / z",
    "integer": "10 / z",
    "float": "CAST(s AS DOUBLE)",
    "text": "CAST(10 / z AS VARCHAR)",
    "string": "CAST(10 / z AS VARCHAR)",
    "boolean": "10 / z > 1",
    "timestamp": "from_unixtime(secs)",
    "datetime": "from_unixtime(secs)",
    "date": "CAST(date(from_unixtime(secs)) AS DATE)",
    "array": "split(CAST(10 / z AS VARCHAR), ',')",
    "collection": "split(CAST(10 / z AS VARCHAR), ',')",
    "texts": "split(CAST(10 / z AS VARCHAR), ',')",
    "exacts": "split(CAST(10 / z AS VARCHAR), ',')",
    "comparables": "split(CAST(10 / z AS VARCHAR), ',')",
    "arrays": "ARRAY[split(CAST(10 / z AS VARCHAR), ',')]",
    "map": "MAP(split(CAST(10 / z AS VARCHAR), ','), split('a', ','))",
    "binary": "to_utf8(CAST(10 / z AS VARCHAR))",
    "double": "10 / z",
    "bigint": "10 / z",
    "int": "10 / i",
    "long": "10 / z",
}
"""By kind of parameter, an argument that fails on the poison row."""
_GIVEN: Mapping[str, str] = {
    "any": "i",
    "comparable": "i",
    "number": "i",
    "integer": "z",
    "float": "d",
    "text": "s",
    "string": "s",
    "boolean": "z > 1",
    "timestamp": "ts",
    "datetime": "ts",
    "date": "date(ts)",
    "array": "tags",
    "texts": "tags",
    "comparables": "tags",
    "exacts": "tags",
    "same": "tags",
    "element": "s",
    "binary": "to_utf8(s)",
    "double": "d",
    "bigint": "i",
    "int": "2",
    "long": "b",
}
_FORMS: Mapping[str, str] = {
    "extract": "extract(month FROM {0})",
    "date_trunc": "date_trunc('hour', {0})",
    "date_diff": "date_diff('hour', {0}, ts)",
    "date_format": "date_format({0}, '%Y')",
    "json_extract_scalar": "json_extract_scalar({0}, '$.a')",
    "listagg": "listagg({0}, ',') WITHIN GROUP (ORDER BY {0})",
    "contains": "contains({0}, '1')",
    "lpad": "lpad({0}, 3, '0')",
    "split": "split({0}, ',')",
    "split_part": "split_part({0}, ',', 1)",
    "substr": "substr({0}, 1)",
    "regexp_like": "regexp_like({0}, '[0-9]+')",
    "regexp_replace": "regexp_replace({0}, '[0-9]+', '#')",
    "regexp_count": "regexp_count({0}, '[0-9]+')",
    "regexp_extract_all": "regexp_extract_all({0}, '[0-9]+')",
    "regexp_split": "regexp_split({0}, '[0-9]+')",
    "regexp_extract": "regexp_extract({0}, '[0-9]+')",
    "approx_percentile": "approx_percentile({0}, 0.5)",
    "concat_ws": "concat_ws('-', {0}, s)",
    "concat": "concat({0}, s)",
    "date_add": "date_add('day', 1, {0})",
    "chr": "chr({0} + 64)",
    "bit_count": "bit_count({0}, 64)",
    "map": "map({0}, split('a', ','))",
    "transform": "transform({0}, x -> length(x))",
    **{
        name: f"{name}({{0}}, x -> x > '1')"
        for name in ("filter", "any_match", "all_match", "none_match")
    },
    "zip_with": "zip_with({0}, tags, (x, y) -> concat(x, y))",
    "reduce": "reduce({0}, '', (x, y) -> concat(x, y), x -> x)",
    "trim_array": "trim_array({0}, 1)",
    "sequence": "sequence(1, {0})",
    "slice": "slice({0}, 1, 2)",
    "hamming_distance": "hamming_distance({0}, {0})",
    "url_decode": "url_decode({0})",
    "from_hex": "from_hex(to_hex(to_utf8({0})))",
    "from_base64": "from_base64(to_base64(to_utf8({0})))",
    "from_base64url": "from_base64url(to_base64url(to_utf8({0})))",
    "width_bucket": "width_bucket({0}, 0, 10, 4)",
    "greatest": "greatest({0}, 1)",
    "least": "least({0}, 1)",
}
"""How functions are called whose arguments are not all values."""

BY_THEMSELVES = """
abs(i) | abs(b) | -i | -b | round(b, -1) | round(i, -1) | round(v, -1) | i / -1 | b / m | i - 1
b - 1 | c + 1 | i + i | c + c | c * 2 | b * c | 10 / z | 10 % z | mod(b, z) | i / z | v + v
CASE WHEN m <> 0 THEN b / m END | if(m = 0, 0, b / m) | coalesce(b / nullif(m, 0), 1)
CASE WHEN id < 10 THEN c + 1 ELSE 0 END | id < 10 AND c + 1 > 0 | id > 10 OR 1 / z > 0
s LIKE p ESCAPE '!' | from_unixtime(secs) | from_unixtime(secs) + INTERVAL '1' DAY
CAST(s AS INTEGER) | CAST(s AS BIGINT) | CAST(s AS DOUBLE) | CAST(s AS REAL)
CAST(CASE WHEN s = 'x' THEN s ELSE 'true' END AS BOOLEAN)
CAST(CASE WHEN s = 'x' THEN s ELSE '9:00' END AS TIME) + INTERVAL '1' HOUR
CAST(CASE WHEN s = 'x' THEN s ELSE '12151fd2-7586-11e9-8f9e-2a86e4085a59' END AS UUID)
ts + secs * INTERVAL '1' SECOND | secs * INTERVAL '1' DAY > INTERVAL '1' HOUR
CAST(CASE WHEN s = 'x' THEN s ELSE '2020-01-01' END AS DATE) | CAST(s AS DECIMAL(10, 2))
CAST(CASE WHEN s = 'x' THEN s ELSE '2020-01-01 10:00:00' END AS TIMESTAMP) | CAST(b AS INTEGER)
CAST(round(d) AS INTEGER) | CAST(round(d) AS BIGINT) | CAST(d AS DECIMAL(10, 2))
CAST(v AS DECIMAL(20, 0)) | CAST(v AS DECIMAL(38, 10)) | CAST(c AS DECIMAL(10, 0))
CAST(round(v) AS BIGINT) | 1 / (z * 2) | 10 / z IN (1, 5) | 10 / z BETWEEN 1 AND 9
nullif(10 / z, 1) | element_at(split(CAST(10 / z AS VARCHAR), ','), 1) | NOT (10 / z > 1)
CAST(10 / z AS VARCHAR) || 'a' | 10 / z IS NULL | tags[z] | element_at(tags, z) | tags[1 / z + 1]
cardinality(transform(tags, x -> CAST(x AS INTEGER))) | tags[cardinality(tags) / z]
cardinality(filter(tags, x -> CAST(x AS INTEGER) > 0)) | map(ARRAY['1'], ARRAY[id])[tags[z - 1]]
cardinality(zip_with(tags, tags, (x, y) -> CAST(x AS INTEGER))) | lpad(s, m, 'x')
rpad(s, 3, CASE WHEN s = 'x' THEN '' ELSE s END) | codepoint(CASE WHEN s = 'x' THEN '' ELSE s END)
"""
"""Expressions that fail on the poison row and on no other."""

NOT_TAKEN = """
CASE WHEN z <> 0 THEN 10 / z END | if(z = 0, 0, 10 / z) | z = 0 OR 10 / z > 1
coalesce(id, 10 / z) | z <> 0 AND 10 / z > 1 | TRY_CAST(s AS INTEGER) | 10 / nullif(z, 0)
CASE WHEN s = 'x' THEN 0 ELSE CAST(s AS INTEGER) END | 1e0 / z | d % (z * 1e0) | d / (z * 0e0)
CASE WHEN c < 100 THEN c + 1 END | b % m | CAST(NULL AS BIGINT) / (10 / z)
s LIKE p | TRY_CAST(s AS INTEGER) + c + 1 | greatest(b, c) | d * d
CASE id WHEN 3 THEN 0 ELSE 10 / z END
"""
"""Expressions that fail on no row, though parts of them would."""


def listed(texts: str) -> list[str]:
    """Return the expressions of a list."""
    return [each.strip() for line in texts.strip().split("\n") for each in line.split(" | ")]


def called(function: Function) -> str | None:
    """Return a call of a function with an argument that fails, None if it takes none."""
    if not function.params:
        return None
    words = [param.rstrip("?*") for param in function.params if not param.endswith("?")]
    form = _FORMS.get(function.name)
    failing = _FAILING[words[0]]
    if form:
        return form.format(failing)
    rest = [_GIVEN[word] for word in words[1:]]
    return f"{function.name}({', '.join([failing, *rest])})"


def calls(kind: str) -> Iterator[tuple[str, str]]:
    """Yield the name and a failing call of every function of a kind."""
    for node, function in FUNCTIONS.items():
        own = node in INTERNAL or function.kind != kind
        if not own and (text := called(function)):
            yield function.name, text


def scalars() -> list[str]:
    """Return all scalar expressions that fail on the poison row."""
    return [*listed(BY_THEMSELVES), *(text for _, text in calls("scalar"))]


def aggregates() -> list[str]:
    """Return aggregates whose argument fails on the poison row."""
    return [text for _, text in calls("aggregate")]


def views(selects: list[str]) -> str:
    """Return a project with one view per SELECT: v0, v1, …"""
    made = (f"CREATE STREAMING VIEW v{n} AS {text};" for n, text in enumerate(selects))
    return TABLE + "\n".join(made)
