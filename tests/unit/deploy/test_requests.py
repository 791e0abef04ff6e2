"""A request to the process that runs a project is heard, answered, or given up."""

from __future__ import annotations

import threading

import pytest

from headwater.deploy import requests
from headwater.deploy.requests import Requests, ask
from headwater.errors import ServiceError


@pytest.fixture(autouse=True)
def quick(monkeypatch):
    monkeypatch.setattr(requests, "LOOK_EVERY", 0.01)
    monkeypatch.setattr(requests, "HEARD_WITHIN", 2.0)


def test_a_request_is_answered(tmp_path):
    runner, asked = Requests(tmp_path), threading.Event()
    answers = []
    with runner.heard(asked.set):
        asking = threading.Thread(target=lambda: answers.append(ask(tmp_path)))
        asking.start()
        assert asked.wait(10)
    assert runner.asked
    runner.answer({"code": 0, "applied": [["v", 2, 10, "equal"]]})
    asking.join(10)
    assert answers == [{"code": 0, "applied": [["v", 2, 10, "equal"]]}]
    assert not runner.asked


def test_nobody_hears_it(tmp_path, monkeypatch):
    monkeypatch.setattr(requests, "HEARD_WITHIN", 0.05)
    assert ask(tmp_path) is None
    with Requests(tmp_path).heard(lambda: pytest.fail("an old request was heard")):
        pass


def test_who_heard_it_is_gone(tmp_path, monkeypatch):
    runner, asked = Requests(tmp_path), threading.Event()
    monkeypatch.setattr(requests, "_lives", lambda process: False)
    failed = []

    def asking():
        with pytest.raises(ServiceError) as error:
            ask(tmp_path)
        failed.append(error.value.condition)

    thread = threading.Thread(target=asking)
    with runner.heard(asked.set):
        thread.start()
        assert asked.wait(10)
        thread.join(10)
    assert failed == ["APPLY_FAILED"]
