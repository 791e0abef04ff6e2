"""What a profile is made of: stacks by kind, Spark's log as spans, calls within functions."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from headwater.cli.main import main
from headwater.profile.calls import CallTrace
from headwater.profile.cpu import OTHER, by_kind
from headwater.profile.spark_log import spark_spans
from headwater.profile.trace import TraceSpan, write_trace

STACKS = {
    "java/lang/Thread.run;py4j/Gateway.invoke;java/util/HashMap.get": "calls from Python",
    "py4j/Gateway.invoke;org/apache/spark/sql/catalyst/optimizer/Rule.apply": "planning",
    "org/apache/spark/executor/Executor.run;org/apache/iceberg/shaded/org/apache/parquet/W.w": (
        "Parquet and Avro"
    ),
    "org/apache/spark/sql/execution/QueryExecution.x;org/apache/iceberg/Parser.toJson": (
        "Iceberg metadata"
    ),
    "org/apache/spark/executor/Executor$TaskRunner.run;sun/misc/Unsafe.copy": "tasks",
    "thread_native_entry;CompileBroker::compiler_thread_loop;Compile::Compile": (
        "compiling bytecode (JIT)"
    ),
    "start_thread;pthread_cond_wait": OTHER,
}


@pytest.mark.parametrize(("stack", "kind"), STACKS.items(), ids=STACKS.values())
def test_a_stack_is_of_the_kind_of_its_innermost_frame_that_has_one(stack: str, kind: str) -> None:
    assert by_kind([f"{stack} 7\n"]) == {kind: 7}


def test_a_trace_has_a_lane_for_each_name(tmp_path: Path) -> None:
    path = tmp_path / "trace.json"
    write_trace(
        path, [TraceSpan("a", "x", "one", 10, 5), TraceSpan("a", "y", "two", 11, 2, {"rows": 3})]
    )
    events = json.loads(path.read_text())["traceEvents"]
    assert [each["args"]["name"] for each in events if each["ph"] == "M"] == ["a", "x", "y"]
    one, two = (each for each in events if each["ph"] == "X")
    assert (one["ts"], one["dur"], one["pid"]) == (10, 5, two["pid"])
    assert one["tid"] != two["tid"]
    assert two["args"] == {"rows": 3}


def test_the_log_of_spark_becomes_statements_jobs_and_tasks(tmp_path: Path) -> None:
    sql = "org.apache.spark.sql.execution.ui.SparkListenerSQLExecution"
    plan = "== Physical Plan ==\nAppendData (1)\n"
    task = {"Launch Time": 102, "Finish Time": 104}
    events = [
        {"Event": f"{sql}Start", "executionId": 0, "time": 100, "physicalPlanDescription": plan},
        {"Event": "SparkListenerJobStart", "Job ID": 3, "Submission Time": 101, "Stage IDs": [1]},
        {"Event": "SparkListenerTaskEnd", "Stage ID": 1, "Task Info": task, "Task Metrics": None},
        {"Event": "SparkListenerTaskEnd", "Stage ID": 1, "Task Info": task},
        {"Event": "SparkListenerJobEnd", "Job ID": 3, "Completion Time": 105},
        {"Event": f"{sql}End", "executionId": 0, "time": 106},
        {"Event": "SparkListenerJobEnd", "Job ID": 99, "Completion Time": 107},
    ]
    (tmp_path / "local-1").write_text("\n".join(map(json.dumps, events)))
    (tmp_path / ".local-1.crc").write_bytes(b"\xff")
    found = {(span.lane, span.name, span.began, span.took) for span in spark_spans(tmp_path)}
    assert found == {
        ("statements 1", "0: AppendData (1)", 100_000, 6_000),
        ("jobs 1", "job 3: 1 stages", 101_000, 4_000),
        ("tasks 1", "stage 1", 102_000, 2_000),
        ("tasks 2", "stage 1", 102_000, 2_000),  # beside the other
    }


@pytest.mark.parametrize(
    ("file", "said"),
    [
        ("nowhere/trace.json", "--profile: folder nowhere does not exist"),
        ("trace.html", "--profile: the flame graph gets this name; end it in .json"),
    ],
)
def test_a_file_that_cannot_be_written_is_refused_before_the_run(
    file: str, said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["run", "--profile", file]) == 2
    assert said in capsys.readouterr().err


class Gateway:
    """Answers every command."""

    def __init__(self) -> None:
        self._gateway_client = self

    def send_command(self, command: str, retry: bool = True, binary: bool = False) -> str:
        return f"!y{command}"


def test_calls_lie_within_the_functions_that_make_them() -> None:
    gateway = Gateway()
    calls = CallTrace(gateway)

    def ask(command: str) -> str:
        return gateway.send_command(command)

    assert ask("c\no7\ncommit\ne\n") == "!yc\no7\ncommit\ne\n"
    ask("m\nd\no7\ne\n")
    spans = calls.finish()
    ask("c\no7\nlater\ne\n")
    assert [span.name for span in spans] == ["commit()", "release"]
    assert calls.count == 2


def test_a_function_reaches_from_its_first_call_to_its_last() -> None:
    from headwater.lake.java import elements

    gateway = Gateway()
    calls = CallTrace(gateway)

    class Collection:
        def __init__(self) -> None:
            self.left = 2

        def iterator(self) -> Collection:
            return self

        def hasNext(self) -> bool:  # noqa: N802 - Java's
            gateway.send_command("c\no1\nhasNext\ne\n")
            self.left -= 1
            return self.left >= 0

        def next(self) -> int:
            gateway.send_command("c\no1\nnext\ne\n")
            return self.left

    assert list(elements(Collection())) == [1, 0]  # type: ignore[arg-type]
    gateway.send_command("c\no1\nother\ne\n")
    spans = {span.name: span for span in calls.finish()}
    body, last = spans["java.elements"], spans["other()"]
    assert calls.count == 6
    assert body.began <= spans["next()"].began
    assert body.began + body.took <= last.began + last.took
