"""Parallel tempering: every temperature keeps its own distribution."""

from __future__ import annotations

import numpy as np
import pytest
from tests.solvers.block_runs import key_of, make_engine
from tests.solvers.test_boltzmann import PROBLEMS, chi_square_p, exact_probabilities

from glasshouse.planting import random_loops
from glasshouse.solvers import anneal
from glasshouse.solvers.kernels import tempering as kernels
from glasshouse.solvers.success import runs_needed
from glasshouse.solvers.tempering import TemperTask, temper


@pytest.mark.parametrize("kernel", ["byte", "float", "scalar", "dense", "dense layers"])
def test_each_temperature_samples_its_boltzmann_distribution(kernel):
    """Seeds are fixed; with others one of these fifteen tests would fail once in 700 times."""
    problem = PROBLEMS["two layers" if kernel == "dense layers" else "ring of unequal weights"]
    made = make_engine(kernel, problem)
    betas = np.array([0.02, 0.1, 0.3])
    runs = 3200 if kernel != "scalar" else 1600
    task = TemperTask(made, betas, 20, made.never, key_of(3))
    blocks = []
    for index in range(runs // made.lanes):
        replicas = task.start(index)
        kernels.temper_block(made.tables, betas, 0, 20, made.lanes, replicas)
        blocks.append(replicas.energies.copy())
    energies = np.concatenate(blocks, axis=1)
    for beta, sample in zip(betas, energies, strict=True):
        levels, probabilities = exact_probabilities(problem, beta)
        values = np.unique(levels)
        counts = np.array([(sample == value).sum() for value in values])
        expected = np.array([probabilities[levels == value].sum() for value in values])
        assert counts.sum() == runs
        assert chi_square_p(counts, runs * expected) > 1e-4


def test_energies_are_those_of_the_states_after_exchanges():
    planted = random_loops(10, 10, frustration="0.2", loop_density=0.5, rng=1)
    result = temper(planted, sweeps=30, runs=100, target=planted.energy, rng=1)
    assert np.array_equal(result.energies, planted.problem.energy(result.states))
    assert ((result.hits > 0) == (result.energies == planted.energy)).all()
    assert result.successes > 50
    # Each sweep is one of all twelve replicas.
    needed = runs_needed(result.success_probability, 0.99)
    assert result.tts(unit="sweeps").value == pytest.approx(30 * 12 * needed)


def test_threads_and_number_of_runs_change_nothing():
    planted = random_loops(20, 20, frustration="0.2", loop_density=0.5, rng=1)
    few = temper(planted, sweeps=20, runs=10, rng=5)
    many = temper(planted, sweeps=20, runs=130, rng=5, threads=2)
    assert np.array_equal(few.states, many.states[:10])


def test_the_ladder_is_the_annealers_range_unless_given():
    planted = random_loops(20, 20, frustration="0.2", loop_density=0.5, rng=1)
    ladder = temper(planted, sweeps=2, runs=1, replicas=5, rng=5).betas
    range_ = anneal(planted, sweeps=5, runs=1, rng=5).betas
    np.testing.assert_allclose(ladder, range_)
    own = temper(planted, sweeps=2, runs=1, beta=[0.1, 0.2, 0.5], rng=5)
    assert (own.betas.tolist(), own.replicas) == ([0.1, 0.2, 0.5], 3)


@pytest.mark.parametrize(
    ("wrong", "words"),
    [
        ({"sweeps": 0}, "sweeps"),
        ({"sweeps": 2**31}, "the most a run can have"),
        ({"replicas": 1}, "replicas"),
        ({"replicas": 10**12}, "the most a ladder can have"),
        ({"beta": (1.0, 0.5)}, "rising"),
        ({"beta": [0.5]}, "at least two"),
        ({"beta": (-1.0, 0.5)}, "not negative"),
        ({"time_limit": -1}, "time_limit"),
    ],
)
def test_wrong_arguments_are_refused(wrong, words):
    with pytest.raises(ValueError, match=words):
        temper(PROBLEMS["ring of unequal weights"], **({"runs": 1} | wrong))
