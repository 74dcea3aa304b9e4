"""Reproduction of the paper's figures: data, figures, and reports that compare the claims.

`iter_figure(name, store)` collects the measurements of a figure. `write_figure(name, store,
folder)` draws the figure and writes its report. `reproduce` does both. A scale of 1 is the paper's
number of instances. This package is a part of the repository, not of an installed glasshouse.

* `peak`, `frustration`, `offset`, `structured`, `dispersion`, `decay`, `excited`: one or two
  figures each, from the studies in the TOML files; `machines`: section 7, RBMs in training.
* `report`: the table of claims, and the data as CSV.
* `statistics`: intervals of correlations, shares and ratios.
* `sweep_schedule`: the paper's appendix J, which optimises N_sweep.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from concurrent.futures import Executor
from dataclasses import dataclass
from importlib import resources
from pathlib import Path

from glasshouse.charts.style import picture_paths, save, styled
from glasshouse.extras import optional
from glasshouse.files.writing import make_folder
from glasshouse.store.collect import StudyProgress, iter_collect
from glasshouse.store.store import Store
from glasshouse.studies.study import Study, parse_study, reserve
from paper import (
    decay,
    dispersion,
    excited,
    frustration,
    machines,
    offset,
    peak,
    structured,
)
from paper.report import Claim, Reproduction, write_data, write_report

__all__ = [
    "FIGURES",
    "Claim",
    "Reproduction",
    "iter_figure",
    "paper_study",
    "reproduce",
    "write_figure",
]


@dataclass(frozen=True)
class PaperFigure:
    """A figure or claim of the paper that can be reproduced.

    Attributes:
        section: the section of the paper.
        build: a function that draws the figure from a store, or without one if not `has_study`.
        has_study: whether there are measurements to collect.
        collect: a function that collects measurements other than studies of planted instances: it
            takes the scale, the store's path, workers and executor, and yields progress.
    """

    section: str
    build: Callable[..., Reproduction]
    has_study: bool = True
    collect: Callable[..., Iterator[StudyProgress]] | None = None


FIGURES: dict[str, PaperFigure] = {
    "hardness-peak": PaperFigure("Hardness Peak", peak.build),
    "frustration": PaperFigure("Difficulty vs. Frustration", frustration.build),
    "offset": PaperFigure("Difficulty vs. Frustration", offset.build),
    "structured": PaperFigure("Structured-Loop Algorithm", structured.build),
    "ratio": PaperFigure("Experimental Evaluation", structured.build_ratio),
    "dispersion": PaperFigure("Concentration of Frustration", dispersion.build, has_study=False),
    "intersections": PaperFigure("Intersection", decay.build),
    "excitations": PaperFigure("Frustration", excited.build),
    "rbm": PaperFigure("Connection to RBM Pre-training", machines.build, collect=machines.collect),
}


def paper_study(name: str, scale: float = 1.0) -> Study:
    """Return a figure's study with `scale` times the paper's instances, but at least 20 per point.

    >>> study = paper_study("excitations", scale=0.05)
    >>> len(study.tasks), study.tasks[0].stop.instances
    (12, 100)
    """
    if not _figure(name).has_study:
        raise ValueError(f"{name} is a formula, so it has no study; use write_figure")
    if _figure(name).collect is not None:
        raise ValueError(f"{name} is not a study of planted instances; use iter_figure")
    text = resources.files(__name__).joinpath(f"{name}.toml").read_text(encoding="utf-8")
    return parse_study(text, f"{name}.toml").scaled(scale)


def iter_figure(
    name: str,
    store: str | Path,
    *,
    scale: float = 1.0,
    workers: int | None = None,
    executor: Executor | None = None,
) -> Iterator[StudyProgress]:
    """Collect the measurements of a figure into a store, or resume, and yield the progress.

    Args:
        name: the name of the figure, see `FIGURES`.
        store: the store's file; file and folder are created if they do not exist.
        scale: the number of instances, as a multiple of the paper's number.
        workers: the number of processes; None uses the current process.
        executor: any executor, instead of worker processes.
    """
    optional("matplotlib", "a figure")  # fails now if it is missing, not after hours of work
    own = _figure(name).collect
    make_folder(Path(store).parent)
    if own is not None:
        yield from own(scale, Path(store), workers=workers, executor=executor)
        return
    study = paper_study(name, scale)
    with Store(store, write=True) as opened:
        reserve(opened, study)
    yield from iter_collect(study.tasks, store, workers=workers, executor=executor)


def write_figure(name: str, store: Store | None, folder: str | Path) -> Reproduction:
    """Draw a figure from its measurements, and write data, PNG, SVG and report.

    Args:
        name: the name of the figure, see `FIGURES`.
        store: the store of the measurements; None if the figure needs none.
        folder: the folder for NAME.csv, NAME.png, NAME.svg and NAME.md.
    """
    figure = _figure(name)
    place = Path(folder)
    with styled():
        done = figure.build(store) if figure.has_study else figure.build()
    make_folder(place)
    save(done.figure, picture_paths(place / name))
    write_data(done, place / f"{name}.csv")
    write_report(done, name, figure.section, place / f"{name}.md")
    return done


def reproduce(
    name: str, folder: str | Path, *, scale: float = 1.0, workers: int | None = None
) -> Reproduction:
    """Collect a figure's measurements into FOLDER/NAME.sqlite, or resume, and write the figure.

    Args:
        name: the name of the figure, see `FIGURES`.
        folder: the folder of all files.
        scale: the number of instances, as a multiple of the paper's number.
        workers: the number of processes; None uses the current process.
    """
    if not _figure(name).has_study:
        return write_figure(name, None, folder)
    place = Path(folder)
    for _ in iter_figure(name, place / f"{name}.sqlite", scale=scale, workers=workers):
        pass
    with Store(place / f"{name}.sqlite") as store:
        return write_figure(name, store, folder)


def _figure(name: str) -> PaperFigure:
    if name not in FIGURES:
        raise ValueError(f"{name!r} is not one of {', '.join(FIGURES)}")
    return FIGURES[name]
