"""headwater.toml: what is read, which source wins, and what each mistake gets."""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path

import pytest

from headwater.config.settings import Config, Secret, load_config, parse_duration, parse_size
from headwater.errors import ConfigError, ErrorGroup


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    project = tmp_path / "flights"
    project.mkdir()
    return project


def load(folder: Path, text: str, overrides: dict[str, object] | None = None, **env: str) -> Config:
    (folder / "headwater.toml").write_text(text, encoding="utf-8")
    return load_config(folder, overrides, environ=env)


def refusal(folder: Path, text: str, **env: str) -> ConfigError:
    with pytest.raises(ConfigError) as caught:
        load(folder, text, **env)
    return caught.value


def test_an_empty_file_gives_the_defaults(folder: Path) -> None:
    config = load(folder, "")
    assert config.name == config.namespace == "flights"
    assert config.warehouse == folder / ".headwater/warehouse"
    assert config.state == folder / ".headwater/state"
    assert (config.master, config.run.shuffle_partitions) == ("local[*]", None)
    assert (config.run.max_files_per_epoch, config.run.max_bytes_per_epoch) == (100, 256_000_000)
    assert config.run.max_future == timedelta(hours=1)
    assert config.catalog_uri is None
    assert config.maintenance.every == timedelta(minutes=10)
    assert config.maintenance.retain == timedelta(hours=1)


def test_everything_that_can_be_set_is_read(folder: Path) -> None:
    config = load(
        folder,
        """
        name = "air"
        namespace = "traffic"
        [catalog]
        type = "embedded"
        [warehouse]
        path = "/data/lake"
        [spark]
        master = "local[2]"
        [spark.settings]
        "spark.ui.enabled" = false
        "spark.executor.cores" = 4
        [run]
        shuffle_partitions = 8
        trigger = "500 ms"
        max_files_per_epoch = 7
        max_bytes_per_epoch = "1 GiB"
        max_future = "2 days"
        recompute_below = 0
        state = "/data/state"
        lease = "90 seconds"
        [maintain]
        every = "off"
        retain = "2 hours"
        keep_snapshots = 50
        target_file_size = "64 MiB"
        orphan_age = "7 days"
        """,
    )
    kept = config.maintenance
    assert (kept.every, kept.retain, kept.keep_snapshots) == (None, timedelta(hours=2), 50)
    assert (kept.target_file_size, kept.orphan_age) == (64 * 2**20, timedelta(days=7))
    assert (config.name, config.namespace) == ("air", "traffic")
    assert config.warehouse == Path("/data/lake")
    assert dict(config.spark) == {"spark.ui.enabled": "false", "spark.executor.cores": "4"}
    assert config.run.trigger == timedelta(milliseconds=500)
    assert config.run.max_bytes_per_epoch == 2**30
    assert config.run.max_future == timedelta(days=2)
    assert config.run.recompute_below == 0
    assert config.state == Path("/data/state")
    assert config.run.lease == timedelta(seconds=90)


def test_a_warehouse_can_be_in_a_bucket(folder: Path) -> None:
    text = """
        [warehouse]
        path = "s3://lake/air"
        endpoint = "http://store:9000/"
        region = "eu-north-1"
        access_key = "me"
        secret_key = "${env:STORE_SECRET}"
        """
    bucket = load(folder, text).bucket
    assert bucket is not None
    assert (bucket.path, bucket.endpoint) == ("s3://lake/air", "http://store:9000")
    assert (bucket.region, bucket.access_key) == ("eu-north-1", "me")
    assert load(folder, "").bucket is None


def test_a_catalog_can_be_behind_rest(folder: Path) -> None:
    text = """
        [catalog]
        type = "rest"
        uri = "https://tables:8181"
        warehouse = "prod"
        credential = "${env:TABLES}"
        """
    config = load(folder, text)
    assert config.rest is not None
    assert (config.catalog, config.catalog_uri) == ("rest", None)
    assert (config.rest.uri, config.rest.warehouse) == ("https://tables:8181", "prod")
    assert load(folder, "").rest is None


def test_environment_wins_over_file_and_override_over_environment(folder: Path) -> None:
    text = "[run]\nmax_files_per_epoch = 1\nshuffle_partitions = 1\ntrigger = '1 s'"
    env = {"HEADWATER_RUN_MAX_FILES_PER_EPOCH": "2", "HEADWATER_RUN_SHUFFLE_PARTITIONS": "2"}
    config = load(folder, text, {"run.shuffle_partitions": 3, "run.trigger": None}, **env)
    assert config.run.max_files_per_epoch == 2
    assert config.run.shuffle_partitions == 3
    assert config.run.trigger == timedelta(seconds=1)


