"""RBMs that learn: exact likelihoods, the mode made certain, and frustration along the way.

A model (`model`), its mode (`modes`), its partition function where it is large (`importance`), data
(`data`), how it is trained (`settings`, `training`) and what is looked at meanwhile (`monitors`).
Many of them are trained into a store (`ensemble`) and read back as curves (`curves`).
"""

from glasshouse.boltzmann.curves import read_ensembles
from glasshouse.boltzmann.data import bars_and_stripes, shifting_bars
from glasshouse.boltzmann.ensemble import TrainingTask, iter_train
from glasshouse.boltzmann.importance import ImportanceEstimate, annealed_importance
from glasshouse.boltzmann.model import BoltzmannMachine
from glasshouse.boltzmann.model_files import load_machine, save_machine
from glasshouse.boltzmann.modes import Mode, find_mode
from glasshouse.boltzmann.monitors import MONITORS, Monitor, Snapshot, monitor
from glasshouse.boltzmann.settings import TrainingSettings
from glasshouse.boltzmann.training import DivergenceWarning, Trainer, TrainingRun, train

__all__ = [
    "MONITORS",
    "BoltzmannMachine",
    "DivergenceWarning",
    "ImportanceEstimate",
    "Mode",
    "Monitor",
    "Snapshot",
    "Trainer",
    "TrainingRun",
    "TrainingSettings",
    "TrainingTask",
    "annealed_importance",
    "bars_and_stripes",
    "find_mode",
    "iter_train",
    "load_machine",
    "monitor",
    "read_ensembles",
    "save_machine",
    "shifting_bars",
    "train",
]
