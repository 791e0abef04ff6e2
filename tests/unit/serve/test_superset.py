"""The bundle for Superset: datasets, charts and dashboards of a project, without a server."""

from __future__ import annotations

import io
import json
import re
import shutil
import zipfile
from collections.abc import Iterator
from datetime import timedelta
from functools import cache
from pathlib import Path
from typing import Any

import duckdb
import pytest
import sqlglot
from ruamel.yaml import YAML

from headwater.errors import ConfigError, HeadwaterError
from headwater.plan.planner import plan_project
from headwater.project import load_project
from headwater.serve.superset.bundle import write, zipped
from headwater.serve.superset.pipeline import CHARTS, two_units
from headwater.serve.superset.project import ProjectBundle, project_bundle
from tests.support.golden_files import GOLDEN, check_golden
from tests.support.sampling import some

ROOT = Path(__file__).parents[3]
SQL = GOLDEN / "superset" / "project.sql"
PROJECTS = sorted(path.parent.name for path in ROOT.glob("sql/*/headwater.toml"))
TRINO = '[trino]\nurl = "http://127.0.0.1:8080"\n'


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    project = tmp_path / "sample"
    project.mkdir()
    (project / "headwater.toml").write_text(TRINO)
    shutil.copy(SQL, project)
    return project


def bundle(folder: Path, trino_url: str | None = None) -> ProjectBundle:
    project = load_project(folder)
    return project_bundle(project, plan_project(project.catalog), trino_url)


@cache
def example(name: str) -> ProjectBundle:
    return bundle(ROOT / "sql" / name, "http://127.0.0.1:8080")


def loaded(found: ProjectBundle, kind: str) -> dict[str, Any]:
    """The files of a folder of the bundle, read as Superset reads them."""
    return {
        Path(path).stem: json.loads(_as_json(text))
        for path, text in found.files.items()
        if path.startswith(f"{kind}/")
    }


@cache
def _as_json(text: str) -> str:
    return json.dumps(YAML(typ="safe", pure=True).load(text))


def chart_file(folder: Path, text: str, name: str = "one.yaml") -> Path:
    file = folder / "dashboards" / name
    file.parent.mkdir(exist_ok=True)
    file.write_text(text, encoding="utf-8")
    return file


def refusal(folder: Path) -> HeadwaterError:
    with pytest.raises(HeadwaterError) as caught:
        bundle(folder)
    return caught.value


def test_each_kind_of_view_becomes_what_shows_it(folder: Path) -> None:
    texts = [f"# {path}\n{text}" for path, text in bundle(folder).files.items()]
    check_golden(SQL.with_name("bundle.yaml"), "\n".join(texts))


def test_the_charts_of_a_view_follow_its_rows(folder: Path) -> None:
    charts = loaded(bundle(folder), "charts")
    kinds = {name: chart["viz_type"] for name, chart in charts.items()}
    assert {name: kind for name, kind in kinds.items() if not name.startswith("commits.")} == {
        "totals.orders": "big_number_total",
        "totals.revenue": "big_number_total",
        "totals.weight": "big_number_total",
        "per_customer.rows": "table",
        "best_customers.top": "echarts_timeseries_bar",
        "per_minute.orders": "echarts_timeseries_line",
        "per_minute.mean_weight": "echarts_timeseries_line",
        "hopping.orders": "echarts_timeseries_line",
        "of_hopping.orders": "echarts_timeseries_line",
        "rolled_up.rows": "table",
        "heavy.rows": "echarts_timeseries_line",
        "named_no.rows": "table",
        "elsewhere.rows": "table",
    }


def test_the_charts_of_the_repository_are_those_that_are_read() -> None:
    dashboards = ROOT / "dashboards"
    assert (dashboards / "pipeline").resolve() == CHARTS.resolve()
    for name in some(PROJECTS, 3):
        found = example(name)
        files = {file.stem for file in (dashboards / name).glob("*.yaml")}
        charts = loaded(found, "charts")
        written = {chart.partition("__")[2] for chart in charts if "__" in chart}
        assert written == files
        own = {chart for chart in charts if "__" not in chart}
        assert all(chart.startswith("commits.") for chart in own), "each view has a file"


def metrics(found: ProjectBundle, view: str) -> dict[str, str]:
    dataset = loaded(found, "datasets")[view]
    return {metric["verbose_name"]: metric["expression"] for metric in dataset["metrics"][1:]}


