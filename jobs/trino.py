"""Trino over the tables of a project, until Ctrl-C: ``make trino PROJECT=sql/flights``."""

import signal
import sys
from pathlib import Path

from docker.local.leftover import temporary_stack
from docker.local.trino import Trino
from headwater.config.settings import load_config
from headwater.errors import HeadwaterError
from headwater.serve.trino.catalog import catalogs, environment

LINES = """Trino reads the tables of {name} at {url}
Any name of a user will do, nobody may write. Ctrl-C stops it.
  headwater    export HEADWATER_TRINO_URL={url}
  DB-API       trino.dbapi.connect("127.0.0.1", {port}, "me", "{catalog}", "{schema}")
  SQLAlchemy   trino://me@127.0.0.1:{port}/{catalog}/{schema}
  JDBC         jdbc:trino://127.0.0.1:{port}/{catalog}/{schema}?user=me
"""


def main(project: Path) -> None:
    """Start Trino, say where it is, and wait."""
    config = load_config(project)
    lake, variables = catalogs(config), environment(config)
    with temporary_stack() as folder, Trino(folder, lake, variables=variables) as server:
        place = {"url": server.address, "port": server.ports["TRINO_PORT"], "name": config.name}
        place |= {"catalog": config.trino.catalog, "schema": config.namespace}
        print(LINES.format(**place), flush=True)
        signal.pause()


if __name__ == "__main__":
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(128 + signal.SIGTERM))
    try:
        main(Path(sys.argv[1]))
    except HeadwaterError as error:
        sys.exit(error.render())
    except KeyboardInterrupt:
        sys.exit(130)
