"""Studies: ensembles of instances, how hard they are, and how sure we are of it."""

from glasshouse.studies.collect import Lost, Progress, collect, iter_collect
from glasshouse.studies.kinds import Column, Kind, Stop
from glasshouse.studies.store import Store

__all__ = ["Column", "Kind", "Lost", "Progress", "Stop", "Store", "collect", "iter_collect"]