def test_other_headwater_variables_are_not_settings(folder: Path) -> None:
    load(folder, "", HEADWATER_JARS="/jars", HEADWATER_IVY_SETTINGS="x", HEADWATER_CRASH_POINT="y")


def test_a_spark_setting_can_be_overridden_by_its_full_name(folder: Path) -> None:
    config = load(folder, "", {"spark.settings.spark.ui.port": "4050"})
    assert config.spark["spark.ui.port"] == "4050"


def test_an_unknown_option_names_its_place_and_the_nearest_one(folder: Path) -> None:
    error = refusal(folder, 'name = "a"\n[run]\n  max_file_per_epoch = 3\n')
    assert error.condition == "UNKNOWN_OPTION"
    assert error.render() == (
        f"{folder}/headwater.toml:3:3 UNKNOWN_OPTION —"
        ' option "run.max_file_per_epoch" does not exist\n'
        "    max_file_per_epoch = …\n"
        "    ^^^^^^^^^^^^^^^^^^\n"
        "  hint: did you mean max_files_per_epoch?"
    )


def test_an_unknown_section_gets_the_nearest_one(folder: Path) -> None:
    error = refusal(folder, "\n[warehose]\npath = 'x'")
    assert (error.condition, error.hint) == ("UNKNOWN_OPTION", "did you mean warehouse?")
    assert error.span is not None
    assert error.span.line == 2


def test_an_unknown_variable_of_a_section_is_refused_by_its_name(folder: Path) -> None:
    error = refusal(folder, "", HEADWATER_RUN_TRIGER="1 s")
    assert error.condition == "UNKNOWN_OPTION"
    assert "environment variable HEADWATER_RUN_TRIGER" in error.message


def test_an_unknown_override_is_refused(folder: Path) -> None:
    with pytest.raises(ConfigError) as caught:
        load(folder, "", {"run.tirgger": "1 s"})
    assert caught.value.hint == "did you mean trigger?"


def test_all_mistakes_are_reported_at_once(folder: Path) -> None:
    with pytest.raises(ErrorGroup) as caught:
        load(folder, "[run]\ntrigger = 'soon'\nshuffle_partitions = 0\nnope = 1")
    conditions = [(error.condition, error.span.line) for error in caught.value.errors if error.span]
    assert conditions == [("INVALID_OPTION", 2), ("INVALID_OPTION", 3), ("UNKNOWN_OPTION", 4)]
    assert caught.value.exit_code == 2


@pytest.mark.parametrize(
    ("text", "condition", "line"),
    [
        ("name = 'a'\nname =", "CONFIG_SYNTAX", 2),
        ("name = 'A-1'", "INVALID_OPTION", 1),
        ("run = 3", "INVALID_OPTION", 1),
        ("[run]\nmax_future = 5", "INVALID_OPTION", 2),
        ("[run]\nmax_bytes_per_epoch = '3 parsecs'", "INVALID_OPTION", 2),
        ("[maintain]\norphan_age = '23 hours'", "INVALID_OPTION", 2),
        ("[maintain]\nkeep_snapshots = 1", "INVALID_OPTION", 2),
        ("[maintain]\nretain = '59 seconds'", "INVALID_OPTION", 2),
        ("[maintain]\nevery = 'never'", "INVALID_OPTION", 2),
        ("[catalog]\ntype = 'rest'", "INVALID_OPTION", 2),
        ("[catalog]\ntype = 'rest'\nuri = 'postgresql://db/x'", "INVALID_OPTION", 3),
        ("[catalog]\ntype = 'rest'\nuri = 'http://s'\ntoken = 'geheim'", "INVALID_OPTION", 4),
        ("[catalog]\nwarehouse = 'w'", "INVALID_OPTION", 1),
        ("[warehouse]\npath = 's3a://b/x'", "INVALID_OPTION", 2),
        ("[warehouse]\npath = 'lake #1'", "INVALID_OPTION", 2),
        ("[warehouse]\nendpoint = 'http://s:9000'", "INVALID_OPTION", 1),
        ("[warehouse]\npath = 's3://lake'\naccess_key = 'me'", "INVALID_OPTION", 1),
        ("[warehouse]\npath = 's3://lake'\nsecret_key = 'geheim'", "INVALID_OPTION", 3),
        ("[catalog]\ntype = 'hive'", "INVALID_OPTION", 2),
        ("[catalog]\nuri = 'postgresql://me:hunter2@db/x'", "INVALID_OPTION", 2),
        ("[catalog]\nuri = 'postgresql://db/x'", "INVALID_OPTION", 2),
        ("[catalog]\ntype = 'jdbc'", "INVALID_OPTION", 2),
        ("[catalog]\ntype = 'jdbc'\nuri = 'mysql://db/x'", "INVALID_OPTION", 3),
        ("[run]\nlease = '0 s'", "INVALID_OPTION", 2),
        ("[spark.settings]\n'spark.ssl.keyPassword' = 'hunter2'", "INVALID_OPTION", 1),
        ("[spark.settings]\nspark.ui.enabled = false", "INVALID_OPTION", 1),
        ("[spark.settings]\n'spark.sql.shuffle.partitions' = 'many'", "INVALID_OPTION", 1),
    ],
)
def test_each_mistake_has_a_condition_and_a_line(
    folder: Path, text: str, condition: str, line: int
) -> None:
    error = refusal(folder, text)
    assert error.condition == condition
    assert error.span is not None
    assert error.span.line == line
    assert error.exit_code == 2


