"""`python -m benchmarks [NAME ...]`: run the named benchmarks, or all short benchmarks.

`python -m benchmarks NAME --help` prints the options of `library` (the run of the certified
library), `library_page` (its page), `gset` and `mode_assisted`.
"""

from __future__ import annotations

import importlib
import sys

NAMES = ("files", "planting", "constraints", "wishart", "anneal", "anneal_scale",
         "polynomials", "proofs", "studies", "training")  # fmt: skip
# These benchmarks take hours or need other packages, so they run only by name.
LONG = ("races", "tiles", "atlas", "glasses", "tempering", "cores", "training_size")
WITH_OPTIONS = {"library": "library", "library_page": "library_package", "gset": "gset",
                "mode_assisted": "mode_assisted"}  # fmt: skip


def main(names: list[str]) -> None:
    """Run benchmarks one by one, each of which prints and stores its table."""
    if names and names[0] in WITH_OPTIONS:
        module = importlib.import_module(f"benchmarks.{WITH_OPTIONS[names[0]]}")
        sys.exit(module.main(names[1:]))
    for name in names or NAMES:
        if name not in (*NAMES, *LONG):
            sys.exit(f"benchmarks: {name!r} is not one of {', '.join((*NAMES, *LONG))}")
        importlib.import_module(f"benchmarks.{name}").main()


if __name__ == "__main__":
    main(sys.argv[1:])
