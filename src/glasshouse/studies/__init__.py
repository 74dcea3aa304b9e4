"""Studies: ensembles of instances, how hard they are, and how sure we are of it."""

from glasshouse.studies.collect import Lost, Progress, collect, iter_collect
from glasshouse.studies.hardness import Annealer
from glasshouse.studies.kinds import Column, Kind, Stop
from glasshouse.studies.store import Store
from glasshouse.studies.task import Task

__all__ = [
    "Annealer",
    "Column",
    "Kind",
    "Lost",
    "Progress",
    "Stop",
    "Store",
    "Task",
    "collect",
    "iter_collect",
]
