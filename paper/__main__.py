"""`python -m paper FIGURE -o DIR`: reproduce a figure of the paper.

Writes DIR/FIGURE.csv, .png, .svg and .md: data, figure, and a report that compares the claims. The
measurements are stored in DIR/FIGURE.sqlite, from which the same command resumes.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

from glasshouse.cli.collecting import collect_steps, refuse_both, refuse_lost
from glasshouse.cli.errors import CheckFailedError
from glasshouse.extras import MissingPackageError
from glasshouse.store import Store
from paper import FIGURES, iter_figure, write_figure


def main(words: Sequence[str] | None = None) -> int:
    """Run the command line and return its exit code.

    Args:
        words: the arguments; by default, those of the process.
    """
    asked = _arguments(words)
    try:
        _measure(asked)
    except CheckFailedError as error:
        return _complain(error, 1)
    except (ValueError, OSError, MissingPackageError) as error:
        return _complain(error, 2)
    except KeyboardInterrupt as stop:
        return _complain(f"interrupted; {stop}", 130)
    return 0


def _arguments(words: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser("python -m paper", description=__doc__)
    parser.add_argument("figure", choices=FIGURES, help="the figure to measure")
    parser.add_argument("-o", "--output", type=Path, required=True, metavar="DIR",
                        help="the folder of all files")  # fmt: skip
    parser.add_argument("--scale", type=float, default=0.01,
                        help="multiple of the paper's instances; at least 20 a point")  # fmt: skip
    parser.add_argument("--workers", type=int, help="the number of processes")
    parser.add_argument("--dask", metavar="ADDRESS", help="the scheduler of a Dask cluster")
    return parser.parse_args(words)


def _measure(asked: argparse.Namespace) -> None:
    refuse_both(asked.workers, asked.dask)
    figure, folder = asked.figure, asked.output
    if not FIGURES[figure].has_study:
        done = write_figure(figure, None, folder)
    else:
        store = folder / f"{figure}.sqlite"
        last = collect_steps(
            lambda executor: iter_figure(
                figure, store, scale=asked.scale, workers=asked.workers, executor=executor
            ),
            store, dask=asked.dask,
        )  # fmt: skip
        refuse_lost(last, store)
        with Store(store) as opened:
            done = write_figure(figure, opened, folder)
    agreeing, claims = done.agreeing
    print(f"{folder / figure}.md: {agreeing} of {claims} claims of the paper agree")


def _complain(error: object, code: int) -> int:
    print(f"paper: {error}", file=sys.stderr)
    return code


if __name__ == "__main__":
    sys.exit(main())
