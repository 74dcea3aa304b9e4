"""Studies: ensembles of instances, how hard they are, and how sure we are of it.

A study is a list of tasks (`task`, `study`) that measure something (`kinds`), collected (`collect`,
`batches`, `pool`) into a `store`, looked at (`analysis`, `figures`) and fitted (`statistics`).
`tuning` measures on its own.
"""

from glasshouse.statistics.estimators import (
    geometric_mean,
    lognormality,
    median,
    quantile,
    survival,
    time_to_solution,
)
from glasshouse.statistics.lognormal import LogNormal, fit_lognormal
from glasshouse.statistics.peaks import fit_decay, hardness_peak
from glasshouse.statistics.samples import Estimate, Sample
from glasshouse.statistics.scaling import compare_laws, fit_law
from glasshouse.studies.analysis import fit_study, points_of, series_of
from glasshouse.studies.collect import Lost, StudyProgress, collect, iter_collect
from glasshouse.studies.figures.curves import plot_study
from glasshouse.studies.kinds.hardness import Annealer
from glasshouse.studies.kinds.kind import Column, Kind, Stop
from glasshouse.studies.store.export import export_csv, export_parquet, to_frame
from glasshouse.studies.store.merging import merge
from glasshouse.studies.store.store import Store
from glasshouse.studies.study import Study, load_study, study_of
from glasshouse.studies.task import Task
from glasshouse.studies.tuning import tune

__all__ = [
    "Annealer",
    "Column",
    "Estimate",
    "Kind",
    "LogNormal",
    "Lost",
    "Sample",
    "Stop",
    "Store",
    "Study",
    "StudyProgress",
    "Task",
    "collect",
    "compare_laws",
    "export_csv",
    "export_parquet",
    "fit_decay",
    "fit_law",
    "fit_lognormal",
    "fit_study",
    "geometric_mean",
    "hardness_peak",
    "iter_collect",
    "load_study",
    "lognormality",
    "median",
    "merge",
    "plot_study",
    "points_of",
    "quantile",
    "series_of",
    "study_of",
    "survival",
    "time_to_solution",
    "to_frame",
    "tune",
]
