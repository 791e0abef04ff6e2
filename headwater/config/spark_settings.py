"""The Spark settings that a project may not make, since results or safety depend on them.

In: name and value of a setting in ``[spark.settings]``. Out: what is wrong with it, or None.
"""

from __future__ import annotations

from collections.abc import Mapping

from headwater.config.secrets import REFERENCE, written_secrets

_MEANING = "every view and every engine that reads it rely on Headwater's own value"
_CATALOG = "it belongs to Headwater; see [catalog] and [warehouse]"
_REDACTION = "it keeps secrets out of logs"
_DOWNLOAD = "it would load code that nobody has pinned; name local files in spark.jars"
_COMMIT = "it would write into Headwater's commit markers"

RESERVED: Mapping[str, str] = {
    "spark.sql.catalog.lake.type": _CATALOG,
    "spark.sql.catalog.lake.uri": _CATALOG,
    "spark.sql.catalog.lake.jdbc": _CATALOG,
    "spark.sql.catalog.lake.warehouse": _CATALOG,
    "spark.sql.catalog.lake.cache-enabled": _CATALOG,
    "spark.sql.catalog.lake.io-impl": _CATALOG,
    "spark.headwater": _CATALOG,
    "spark.sql.defaultCatalog": _CATALOG,
    "spark.sql.session.timeZone": _MEANING,
    "spark.sql.session.collation": _MEANING,
    "spark.sql.timestampType": _MEANING,
    "spark.sql.ansi": _MEANING,
    "spark.sql.caseSensitive": _MEANING,
    "spark.sql.collation": _MEANING,
    "spark.sql.icu": _MEANING,
    "spark.sql.legacy": _MEANING,
    "spark.sql.mapKeyDedupPolicy": _MEANING,
    "spark.sql.parser": _MEANING,
    "spark.sql.storeAssignmentPolicy": _MEANING,
    "spark.sql.subexpressionElimination.skipForShortcutExpr": _MEANING,
    "spark.sql.runSQLOnFiles": "it would let SQL read any file",
    "spark.sql.scripting": "it would let SQL do more than define views",
    "spark.sql.variable": "it would put environment variables into the data",
    "spark.sql.iceberg.snapshot-property": _COMMIT,
    "spark.databricks.delta.write": _COMMIT,
    "spark.redaction": _REDACTION,
    "spark.sql.redaction": _REDACTION,
    "spark.jars.packages": _DOWNLOAD,
    "spark.jars.repositories": _DOWNLOAD,
    "spark.jars.ivySettings": _DOWNLOAD,
}
"""Reserved names, each with all names below it, and the reason."""

JAVA_OPTIONS = tuple(
    f"spark.{process}.{kind}JavaOptions"
    for process in ("driver", "executor")
    for kind in ("default", "extra")
)
_NUMBERS = ("spark.sql.shuffle.partitions",)
"""With a wrong one of these PySpark asks Spark for ever what Spark's error means."""
_OURS = ("-Duser.language", "-Duser.country", "-Duser.timezone", "-Dlog4j", "-Dheadwater")


def wrong_setting(name: str, value: str) -> str | None:
    """Return what is wrong with a Spark setting, or None.

    Args:
        value: its text, with references to secrets as written.
    """
    for reserved, reason in RESERVED.items():
        if name == reserved or name.startswith(reserved + "."):
            return f'"{name}" cannot be set: {reason}'
    if written_secrets(value, name):
        return f'"{name}" holds a secret; write "${{env:NAME}}" and set NAME outside'
    if name in _NUMBERS and not value.isdigit():
        return f'"{name}" is not a number'
    if name in JAVA_OPTIONS:
        if REFERENCE.search(value):
            return f'"{name}" would show the secret in the list of processes; use a setting or file'
        if any(option in value for option in _OURS):
            return f'"{name}" sets one of {", ".join(_OURS)}: {_MEANING}'
    return None
