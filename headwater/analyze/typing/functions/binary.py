"""Functions over bytes: hashes, and text that stands for bytes."""

from __future__ import annotations

from headwater.analyze.typing.functions.entry import Table
from headwater.analyze.typing.functions.lines import line

_NO_HEX = "regexp_like(_1, '[^0-9A-Fa-f]') OR length(_1) % 2 = 1"
_NO_BASE64 = (
    "regexp_like(_1, '[^={letters}]') OR NOT regexp_like(_1,"
    " '^([{letters}]{{4}})*([{letters}]{{2}}(==)?|[{letters}]{{3}}=?)?$')"
)
_UTF8 = (
    "[0-7].|(C[2-9A-F]|D.)[89AB].|(E0[AB]|ED[89]).[89AB].|(E[1-9A-CEF]|F0[9AB].|F48.)([89AB].){2}"
    "|F[1-3]([89AB].){3}"
)
"""Characters in UTF-8, their bytes in hexadecimal digits."""
_PADDED = "rpad(_1, CAST((length(_1) + 3) // 4 * 4 AS INTEGER), '=')"

BINARY: Table = dict(
    (
        line(
            "md5(bytes: binary) -> VARBINARY",
            "Returns the MD5 hash of bytes.",
            "lower(to_hex(md5(to_utf8('a')))) -> '0cc175b9c0f1b6a831c399e269772661'",
            spark="unhex(md5(_1))",
            duckdb="unhex(md5(_1))",
            engines="Spark and DuckDB return text; `lower(to_hex(…))` makes text of bytes.",
        ),
        line(
            "sha1(bytes: binary) -> VARBINARY",
            "Returns the SHA-1 hash of bytes.",
            "substr(to_hex(sha1(to_utf8('a'))), 1, 8) -> '86F7E437'",
            spark="unhex(sha1(_1))",
            duckdb="unhex(sha1(_1))",
            engines="Spark and DuckDB return text; `lower(to_hex(…))` makes text of bytes.",
        ),
        line(
            "sha256(bytes: binary) -> VARBINARY",
            "Returns the SHA-256 hash of bytes.",
            "substr(to_hex(sha256(to_utf8('a'))), 1, 8) -> 'CA978112'",
            spark="unhex(sha2(_1, 256))",
            duckdb="unhex(sha256(_1))",
            engines="Spark and DuckDB return text; `lower(to_hex(…))` makes text of bytes.",
        ),
        line(
            "to_utf8(text: text) -> VARBINARY",
            "Returns the bytes of a text in UTF-8.",
            "to_hex(to_utf8('å')) -> 'C3A5'",
            spark="CAST(_1 AS BINARY)",
            duckdb="encode(_1)",
        ),
        line(
            "from_utf8(bytes: binary) -> VARCHAR",
            "Returns the text that bytes are in UTF-8.",
            "from_utf8(from_hex('C3A5')) -> 'å'",
            spark="CAST(_1 AS STRING)",
            duckdb="decode(_1)",
            fails=f"NOT regexp_like(to_hex(_1), '^({_UTF8})*$')",
            engines="Bytes that are no UTF-8 are a bad row; Trino puts a mark in their place.",
        ),
        line(
            "to_hex(bytes: binary) -> VARCHAR",
            "Writes bytes in hexadecimal digits.",
            "to_hex(to_utf8('az')) -> '617A'",
            spark="hex(_1)",
            duckdb="hex(_1)",
        ),
        line(
            "from_hex(text: text) -> VARBINARY",
            "Reads bytes written in hexadecimal digits.",
            "from_utf8(from_hex('617A')) -> 'az'",
            spark="unhex(_1)",
            duckdb="unhex(_1)",
            fails=_NO_HEX,
        ),
        line(
            "to_base64(bytes: binary) -> VARCHAR",
            "Writes bytes in Base64.",
            "to_base64(to_utf8('a?')) -> 'YT8='",
            spark="base64(_1)",
            duckdb="to_base64(_1)",
        ),
        line(
            "from_base64(text: text) -> VARBINARY",
            "Reads bytes written in Base64.",
            "from_utf8(from_base64('YT8=')) -> 'a?'",
            spark="unbase64(_1)",
            duckdb=f"from_base64({_PADDED})",
            fails=_NO_BASE64.format(letters="A-Za-z0-9+/"),
        ),
        line(
            "to_base64url(bytes: binary) -> VARCHAR",
            "Writes bytes in Base64 with the letters of URLs.",
            "to_base64url(to_utf8('a?>')) -> 'YT8-'",
            spark="translate(base64(_1), '+/', '-_')",
            duckdb="translate(to_base64(_1), '+/', '-_')",
        ),
        line(
            "from_base64url(text: text) -> VARBINARY",
            "Reads bytes written in Base64 with the letters of URLs.",
            "from_utf8(from_base64url('YT8-')) -> 'a?>'",
            spark="unbase64(translate(_1, '-_', '+/'))",
            duckdb=f"from_base64(translate({_PADDED}, '-_', '+/'))",
            fails=_NO_BASE64.format(letters="A-Za-z0-9_-"),
        ),
    )
)
