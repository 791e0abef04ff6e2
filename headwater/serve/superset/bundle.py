"""The bundle: YAML files as Superset imports them.

In: datasets and dashboards. Out: texts by path, and these as a folder or a zip file. The same
project gives the same bytes, so a bundle can be kept in git.
"""

from __future__ import annotations

import io
import json
import shutil
import zipfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path
from typing import Any
from urllib.parse import quote

from ruamel.yaml import YAML

from headwater.errors import ConfigError, ServiceError
from headwater.serve.superset.layout import position
from headwater.serve.superset.model import Chart, Dashboard, Dataset
from headwater.serve.superset.naming import title_of, uuid_of
from headwater.serve.trino.catalog import DELTA

_VERSION = "1.0.0"  # of Superset's format
_FOLDERS = ("databases", "datasets", "charts", "dashboards")
_ROOT = "headwater"  # the one folder of the zip file, whose name Superset drops


@dataclass(frozen=True, slots=True)
class Database:
    """Where the datasets are.

    Attributes:
        namespace: of the project's tables: the schema.
        catalog: that Trino knows the lake by.
        trino: the address of Trino.
        user: as whom Trino is asked.
        secret: whether the user has a password; it is never in the bundle.
    """

    namespace: str
    catalog: str
    trino: str
    user: str
    secret: bool = False

    @property
    def file(self) -> str:
        """Its file in the bundle."""
        return f"databases/headwater_{self.namespace}.yaml"

    @property
    def uri(self) -> str:
        """Its address as SQLAlchemy writes it, a password masked as Superset masks it."""
        host = self.trino.partition("://")[2]
        password = ":XXXXXXXXXX" if self.secret else ""
        return f"trino://{quote(self.user, safe='')}{password}@{host}/{self.catalog}"


def render(
    database: Database, datasets: Sequence[Dataset], dashboards: Sequence[Dashboard]
) -> dict[str, str]:
    """Return the files of a bundle, texts by path."""
    files: dict[str, dict[str, Any]] = {"metadata.yaml": {"version": _VERSION, "type": "assets"}}
    files[database.file] = _database(database)
    for dataset in datasets:
        files[f"datasets/{dataset.name}.yaml"] = _dataset(database, dataset)
    for dashboard in dashboards:
        for chart in dashboard.charts:
            files[f"charts/{chart.name.replace('/', '__')}.yaml"] = _chart(database, chart)
        files[f"dashboards/{dashboard.slug}.yaml"] = _dashboard(database, dashboard)
    return {path: _yaml(content) for path, content in files.items()}


def zipped(files: Mapping[str, str]) -> bytes:
    """Return the files as a zip file with one folder, as Superset takes it.

    Args:
        files: texts by path.
    """
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        for path, text in files.items():
            entry = zipfile.ZipInfo(f"{_ROOT}/{path}")  # no time of its own: the same bytes
            archive.writestr(entry, text, compress_type=zipfile.ZIP_DEFLATED)
    return buffer.getvalue()


def write(files: Mapping[str, str], target: Path) -> None:
    """Write the files as a zip file, if the target's name ends so, or into a folder.

    Args:
        files: texts by path.
        target: a folder that is empty, holds an older bundle, or is not there; or ``*.zip``.

    Raises:
        ConfigError: ``NOT_A_BUNDLE`` if the folder holds something else.
        ServiceError: ``IO_FAILED`` if it cannot be written.
    """
    try:
        if target.suffix == ".zip":
            target.write_bytes(zipped(files))
            return
        if target.exists() and any(target.iterdir()) and not (target / "metadata.yaml").is_file():
            hint = "name a folder that is empty or not there"
            raise ConfigError("NOT_A_BUNDLE", f"{target} holds something else", hint=hint)
        for folder in _FOLDERS:
            shutil.rmtree(target / folder, ignore_errors=True)
        for path, text in files.items():
            file = target / path
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(text, encoding="utf-8")
    except OSError as error:
        reason = error.strerror or str(error)
        raise ServiceError("IO_FAILED", f"cannot write {target}: {reason}") from error


def _database(database: Database) -> dict[str, Any]:
    arguments = {"http_scheme": "https"} if database.trino.startswith("https") else {}
    return {
        "database_name": f"Headwater {database.namespace}",
        "sqlalchemy_uri": database.uri,
        "expose_in_sqllab": True,
        "allow_dml": False,
        "extra": {
            "allows_virtual_table_explore": True,
            "allow_multi_catalog": True,
            "engine_params": {"connect_args": arguments},
        },
        "uuid": uuid_of(database.namespace, "database", database.catalog),
        **_managed(),
    }


