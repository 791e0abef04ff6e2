"""Views that `check` accepts: the table of forms, the goldens, .slt files, and random queries.

In: files of the repository, and seeds. Out: projects, each with the text of its definitions.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from random import Random

from headwater.analyze.typing import functions as f
from headwater.testing.slt import parse as parse_slt
from tests.fuzz.closing import closing_query
from tests.fuzz.functions import CALLS, call_of, fill, nested
from tests.fuzz.queries import first, folded, grouped, linear, query
from tests.fuzz.schemas import KINDS, STANDARD, Draw, type_of
from tests.fuzz.streams import random_logs, random_query

ROOT = Path(__file__).parents[1]
FORMS = Path(__file__).with_name("forms.sql")
_HEAD, _OUTCOME = "-- tables", "--: "
_AGGREGATES = (
    *("any_value(text)", "stddev_samp(float)", "var_samp(float)", "var_pop(float)", "sum(money)"),
    *("stddev_pop(number)", "approx_distinct(text)", "approx_percentile(float, 0.5)", "max(day)"),
    *("bool_and(flag)", "bool_or(flag)", "count_if(flag)", "avg(money)", "min_by(text, day)"),
    *("listagg(text, ',') WITHIN GROUP (ORDER BY text)", "array_agg(DISTINCT day)", "avg(small)"),
)
KINDS_OF_PROJECTS = ("form", "golden", "slt", "function", "random")
"""Where accepted views come from."""
_MAKERS = (query, query, folded, linear, grouped, first)


@dataclass(frozen=True, slots=True)
class Project:
    """Definitions of tables and views.

    Attributes:
        name: what they are.
        text: the statements.
    """

    name: str
    text: str


@dataclass(frozen=True, slots=True)
class Form:
    """A statement of the table of forms, and what `check` says of it.

    Attributes:
        text: the SELECT.
        outcome: ``ok``, or the condition of the error.
        tables: the definitions that it is over.
    """

    text: str
    outcome: str
    tables: str

    @property
    def project(self) -> Project:
        """The form as a project with one view."""
        return Project(self.text, f"{self.tables}\nCREATE STREAMING VIEW v AS {self.text};")


@cache
def forms() -> tuple[Form, ...]:
    """Return the table of forms: one SELECT a line, below the outcome that it has."""
    tables, _, rest = FORMS.read_text(encoding="utf-8").partition("\n\n")
    return tuple(Form(query, outcome, tables) for query, outcome in outcomes(rest))


def outcomes(text: str) -> list[tuple[str, str]]:
    """Return the queries of a text, one SELECT a line, each with the outcome that is above it."""
    found, outcome = [], "ok"
    for line in text.splitlines():
        if line.startswith(_OUTCOME):
            outcome = line.removeprefix(_OUTCOME).strip()
        elif line and not line.startswith("--"):
            found.append((line.removesuffix(";"), outcome))
    return found


def projects(random: int) -> Iterator[Project]:
    """Yield every project that is accepted.

    Args:
        random: how many random views there are of each engine.
    """
    for kind in KINDS_OF_PROJECTS:
        yield from projects_of(kind, random)


def projects_of(kind: str, random: int) -> Iterator[Project]:
    """Yield the accepted projects of one kind.

    Args:
        kind: one of :data:`KINDS_OF_PROJECTS`.
        random: how many random views there are of each engine.
    """
    match kind:
        case "form":
            yield from (form.project for form in forms() if form.outcome == "ok")
        case "golden":
            plan = ROOT / "golden" / "plan"
            tables = (plan / "tables.sql").read_text(encoding="utf-8")
            for file in sorted(plan.glob("*.sql")):
                if file.name != "tables.sql":
                    text = file.read_text(encoding="utf-8")
                    yield Project(f"golden {file.stem}", f"{tables}\n{text}")
        case "slt":
            for file in sorted((ROOT / "slt").rglob("*.slt")):
                yield Project(file.name, _statements(file))
        case "function":
            yield from function_projects(random)
        case "random":
            yield from random_projects(random)


def function_projects(count: int) -> Iterator[Project]:
    """Yield every function over columns, and random nests of them.

    Args:
        count: how many nests there are.
    """
    columns = {kind: (f"t.{kind}",) for kind in KINDS}
    items = [(call, fill(Random(call), columns, call)) for each in CALLS.values() for call in each]
    items += [(call, call) for call in _AGGREGATES]
    lines = [each for each in f.AGGREGATES.values() if each.texts is not None]
    items += [(each.name, fill(Random(each.name), columns, call_of(each))) for each in lines]
    for number in range(count):
        rnd = Random(f"nest-{number}")
        call = nested(rnd, columns, rnd.choice([*CALLS]), 3)
        items.append((f"nest {number}", call))
    shown = ", ".join(f"{kind} {type_of(kind)}" for kind in KINDS)
    place = "WITH (connector = 'files', path = 't') FORMAT PLAIN ENCODE JSON"
    table = f"CREATE TABLE t (id BIGINT, {shown}) {place};\n"
    for name, text in items:
        view = f"CREATE STREAMING VIEW v ON ERROR FAIL AS SELECT {text} AS x FROM t;"
        yield Project(f"{name}: {text}", f"{table}{view}")


def random_projects(count: int) -> Iterator[Project]:
    """Yield random views of each engine.

    Args:
        count: how many of each.
    """
    for number in range(count):
        rnd = Draw(f"accepted-{number}", STANDARD if number % 4 == 0 else None)
        text = rnd.choice(_MAKERS)(rnd).text
        view = f"CREATE STREAMING VIEW v AS {text};"
        yield Project(f"random {number}: {text}", f"{rnd.schema.definitions}{view}")
        logs = random_logs(rnd)
        asked = closing_query(rnd, logs)
        tables = "".join(log.definition for log in logs)
        yield Project(f"closed {number}: {asked.select}", f"{tables}{asked.definition('v')}")
        logs = random_logs(rnd, kept=False)
        asked = random_query(rnd, logs)
        sources = "".join(log.definition for log in logs)
        yield Project(f"stream {number}: {asked.select}", f"{sources}{asked.definition('v')}")


def _statements(file: Path) -> str:
    records = parse_slt(file.read_text(encoding="utf-8"), file.name)
    good = [r for r in records if r.verb == "statement" and r.arguments[:1] == ("ok",)]
    return "\n".join(record.sql for record in good)
