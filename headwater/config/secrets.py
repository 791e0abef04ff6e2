"""Secrets by reference: ``${env:NAME}`` in settings and connector options.

In: text with references. Out: the text with the secrets, read from the environment when it is
needed; every secret read is known to :mod:`headwater.redact` from then on. Folders that only their
owner may look into are made here too.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from headwater.errors import ConfigError
from headwater.redact import remember

REFERENCE = re.compile(r"\$\{env:([A-Za-z_][A-Za-z0-9_]*)\}")
_SECRET_KEY = re.compile(
    r"(pass(word|wd|phrase)|pwd|secret|token|credentials?|jaas[._-]?config"
    r"|(access|account|api|private|secret|session|encryption)[._-]?key)$|account[._-]key\.",
    re.IGNORECASE,
)
_WRITTEN = (
    re.compile(r"://[^/@:\s]*:(?P<value>(?!\$\{env:)[^/@\s]+)@"),
    re.compile(
        r"(?:pass(?:word|wd|phrase)|pwd|secret|token)=[\"']?(?P<value>(?!\$\{env:)[^\"'&;\s]+)",
        re.IGNORECASE,
    ),
)


@dataclass(frozen=True, slots=True)
class Secret:
    """Text that may refer to secrets as ``${env:NAME}``; printing it shows the reference only.

    Attributes:
        template: the text as written.
    """

    template: str

    def reveal(self) -> str:
        """Return the text with every reference replaced, read from the environment now.

        Raises:
            ConfigError: ``SECRET_MISSING`` if a variable is not set.
        """
        return REFERENCE.sub(lambda match: _read(match[1]), self.template)

    def __str__(self) -> str:
        return self.template


class SecretMap(Mapping[str, str]):
    """Settings whose values are revealed when they are read, never when they are printed."""

    def __init__(self, templates: Mapping[str, str]) -> None:
        self._templates = dict(templates)

    def __getitem__(self, key: str) -> str:
        return Secret(self._templates[key]).reveal()

    def __iter__(self) -> Iterator[str]:
        return iter(self._templates)

    def __len__(self) -> int:
        return len(self._templates)

    def __repr__(self) -> str:
        return f"SecretMap({self._templates!r})"


def written_secrets(text: str, key: str = "") -> list[str]:
    """Return the secrets that stand in a text themselves, not as references.

    They are known to :mod:`headwater.redact` afterwards, so that the error about them, which shows
    the line they stand in, does not repeat them.

    Args:
        text: the value of a setting.
        key: its name, which says whether the whole text is a secret.
    """
    found = [match["value"] for pattern in _WRITTEN for match in pattern.finditer(text)]
    if _SECRET_KEY.search(key) and not REFERENCE.search(text):
        found.append(text)
    for secret in found:
        remember(secret)
    return found


def private_folder(folder: Path) -> None:
    """Make a folder that only its owner may look into; one that is there is left as it is.

    Args:
        folder: the folder; those above it are made with the usual rights.

    Raises:
        OSError: it cannot be made.
    """
    folder.parent.mkdir(parents=True, exist_ok=True)
    folder.mkdir(mode=0o700, exist_ok=True)


def _read(name: str) -> str:
    try:
        secret = os.environ[name]
    except KeyError:
        hint = f"set it before you start: export {name}=…"
        raise ConfigError(
            "SECRET_MISSING", f"environment variable {name} is not set", hint=hint
        ) from None
    remember(secret)
    return secret
