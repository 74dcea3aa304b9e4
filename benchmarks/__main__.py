"""`python -m benchmarks [NAME ...]`: run some or all of the benchmarks.

`python -m benchmarks NAME --help` lists the options of those that read files: library and gset.
"""

from __future__ import annotations

import importlib
import sys

NAMES = ("files", "planting", "constraints", "wishart", "anneal", "anneal_scale", "proofs",
         "studies", "training")  # fmt: skip
# Hours, or what others must be installed for: only when asked for by name.
LONG = ("races", "tiles", "atlas", "glasses", "tempering")


def main(names: list[str]) -> None:
    """Run each benchmark in turn; each prints its table and stores it."""
    if names[:1] in (["library"], ["gset"]):
        sys.exit(importlib.import_module(f"benchmarks.{names[0]}").main(names[1:]))
    for name in names or NAMES:
        if name not in (*NAMES, *LONG):
            sys.exit(f"benchmarks: {name!r} is not one of {', '.join((*NAMES, *LONG))}")
        importlib.import_module(f"benchmarks.{name}").main()


if __name__ == "__main__":
    main(sys.argv[1:])
