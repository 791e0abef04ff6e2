"""A project as a bundle: datasets of its views, its charts, its two dashboards.

In: a project and its plans. Out: a :class:`ProjectBundle`. Asks no server.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from headwater.config.settings import Config
from headwater.errors import ConfigError
from headwater.lake.protocol.commits import COMMITS
from headwater.plan.view_plan import ViewPlan
from headwater.project import Project
from headwater.serve.superset.bundle import Database, render
from headwater.serve.superset.chart_files import written_charts
from headwater.serve.superset.datasets import dataset_of
from headwater.serve.superset.default_charts import starter_charts
from headwater.serve.superset.facts import ViewFacts, view_facts
from headwater.serve.superset.fitting import fitted
from headwater.serve.superset.model import Chart, Dashboard
from headwater.serve.superset.naming import slug_of, title_of
from headwater.serve.superset.pipeline import PER_MINUTE, pipeline_dashboard, pipeline_datasets
from headwater.serve.superset.viz import TEMPORAL_RANGE, within

USER = "superset"
"""As whom Superset asks a Trino without passwords: not the user who sees hidden columns too."""


@dataclass(frozen=True, slots=True)
class ProjectBundle:
    """What a push brings to Superset.

    Attributes:
        database: where the datasets are.
        dashboards: the project's, then its pipeline's unless a table of the project has the name
            of the commits.
        datasets: the names of the datasets.
        files: texts by path.
    """

    database: Database
    dashboards: tuple[Dashboard, ...]
    datasets: tuple[str, ...]
    files: Mapping[str, str]


def project_bundle(
    project: Project, plans: Mapping[str, ViewPlan], trino_url: str | None = None
) -> ProjectBundle:
    """Return the bundle of a project.

    Args:
        plans: its plans by view, in topological order.
        trino_url: where Superset finds Trino; by default as the settings say.

    Raises:
        ConfigError: ``TRINO_URL`` if nothing says where Trino is, or it is no address;
            ``CHART_FILE`` if the settings name a folder that is not there; and what
            :func:`headwater.serve.superset.chart_files.written_charts` raises.
    """
    config = project.config
    facts = view_facts(plans)
    namespace, title = config.namespace, title_of(config.name)
    datasets = [*map(dataset_of, facts.values())]
    taken = {*project.catalog.views, *project.catalog.sources}
    piped = not taken & {COMMITS, PER_MINUTE}
    if piped:
        datasets += pipeline_datasets(namespace)
    known = {dataset.name: dataset for dataset in datasets}
    charts = written_charts(_folder(config), known)
    drawn = {chart.dataset for chart in charts}
    for name, view in facts.items():
        if name not in drawn:
            charts += starter_charts(view)
    charts = [_in_span(chart, facts) for chart in charts]
    timed = any(view.time for view in facts.values())
    refresh = round(config.superset.refresh.total_seconds())
    page = Dashboard(
        slug_of(namespace), title, tuple(charts), refresh, config.superset.time_range, timed
    )
    dashboards = [page]
    if piped:
        watermarks = any(source.watermark for source in project.catalog.sources.values())
        dashboards.append(pipeline_dashboard(namespace, title, watermarks=watermarks))
    dashboards = [
        replace(each, charts=tuple(fitted(chart, known[chart.dataset]) for chart in each.charts))
        for each in dashboards
    ]
    database = _database(config, trino_url)
    return ProjectBundle(
        database,
        tuple(dashboards),
        tuple(dataset.name for dataset in datasets),
        render(database, datasets, dashboards),
    )


def _in_span(chart: Chart, facts: Mapping[str, ViewFacts]) -> Chart:
    """Let a chart of a view follow its page's span of time; commits have times of their own."""
    view = facts.get(chart.dataset)
    filters = chart.params.get("adhoc_filters") or []
    if (
        view is None
        or view.time is None
        or any(TEMPORAL_RANGE in each.values() for each in filters)
    ):
        return chart
    return replace(chart, params={**chart.params, "adhoc_filters": [*filters, within(view.time)]})


def _folder(config: Config) -> Path:
    """The folder of the charts; that of the default need not be there."""
    folder, default = config.directory / config.superset.charts, type(config.superset)().charts
    if not folder.is_dir() and config.superset.charts != default:
        hint = "correct charts below [superset] in headwater.toml"
        raise ConfigError("CHART_FILE", f'there is no folder "{config.superset.charts}"', hint=hint)
    return folder


def _database(config: Config, trino_url: str | None) -> Database:
    url = trino_url or config.superset.trino_url or config.trino.url
    if url is None or "://" not in url:
        hint = 'write url = "http://127.0.0.1:8080" below [trino], or use --trino-url'
        message = f'"{url}" is no address' if url else "nothing says where Superset finds Trino"
        raise ConfigError("TRINO_URL", message, hint=hint)
    trino = config.trino
    user = trino.user if trino.password else USER
    return Database(
        config.namespace, trino.catalog, url.rstrip("/"), user, secret=bool(trino.password)
    )
