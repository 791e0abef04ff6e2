"""Which part of a view's SELECT Spark cannot plan, after an error within Spark that names none.

In: the plan of a view and its inputs. Out: the part, in words of the SELECT. Spark plans the
innermost SELECTs first, then one clause at a time. Nothing is computed.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from pyspark.sql import SparkSession
from sqlglot import exp

from headwater.analyze.definitions import Catalog
from headwater.engine.inputs import InputTable
from headwater.lake.failures import is_fault_of_spark
from headwater.plan.at_rest import rendered
from headwater.plan.sql.render import print_sql
from headwater.plan.view_plan import ViewPlan

_CLAUSES = ("where", "group", "having", "qualify", "distinct", "order", "limit", "offset")


def failing_part(
    session: SparkSession, plan: ViewPlan, catalog: Catalog, inputs: Mapping[str, InputTable]
) -> str:
    """Return the part that Spark fails at, ``the SELECT`` if no part fails by itself."""

    def name(relation: str) -> str:
        return str(getattr(inputs[relation].table, "identifier", relation))

    query = rendered(plan, catalog, "spark", final=False, relation=name)
    for select in reversed(list(query.find_all(exp.Select, bfs=True))):
        if _fails(session, select):
            found = (words for words, probe in _parts(select) if _fails(session, probe))
            return next(found, "the SELECT")
    return "the SELECT"


def _parts(select: exp.Select) -> Iterator[tuple[str, exp.Select]]:
    """Yield each part of a SELECT in words, and a SELECT that has nothing else."""
    bare = select.copy()
    for key in _CLAUSES:
        bare.set(key, None)
    bare.set("expressions", [exp.Literal.number(1)])
    yield "FROM", bare
    for item in select.selects:
        probe = bare.copy()
        probe.set("expressions", [item.copy()])
        yield f'column "{item.alias_or_name}"', probe
    for key in ("where", "qualify"):
        if clause := select.args.get(key):
            probe = bare.copy()
            probe.set(key, clause.copy())
            yield key.upper(), probe


def _fails(session: SparkSession, query: exp.Expr) -> bool:
    try:
        session.sql(print_sql(query, "spark"))._jdf.queryExecution().optimizedPlan()  # noqa: SLF001
    except Exception as error:  # noqa: BLE001 - a part alone may be refused for other reasons
        return is_fault_of_spark(error)
    return False
