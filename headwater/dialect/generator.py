"""Syntax tree → canonical Headwater text.

In: any tree that the parser makes. Out: text that parses to an equal tree and prints to itself.
Trino's generator does the expressions; what it would rewrite for Trino's sake (``QUALIFY``, named
windows) stays.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import ClassVar

from sqlglot import exp
from sqlglot.parser import TIME_ZONE_RE
from sqlglot.parsers.trino import FRACTIONAL_SECONDS_RE

from headwater.dialect import syntax
from headwater.dialect.row_pattern_text import RowPatternGenerator

_BARE_OPTION = re.compile(r"[a-z_][a-z0-9_]*(\.[a-z_][a-z0-9_]*)*")
# printed as they are: Trino's generator would rewrite them into what Trino has
_PLAIN_CLASSES = (
    *(exp.Select, exp.Table, exp.With, exp.WithinGroup),
    *(exp.Cast, exp.TryCast, exp.ILike, exp.First, exp.Last),
)


class HeadwaterGenerator(RowPatternGenerator):
    """Prints statements one clause per line."""

    IS_BOOL_ALLOWED = True  # x IS TRUE is not x: it is false for NULL

    TRANSFORMS: ClassVar[dict[type[exp.Expr], Callable[..., str]]] = {
        **{
            key: value
            for key, value in RowPatternGenerator.TRANSFORMS.items()
            if key not in _PLAIN_CLASSES
        },
        exp.Pivot: lambda self, e: self.pivot_sql(e),
        exp.Array: lambda self, e: f"ARRAY[{self.expressions(e, flat=True)}]",
        syntax.ViewWatermark: lambda self, e: "watermark()",
        syntax.JSONScalar: lambda self, e: (
            f"JSON_EXTRACT_SCALAR({self.sql(e, 'this')}, {self.sql(e, 'path')} ERROR ON ERROR)"
        ),
        syntax.JSONText: lambda self, e: f"JSON_FORMAT(CAST({self.sql(e, 'this')} AS JSON))",
        exp.Struct: lambda self, e: f"ROW({self.expressions(e, flat=True)})",
        exp.PropertyEQ: lambda self, e: f"{self.sql(e, 'expression')} AS {self.sql(e, 'this')}",
        exp.AtTimeZone: lambda self, e: f"{self.sql(e, 'this')} AT TIME ZONE {self.sql(e, 'zone')}",
        syntax.CreateSource: lambda self, e: self.createsource_sql(e),
        syntax.SourceColumn: lambda self, e: self.sourcecolumn_sql(e),
        syntax.WatermarkClause: lambda self, e: self.watermark_sql(e),
        syntax.AdaptiveWatermark: lambda self, e: self.adaptivewatermark_sql(e),
        syntax.OptionClause: lambda self, e: self.option_sql(e),
        syntax.CreateStreamingView: lambda self, e: self.createstreamingview_sql(e),
        syntax.ViewColumn: lambda self, e: f"{self.sql(e, 'this')} {self._comment(e)}".rstrip(),
        syntax.ViewConstraint: lambda self, e: self.viewconstraint_sql(e),
        syntax.LateRowsClause: lambda self, e: self.laterows_sql(e),
        syntax.StartFromClause: lambda self, e: self.startfrom_sql(e),
        syntax.CreateSink: lambda self, e: self.createsink_sql(e),
        syntax.DropStatement: lambda self, e: self.dropstatement_sql(e),
        syntax.CreateFunction: lambda self, e: self.createfunction_sql(e),
        syntax.WindowTable: lambda self, e: self.windowtable_sql(e),
    }

    # statements

    def createsource_sql(self, node: syntax.CreateSource) -> str:
        """Print ``CREATE SOURCE`` or ``CREATE TABLE``."""
        items = [self.sql(column) for column in node.args["columns"]]
        if key := node.args.get("primary_key"):
            items.append(f"PRIMARY KEY ({self._names(key)})")
        if node.args.get("watermark"):
            items.append(self.sql(node, "watermark"))
        kind = "TABLE" if node.args["kept"] else "SOURCE"
        return self._lines(
            self._create(node, kind) + self._block(items),
            self._comment(node),
            self._with(node),
            self._format(node),
            self._upper("ON ERROR", node.args.get("on_error")),
            self._upper("ON SCHEMA CHANGE", node.args.get("on_schema_change")),
            self.sql(node, "start_from"),
        )

    def sourcecolumn_sql(self, node: syntax.SourceColumn) -> str:
        """Print a column of a source."""
        name = self.sql(node, "this")
        if node.args.get("computed"):
            parts = [name, "AS", self.sql(node, "computed")]
        else:
            parts = [name, self.sql(node, "kind")]
        if field := node.args.get("field"):
            parts.append(f"FROM {self._quoted(field)}")
        if node.args.get("not_null"):
            parts.append("NOT NULL")
        if metadata := node.args.get("metadata"):
            parts.append(f"METADATA FROM {self._quoted(metadata)}")
        return " ".join([*parts, self._comment(node)]).rstrip()

    def watermark_sql(self, node: syntax.WatermarkClause) -> str:
        """Print a watermark definition."""
        column = self.sql(node, "this")
        rule = self.sql(node, "adaptive") or column
        if node.args.get("delay"):
            rule = f"{column} - {self.sql(node, 'delay')}"
        idle = self._phrase("IDLE TIMEOUT", self.sql(node, "idle_timeout"))
        return f"WATERMARK FOR {column} AS {rule}{' ' + idle if idle else ''}"

    def adaptivewatermark_sql(self, node: syntax.AdaptiveWatermark) -> str:
        """Print an adaptive delay."""
        parts = [
            f"{key.upper()} {self.sql(node, key)}" for key in node.arg_types if node.args.get(key)
        ]
        return f"ADAPTIVE ({', '.join(parts)})"

    def option_sql(self, node: syntax.OptionClause) -> str:
        """Print one option; its name stands in quotes where it must."""
        name = node.this if _BARE_OPTION.fullmatch(node.this) else self._quoted(node.this)
        return f"{name} = {self.sql(node, 'expression')}"

    def createstreamingview_sql(self, node: syntax.CreateStreamingView) -> str:
        """Print ``CREATE STREAMING VIEW``, its clauses in the order of the grammar."""
        columns = [self.sql(column) for column in node.args.get("columns") or ()]
        rules = [self.sql(constraint) for constraint in node.args.get("constraints") or ()]
        if key := node.args.get("primary_key"):
            rules.insert(0, f"PRIMARY KEY ({self._names(key)})")
        listed = self._block([*columns, *rules]) if columns else self._inline(rules)
        keys = ", ".join(self._partition_key(key) for key in node.args.get("partitioned_by") or ())
        return self._lines(
            self._create(node, "STREAMING VIEW") + listed,
            self._comment(node),
            f"PARTITIONED BY ({keys})" if keys else "",
            self._phrase("FRESHNESS", self.sql(node, "freshness")),
            self.sql(node, "late"),
            self.sql(node, "start_from"),
            self._upper("ON ERROR", node.args.get("on_error")),
            self._with(node),
            "AS",
            self.sql(node, "expression"),
            self._upper("EMIT", node.args.get("emit")),
        )

    def viewconstraint_sql(self, node: syntax.ViewConstraint) -> str:
        """Print a row constraint of a view."""
        check = f"CONSTRAINT {self.sql(node, 'this')} CHECK ({self.sql(node, 'expression')})"
        action = self._upper("ON VIOLATION", node.args.get("on_violation"))
        return f"{check} {action}".rstrip()

    def laterows_sql(self, node: syntax.LateRowsClause) -> str:
        """Print ``LATE ROWS``."""
        allowed = self._phrase(" FOR", self.sql(node, "allowed"))
        into = self._phrase(" INTO", self.sql(node, "into"))
        return f"LATE ROWS {node.args['mode'].upper()}{allowed}{into}"

    def startfrom_sql(self, node: syntax.StartFromClause) -> str:
        """Print ``START FROM``."""
        return f"START FROM {node.args['kind'].upper()} {self.sql(node, 'this')}".rstrip()

    def createsink_sql(self, node: syntax.CreateSink) -> str:
        """Print ``CREATE SINK``."""
        head = f"{self._create(node, 'SINK')} FROM {self.sql(node, 'view')}"
        return self._lines(head, self._with(node), self._format(node))

    def dropstatement_sql(self, node: syntax.DropStatement) -> str:
        """Print ``DROP``."""
        exists = "IF EXISTS " if node.args.get("exists") else ""
        return f"DROP {node.args['kind'].upper()} {exists}{self.sql(node, 'this')}"

    def createfunction_sql(self, node: syntax.CreateFunction) -> str:
        """Print ``CREATE FUNCTION``."""
        parameters = ", ".join(self.sql(item) for item in node.args.get("parameters") or ())
        body = node.args.get("body")
        return self._lines(
            f"{self._create(node, 'FUNCTION')}({parameters})",
            f"RETURNS {self.sql(node, 'returns')}",
            self._upper("LANGUAGE", node.args.get("language")),
            self._with(node),
            f"RETURN {self.sql(node, 'expression')}" if node.args.get("expression") else "",
            f"AS {self._dollars(body)}" if body is not None else "",
        )

    # queries

    def windowtable_sql(self, node: syntax.WindowTable) -> str:
        """Print the short form of a window table function."""
        source, time = self.sql(node, "this"), self.sql(node, "time")
        if keys := node.args.get("partition_by"):  # only Flink's form has a place for keys
            source = f"TABLE {source} PARTITION BY {self._names(keys)}"
            time = f"DESCRIPTOR({time})"
        parts = [
            source,
            time,
            *(self.sql(node, key) for key in ("slide", "size", "offset", "zone")),
        ]
        return f"{node.args['kind'].upper()}({', '.join(part for part in parts if part)})"

    def anonymous_sql(self, expression: exp.Anonymous) -> str:
        """Print a function that sqlglot does not know: its name is a name, so lower case."""
        return self.func(expression.name, *expression.expressions, normalize=False)

    def version_sql(self, expression: exp.Version) -> str:
        """Print Flink's words for a temporal join."""
        word = "SYSTEM_TIME" if expression.name == "TIMESTAMP" else expression.name
        return f"FOR {word} {expression.text('kind')} {self.sql(expression, 'expression')}"

    def cast_sql(self, expression: exp.Cast, safe_prefix: str | None = None) -> str:
        """Print casts of string literals to date and time types as typed literals."""
        value = expression.this
        if safe_prefix is None and isinstance(value, exp.Literal) and value.is_string:
            word = _typed_literal(expression.to, value.name)
            return f"{word} {self.sql(value)}" if word else super().cast_sql(expression)
        return super().cast_sql(expression, safe_prefix)

    def not_sql(self, expression: exp.Not) -> str:
        """Print NOT where people write it: ``IS NOT NULL``, ``NOT IN``, ``NOT BETWEEN``."""
        inner = expression.this
        if isinstance(inner, exp.Is) and not inner.args.get("negate"):
            return f"{self.sql(inner, 'this')} IS NOT {self.sql(inner, 'expression')}"
        if isinstance(inner, exp.In | exp.Between) and not self._negated(inner):
            value = self.sql(inner, "this")
            return f"{value} NOT{self.sql(inner).removeprefix(value)}"
        return super().not_sql(expression)

    def _negated(self, node: exp.Expr) -> bool:
        return isinstance(node.this, exp.Not | exp.Connector)

    def exists_sql(self, expression: exp.Exists) -> str:
        """Print ``EXISTS (query)``."""
        return f"EXISTS {self.wrap(expression)}"

    def filter_sql(self, expression: exp.Filter) -> str:
        """Print ``aggregate FILTER (WHERE condition)``."""
        where = self.sql(expression, "expression").strip()
        return f"{self.sql(expression, 'this')} FILTER ({where})"

    # small parts

    def _create(self, node: exp.Expr, kind: str) -> str:
        replace = "OR REPLACE " if node.args.get("replace") else ""
        exists = "IF NOT EXISTS " if node.args.get("exists") else ""
        return f"CREATE {replace}{kind} {exists}{self.sql(node, 'this')}"

    def _lines(self, *parts: str) -> str:
        return self.sep().join(part for part in parts if part)

    def _inline(self, items: list[str]) -> str:
        return f" ({', '.join(items)})" if items else ""

    def _block(self, items: list[str]) -> str:
        if not items or not self.pretty:
            return self._inline(items)
        return " (\n" + ",\n".join(self.indent(item) for item in items) + "\n)"

    def _comment(self, node: exp.Expr) -> str:
        comment = node.args.get("comment")
        return f"COMMENT {self._quoted(comment)}" if comment is not None else ""

    def _with(self, node: exp.Expr, key: str = "options", word: str = "WITH ") -> str:
        options = node.args.get(key)
        return f"{word}({', '.join(self.sql(option) for option in options)})" if options else ""

    def _format(self, node: exp.Expr) -> str:
        if not node.args.get("format"):
            return ""
        text = f"FORMAT {node.args['format'].upper()}"
        if node.args.get("encode"):
            text += f" ENCODE {node.args['encode'].upper()}"
        return text + self._with(node, "encode_options", " ")

    def _partition_key(self, key: exp.Expr) -> str:
        if isinstance(key, exp.Anonymous):
            return f"{key.name}({', '.join(self.sql(arg) for arg in key.expressions)})"
        return self.sql(key)

    def _names(self, names: list[exp.Expr]) -> str:
        return ", ".join(self.sql(name) for name in names)

    def _upper(self, words: str, text: str | None) -> str:
        return f"{words} {text.upper()}" if text else ""

    def _quoted(self, text: str) -> str:
        return self.sql(exp.Literal.string(text))

    def _dollars(self, text: str) -> str:
        return self._quoted(text) if "$$" in text else f"$${text}$$"


def _typed_literal(kind: exp.DataType, text: str) -> str:
    """Return the word that makes a literal of this very type out of a string, if there is one."""
    if kind.this == exp.DType.DATE:
        return "DATE"
    fraction = FRACTIONAL_SECONDS_RE.search(text)
    if [param.name for param in kind.expressions] != [str(len(fraction[1])) if fraction else "0"]:
        return ""
    zoned = TIME_ZONE_RE.search(text) is not None
    if kind.this == (exp.DType.TIMESTAMPTZ if zoned else exp.DType.TIMESTAMP):
        return "TIMESTAMP"
    return "TIME" if kind.this == exp.DType.TIME else ""
