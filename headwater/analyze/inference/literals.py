"""Literals that are languages: patterns, replacements, JSON paths, paddings, formats.

In: a node whose arguments are typed. Out: errors at the place inside the literal. What passes here,
:mod:`headwater.analyze.portable` translates.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from sqlglot import exp

from headwater.analyze.diagnostics import Diagnostics
from headwater.analyze.inference.json_texts import check_json
from headwater.analyze.literals import (
    json_path,
    like,
    regex,
    regex_engines,
    replacement,
    time_format,
)
from headwater.analyze.literals.regex_tree import Regex
from headwater.analyze.typing import types as t
from headwater.analyze.typing.common_type import type_of
from headwater.analyze.typing.functions.text import (
    REGEXP_COUNT,
    REGEXP_EXTRACT_ALL,
    REGEXP_SPLIT,
)
from headwater.dialect.syntax import JSONScalar, JSONText
from headwater.dialect.time_patterns import WRITTEN

_SHORT = 18
"""Trino fails if it rounds a decimal of more digits beyond its first one."""


def _pattern(node: exp.Expr, report: Diagnostics) -> Regex | None:
    """Parse the pattern of a call; report what is wrong with it."""
    pattern = node.expression
    if not pattern.is_string:
        return None  # reported already
    with report.within(pattern):
        tree = regex.parse(pattern.name)
        regex_engines.check(tree)
        return tree
    return None


def _test(node: exp.Expr, report: Diagnostics) -> None:
    _pattern(node, report)


def _replace(node: exp.Expr, report: Diagnostics) -> None:
    tree = _pattern(node, report)
    written = node.args.get("replacement")
    if tree is None or (written is not None and not written.is_string):
        return
    text = written.name if written is not None else ""
    with report.within(written or node):
        parts = replacement.parse(text, tree)
        with report.within(node.expression):
            regex_engines.check_replace(tree, parts)


def _extract(node: exp.Expr, report: Diagnostics) -> None:
    tree, group = _pattern(node, report), node.args.get("group")
    if tree is None or (group is not None and not group.is_int):
        return
    number = int(group.to_py()) if group is not None else 0
    if not 0 <= number <= tree.groups:
        message = f"the pattern has {tree.groups} groups"
        report.add("WRONG_ARGUMENTS", message, group, "groups are in brackets, the first one is 1")
        return
    with report.within(node.expression):
        regex_engines.check_extract(tree, number)


def _every(node: exp.Expr, report: Diagnostics) -> None:
    """A function of all matches: none of them may be empty, since engines go on otherwise."""
    pattern, *rest = node.expressions[1:]
    if not pattern.is_string:
        return  # reported already
    with report.within(pattern):
        tree = regex.parse(pattern.name)
        number = int(rest[0].to_py()) if rest and rest[0].is_int else 0
        if not 0 <= number <= tree.groups:
            message = f"the pattern has {tree.groups} groups"
            hint = "groups are in brackets, the first one is 1"
            report.add("WRONG_ARGUMENTS", message, rest[0], hint)
            return
        regex_engines.check_all(tree, number)


def _like(node: exp.Expr, report: Diagnostics) -> None:
    """LIKE with ESCAPE; without it every text is a pattern."""
    escape, pattern = node.expression, node.this.expression
    if not escape.is_string:
        message = "the escape of LIKE must be a literal"
        report.add("WRONG_ARGUMENTS", message, escape, "write ESCAPE '!'")
        return
    with report.within(escape):
        like.check_escape(escape.name)
        if pattern.is_string:
            with report.within(pattern):
                like.check_pattern(pattern.name, escape.name)


def _json_path(node: exp.Expr, report: Diagnostics) -> None:
    path = node.args["path"] if isinstance(node, JSONScalar) else node.expression
    if not path.is_string:
        message = "the path into JSON must be a literal"
        report.add("WRONG_ARGUMENTS", message, path, "write it like '$.a.b'")
        return
    with report.within(path):
        json_path.parse(path.name)


def _date_format(node: exp.Expr, report: Diagnostics) -> None:
    pattern = node.args.get("format")
    if not isinstance(pattern, exp.Literal):
        message = "argument 2 of date_format must be a literal"
        report.add("WRONG_ARGUMENTS", message, pattern or node, "write the value itself")
        return
    with report.within(pattern):
        name = report.word(node) or "date_format"
        time_format.check(pattern.name, pattern.meta.get(WRITTEN), name)


def _delimiter(node: exp.Expr, report: Diagnostics) -> None:
    delimiter = node.args.get("delimiter") or node.expression
    if delimiter.is_string and not delimiter.name:
        name = "split_part" if isinstance(node, exp.SplitPart) else "split"
        message = f"the delimiter of {name} is empty"
        report.add("WRONG_ARGUMENTS", message, delimiter, "write the text between the parts")


def _part(node: exp.Expr, report: Diagnostics) -> None:
    _delimiter(node, report)
    place = node.args.get("part_index")
    if place is not None and place.is_int and int(place.to_py()) < 1:
        message = "parts are counted from 1"
        hint = "to count from the end, write element_at(split(text, delimiter), -1)"
        report.add("WRONG_ARGUMENTS", message, place, hint)


def _padding(node: exp.Expr, report: Diagnostics) -> None:
    length, padding = node.expression, node.args.get("fill_pattern")
    if length is not None and length.is_int and not 0 <= int(length.to_py()) < 2**31:
        report.add("WRONG_ARGUMENTS", "a text cannot have this length", length, "write 0 or more")
    if padding is not None and padding.is_string and not padding.name:
        report.add("WRONG_ARGUMENTS", "the padding is empty", padding, "write at least ' '")


def _digits(node: exp.Expr, report: Diagnostics) -> None:
    kind, digits = type_of(node.this), node.args.get("decimals")
    if kind.this is not t.Type.DECIMAL or not isinstance(digits, exp.Neg) or not digits.this.is_int:
        return
    precision, scale = t.digits(kind)
    if int(digits.this.to_py()) > precision - scale and precision > _SHORT:
        message = f"{t.sql_type(kind)} has {precision - scale} digits before the point"
        report.add("WRONG_ARGUMENTS", message, digits, "round to one of them")


CHECKS: Mapping[type[exp.Expr], Callable[[exp.Expr, Diagnostics], None]] = {
    exp.RegexpLike: _test,
    exp.RegexpReplace: _replace,
    exp.RegexpExtract: _extract,
    **dict.fromkeys((REGEXP_COUNT, REGEXP_EXTRACT_ALL, REGEXP_SPLIT), _every),
    exp.Escape: _like,
    **dict.fromkeys((exp.JSONExtractScalar, JSONScalar), _json_path),
    exp.TimeToStr: _date_format,
    exp.Split: _delimiter,
    exp.SplitPart: _part,
    exp.Pad: _padding,
    exp.Round: _digits,
    JSONText: check_json,
}
"""What a literal of a node must be."""
