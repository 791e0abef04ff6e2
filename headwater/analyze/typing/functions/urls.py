"""Functions over URLs. A text that is no URL by the rules of RFC 2396 gives NULL."""

from __future__ import annotations

from headwater.analyze.typing.functions.entry import Table
from headwater.analyze.typing.functions.lines import Line, line

_LETTERS = (
    ("\u00a1", "\u167f"), ("\u1681", "\u1fff"), ("\u200b", "\u2027"), ("\u202a", "\u202e"),
    ("\u2030", "\u205e"), ("\u2060", "\u2fff"), ("\u3001", "\U0010ffff"),
)  # fmt: skip
"""Letters beyond ASCII that are no space."""
_CHARACTER = (
    rf"(?:[!$&''()*+,\-.0-9:;=@A-Z_a-z~{''.join(f'{low}-{high}' for low, high in _LETTERS)}]"
    r"|%[0-9A-Fa-f]{2})"
)
"""What may stand in a name of a path."""
_ANYTHING = rf"(?:[/?\[\]]|{_CHARACTER})"
"""What may stand in a query or a fragment."""
_SCHEME = r"[A-Za-z][A-Za-z0-9+.\-]*:"
_AUTHORITY = rf"(?://(?:{_CHARACTER}*@)?\[[0-9A-Fa-f:.]+\](?::[0-9]*)?|//{_CHARACTER}*)?"
_VALID = (
    rf"^(?:(?:{_SCHEME})?{_AUTHORITY}(?:{_CHARACTER}|/)*(?:\?{_ANYTHING}*)?"
    rf"|{_SCHEME}{_CHARACTER}{_ANYTHING}*)(?:#{_ANYTHING}*)?\z"
)
_UNNAMED = r"^[^:/?#]*[^A-Za-z0-9+.\-:/?#][^:/?#]*:|^[^A-Za-z:/?#][^:/?#]*:|^:|^[^:/?#]*:\z"
_UNNAMED += rf"|^(?:{_SCHEME})?//\z"
"""A colon whose scheme is none, and slashes before nothing."""
_LABEL = r"[A-Za-z0-9](?:[A-Za-z0-9\-]*[A-Za-z0-9])?"
_HOST = (
    rf"(?:{_LABEL}[.])*[A-Za-z](?:[A-Za-z0-9\-]*[A-Za-z0-9])?[.]?"
    r"|[0-9]{1,3}[.][0-9]{1,3}[.][0-9]{1,3}[.][0-9]{1,3}|\[[0-9A-Fa-f:.]+\]"
)
_SERVER = rf"^(?:{_SCHEME})?//(?:[^/?#@]*@)?({_HOST})(?::[0-9]*)?(?:[/?#]|\z)"
_OPAQUE = rf"^{_SCHEME}[^/#]"


def _of_url(name: str, about: str, result: str, part: str, kind: str = "VARCHAR") -> Line:
    valid = f"regexp_like(_1, '{_VALID}') AND NOT regexp_like(_1, '{_UNNAMED}')"
    return line(
        f"url_extract_{name}(url: text) -> {kind}",
        about,
        f"url_extract_{name}('https://a.example:80/b/c?x=1&y=2#d') -> {result}",
        language=f"CASE WHEN {valid} THEN {part} END",
        nullable="always",
    )


def _decoded(part: str) -> str:
    """A part without its escapes, in which a plus sign is one."""
    return f"url_decode(replace({part}, '+', '%2B'))"


_AFTER_AUTHORITY = rf"regexp_replace(_1, '^(?:{_SCHEME})?(?://[^/?#]*)?', '')"
_PATH = rf"regexp_replace({_AFTER_AUTHORITY}, '[?#](?:.|\n)*', '')"
_QUERY = r"regexp_extract(_1, '^[^?#]*[?]([^#]*)', 1)"

URLS: Table = dict(
    (
        _of_url(
            "protocol",
            "Returns the protocol of a URL.",
            "'https'",
            f"coalesce(regexp_extract(_1, '^({_SCHEME[:-1]}):', 1), '')",
        ),
        _of_url(
            "host",
            "Returns the host of a URL.",
            "'a.example'",
            f"coalesce(regexp_extract(_1, '{_SERVER}', 1), '')",
        ),
        _of_url(
            "port",
            "Returns the port of a URL, NULL if it names none.",
            "80",
            f"TRY_CAST(regexp_extract(_1, '{_SERVER}', 1) AS BIGINT)".replace(
                f"({_HOST})(?::[0-9]*)?", f"(?:{_HOST}):([0-9]+)"
            ),
            "BIGINT",
        ),
        _of_url(
            "path",
            "Returns the path of a URL.",
            "'/b/c'",
            f"CASE WHEN regexp_like(_1, '{_OPAQUE}') THEN '' ELSE {_decoded(_PATH)} END",
        ),
        _of_url(
            "query",
            "Returns what stands behind the question mark of a URL.",
            "'x=1&y=2'",
            f"CASE WHEN regexp_like(_1, '{_OPAQUE}') THEN ''"
            f" ELSE coalesce({_decoded(_QUERY)}, '') END",
        ),
        _of_url(
            "fragment",
            "Returns what stands behind the hash sign of a URL.",
            "'d'",
            "coalesce(" + _decoded("regexp_extract(_1, '#(.*)', 1)") + ", '')",
        ),
        line(
            "url_encode(text: text) -> VARCHAR",
            "Escapes the characters of a text that a URL cannot hold.",
            "url_encode('a b/å') -> 'a+b%2F%C3%A5'",
            duckdb="replace(replace(replace(url_encode(_1), '%20', '+'), '~', '%7E'), '%2A', '*')",
            dialects="spark",
        ),
        line(
            "url_decode(text: text) -> VARCHAR",
            "Puts characters back in the place of their escapes.",
            "url_decode('a+b%2F%C3%A5') -> 'a b/å'",
            duckdb="url_decode(replace(_1, '+', '%20'))",
            fails="regexp_like(regexp_replace(_1, '%[0-9A-Fa-f]{2}', ''), '%')",
            dialects="spark",
        ),
    )
)