def _dataset(database: Database, dataset: Dataset) -> dict[str, Any]:
    return {
        "table_name": dataset.name,
        "description": dataset.description,
        "catalog": database.catalog + (DELTA if dataset.in_delta else ""),
        "schema": database.namespace,
        "sql": dataset.sql,
        "main_dttm_col": dataset.time,
        "filter_select_enabled": True,
        "columns": [
            {
                "column_name": column.name,
                "verbose_name": title_of(column.name),
                "description": column.description,
                "type": column.type,
                "is_dttm": column.is_time,
                "groupby": column.groupable,
                "filterable": True,
                "is_active": True,
            }
            for column in dataset.columns
        ],
        "metrics": [
            {
                "metric_name": metric.name,
                "verbose_name": metric.title,
                "expression": metric.expression,
                "description": metric.description,
                "d3format": metric.format or None,
            }
            for metric in dataset.metrics
        ],
        "uuid": uuid_of(database.namespace, "dataset", dataset.name),
        "database_uuid": uuid_of(database.namespace, "database", database.catalog),
        **_managed(),
    }


def _chart(database: Database, chart: Chart) -> dict[str, Any]:
    return {
        "slice_name": chart.title,
        "description": chart.description or None,
        "viz_type": chart.viz_type,
        "params": {"viz_type": chart.viz_type, **chart.params},
        "query_context": None,
        "uuid": uuid_of(database.namespace, "chart", chart.name),
        "dataset_uuid": uuid_of(database.namespace, "dataset", chart.dataset),
        **_managed(),
    }


def _dashboard(database: Database, dashboard: Dashboard) -> dict[str, Any]:
    uuids = [uuid_of(database.namespace, "chart", chart.name) for chart in dashboard.charts]
    return {
        "dashboard_title": dashboard.title,
        "slug": dashboard.slug,
        "published": True,
        "position": position(dashboard, uuids),
        "metadata": {
            "refresh_frequency": dashboard.refresh,
            "color_scheme": "supersetColors",
            "cross_filters_enabled": True,
            "filter_bar_orientation": "HORIZONTAL",
            "native_filter_configuration": _time_filters(dashboard),
        },
        "uuid": uuid_of(database.namespace, "dashboard", dashboard.slug),
        **_managed(),
    }


def _time_filters(dashboard: Dashboard) -> list[dict[str, Any]]:
    if not dashboard.timed:
        return []
    span = _time_range(dashboard.time_range)
    return [
        {
            "id": "NATIVE_FILTER-time",
            "name": "Time",
            "type": "NATIVE_FILTER",
            "filterType": "filter_time",
            "targets": [{}],
            "scope": {"rootPath": ["ROOT_ID"], "excluded": []},
            "controlValues": {"enableEmptyFilter": False},
            "defaultDataMask": {
                "extraFormData": {"time_range": span} if span else {},
                "filterState": {"value": span} if span else {},
                "ownState": {},
            },
            "cascadeParentIds": [],
        }
    ]


def _time_range(span: timedelta | str | None) -> str | None:
    """In Superset's words. Its "Last day" ends with yesterday, so a span is written out."""
    if not isinstance(span, timedelta):
        return span
    seconds = round(span.total_seconds())
    units = (("day", 86400), ("hour", 3600), ("minute", 60), ("second", 1))
    unit, size = next(each for each in units if seconds % each[1] == 0)
    return f'DATEADD(DATETIME("now"), -{seconds // size}, {unit}) : now'


def _managed() -> dict[str, Any]:
    """Superset lets nobody edit what is managed elsewhere; copies of it are people's own."""
    return {"version": _VERSION, "is_managed_externally": True}


def _yaml(content: Mapping[str, Any]) -> str:
    writer = YAML(typ="safe", pure=True)
    writer.default_flow_style = False
    writer.sort_base_mapping_type_on_output = False  # type: ignore[assignment] # it is, as None
    writer.width = 100
    writer.allow_unicode = True
    buffer = io.StringIO()
    # Superset reads YAML 1.1, where more words stand for true and false: by way of JSON all
    # values are plain ones, and by that version what reads as a word is quoted.
    writer.version = (1, 1)
    writer.dump(json.loads(json.dumps(content)), buffer)
    return buffer.getvalue()
