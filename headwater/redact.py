"""Texts without secrets: one place that knows the secrets this process has read.

In: secrets as they are read, and any text on its way out. Out: the text with every form of every
secret replaced by :data:`MASK`. Errors, the streams of the command line and the JVM's log all go
through here; nothing is ever written down.
"""

from __future__ import annotations

import base64
import json
import re
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, TextIO, cast
from urllib.parse import quote, quote_plus

MASK = "***"
MIN_LENGTH = 4
"""Shorter values are left alone: they are settings such as ``2``, and stand in every text."""

_forms: dict[str, None] = {}
_pattern: re.Pattern[str] | None = None


def remember(secret: str) -> None:
    """Note a secret, so that no text that is scrubbed from now on shows it.

    Args:
        secret: its value.
    """
    global _pattern
    _forms.update(dict.fromkeys(_forms_of(secret)))
    longest_first = sorted(_forms, key=len, reverse=True)
    _pattern = re.compile("|".join(map(re.escape, longest_first))) if _forms else None


def forget() -> None:
    """Forget every secret; for tests."""
    global _pattern
    _forms.clear()
    _pattern = None


def scrub(text: str) -> str:
    """Return a text with every secret in it replaced.

    Args:
        text: any text.
    """
    return _pattern.sub(MASK, text) if _pattern is not None else text


def holds_secret(text: str) -> bool:
    """Whether a text shows a secret.

    Args:
        text: any text.
    """
    return _pattern is not None and _pattern.search(text) is not None


def java_pattern() -> str:
    r"""Return a regular expression of Java that finds the secrets known now, without special marks.

    Every character is written as ``\uXXXX``, so that it passes through configuration files whole.
    """
    longest_first = sorted(_forms, key=len, reverse=True)
    return "|".join(map(_escaped, longest_first)) or "(?!)"


@contextmanager
def clean_streams(module: Any) -> Iterator[None]:  # noqa: ANN401
    """Scrub all that is written to a module's ``stdout`` and ``stderr`` meanwhile.

    Args:
        module: ``sys``.
    """
    before = module.stdout, module.stderr
    module.stdout, module.stderr = map(clean, before)
    try:
        yield
    finally:
        module.stdout, module.stderr = before


def clean(stream: TextIO) -> TextIO:
    """Return a stream that scrubs each text before it passes it on.

    Args:
        stream: where the texts go.
    """
    return cast("TextIO", _Clean(stream))


class _Clean:
    def __init__(self, stream: TextIO) -> None:
        self._stream = stream

    def write(self, text: str) -> int:
        return self._stream.write(scrub(text))

    def writelines(self, lines: list[str]) -> None:
        self.write("".join(lines))

    def __getattr__(self, name: str) -> Any:  # noqa: ANN401
        return getattr(self._stream, name)


def _forms_of(secret: str) -> Iterator[str]:
    """The ways in which a secret may stand in a text: as it is, in a URL, in JSON, in base64."""
    parts = {secret, secret.strip(), *secret.splitlines()}
    for part in (part for part in parts if len(part) >= MIN_LENGTH):
        urls = {quote(part, safe=""), quote(part), quote_plus(part)}
        yield from (part, *urls, *(_lower_escapes(url) for url in urls))
        yield from (json.dumps(part, ensure_ascii=ascii_)[1:-1] for ascii_ in (True, False))
        yield part.replace("'", "''")
        yield part.replace("\\", "\\\\").replace("'", "\\'")
        yield from _in_base64(part.encode())


def _lower_escapes(url: str) -> str:
    return re.sub("%[0-9A-F]{2}", lambda match: match[0].lower(), url)


def _in_base64(secret: bytes) -> Iterator[str]:
    """The digits that a secret alone decides, at each of the three places it may start at."""
    for before in range(3):
        digits = base64.b64encode(bytes(before) + secret).decode().rstrip("=")
        first, end = -(-before * 8 // 6), (before + len(secret)) * 8 // 6
        if end - first >= MIN_LENGTH:
            yield digits[first:end]
            yield digits[first:end].replace("+", "-").replace("/", "_")


def _escaped(text: str) -> str:
    units = text.encode("utf-16-be", "surrogatepass")
    return "".join(f"\\u{units[at] << 8 | units[at + 1]:04x}" for at in range(0, len(units), 2))
