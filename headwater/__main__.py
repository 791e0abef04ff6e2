"""``python -m headwater``: the same as the command ``headwater``."""

import sys

from headwater.cli.main import main

if __name__ == "__main__":
    sys.exit(main())
