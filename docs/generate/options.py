"""The reference of options of connectors, encodings, formats, views and sinks."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from functools import partial

from docs.generate.markdown import code, listed, sentence, table
from headwater.analyze.connectors.contract import Option
from headwater.analyze.connectors.encodings import ENCODINGS, FORMATS
from headwater.analyze.connectors.registry import CONNECTORS, SINKS, VIEW_OPTIONS

Block = Callable[[], Iterator[str]]
_TYPES: Mapping[str, str] = {
    "text": "text",
    "list": "list",
    "secret": "secret",
    "boolean": "boolean",
    "integer": "integer",
    "number": "number",
    "interval": "duration",
    "time": "number, date or time",
    "template": "text with secrets",
}


def option_blocks() -> dict[str, Block]:
    """Return a block for every table of options."""
    blocks: dict[str, Block] = {
        "connectors": overview,
        "options.view": partial(options, VIEW_OPTIONS),
    }
    for name, connector in CONNECTORS.items():
        if connector.built:
            blocks[f"options.{name}"] = partial(options, connector.options)
            if connector.metadata:
                blocks[f"metadata.{name}"] = partial(metadata, connector.metadata)
            if connector.fields:
                blocks[f"fields.{name}"] = partial(options, connector.fields)
    for name, sink in SINKS.items():
        blocks[f"options.sink-{name}"] = partial(
            options,
            {**sink.options, **{f"{prefix}.<name>": each for prefix, each in sink.named.items()}},
        )
    for name, encoding in ENCODINGS.items():
        if encoding:
            blocks[f"options.encode-{name}"] = partial(options, encoding)
    for name, form in FORMATS.items():
        if form.options:
            blocks[f"options.format-{name}"] = partial(options, form.options)
        if form.metadata:
            blocks[f"metadata.format-{name}"] = partial(metadata, form.metadata)
    return blocks


def options(known: Mapping[str, Option]) -> Iterator[str]:
    """Yield a table of options: name, type, default, meaning."""
    rows = [
        (code(name), _type(option), _default(option), sentence(option.description))
        for name, option in known.items()
    ]
    yield from table(("option", "type", "default", "meaning"), rows)


def metadata(keys: Mapping[str, str]) -> Iterator[str]:
    """Yield the keys of ``METADATA FROM``."""
    yield from table(("key", "type"), [(code(key), code(kind)) for key, kind in keys.items()])


def overview() -> Iterator[str]:
    """Yield what each connector reads and writes."""
    rows = []
    for name in dict.fromkeys((*CONNECTORS, *SINKS)):
        source, sink = CONNECTORS.get(name), SINKS.get(name)
        if source is not None and not source.built:
            continue
        reads = listed(each.upper() for each in source.encodings) if source else ""
        writes = listed(each.upper() for each in sink.formats) if sink else ""
        starts = listed(each.upper() for each in source.start) if source else ""
        rows.append((f"[`{name}`]({name}.md)", reads or "—", starts, writes or "—"))
    yield from table(("connector", "reads `ENCODE`", "`START FROM`", "writes `FORMAT`"), rows)


def _type(option: Option) -> str:
    kind = listed(option.choices) if option.choices else _TYPES[option.kind]
    return f"{kind}, at least {option.minimum:g}" if option.minimum else kind


def _default(option: Option) -> str:
    return "**required**" if option.required else code(option.default) or "—"
