"""What is behind a view: the views and sinks that read it, the charts and tests that name it.

In: a project. Out: their names, and which of them break when columns of the view are gone. Views
that read such a column are not among these: the project has an error then, and is not planned.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from pathlib import Path

from headwater.project import Project

_WORDS_FOR_PEOPLE = ("title", "label", "description", "subtitle", "header")
"""Parts of names of parameters that are text for people, in which a column's name is a word."""
_TESTS = "tests"


class Behind:
    """What is behind the views of a project."""

    def __init__(self, project: Project) -> None:
        self._project = project

    def of(self, name: str) -> tuple[str, ...]:
        """Return the views and sinks that read a view, directly or not, its charts and tests."""
        charts = (f"chart {file.stem}" for file in self._charts(name))
        tests = (f"test {self._shown(file)}" for file, _ in self._naming(name))
        return (*self._readers(name), *charts, *tests)

    def breaks(self, name: str, gone: Sequence[str]) -> tuple[str, ...]:
        """Return what reads a column that a view no longer has, in words.

        Args:
            name: the view.
            gone: the columns.
        """
        found = []
        for column in gone:
            readers = [
                *(f"sink {each}" for each in self._sinks(name)),
                *(f"chart {file.stem}" for file in self._charts(name) if self._shows(file, column)),
                *(
                    f"test {self._shown(file)}"
                    for file, text in self._naming(name)
                    if _names(text, column)
                ),
            ]
            found += [f"{reader} reads {column}" for reader in readers]
        return tuple(found)

    def left_alone(self, name: str) -> tuple[str, ...]:
        """Return what shows or tests a view that is gone, or has another name, in words."""
        charts = (f"chart {file.stem} shows {name}" for file in self._charts(name))
        tests = (f"test {self._shown(file)} reads {name}" for file, _ in self._naming(name))
        return (*charts, *tests)

    def _readers(self, name: str) -> Iterator[str]:
        reached = {name}
        for view in self._project.catalog.views.values():
            if reached & set(view.inputs):
                reached.add(view.name)
                yield view.name
        sinks = self._project.catalog.sinks.values()
        yield from (sink.name for sink in sinks if sink.view in reached)

    def _sinks(self, name: str) -> Iterator[str]:
        sinks = self._project.catalog.sinks.values()
        return (sink.name for sink in sinks if sink.view == name)

    def _charts(self, name: str) -> Iterator[Path]:
        return (file for file, chart in self._written.items() if chart.get("view") == name)

    def _shows(self, file: Path, column: str) -> bool:
        return any(_names(text, column) for text in _texts(self._written[file].get("params")))

    @cached_property
    def _written(self) -> Mapping[Path, Mapping[str, object]]:
        """The charts of the project; what is no chart, ``headwater dashboards`` says."""
        config = self._project.config
        files = sorted((config.directory / config.superset.charts).glob("*.yaml"))
        return {file: chart for file in files if isinstance(chart := _yaml(file), Mapping)}

    def _naming(self, name: str) -> Iterator[tuple[Path, str]]:
        return ((file, text) for file, text in self._tests.items() if _names(text, name))

    @cached_property
    def _tests(self) -> Mapping[Path, str]:
        files = sorted((self._project.root / _TESTS).rglob("*.slt"))
        return {file: file.read_text(encoding="utf-8", errors="replace") for file in files}

    def _shown(self, file: Path) -> str:
        return str(file.relative_to(self._project.root / _TESTS))


def _yaml(file: Path) -> object:
    from ruamel.yaml import YAML
    from ruamel.yaml.error import YAMLError

    try:
        return YAML(typ="safe", pure=True).load(file.read_text(encoding="utf-8"))
    except (YAMLError, UnicodeDecodeError, OSError):
        return None


def _texts(value: object) -> Iterator[str]:
    """Every text in the parameters of a chart that can name a column."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, Mapping):
        for key, each in value.items():
            if not any(word in str(key) for word in _WORDS_FOR_PEOPLE):
                yield from _texts(each)
    elif isinstance(value, Sequence):
        for each in value:
            yield from _texts(each)


def _names(text: str, name: str) -> bool:
    """Whether a text has a name as a word; ``sum__price`` is a metric of the column price."""
    return bool(re.search(rf"(?:(?<![a-z0-9_])|__){re.escape(name)}(?![a-z0-9_])", text.lower()))
