"""`python -m glasshouse` is `glasshouse`."""

import sys

from glasshouse.cli import main

if __name__ == "__main__":
    sys.exit(main())
