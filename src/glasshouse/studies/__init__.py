"""Studies: the hardness of ensembles of instances, with confidence intervals.

* `task`: `Task`, a family of instances and the quantity to measure; tasks read from a store.
* `quantities`: what a study can measure of an instance.
* `realised`: values of a family that its first instance determines.
* `study`: studies as TOML files, and the study that a store was collected for.
* `analysis`: points, series and fits of collected rows.
* `charts`: plots of studies.
* `export`: all rows as one table: CSV, Parquet, polars, pandas.
* `merging`: several stores in one.
* `tuning`, `knobs`: families of a required hardness.
"""

from glasshouse.studies.analysis import fit_study, points_of, series_of
from glasshouse.studies.charts import plot_study
from glasshouse.studies.export import export_rows, read_rows
from glasshouse.studies.merging import merge
from glasshouse.studies.quantities.hardness import Annealer
from glasshouse.studies.study import Study, load_study, study_of
from glasshouse.studies.task import Task
from glasshouse.studies.tuning import tune

__all__ = [
    "Annealer", "Study", "Task", "export_rows", "fit_study", "load_study",
    "merge", "plot_study", "points_of", "read_rows", "series_of", "study_of", "tune",
]  # fmt: skip