def test_only_what_can_be_added_up_is_added_up(folder: Path) -> None:
    found = bundle(folder)
    assert metrics(found, "per_customer") == {
        "Revenue": 'SUM("revenue")',
        "Lightest": 'MIN("lightest")',
        "Distinct orders (highest)": 'MAX("distinct_orders")',
        "Weight": 'SUM("weight")',
    }
    assert metrics(found, "per_minute") == {
        "Orders": 'SUM("orders")',
        "Mean weight (highest)": 'MAX("mean_weight")',
    }


@pytest.mark.parametrize("view", ["hopping", "of_hopping", "rolled_up"])
def test_rows_that_count_the_same_twice_are_not_added_up(folder: Path, view: str) -> None:
    assert not [text for text in metrics(bundle(folder), view).values() if text.startswith("SUM")]


def examples(folder: Path) -> Iterator[ProjectBundle]:
    yield bundle(folder)
    for name in some(some(PROJECTS, 3), 3):
        yield example(name)


def test_charts_name_only_what_their_dataset_has(folder: Path) -> None:
    for found in examples(folder):
        datasets = {each["uuid"]: each for each in loaded(found, "datasets").values()}
        for name, chart in loaded(found, "charts").items():
            dataset = datasets[chart["dataset_uuid"]]
            params = chart["params"]
            known = {metric["metric_name"] for metric in dataset["metrics"]}
            columns = {column["column_name"] for column in dataset["columns"]}
            assert not known & columns, "the two are told apart by name"
            drawn = {params.get("metric"), *params.get("metrics", ())} - {None}
            by = {params.get("x_axis"), *params.get("groupby", ()), *params.get("all_columns", ())}
            assert drawn <= known, name
            assert by - {None} <= columns, name
            assert drawn or by - {None}, name


def test_all_refer_by_uuids_that_are_there_and_unique(folder: Path) -> None:
    for found in examples(folder):
        kinds = ("databases", "datasets", "charts", "dashboards")
        files = {kind: list(loaded(found, kind).values()) for kind in kinds}
        uuids = [each["uuid"] for kind in kinds for each in files[kind]]
        assert len(uuids) == len(set(uuids))
        assert {each["database_uuid"] for each in files["datasets"]} <= set(uuids)
        assert {each["dataset_uuid"] for each in files["charts"]} <= set(uuids)
        pages = [page["position"].values() for page in files["dashboards"]]
        shown = [
            each["meta"]["uuid"]
            for page in pages
            for each in page
            if isinstance(each, dict) and each["type"] == "CHART"
        ]
        assert sorted(shown) == sorted(each["uuid"] for each in files["charts"])


def test_the_same_project_gives_the_same_bytes_and_another_namespace_other_uuids(
    folder: Path,
) -> None:
    first = bundle(folder)
    assert zipped(bundle(folder).files) == zipped(first.files)
    (folder / "headwater.toml").write_text('namespace = "other"\n' + TRINO)
    other = bundle(folder)
    for kind in ("datasets", "charts"):
        uuids = [{each["uuid"] for each in loaded(one, kind).values()} for one in (first, other)]
        assert not uuids[0] & uuids[1]


def test_rows_of_charts_fit_on_the_page(folder: Path) -> None:
    for found in examples(folder):
        for page in loaded(found, "dashboards").values():
            position = page["position"]
            for row in (each for each in position.values() if "ROW" in str(each)[:30]):
                widths = [position[name]["meta"]["width"] for name in row.get("children", ())]
                assert sum(widths) <= 12


def test_words_that_yaml_takes_for_others_stay_words(folder: Path) -> None:
    text = bundle(folder).files["datasets/named_no.yaml"]
    assert "column_name: 'no'" in text, "Superset's parser would read false"


def test_the_charts_of_views_with_a_time_follow_the_span_of_their_page(folder: Path) -> None:
    for found in examples(folder):
        datasets = {each["uuid"]: each for each in loaded(found, "datasets").values()}
        for name, chart in loaded(found, "charts").items():
            dataset = datasets[chart["dataset_uuid"]]
            filters = chart["params"].get("adhoc_filters") or []
            spans = [each for each in filters if each.get("operator") == "TEMPORAL_RANGE"]
            if not dataset["table_name"].startswith("commits"):
                assert len(spans) == bool(dataset["main_dttm_col"]), name


