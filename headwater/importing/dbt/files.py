"""The files of a dbt project.

In: folders and files. Out: models, seeds and YAML files by name, without tests and macros.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from ruamel.yaml import YAML
from ruamel.yaml.error import YAMLError

from headwater.errors import SqlError

_SKIPPED = ("target", "dbt_packages", "dbt_modules", "logs", "tests", "analyses", "macros")


@dataclass
class DbtFiles:
    """What a dbt project consists of.

    Attributes:
        models: by name; of two files the later one, as compiled models follow their templates.
        seeds: CSV files by name.
        yaml: dbt_project.yml, then the others.
        others: snapshots, and models in Python.
    """

    models: dict[str, Path] = field(default_factory=dict)
    seeds: dict[str, Path] = field(default_factory=dict)
    yaml: list[Path] = field(default_factory=list)
    others: list[Path] = field(default_factory=list)


def find_files(paths: Sequence[Path]) -> DbtFiles:
    """Return the files of a project; what ``dbt compile`` made of tests is left out."""
    found = DbtFiles()
    for path in paths:
        for each in sorted(path.rglob("*")) if path.is_dir() else [path]:
            inside = each.relative_to(path).parts if path.is_dir() else ()
            if not each.is_file() or any(_is_skipped(part) for part in inside[:-1]):
                continue
            kind = each.suffix.lower()
            if kind == ".sql" and "snapshots" not in inside:
                found.models[each.stem] = each
            elif kind in (".yml", ".yaml"):
                found.yaml.append(each)
            elif kind == ".csv":
                found.seeds[each.stem] = each
            elif kind in (".py", ".sql"):
                found.others.append(each)
    found.yaml.sort(key=lambda path: path.name != "dbt_project.yml")
    return found


def _is_skipped(folder: str) -> bool:
    return folder in _SKIPPED or folder.startswith(".") or folder.endswith((".yml", ".yaml"))


def read_yaml(path: Path) -> Mapping[str, Any]:
    """Return the mapping of a YAML file.

    Raises:
        SqlError: INVALID_TEXT.
    """
    try:
        found = YAML(typ="safe").load(path.read_text(encoding="utf-8"))
    except (YAMLError, UnicodeDecodeError) as error:
        message = f'"{path}" is not valid YAML'
        raise SqlError("INVALID_TEXT", message, hint="correct the file") from error
    return found if isinstance(found, Mapping) else {}


def listed(found: Mapping[str, Any], key: str) -> Iterator[Mapping[str, Any]]:
    """Yield the mappings of a list."""
    items = found.get(key)
    for each in items if isinstance(items, list) else ():
        if isinstance(each, Mapping):
            yield each


def variables_of(found: Mapping[str, Any]) -> dict[str, Any]:
    """Return the variables of dbt_project.yml, those of a package as well."""
    given = found.get("vars")
    flat: dict[str, Any] = {}
    for key, value in given.items() if isinstance(given, Mapping) else ():
        flat |= value if isinstance(value, Mapping) else {key: value}
    return flat
