"""Random clauses over random rows, from a seed.

Conditions are columns in half of the cases; in the others they read the match so far. Rows are few,
since Trino's time grows fast with such conditions.
"""

from __future__ import annotations

from random import Random

from tests.patterns.cases import TABLES, Case

_NAMES = "ABCD"
_QUANTIFIERS = (
    "",
    "",
    "",
    "*",
    "+",
    "?",
    "*?",
    "+?",
    "??",
    "{2}",
    "{1,2}",
    "{,2}?",
    "{2,}",
    "{1,}?",
)
_COLUMNS = (
    *("v = 'a'", "v IN ('a', 'b')", "v <> 'a'", "x > PREV(x)", "x < NEXT(x)", "x <= PREV(x, 2)"),
    *("x > 5", "x % 2 = 0", "x IS NULL OR x > 3", "{n}.x < PREV({n}.x)", "LAST({n}.x) > 4"),
    *("true", "true", "v <> 'c'", "x < 8", "v <= 'b'", "x >= 1", "v = 'a' OR PREV(v) = 'b'"),
    *("PREV(x) IS NULL", "NEXT(v, 2) = 'b'"),
)
_WALKED = (
    *("x > FIRST(x)", "x >= LAST({m}.x)", "x < FIRST({m}.x, 1)", "x > LAST(x, 1)"),
    *("count(*) < 4", "count({m}.*) <= count({n}.*)", "sum(x) < 20", "sum({n}.x) > 6"),
    *("x < avg({m}.x)", "x > min(x) OR count(*) = 1", "x = max(x)", "PREV({m}.x) < x"),
    *(
        "PREV(CLASSIFIER()) = '{m}'",
        "FIRST(CLASSIFIER()) <> '{n}'",
        "LAST(CLASSIFIER(), 1) = '{m}'",
    ),
    *("NEXT({m}.x) > x", "x > FIRST({n}.x) AND v = 'a'", "x <> {m}.x OR {m}.x IS NULL"),
    *("MATCH_NUMBER() < 3", "count({n}.x) < 3 AND x > 2", "PREV(FIRST({n}.x), 1) < x"),
    *("u.x > 3", "count(u.*) < 3", "LAST(u.x, 1) < x", "NOT (x <= LAST({m}.x))"),
)
_MEASURES = (
    *("CLASSIFIER()", "MATCH_NUMBER()", "count(*)", "FINAL count({n}.*)", "RUNNING sum(x)", "x"),
    *("FIRST({n}.x)", "LAST({n}.x, 1)", "FINAL LAST({n}.x)", "PREV(x)", "NEXT({n}.x, 2)"),
    *("PREV(FIRST({n}.x, 1))", "FINAL FIRST(x, 2)", "CLASSIFIER(u)", "PREV(CLASSIFIER())"),
    *("array_agg(CLASSIFIER())", "sum(u.x)", "max({n}.x)", "FINAL min(x)", "avg({n}.x)"),
    *("array_agg({n}.x)", "max_by(v, x)", "min_by({n}.x, {n}.ts)", "u.v", "FINAL array_agg(u.v)"),
    *(
        "NEXT(LAST(CLASSIFIER(u), 1))",
        "coalesce({n}.x, -1)",
        "LAST(x) - FIRST(x)",
        "arbitrary({n}.v)",
    ),
)


def random_case(seed: str) -> Case:
    """Return a clause over rows of its own."""
    made = _Maker(Random(seed))
    table = f"random {seed}"
    TABLES[table] = made.rows()
    return Case(table, made.text())


def random_pattern(random: Random) -> str:
    """Return a pattern of the variables A to D."""
    return _Maker(random).pattern(3)


class _Maker:
    def __init__(self, random: Random) -> None:
        self._random = random
        self._walks = random.random() < 0.5
        self._exclusions = 0

    def rows(self) -> str:
        rows = []
        longest = 7 if self._walks else 12
        for key in ("'p'", "'q'", "'r'", "NULL")[: self._random.randint(2, 4)]:
            for ts in range(1, self._random.randint(1, longest) + 1):
                x = "NULL" if self._random.random() < 0.07 else self._random.randint(0, 9)
                time = f"TIMESTAMP '2024-01-01 00:00:{ts * 2 + self._random.randint(0, 1):02}'"
                rows.append(f"({key}, {time}, '{self._random.choice('abc')}', {x})")
        return f"(VALUES {', '.join(rows)}) AS t(k, ts, v, x)"

    def text(self) -> str:
        pattern = self.pattern(3)
        names = [name for name in _NAMES if name in pattern.replace("PERMUTE", "")]
        if not names:
            pattern, names = f"{pattern} A?", ["A"]
        shown = ["ONE ROW PER MATCH", "ALL ROWS PER MATCH", "ALL ROWS PER MATCH OMIT EMPTY MATCHES"]
        if not self._exclusions:
            shown.append("ALL ROWS PER MATCH WITH UNMATCHED ROWS")
        skips = ["", "", "", "AFTER MATCH SKIP TO NEXT ROW"]
        skips += [
            f"AFTER MATCH SKIP TO {way} {self._random.choice(names)}" for way in ("LAST", "FIRST")
        ]
        measures = [
            f"{self._named(each, names)} AS m{index}"
            for index, each in enumerate(self._random.sample(_MEASURES, self._random.randint(1, 6)))
        ]
        members = self._random.sample(names, self._random.randint(1, len(names)))
        define = [f"{name} AS {self._condition(name, names)}" for name in names]
        if len(define) > 1 and self._random.random() < 0.2:
            define.pop()
        subset = f"SUBSET u = ({', '.join(members)})"
        return (
            f"PARTITION BY k ORDER BY ts MEASURES {', '.join(measures)}"
            f" {self._random.choice(shown)} {self._random.choice(skips)}"
            f" PATTERN ({pattern}){self._within()} {subset} DEFINE {', '.join(define)}"
        )

    def _within(self) -> str:
        if self._random.random() < 0.7:
            return ""
        return f" WITHIN INTERVAL '{self._random.randint(1, 9)}' SECOND"

    def _condition(self, name: str, names: list[str]) -> str:
        pool = _WALKED if self._walks and self._random.random() < 0.6 else _COLUMNS
        return self._named(self._random.choice(pool), names, name)

    def _named(self, text: str, names: list[str], own: str = "") -> str:
        return text.format(n=own or self._random.choice(names), m=self._random.choice(names))

    def pattern(self, depth: int) -> str:
        random = self._random
        kind = random.random()
        if depth == 0 or kind < 0.25:
            return random.choice(_NAMES) + random.choice(_QUANTIFIERS)
        parts = [self.pattern(depth - 1) for _ in range(random.randint(2, 3))]
        if kind < 0.6:
            return " ".join(self._grouped(part) for part in parts)
        if kind < 0.8:
            return f"({' | '.join(parts)}){random.choice(_QUANTIFIERS)}"
        if kind < 0.87:
            return f"PERMUTE({', '.join(parts[:3])})"
        if kind < 0.92:
            self._exclusions += 1
            return f"{{- {parts[0]} -}}{random.choice(_QUANTIFIERS)}"
        if kind < 0.95:
            return random.choice(
                (
                    f"^ {self._grouped(parts[0])}",
                    f"{self._grouped(parts[0])} $",
                    f"(() | {parts[0]})",
                )
            )
        return f"({parts[0]}){random.choice(_QUANTIFIERS)}"

    @staticmethod
    def _grouped(part: str) -> str:
        return f"({part})" if " | " in part else part