def test_a_written_chart_wins_over_the_starters_of_its_view(folder: Path) -> None:
    chart_file(
        folder,
        "view: totals\ntitle: Revenue (EUR)\nviz_type: big_number_total\n"
        "params: {metric: sum__revenue}\nwidth: 12\n",
    )
    found = bundle(folder)
    charts = loaded(found, "charts")
    assert charts["totals__one"]["slice_name"] == "Revenue (EUR)"
    assert charts["totals__one"]["params"] == {
        "viz_type": "big_number_total",
        "metric": "sum__revenue",
    }
    assert [name for name in charts if name.startswith("totals")] == ["totals__one"]
    assert [chart.title for chart in found.dashboards[0].charts][0] == "Revenue (EUR)"


def test_charts_can_be_kept_in_another_folder(folder: Path) -> None:
    (folder / "headwater.toml").write_text(TRINO + '[superset]\ncharts = "../charts"\n')
    (folder.parent / "charts").mkdir()
    text = "view: totals\ntitle: Elsewhere\nviz_type: pie\n"
    (folder.parent / "charts" / "one.yaml").write_text(text)
    assert bundle(folder).dashboards[0].charts[0].title == "Elsewhere"


def test_a_project_says_how_often_a_page_asks_for_new_rows(folder: Path) -> None:
    assert bundle(folder).dashboards[0].refresh == 10
    (folder / "headwater.toml").write_text(TRINO + '[superset]\nrefresh = "2 seconds"\n')
    assert bundle(folder).dashboards[0].refresh == 2


@pytest.mark.parametrize(
    ("setting", "shown"),
    [
        ("", None),
        ('time_range = "90 minutes"', 'DATEADD(DATETIME("now"), -90, minute) : now'),
        ('time_range = "2 days"', 'DATEADD(DATETIME("now"), -2, day) : now'),
        ('time_range = "2026-03-02 : 2026-03-09"', "2026-03-02 : 2026-03-09"),
    ],
)
def test_a_project_says_what_span_its_charts_show_first(
    setting: str, shown: str | None, folder: Path
) -> None:
    (folder / "headwater.toml").write_text(f"{TRINO}[superset]\n{setting}\n")
    first, pipeline = (
        page["metadata"]["native_filter_configuration"]
        for page in loaded(bundle(folder), "dashboards").values()
    )
    mask = first[0]["defaultDataMask"]
    assert mask["extraFormData"].get("time_range") == mask["filterState"].get("value") == shown
    assert pipeline == [], "its charts say which span they show"


@pytest.mark.parametrize(
    ("text", "message", "line"),
    [
        ("view: totals\ntitle: [a\n", "expected ',' or ']'", 3),
        ("- view\n", "a chart is a mapping of names to values", 1),
        ("view: totals\ntitle: a\n", '"viz_type": field required', 1),
        ("view: totals\ntitle: a\nviz_type: pie\nwide: 3\n", '"wide": extra inputs', 1),
        ("view: totals\ntitle: a\nviz_type: pie\nwidth: 13\n", '"width": input should be less', 1),
    ],
)
def test_a_file_that_is_no_chart_is_told_with_its_place(
    folder: Path, text: str, message: str, line: int
) -> None:
    file = chart_file(folder, text)
    error = refusal(folder)
    assert error.condition == "CHART_FILE"
    assert message in error.message
    assert error.span is not None
    assert (error.span.file, error.span.line) == (str(file), line)


def test_labels_of_axes_have_room_and_whole_numbers_whole_ticks(folder: Path) -> None:
    for found in examples(folder):
        datasets = {each["uuid"]: each for each in loaded(found, "datasets").values()}
        for name, chart in loaded(found, "charts").items():
            params = chart["params"]
            if not params["viz_type"].startswith(("echarts_timeseries", "echarts_area")):
                continue
            across = params.get("orientation") == "horizontal"
            options = json.loads(params.get("echart_options", "{}"))
            title = params.get("y_axis_title", "")
            if title and not across:
                assert params["y_axis_title_position"] == "Top", f"{name}: over its ticks"
                assert options.get("grid", {}).get("left", 20) >= 3.5 * len(title) - 1
            metrics = {
                each["metric_name"]: each for each in datasets[chart["dataset_uuid"]]["metrics"]
            }
            whole = all(metrics[each]["d3format"] in ("d", ",d") for each in params["metrics"])
            axis = options.get("xAxis" if across else "yAxis", {})
            assert axis == ({"minInterval": 1} if whole else {}), name


