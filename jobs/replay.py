"""``spark-submit jobs/replay.py DIR TABLE [--dry-run]``.

It runs ``headwater quarantine replay`` for the project in DIR. The master and further
Spark settings come from spark-submit, everything else from DIR/headwater.toml.
"""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from headwater.cli.main import main  # noqa: E402

if __name__ == "__main__":
    if len(sys.argv) < 2 or sys.argv[1].startswith("-"):
        sys.exit(__doc__)
    sys.exit(main(["--project", sys.argv[1], "quarantine", "replay", *sys.argv[2:]]))
