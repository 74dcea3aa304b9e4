"""`glasshouse paper`."""

from __future__ import annotations

from pathlib import Path
from typing import Literal

from glasshouse.cli.collecting import collect_steps, refuse_both, refuse_lost
from glasshouse.cli.options import Dask, Workers

Figure = Literal[
    "hardness-peak",
    "frustration",
    "offset",
    "structured",
    "ratio",
    "dispersion",
    "intersections",
    "excitations",
    "rbm",
]


def paper(
    figure: Figure,
    /,
    *,
    scale: float = 0.01,
    out_dir: Path = Path("paper"),
    workers: Workers = None,
    dask: Dask = None,
) -> None:
    """Measure a figure of the paper again: data, figure, and a report of what agrees.

    What is measured is kept in OUT_DIR/FIGURE.sqlite; started again, it goes on there.

    For instance:

    ```
    glasshouse paper hardness-peak --scale 0.1 --workers 2
    ```

    Args:
        figure: the figure to measure.
        scale: this many times the paper's number of instances, at least 20 per point.
        out_dir: gets FIGURE.csv, .png, .svg and .md.
    """
    import glasshouse.boltzmann.paper  # noqa: F401  # adds its figure
    from glasshouse.studies import Store
    from glasshouse.studies.paper import FIGURES, iter_figure, write_figure

    refuse_both(workers, dask)
    if not FIGURES[figure].has_study:
        done = write_figure(figure, None, out_dir)
    else:
        store = out_dir / f"{figure}.sqlite"
        last = collect_steps(
            lambda executor: iter_figure(
                figure, store, scale=scale, workers=workers, executor=executor
            ),
            store, dask=dask,
        )  # fmt: skip
        refuse_lost(last, store)
        with Store(store) as opened:
            done = write_figure(figure, opened, out_dir)
    agreeing, claims = done.agreeing
    print(f"{out_dir / figure}.md: {agreeing} of {claims} claims of the paper agree")