def test_what_a_chart_file_says_of_its_axes_stays(folder: Path) -> None:
    own = "{x_axis: window_start, metrics: [sum__orders], y_axis_title: pieces, x_axis_title: t"
    given = "y_axis_title_position: Left, y_axis_title_margin: 99, echart_options: '{}'"
    text = "view: per_minute\ntitle: A\nviz_type: echarts_timeseries_bar\nparams: "
    chart_file(folder, f"{text}{own}}}\n")
    chart_file(folder, f"{text}{own}, {given}}}\n", "two.yaml")
    chart_file(folder, f"{text}{own}, orientation: horizontal}}\n", "three.yaml")
    charts = loaded(bundle(folder), "charts")
    one, two, three = (charts[f"per_minute__{name}"]["params"] for name in ("one", "two", "three"))
    assert (one["y_axis_title_position"], one["x_axis_title_margin"]) == ("Top", 30)
    assert one["x_axis_time_format"] == "%m-%d %H:%M", "not some times as hours and some as years"
    assert (two["y_axis_title_position"], two["y_axis_title_margin"]) == ("Left", 99)
    assert two["echart_options"] == "{}"
    assert (three["y_axis_title_position"], three["y_axis_title_margin"]) == ("Left", 30)


def test_every_number_of_a_table_has_the_digits_of_its_type(folder: Path) -> None:
    """A double has 15 digits that mean nothing to a person."""
    charts = loaded(bundle(folder), "charts")
    assert charts["per_customer.rows"]["params"]["column_config"] == {
        "revenue": {"d3NumberFormat": ",.2f", "d3SmallNumberFormat": ",.3~r"},
        "lightest": {"d3NumberFormat": ",.2f", "d3SmallNumberFormat": ",.3~r"},
        "distinct_orders": {"d3NumberFormat": ",d"},
        "weight": {"d3NumberFormat": ",.2f", "d3SmallNumberFormat": ",.3~r"},
    }
    for found in examples(folder):
        datasets = {each["uuid"]: each for each in loaded(found, "datasets").values()}
        for name, chart in loaded(found, "charts").items():
            params = chart["params"]
            columns = datasets[chart["dataset_uuid"]]["columns"]
            for column in columns if params["viz_type"] == "table" else ():
                inexact = column["type"].startswith(("DOUBLE", "REAL", "DECIMAL"))
                if inexact and column["column_name"] in params.get("all_columns", ()):
                    assert column["column_name"] in params["column_config"], name


def test_a_format_that_a_chart_file_gives_a_column_stays(folder: Path) -> None:
    chart_file(
        folder,
        "view: per_customer\ntitle: A\nviz_type: table\nparams:\n"
        "  all_columns: [revenue, weight]\n"
        "  column_config: {weight: {d3NumberFormat: '.1f'}}\n",
    )
    config = loaded(bundle(folder), "charts")["per_customer__one"]["params"]["column_config"]
    assert config["weight"] == {"d3NumberFormat": ".1f"}
    assert config["revenue"]["d3NumberFormat"] == ",.2f"


def test_durations_are_written_as_people_write_them(folder: Path) -> None:
    found = bundle(folder)
    for name in ("commits", "commits_per_minute"):
        metrics = loaded(found, "datasets")[name]["metrics"]
        lengths = {
            each["metric_name"]
            for each in metrics
            if re.match("age|freshness|watermark", each["metric_name"])
        }
        assert lengths == {e["metric_name"] for e in metrics if e["d3format"] == "DURATION"}
        assert not [each["verbose_name"] for each in metrics if "(s)" in each["verbose_name"]]
    for name, chart in loaded(found, "charts").items():
        if name in ("commits.freshness_max", "commits.watermark_delay"):
            assert chart["params"]["y_axis_format"] == "DURATION"


@pytest.mark.parametrize(
    ("seconds", "shown"),
    [
        (91_747_252.5, timedelta(days=1061)),
        (93_784.2, timedelta(days=1, hours=2)),
        (200.9, timedelta(minutes=3, seconds=20)),
        (1.25, timedelta(seconds=1, milliseconds=250)),
        (-200.9, timedelta(seconds=-200.9)),
    ],
)
def test_a_duration_has_two_units(seconds: float, shown: timedelta) -> None:
    query = f"SELECT {two_units(f'CAST({round(seconds * 1000)} AS BIGINT)')}"
    (row,) = duckdb.sql(query).fetchall()
    assert timedelta(milliseconds=row[0]) == shown


