"""``python jobs/verify.py DIR [VIEW…] [--engine trino]``.

It runs ``headwater verify`` for the project in DIR. It starts no JVM.
It exits with 1 if a view differs from its SELECT.
"""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from headwater.cli.main import main  # noqa: E402

if __name__ == "__main__":
    if len(sys.argv) < 2 or sys.argv[1].startswith("-"):
        sys.exit(__doc__)
    sys.exit(main(["--project", sys.argv[1], "verify", *sys.argv[2:]]))
