"""``python jobs/doctor.py DIR [VIEW…] [--output json]``.

It runs ``headwater doctor`` for the project in DIR. It starts no JVM.
It exits with 1 while there are problems.
"""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from headwater.cli.main import main  # noqa: E402

if __name__ == "__main__":
    if len(sys.argv) < 2 or sys.argv[1].startswith("-"):
        sys.exit(__doc__)
    sys.exit(main(["--project", sys.argv[1], "doctor", *sys.argv[2:]]))
