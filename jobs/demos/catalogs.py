"""The files of ``catalog/``, for servers that run at other addresses than the files say."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

FOLDER = Path(__file__).parents[2] / "catalog"


def settings(name: str, addresses: Mapping[str, str] | None = None) -> str:
    """Return the text of ``catalog/<name>.toml``.

    Args:
        name: name of the environment, for example ``postgres``.
        addresses: what the file says, and what stands in its place; each must be in the file.
    """
    text = (FOLDER / f"{name}.toml").read_text(encoding="utf-8")
    for said, replacement in (addresses or {}).items():
        assert said in text, f"{said} is not in catalog/{name}.toml"
        text = text.replace(said, replacement)
    return text


def sql(namespace: str) -> bytes:
    """Return the SQL that makes a namespace in the database of a catalog in PostgreSQL."""
    files = ("postgres/iceberg.sql", "postgres/lease.sql", f"namespaces/{namespace}.sql")
    return b"\n".join((FOLDER / file).read_bytes() for file in files)
