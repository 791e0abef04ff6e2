"""A sink into a table of Iceberg or Delta: how the table, and its catalog, is named in its options.

In: the options of ``CREATE SINK … WITH (connector = 'iceberg', …)`` or ``'delta'``. Out: errors for
a catalog or a place that cannot be. An option of a catalog is named ``<section>_<option>`` after
the one of ``headwater.toml`` that says the same of the project's own catalog.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from sqlglot import exp

from headwater.analyze.connectors.contract import Option, SinkOptions
from headwater.analyze.connectors.lake_tables import check_table_name
from headwater.analyze.connectors.options import option_node
from headwater.analyze.definitions import RecordFormat
from headwater.analyze.diagnostics import Diagnostics
from headwater.config.secrets import written_secrets
from headwater.config.sections import BUCKET, STORE_OPTIONS
from headwater.dialect import syntax

_KEY = Option(
    "list",
    "columns that identify a row of the table, separated by commas; default: the view's own key",
)
TABLE_OPTIONS: Mapping[str, Option] = {
    "table": Option(
        "text",
        "table to write, as namespace.table; a table that does not exist is created",
        required=True,
    ),
    "key": _KEY,
    "catalog_type": Option(
        "choice",
        "catalog of the table: rest, jdbc (PostgreSQL) or embedded (SQLite, in the "
        "folder warehouse_path); default: the project's own catalog",
        choices=("rest", "jdbc", "embedded"),
    ),
    "catalog_uri": Option(
        "text", "address of the catalog: https://host:8181 or postgresql://user@host:5432/database"
    ),
    "catalog_name": Option(
        "text", "jdbc, embedded: name of the catalog in the database", default="lake"
    ),
    "catalog_password": Option("secret", "jdbc: password of the user, as '${env:NAME}'"),
    "catalog_warehouse": Option("text", "rest: name of the warehouse, for a server with several"),
    "catalog_credential": Option("secret", "rest: OAuth2 credential id:secret, as '${env:NAME}'"),
    "catalog_token": Option(
        "secret", "rest: bearer token instead of a credential, as '${env:NAME}'"
    ),
    "warehouse_path": Option(
        "text",
        "folder or s3://bucket/folder in which a new table is created; a REST server "
        "has a default, but needs this option if the files are in an object store",
    ),
    "warehouse_endpoint": Option("text", "address of the object store; default: AWS"),
    "warehouse_region": Option("text", "region of the object store", default="us-east-1"),
    "warehouse_access_key": Option("text", "access key ID for the object store"),
    "warehouse_secret_key": Option(
        "secret", "secret access key for the object store, as '${env:NAME}'"
    ),
}
"""Options of a sink into a table of Iceberg."""

FOLDER_OPTIONS: Mapping[str, Option] = {
    "path": Option(
        "text",
        "folder of the table to write, absolute or relative to the project; a table "
        "that does not exist is created",
        required=True,
    ),
    "key": _KEY,
}
"""Options of a sink into a table of Delta."""

_NAME = re.compile(r"[A-Za-z_][\w-]*", re.ASCII)
_SERVER = re.compile(r"https?://[^\s?#]+")
_DATABASE = re.compile(
    r"postgres(?:ql)?://(?:[^:@/\s]+@)?(?:\[[^]\s]+\]|[^:@/?\s]+)(?::\d+)?/[^?/\s]+"
    r"(?:\?ssl(?:mode|rootcert|cert|key)=[^&\s]+(?:&ssl(?:mode|rootcert|cert|key)=[^&\s]+)*)?"
)
_NEEDED: Mapping[str, tuple[str, ...]] = {
    "": (),
    "rest": ("catalog_uri",),
    "jdbc": ("catalog_uri", "warehouse_path"),
    "embedded": ("warehouse_path",),
}
_OF_CATALOGS: Mapping[str, tuple[str, ...]] = {
    "catalog_uri": ("rest", "jdbc"),
    "catalog_name": ("jdbc", "embedded"),
    "catalog_password": ("jdbc",),
    "catalog_warehouse": ("rest",),
    "catalog_credential": ("rest",),
    "catalog_token": ("rest",),
    "warehouse_path": ("rest", "jdbc", "embedded"),
}


def check_table(
    statement: syntax.CreateSink, options: Mapping[str, str], report: Diagnostics
) -> None:
    """Refuse a table, a catalog or a warehouse that cannot be."""
    check_table_name(option_node(statement, "table"), options, report)
    kind = options.get("catalog_type", "")
    if kind not in _NEEDED:
        return  # said already
    for name in _NEEDED[kind]:
        if name not in options:
            hint = f"add {name} = '…': {TABLE_OPTIONS[name].description}"
            report.add("MISSING_OPTION", f"catalog_type {kind} needs {name}", statement, hint)
    for name, kinds in _OF_CATALOGS.items():
        if name in options and kind not in kinds:
            what = f"is not for catalog_type {kind}" if kind else "needs catalog_type"
            hint = f"it is for catalog_type {' and '.join(kinds)}"
            report.add(
                "INVALID_OPTION", f'option "{name}" {what}', option_node(statement, name), hint
            )
    _check_address(statement, options, kind, report)
    _check_warehouse(statement, options, kind, report)


def check_folder(
    statement: syntax.CreateSink, options: Mapping[str, str], report: Diagnostics
) -> None:
    """Refuse a folder that cannot be that of a Delta table."""
    path = options.get("path", "")
    at = option_node(statement, "path")
    if "://" in path:
        hint = "choose a folder on this machine"
        report.not_yet("a sink into a Delta table in an object store", at, hint)
    _check_characters(path, at, report)


def _check_characters(path: str, at: exp.Expr, report: Diagnostics) -> None:
    if {"?", "#"} & set(path):
        message = f'"{path}" cannot hold tables: readers take ? and # for the end of a path'
        report.add("INVALID_OPTION", message, at, "choose another folder")


def _check_address(
    statement: syntax.CreateSink, options: Mapping[str, str], kind: str, report: Diagnostics
) -> None:
    uri, name = options.get("catalog_uri", ""), options.get("catalog_name", "lake")
    if uri and written_secrets(uri):
        hint = "remove it, and write catalog_password = '${env:NAME}'"
        message = 'option "catalog_uri" contains a secret'
        report.add("INVALID_OPTION", message, option_node(statement, "catalog_uri"), hint)
    elif uri and kind == "rest" and not _SERVER.fullmatch(uri):
        hint = "write catalog_uri = 'https://host:8181'"
        message = "catalog_uri is not a server address"
        report.add("INVALID_OPTION", message, option_node(statement, "catalog_uri"), hint)
    elif uri and kind == "jdbc" and not _DATABASE.fullmatch(uri):
        hint = "write catalog_uri = 'postgresql://user@host:5432/database'"
        message = "catalog_uri is not the address of a PostgreSQL database"
        report.add("INVALID_OPTION", message, option_node(statement, "catalog_uri"), hint)
    if not _NAME.fullmatch(name):
        hint = "use letters, digits, '_' and '-'"
        message = f'"{name}" is not a valid catalog name'
        report.add("INVALID_OPTION", message, option_node(statement, "catalog_name"), hint)


def _check_warehouse(
    statement: syntax.CreateSink, options: Mapping[str, str], kind: str, report: Diagnostics
) -> None:
    path = options.get("warehouse_path", "")
    at = option_node(statement, "warehouse_path")
    if "://" in path and (kind == "embedded" or not BUCKET.fullmatch(path)):
        hint = "write a folder" + ("" if kind == "embedded" else ", or s3://bucket/folder")
        report.add("INVALID_OPTION", f'"{path}" cannot hold tables', at, hint)
    else:
        _check_characters(path, at, report)
    for name in (f"warehouse_{part}" for part in STORE_OPTIONS):
        if name in options and not path.startswith("s3://"):
            hint = "add warehouse_path = 's3://bucket/folder', or remove it"
            message = f'option "{name}" is for an object store'
            report.add("INVALID_OPTION", message, option_node(statement, name), hint)
    if ("warehouse_access_key" in options) != ("warehouse_secret_key" in options):
        message = "warehouse_access_key and warehouse_secret_key belong together"
        report.add("INVALID_OPTION", message, statement, "write both or neither")


ICEBERG_SINK = SinkOptions(
    TABLE_OPTIONS,
    place=("table",),
    held_by=(
        *("catalog_type", "catalog_uri", "catalog_name", "catalog_warehouse"),
        *("warehouse_path", "table"),
    ),
    formats=(RecordFormat.PLAIN, RecordFormat.UPSERT),
    check=check_table,
    writer="headwater.connectors.lake_tables.iceberg:IcebergTable",
    in_catalog=True,
)

DELTA_SINK = SinkOptions(
    FOLDER_OPTIONS,
    place=("path",),
    held_by=("path",),
    formats=(RecordFormat.PLAIN, RecordFormat.UPSERT),
    check=check_folder,
    writer="headwater.connectors.lake_tables.delta:DeltaFolder",
)
