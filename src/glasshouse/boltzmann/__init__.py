"""Training of RBMs: exact likelihoods, proven modes, and frustration during training.

* Machines: `model`, `model_files`, `modes` (the search for modes), `importance` (estimates of ln Z)
  and `gaussian` (real visible units).
* Training of one machine: `data`, `settings`, `training`, `checkpoints`, `monitors` and `estimator`
  (the interface of scikit-learn).
* Many machines: `ensemble` (training and storing), `curves` (results in a store) and `figures`.
* Compiled code: `kernels`, and `slices`, which calls long kernels in slices between which signals
  are handled.
"""

from glasshouse.boltzmann.curves import read_ensembles
from glasshouse.boltzmann.data import bars_and_stripes, shifting_bars
from glasshouse.boltzmann.ensemble import TrainingTask, iter_train
from glasshouse.boltzmann.gaussian import GaussianMachine, train_gaussian
from glasshouse.boltzmann.importance import (
    ImportanceEstimate,
    annealed_importance,
    reverse_importance,
)
from glasshouse.boltzmann.model import BoltzmannMachine
from glasshouse.boltzmann.model_files import load_machine, save_machine
from glasshouse.boltzmann.modes import Mode, find_mode
from glasshouse.boltzmann.monitors import MONITORS, Monitor, Snapshot, monitor
from glasshouse.boltzmann.settings import TrainingSettings
from glasshouse.boltzmann.training import DivergenceWarning, Trainer, TrainingRun, train

__all__ = [
    "MONITORS", "BoltzmannMachine", "DivergenceWarning", "GaussianMachine", "ImportanceEstimate",
    "Mode", "Monitor", "Snapshot", "Trainer", "TrainingRun", "TrainingSettings", "TrainingTask",
    "annealed_importance", "bars_and_stripes", "find_mode", "iter_train", "load_machine",
    "monitor", "read_ensembles", "reverse_importance", "save_machine", "shifting_bars", "train",
    "train_gaussian",
]  # fmt: skip
