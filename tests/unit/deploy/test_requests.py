"""A request to the process that runs a project is heard, answered, or given up."""

from __future__ import annotations

import os
import threading

import pytest

from headwater.deploy import requests
from headwater.deploy.requests import Request, Requests, ask
from headwater.errors import ServiceError

ROLLBACK = Request("rollback", {"views": ["v"], "to": None})


@pytest.fixture(autouse=True)
def quick(monkeypatch):
    monkeypatch.setattr(requests, "LOOK_EVERY", 0.01)
    monkeypatch.setattr(requests, "HEARD_WITHIN", 2.0)


def test_a_request_is_answered(tmp_path):
    runner, asked = Requests(tmp_path), threading.Event()
    answers = []
    with runner.heard(asked.set):
        asking = threading.Thread(target=lambda: answers.append(ask(tmp_path, ROLLBACK)))
        asking.start()
        assert asked.wait(10)
    assert runner.asked == ROLLBACK
    runner.answer({"code": 0, "applied": [["v", 2, 10, "equal"]]})
    asking.join(10)
    assert answers == [{"code": 0, "applied": [["v", 2, 10, "equal"]]}]
    assert not runner.asked


def test_nobody_hears_it(tmp_path, monkeypatch):
    monkeypatch.setattr(requests, "HEARD_WITHIN", 0.05)
    assert ask(tmp_path, ROLLBACK) is None  # nobody listens
    (tmp_path / requests._LISTENER).write_text(str(os.getpid()))
    assert ask(tmp_path, ROLLBACK) is None
    with Requests(tmp_path).heard(lambda: pytest.fail("an old request was heard")):
        pass


def test_who_heard_it_is_gone(tmp_path, monkeypatch):
    runner, asked = Requests(tmp_path), threading.Event()
    failed = []

    def asking():
        with pytest.raises(ServiceError) as error:
            ask(tmp_path, ROLLBACK)
        failed.append(error.value.condition)

    thread = threading.Thread(target=asking)
    with runner.heard(asked.set):
        thread.start()
        assert asked.wait(10)
        monkeypatch.setattr(requests, "_lives", lambda process: False)
        thread.join(10)
    assert failed == ["RUN_ENDED"]