def test_charts_per_minute_have_a_row_for_each_minute_of_the_last_hour(folder: Path) -> None:
    """Superset draws a single commit as one bar over two days."""
    found = bundle(folder)
    charts = loaded(found, "charts")
    timed = [n for n in charts if n.startswith("commits.") and "x_axis" in charts[n]["params"]]
    minutes = loaded(found, "datasets")["commits_per_minute"]
    for name in timed:
        assert charts[name]["dataset_uuid"] == minutes["uuid"]
        assert "last hour" in charts[name]["slice_name"]
        assert not charts[name]["params"]["adhoc_filters"], "no other span replaces it"
    assert len(timed) == 4
    query = sqlglot.parse_one(minutes["sql"], dialect="trino")
    assert query.named_selects == [each["column_name"] for each in minutes["columns"]]
    assert "INTERVAL '59' MINUTE" in minutes["sql"]


def test_a_chart_of_no_view_is_refused_with_the_nearest_name(folder: Path) -> None:
    chart_file(folder, "view: total\ntitle: a\nviz_type: pie\n")
    chart_file(folder, "[", "two.yaml")
    errors = refusal(folder).render()
    assert 'UNKNOWN_VIEW — view "total" does not exist' in errors
    assert "did you mean totals?" in errors
    assert "two.yaml" in errors, "all errors of all files at once"


def test_a_project_with_a_view_of_that_name_goes_without_the_pipeline(folder: Path) -> None:
    (folder / "more.sql").write_text("CREATE STREAMING VIEW commits AS SELECT id FROM customers;")
    found = bundle(folder)
    assert [page.title for page in found.dashboards] == ["Sample"]
    assert loaded(found, "datasets")["commits"]["main_dttm_col"] is None


def test_without_an_address_of_trino_nothing_is_made(folder: Path) -> None:
    (folder / "headwater.toml").write_text("")
    error = refusal(folder)
    assert (error.condition, "--trino-url" in error.hint) == ("TRINO_URL", True)


@pytest.mark.parametrize(
    ("settings", "uri", "scheme"),
    [
        (TRINO, "trino://superset@127.0.0.1:8080/lake", None),
        (
            TRINO + '[superset]\ntrino_url = "http://trino:8080"\n',
            "trino://superset@trino:8080/lake",
            None,
        ),
        (
            '[trino]\nurl = "https://trino"\nuser = "a@b"\npassword = "${env:NOWHERE}"\n',
            "trino://a%40b:XXXXXXXXXX@trino/lake",
            "https",
        ),
    ],
)
def test_the_database_is_trino_as_superset_finds_it(
    folder: Path, settings: str, uri: str, scheme: str | None
) -> None:
    (folder / "headwater.toml").write_text(settings)
    (database,) = loaded(bundle(folder), "databases").values()
    assert database["sqlalchemy_uri"] == uri
    arguments = database["extra"]["engine_params"]["connect_args"]
    assert arguments.get("http_scheme") == scheme


def test_a_bundle_is_written_over_an_older_one_and_over_nothing_else(
    folder: Path, tmp_path: Path
) -> None:
    files, target = bundle(folder).files, tmp_path / "bundle"
    write({**files, "charts/old.yaml": "gone"}, target)
    write(files, target)
    written = {str(file.relative_to(target)) for file in target.rglob("*.yaml")}
    assert written == set(files)
    with pytest.raises(ConfigError) as caught:
        write(files, folder)
    assert caught.value.condition == "NOT_A_BUNDLE"
    assert (folder / "headwater.toml").exists()
    write(files, tmp_path / "bundle.zip")
    with zipfile.ZipFile(io.BytesIO((tmp_path / "bundle.zip").read_bytes())) as archive:
        assert set(archive.namelist()) == {f"headwater/{path}" for path in files}


def test_a_folder_of_charts_that_is_named_must_be_there(folder: Path) -> None:
    with (folder / "headwater.toml").open("a") as toml:
        toml.write('\n[superset]\ncharts = "../elsewhere"\n')
    with pytest.raises(ConfigError, match='there is no folder "../elsewhere"'):
        bundle(folder)
