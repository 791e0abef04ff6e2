"""Where secrets may stand: as references, and nowhere else."""

from __future__ import annotations

from pathlib import Path

import pytest

from headwater import redact
from headwater.analyze.connectors import registry as connectors
from headwater.analyze.connectors.contract import ConnectorOptions, Option
from headwater.analyze.ddl import sources
from headwater.analyze.project import bind
from headwater.config.secrets import Secret, private_folder, written_secrets
from headwater.config.settings import load_config
from headwater.config.spark_settings import RESERVED
from headwater.dialect import parse
from headwater.errors import HeadwaterError

SECRET = "hunter2-and-more"


def refusal(folder: Path, text: str) -> HeadwaterError:
    (folder / "headwater.toml").write_text(f'name = "x"\n{text}\n', encoding="utf-8")
    with pytest.raises(HeadwaterError) as caught:
        load_config(folder, environ={})
    return caught.value


def setting(name: str, value: str) -> str:
    return f"[spark.settings]\n'{name}' = '''{value}'''"


@pytest.mark.parametrize(
    "text",
    [
        setting("spark.hadoop.fs.s3a.secret.key", SECRET),
        setting("spark.hadoop.fs.s3a.access.key", SECRET),
        setting("spark.hadoop.fs.azure.account.key.x.blob.core.windows.net", SECRET),
        setting("spark.ssl.keyPassword", SECRET),
        setting("spark.my.passphrase", SECRET),
        setting("spark.kafka.sasl.jaas.config", SECRET),
        setting("spark.x", f"jdbc:postgresql://me:{SECRET}@db/x"),
        setting("spark.x", f"required username=me password={SECRET};"),
        setting("spark.x", f'Login required password="{SECRET}";'),
        setting("spark.driver.extraJavaOptions", f"-Djavax.net.ssl.keyStorePassword={SECRET}"),
        f"[catalog]\nuri = 'postgresql://me:{SECRET}@db/x'",
        f"[catalog]\nuri = 'jdbc:postgresql://db/x?user=me&password={SECRET}'",
        f"[catalog]\npassword = '{SECRET}'",
        f"[run]\ntrigger = '{SECRET}'",
        f"[run]\ntriger = '{SECRET}'",
        f"[nothing]\nx = '{SECRET}'",
        f"[catalog]\nuri = '{SECRET}",
        f"[catalog]\nuri = '''\n{SECRET}\n''\n",
        f"[catalog]\nuri = '{SECRET}' '",
        f"[spark.settings]\nspark.x.password = '{SECRET}'",
    ],
)
def test_a_secret_in_the_file_is_refused_and_not_repeated(tmp_path: Path, text: str) -> None:
    error = refusal(tmp_path, text)
    assert SECRET not in f"{error} {error.render()} {error.message} {error.hint}"


@pytest.mark.parametrize(
    "text",
    [
        setting("spark.hadoop.fs.s3a.aws.credentials.provider", "org.x.Provider"),
        setting("spark.kubernetes.authenticate.driver.oauthTokenFile", "/run/token"),
        setting("spark.ssl.keyPassword", "${env:X}"),
        setting("spark.x", "jdbc:postgresql://me:${env:X}@db/x?password=${env:Y}"),
        setting("spark.jars", "/opt/x.jar"),
        setting("spark.driver.extraJavaOptions", "-Xss4m"),
    ],
)
def test_what_is_no_secret_may_stand_there(tmp_path: Path, text: str) -> None:
    (tmp_path / "headwater.toml").write_text(text, encoding="utf-8")
    assert len(load_config(tmp_path, environ={}).spark) == 1


@pytest.mark.parametrize(
    "name", [*RESERVED, "spark.sql.legacy.timeParserPolicy", "spark.sql.ansi.enabled"]
)
def test_settings_that_results_depend_on_are_refused(tmp_path: Path, name: str) -> None:
    error = refusal(tmp_path, setting(name, "x"))
    assert (error.condition, name in error.message) == ("INVALID_OPTION", True)


@pytest.mark.parametrize(
    "value", ["-Dpw=${env:X}", "-Duser.language=tr", "-Duser.timezone=CET", "-Dlog4j2.x=y"]
)
def test_options_of_the_jvm_stand_on_its_command_line(tmp_path: Path, value: str) -> None:
    for process in ("driver", "executor"):
        error = refusal(tmp_path, setting(f"spark.{process}.extraJavaOptions", value))
        assert error.condition == "INVALID_OPTION"


def test_what_was_read_is_known_from_then_on(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("X", SECRET)
    secret = Secret("https://me:${env:X}@host")
    assert not redact.holds_secret(SECRET)
    assert secret.reveal() == f"https://me:{SECRET}@host"
    assert redact.scrub(f"at {SECRET}") == "at ***"
    assert SECRET not in f"{secret} {secret!r}"


def test_written_secrets_are_known_too() -> None:
    assert written_secrets(f"jdbc:x://me:{SECRET}@h?token={SECRET}2") == [SECRET, f"{SECRET}2"]
    assert redact.holds_secret(SECRET)
    assert written_secrets("${env:X}", "spark.password") == []


TABLE = "CREATE TABLE t (a BIGINT) WITH (connector = 'vault', {}) FORMAT PLAIN ENCODE JSON"


@pytest.fixture
def _vault(monkeypatch: pytest.MonkeyPatch) -> None:
    options = {
        "password": Option("secret", "password of the server", required=True),
        "server": Option("text", "name of the server"),
    }
    vault = ConnectorOptions(options=options, encodings=("json",))
    both = {**connectors.CONNECTORS, "vault": vault}
    monkeypatch.setattr(sources, "CONNECTORS", both)


@pytest.mark.usefixtures("_vault")
def test_a_secret_option_keeps_its_reference(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("X", SECRET)
    sql = TABLE.format("password = '${env:X}'")
    source = bind({"a.sql": parse(sql)}).sources["t"]
    assert source.options["password"] == "${env:X}"
    assert SECRET not in repr(source)
    assert Secret(source.options["password"]).reveal() == SECRET


@pytest.mark.usefixtures("_vault")
@pytest.mark.parametrize(
    "options",
    [
        f"password = '{SECRET}'",
        f"password = 'x${{env:X}}{SECRET}'",
        f"sever = 'x', password = '{SECRET}'",
        f"password = '{SECRET}', server = '${{env:HOME}}'",
    ],
)
def test_a_secret_in_sql_is_refused_and_not_repeated(options: str) -> None:
    with pytest.raises(HeadwaterError) as caught:
        bind({"a.sql": parse(TABLE.format(options), file="a.sql")})
    assert "INVALID_OPTION" in str(caught.value)
    assert SECRET not in caught.value.render()


def test_folders_are_private_when_they_are_made(tmp_path: Path) -> None:
    private_folder(tmp_path / "a" / "state")
    assert (tmp_path / "a" / "state").stat().st_mode & 0o777 == 0o700
    there = tmp_path / "there"
    there.mkdir(mode=0o755)
    private_folder(there)
    assert there.stat().st_mode & 0o777 == 0o755
