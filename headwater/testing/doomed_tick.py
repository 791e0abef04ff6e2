"""One tick of an ``.slt`` file's project, in a process that dies at ``HEADWATER_CRASH_POINT``.

In: folder, namespace and warehouse of the project. Out: SIGKILL at that point, or exit code 0 if
it was not reached.
"""

from __future__ import annotations

import sys
from pathlib import Path

from headwater.testing.harness import World, shared_session


def main(arguments: list[str]) -> None:
    """Run the tick.

    Args:
        arguments: folder, namespace, warehouse.
    """
    folder, namespace, warehouse = arguments
    with shared_session(Path(warehouse)) as spark:
        world = World(spark, Path(folder), namespace=namespace)
        try:
            world.tick()
        finally:
            world.stop()


if __name__ == "__main__":
    main(sys.argv[1:])
