"""Random trials of the incremental rules in DuckDB, as many as asked for.

In: a rule or all of them, how many trials, a seed. Out: a line per trial that is wrong, with its
seed, and a line per rule: ``rule=R trials=N ticks=N wrong=N refused=N seed=S``; exit code 1 if
something is wrong. A query that is wrong is made small and kept in ``kept.jsonl``, which the unit
tests run from then on.

    python -m tests.fuzz.algebra --rule fold --queries 2000 --seed 7
"""

from __future__ import annotations

import sys
import time

import click

from headwater.errors import HeadwaterError
from tests.algebra.query import QueryTrial, wrong
from tests.algebra.rule import Rule, Trial
from tests.algebra.rules import RULES
from tests.fuzz.cases import Case, keep, smallest


def fails(case: Case) -> bool:
    """Return whether a case is wrong, and not refused.

    Args:
        case: the query and its ticks.
    """
    try:
        return bool(wrong(case))
    except HeadwaterError:
        return False


def run(rule: Rule, count: int, seed: str, ticks: int) -> int:
    """Try a rule; print what is wrong, and how much was tried.

    Args:
        rule: the rule.
        count: how many trials.
        seed: the same seed, the same trials.
        ticks: how many each has.

    Returns:
        How many trials were wrong.
    """
    bad, refused, began = 0, 0, time.process_time()
    for number in range(count):
        trial = rule.trial(f"{seed}-{number}", ticks)
        try:
            why = trial.wrong()
        except HeadwaterError as error:
            refused += 1
            click.echo(f"refused {rule.name} {seed}-{number}: {str(error).splitlines()[0]}")
            continue
        if why:
            bad += 1
            click.echo(f"WRONG {rule.name} {seed}-{number}: {_small(trial)}\n  {why}")
    tried = count - refused
    pace = round(tried * ticks / (time.process_time() - began) * 60)
    click.echo(
        f"rule={rule.name!r} trials={tried} ticks={tried * ticks} wrong={bad} refused={refused}"
        f" seed={seed} ticks_per_cpu_minute={pace}"
    )
    return bad


def _small(trial: Trial) -> Trial:
    """A trial that is wrong, made small and kept if it is a query alone."""
    if not isinstance(trial, QueryTrial):
        return trial
    small = smallest(trial.case, fails)
    keep(small)
    return QueryTrial(small)


@click.command()
@click.option("--rule", type=click.Choice([*RULES]), help="only this one; default: each")
@click.option("--queries", "count", default=200, show_default=True, help="trials of each rule")
@click.option("--ticks", default=8, show_default=True, help="ticks of each trial")
@click.option("--seed", default="1", show_default=True)
def main(rule: str | None, count: int, ticks: int, seed: str) -> None:
    """Try the incremental rules in DuckDB."""
    chosen = [RULES[rule]] if rule else RULES.values()
    sys.exit(1 if sum(run(each, count, seed, ticks) for each in chosen) else 0)


if __name__ == "__main__":
    main()
