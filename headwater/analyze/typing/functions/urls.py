"""Functions over URLs."""

from __future__ import annotations

from headwater.analyze.typing.functions.entry import Table
from headwater.analyze.typing.functions.lines import line

URLS: Table = dict(
    (
        line(
            "url_encode(text: text) -> VARCHAR",
            "Escapes the characters of a text that a URL cannot hold.",
            "url_encode('a b/å') -> 'a+b%2F%C3%A5'",
            duckdb="replace(replace(replace(url_encode(_1), '%20', '+'), '~', '%7E'), '%2A', '*')",
        ),
        line(
            "url_decode(text: text) -> VARCHAR",
            "Puts characters back in the place of their escapes.",
            "url_decode('a+b%2F%C3%A5') -> 'a b/å'",
            duckdb="url_decode(replace(_1, '+', '%20'))",
            fails="regexp_like(_1, '%([^0-9A-Fa-f]|$|[0-9A-Fa-f]([^0-9A-Fa-f]|$))')",
        ),
    )
)