def test_a_missing_file_says_how_to_make_a_project(folder: Path) -> None:
    with pytest.raises(ConfigError) as caught:
        load_config(folder)
    assert caught.value.condition == "NO_PROJECT"


def test_a_file_that_is_not_text_is_refused(folder: Path) -> None:
    (folder / "headwater.toml").write_bytes(b"\xff\xfe\x00")
    with pytest.raises(ConfigError) as caught:
        load_config(folder)
    assert caught.value.condition == "CONFIG_SYNTAX"


def test_a_secret_is_read_late_and_never_printed(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    config = load(
        folder,
        "[catalog]\ntype = 'jdbc'\nuri = 'postgresql://me:${env:DB_PASSWORD}@db/x'\n"
        "[spark.settings]\n'fs.s3a.secret.key' = '${env:DB_PASSWORD}'",
    )
    assert config.catalog_uri is not None
    with pytest.raises(ConfigError) as caught:
        config.catalog_uri.reveal()
    assert caught.value.condition == "SECRET_MISSING"
    monkeypatch.setenv("DB_PASSWORD", "hunter2")
    assert config.catalog_uri.reveal() == "postgresql://me:hunter2@db/x"
    assert config.spark["fs.s3a.secret.key"] == "hunter2"
    assert "hunter2" not in f"{config!r} {config.catalog_uri} {Secret('${env:DB_PASSWORD}')!r}"


def test_a_literal_secret_is_refused_without_repeating_it(folder: Path) -> None:
    error = refusal(folder, "[spark.settings]\n'fs.s3a.secret.key' = 'hunter2'")
    assert "hunter2" not in error.message


@pytest.mark.parametrize(
    ("text", "seconds"),
    [("10 seconds", 10), ("1 hour", 3600), ("1.5m", 90), ("500 ms", 0.5), ("2 DAYS", 172800)],
)
def test_durations(text: str, seconds: float) -> None:
    assert parse_duration(text) == timedelta(seconds=seconds)


@pytest.mark.parametrize("text", ["", "10", "seconds", "-1 s", "1 fortnight", "9" * 40 + " d", 5])
def test_what_is_no_duration(text: object) -> None:
    with pytest.raises(ValueError, match="duration"):
        parse_duration(text)


@pytest.mark.parametrize(
    ("text", "size"), [(1024, 1024), ("256 MB", 256_000_000), ("1KiB", 1024), ("1.5 gb", 1.5e9)]
)
def test_sizes(text: object, size: float) -> None:
    assert parse_size(text) == size


@pytest.mark.parametrize(
    "text",
    ["yesterday", "0 s", "2026-03-02", "2026-03-09 : 2026-03-02", "2026-13-01 : 2026-13-02"],
)
def test_a_span_of_time_of_charts_is_a_duration_or_two_dates(folder: Path, text: str) -> None:
    wrong = refusal(folder, f'[superset]\ntime_range = "{text}"\n')
    assert "write a span ('1 day'), or a date and a later one" in wrong.message + wrong.hint
