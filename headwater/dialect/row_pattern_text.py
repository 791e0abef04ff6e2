"""``MATCH_RECOGNIZE`` as text.

In: a clause. Out: its text, with ``WITHIN`` and ``SUBSET``, which sqlglot's own printer lacks.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import ClassVar

from sqlglot import exp
from sqlglot.generators.trino import TrinoGenerator

from headwater.dialect import syntax


class RowPatternGenerator(TrinoGenerator):
    """Prints row patterns as Trino and Headwater read them."""

    TRANSFORMS: ClassVar[dict[type[exp.Expr], Callable[..., str]]] = {
        **TrinoGenerator.TRANSFORMS,
        syntax.MatchRecognize: lambda self, e: self.matchrecognize_sql(e),
        syntax.ProcessingMode: lambda self, e: f"{e.args['mode']} {self.sql(e, 'this')}",
    }

    def matchrecognize_sql(self, expression: exp.MatchRecognize) -> str:
        """Print ``MATCH_RECOGNIZE``."""
        parts = [
            self._listed("MEASURES", expression, "measures"),
            *(self.sql(expression, key) for key in ("rows", "after")),
            f"PATTERN ({self.sql(expression, 'pattern')})",
            self._phrase("WITHIN", self.sql(expression, "within")),
            self._listed("SUBSET", expression, "subset"),
            f"DEFINE {self._definitions(expression)}",
        ]
        body = self.partition_by_sql(expression) + self.sql(expression, "order")
        body += "".join(self.seg(part) for part in parts if part)
        alias = self._phrase(" AS", self.sql(expression, "alias"))
        return f"{self.seg('MATCH_RECOGNIZE')} {self.wrap(body)}{alias}"

    def _listed(self, words: str, node: exp.Expr, key: str) -> str:
        return self._phrase(words, self.expressions(node, key=key, flat=True))

    def _definitions(self, node: exp.Expr) -> str:
        return ", ".join(
            f"{self.sql(item, 'alias')} AS {self.sql(item, 'this')}" for item in node.args["define"]
        )

    def _phrase(self, words: str, text: str) -> str:
        return f"{words} {text}" if text else ""
