"""The parts of `make demo-cdc` that need no server."""

from __future__ import annotations

import io
import json
from collections import Counter
from datetime import UTC, datetime, timedelta, timezone
from decimal import Decimal
from itertools import islice
from pathlib import Path

import pytest
from rich.console import Console

from headwater.errors import ServiceError
from headwater.project import load_project
from headwater.serve.status import Status
from jobs.demos.cdc import screen
from jobs.demos.cdc.demo import RANDOM, Options, deaths, folder_of
from jobs.demos.cdc.judge import compared, select_of
from jobs.demos.cdc.load import CUSTOMERS, KINDS, ORDERS, transactions
from jobs.demos.cdc.pipeline import CONNECTOR, EXAMPLE, SERVERS, connector, copy_example
from jobs.demos.cdc.screen import Picture, Screen, Shown, drawn
from jobs.demos.servers.connect import postgres_connector
from jobs.demos.servers.postgres import Postgres


def test_the_same_seed_gives_the_same_transactions() -> None:
    first, again, other = (list(islice(transactions(seed), 300)) for seed in (1, 1, 2))
    assert first == again
    assert first != other


def test_every_kind_of_transaction_comes_as_often_as_it_should() -> None:
    found = Counter(kind.name for kind, _ in islice(transactions(1), 10_000))
    whole = sum(kind.weight for kind in KINDS)
    for kind in KINDS:
        assert found[kind.name] / 10_000 == pytest.approx(kind.weight / whole, rel=0.3)


def test_new_rows_have_numbers_of_their_own_and_old_ones_are_there() -> None:
    orders: list[object] = []
    for kind, values in islice(transactions(3), 2000):
        if "%(new_order)s" in " ".join(kind.statements):
            orders.append(values["new_order"])
        assert 1 <= int(str(values["order"])) <= ORDERS + len(orders)
    assert orders == [*range(ORDERS + 1, ORDERS + 1 + len(orders))]
    signed_up = [v["new_customer"] for k, v in islice(transactions(3), 2000) if k.name == "sign up"]
    assert signed_up == [*range(CUSTOMERS + 1, CUSTOMERS + 1 + len(signed_up))]


@pytest.fixture
def server(tmp_path: Path) -> Postgres:
    server = Postgres(tmp_path, password="of the demo")
    server.ports = {"POSTGRES_PORT": 15432}
    return server


def test_the_example_configures_debezium_as_the_local_servers_do(server: Postgres) -> None:
    assert connector(server) == postgres_connector(server, "shop")


def test_the_example_says_the_mode_in_which_decimals_are_written() -> None:
    mode = json.loads(CONNECTOR.read_text())["decimal.handling.mode"]
    tables = (EXAMPLE / "tables.sql").read_text()
    assert tables.count(f"decimals = '{mode}'") == tables.count("decimals = ") == 2


def test_the_copy_reads_the_broker_that_was_started(tmp_path: Path) -> None:
    copy_example(tmp_path, "127.0.0.1:15000")
    project = load_project(tmp_path)
    servers = {each.options["bootstrap_servers"] for each in project.catalog.sources.values()}
    assert servers == {"127.0.0.1:15000"}
    assert load_project(EXAMPLE).catalog.views.keys() == project.catalog.views.keys()
    charts = {file.name for file in (EXAMPLE / project_charts(EXAMPLE)).glob("*.yaml")}
    assert charts
    assert charts == {file.name for file in (tmp_path / project_charts(tmp_path)).glob("*.yaml")}
    assert (tmp_path / project_charts(tmp_path)).is_relative_to(tmp_path)


def project_charts(folder: Path) -> str:
    return load_project(folder).config.superset.charts


def test_postgresql_runs_the_select_of_each_view() -> None:
    views = load_project(EXAMPLE).catalog.views
    assert select_of(views["orders"]) == "SELECT * FROM orders"
    assert select_of(views["low_stock"]).endswith("WHERE products.stock <= products.reorder_at")
    assert "DATE_TRUNC('MINUTE', orders.placed_at)" in select_of(views["revenue_per_minute"])


def test_rows_are_compared_by_value_each_as_often_as_it_is_there() -> None:
    noon = datetime(2026, 1, 1, 12, tzinfo=UTC)
    ours = [(1, Decimal("1.50"), noon, None), (2, Decimal(0), noon, "x")]
    elsewhere = noon.astimezone(timezone(timedelta(hours=2)))
    theirs = [[2, Decimal("0.00"), noon, "x"], [1, Decimal("1.5"), elsewhere, None]]
    assert compared("t", "table", ours, theirs).equal
    twice = compared("t", "table", ours, [*theirs, theirs[0]])
    assert (twice.equal, twice.rows, twice.missing) == (False, 2, ())
    assert twice.surplus == (tuple(theirs[0]),)
    assert twice.verdict == "NOT EQUAL: 0 rows missing, 1 too many"
    assert compared("t", "table", ours, theirs[:1]).missing == (ours[0],)


def test_servers_are_killed_at_even_distances() -> None:
    options = Options(seconds=30, kill=("kafka", "connect"))
    assert deaths(options) == [(10, "kafka"), (20, "connect")]
    assert deaths(Options(kill=())) == []
    ((at, name),) = deaths(Options(seconds=8, seed=5, kill=(RANDOM,)))
    assert (at, name) == (4, deaths(Options(seed=5, kill=(RANDOM,)))[0][1])
    assert name in SERVERS


def test_what_is_kept_gets_a_folder_of_its_own(tmp_path: Path) -> None:
    with folder_of(tmp_path / "new") as folder:
        (folder / "project").mkdir()
    with pytest.raises(ServiceError, match="not empty"), folder_of(tmp_path / "new"):
        pass


def test_the_picture_says_how_far_behind_a_view_is() -> None:
    behind = Status("low_stock", "view", "running", lag=2, age=timedelta(seconds=1.24))
    view = Shown("low_stock", ("name", "stock"), (("rug", 3), (None, 4)), behind)
    picture = Picture((view, Shown("lifetime_value")), 0.5, 1200)
    stream = io.StringIO()
    Console(file=stream, width=200).print(drawn(picture, picture.headline))
    text = stream.getvalue()
    assert "low_stock: committed 1.2 s ago, 2 commits behind" in text
    assert "lifetime_value: not written yet" in text
    assert "can be seen: 0.5 s ago; waiting in Kafka: 1,200" in text
    assert Picture((), None, None).headline.endswith("nothing is there yet; waiting in Kafka: -")


def test_without_a_terminal_the_views_are_plain_lines_now_and_then(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    view = Shown("low_stock", ("name", "stock"), (("rug", 3), (None, 4)))
    taken = iter([Picture((view,), 0.5, 0)])
    monkeypatch.setattr(screen, "take", lambda project: next(taken))
    with Screen() as shown:
        shown.say("kafka has ended")
        for _ in range(3):
            shown.show(load_project(EXAMPLE), "9 transactions")
    event, headline, line = capsys.readouterr().out.splitlines()
    assert event.endswith(" s  kafka has ended")
    assert "9 transactions; newest change of an order that can be seen: 0.5 s ago" in headline
    assert line.split() == ["low_stock", "not", "written", "yet", "rug,", "3"]
