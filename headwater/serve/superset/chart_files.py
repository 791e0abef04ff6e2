"""Charts that people wrote: one YAML file each, which win over the starter charts of their view.

In: a folder. Out: charts in the order of the files' names, or every error of every file at once.
A file says::

    view: revenue_per_minute
    title: Revenue per minute (EUR)
    viz_type: echarts_timeseries_line
    params: {x_axis: minute, metrics: [sum__revenue]}
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from pathlib import Path
from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field, ValidationError
from ruamel.yaml import YAML
from ruamel.yaml.error import MarkedYAMLError, YAMLError

from headwater.errors import ConfigError, HeadwaterError, Span, raise_all
from headwater.errors.nearest import did_you_mean
from headwater.serve.superset.model import Chart


class _File(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)

    view: str
    title: Annotated[str, Field(min_length=1)]
    viz_type: str
    params: dict[str, Any] = {}
    description: str = ""
    width: Annotated[int, Field(ge=1, le=12)] = 6
    height: Annotated[int, Field(ge=10, le=200)] = 40


def written_charts(folder: Path, datasets: Collection[str]) -> list[Chart]:
    """Read the charts of a folder; none if there is no such folder.

    Args:
        folder: its ``*.yaml`` files are read.
        datasets: the names that a chart may read.

    Raises:
        ConfigError: ``CHART_FILE`` for a file that is no chart, ``UNKNOWN_VIEW``; an ``ErrorGroup``
            if there are several.
    """
    charts: list[Chart] = []
    errors: list[HeadwaterError] = []
    for file in sorted(folder.glob("*.yaml")):
        try:
            charts.append(_chart(file, datasets))
        except HeadwaterError as error:
            errors.append(error)
    raise_all(errors)
    return charts


def _chart(file: Path, datasets: Collection[str]) -> Chart:
    content = _read(file)
    try:
        given = _File.model_validate(content)
    except ValidationError as invalid:
        problem = invalid.errors()[0]
        where = ".".join(map(str, problem["loc"]))
        reason = problem["msg"][:1].lower() + problem["msg"][1:]
        known = f"a chart has: {', '.join(_File.model_fields)}"
        raise _wrong(file, f'"{where}": {reason}', known) from None
    view = given.view.lower()
    if view not in datasets:
        hint = did_you_mean(view, datasets, "views")
        message = f'view "{given.view}" does not exist'
        raise ConfigError("UNKNOWN_VIEW", message, hint=hint, span=Span(str(file), 1, 1))
    return Chart(
        name=f"{view}/{file.stem}",
        dataset=view,
        title=given.title,
        viz_type=given.viz_type,
        params=given.params,
        description=given.description,
        width=given.width,
        height=given.height,
    )


def _read(file: Path) -> Mapping[str, Any]:
    try:
        content = YAML(typ="safe", pure=True).load(file.read_text(encoding="utf-8"))
    except MarkedYAMLError as error:
        mark = error.problem_mark
        line, column = (mark.line + 1, mark.column + 1) if mark else (1, 1)
        raise _wrong(file, str(error.problem), "", line, column) from None
    except (YAMLError, UnicodeDecodeError, OSError) as error:
        raise _wrong(file, str(error).splitlines()[0], "") from None
    if not isinstance(content, Mapping):
        hint = "write view, title, viz_type and params, each on a line"
        raise _wrong(file, "a chart is a mapping of names to values", hint)
    return content


def _wrong(file: Path, message: str, hint: str, line: int = 1, column: int = 1) -> ConfigError:
    return ConfigError("CHART_FILE", message, hint=hint, span=Span(str(file), line, column))
