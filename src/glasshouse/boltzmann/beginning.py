"""The initial weights, chains and random streams of a training run."""

from __future__ import annotations

import numpy as np

from glasshouse.boltzmann.data import log_odds
from glasshouse.boltzmann.kernels import sampling
from glasshouse.boltzmann.kernels.draws import LANES, fill_normal
from glasshouse.boltzmann.kernels.machine import PROGRESS, Machine
from glasshouse.boltzmann.model import BoltzmannMachine
from glasshouse.boltzmann.settings import Engine, TrainingSettings
from glasshouse.problems import SpinArray
from glasshouse.randomness import Seed

# Child seeds by purpose; `training` defines two more.
WEIGHTS, UPDATES = 0, 1


def first_arrays(
    settings: TrainingSettings, engine: Engine, data: SpinArray, start: BoltzmannMachine | None,
    seed: Seed,
) -> Machine:  # fmt: skip
    """Return the initial weights, biases, chains and random streams of a training run.

    Args:
        settings: the settings of the training.
        engine: the engine of the training: "lanes" or "matrices".
        data: the training data, one row per example.
        start: the initial machine; None draws random weights.
        seed: the seed of all random numbers.
    """
    batch_size = min(settings.batch_size or len(data), len(data))
    n, m = data.shape[1], settings.hidden
    if start is None:
        weights = np.empty((n, m))
        stream = seed.child(WEIGHTS).streams(1)[0].copy()
        fill_normal(stream, float(settings.sigma), weights.reshape(-1))
        biases = np.zeros(n)
        if settings.first_biases == "data":
            biases = log_odds(data, settings.units)
        start = BoltzmannMachine(weights, biases, units=settings.units)
    elif start.weights.shape != (n, m):
        raise ValueError(f"start is {start!r}, but data and hidden require {n} × {m} units")
    start = start.in_units(settings.units)
    streams = seed.child(UPDATES).streams(1 + LANES)
    stream = streams[0].copy()
    size = (settings.chains or batch_size) * settings.temperatures
    has_matrices, has_chains = engine == "matrices", settings.gradient == "pcd"
    # The matrix engine stores chains as hidden states, the lanes engine as visible states.
    shape = size if has_chains else 0, m if has_matrices else n
    chains = np.empty(shape, dtype=np.int8)
    sampling.fill_states(stream, settings.low, chains)
    kind = np.float32 if settings.precision == "single" else np.float64
    weights = start.weights.astype(kind)
    moments = (2,) if settings.optimizer == "adam" else ()
    return Machine(
        weights=weights,
        back=weights.T if has_matrices else np.ascontiguousarray(weights.T).copy(),
        visible_bias=start.visible_bias.astype(kind),
        hidden_bias=start.hidden_bias.astype(kind),
        weight_speed=np.zeros((*moments, n, m), kind),
        visible_speed=np.zeros((*moments, n), kind),
        hidden_speed=np.zeros((*moments, m), kind),
        chains=chains,
        mode_visible=np.ones(n, dtype=np.int8),
        mode_hidden=np.ones(m, dtype=np.int8),
        mode_energy=np.zeros(2),
        order=np.arange(len(data)),
        good_weights=weights.copy(),
        good_visible=start.visible_bias.astype(kind),
        good_hidden=start.hidden_bias.astype(kind),
        stream=stream,
        lanes=np.ascontiguousarray(streams[1:].T),
        progress=np.zeros(PROGRESS, dtype=np.int64),
    )
