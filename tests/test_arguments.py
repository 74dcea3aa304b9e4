"""The arguments `rng`, `confidence`, `beta`, `time_limit` have the same meaning everywhere."""

from __future__ import annotations

import inspect
import math
from collections.abc import Callable
from fractions import Fraction
from importlib import import_module
from typing import Any

import numpy as np
import pytest

import glasshouse as gh
from glasshouse.proofs import solve_exactly
from glasshouse.questions import is_gauged
from glasshouse.studies import Annealer
from paper.sweep_schedule import optimal_sweeps

ROOMS = ("problems", "landscape", "certificates", "planting", "files", "solvers", "proofs",
         "questions", "studies", "statistics", "store", "charts",
         "races", "boltzmann")  # fmt: skip
RING = gh.Ising.from_edges(6, [(i, (i + 1) % 6) for i in range(6)], [3, 1, 2, 1, 1, -1])
PLANT = gh.random_loops(8, 8, frustration="1/5", loops=4, rng=1)


def functions() -> dict[str, Callable[..., Any]]:
    """Return all functions, classes and methods that users can call, by name."""
    found: dict[str, Callable[..., Any]] = {}
    for room in [gh, *(import_module(f"glasshouse.{name}") for name in ROOMS)]:
        for name in getattr(room, "__all__", dir(room)):
            thing = getattr(room, name)
            if name.startswith("_") or not getattr(thing, "__module__", "").startswith("glass"):
                continue
            if inspect.isclass(thing) or inspect.isfunction(thing):
                found[f"{room.__name__}.{name}"] = thing
            if inspect.isclass(thing):
                for key, part in inspect.getmembers(thing, inspect.isroutine):
                    if (
                        not key.startswith("_")
                        and inspect.isroutine(part)
                        and str(getattr(part, "__module__", "")).startswith("glasshouse")
                    ):
                        found[f"{room.__name__}.{name}.{key}"] = part
    return found


FUNCTIONS = functions()
# Interfaces for users of dimod and scikit-learn, which have the names of these packages.
OTHERS_WORDS = ("glasshouse.solvers.samplers", "glasshouse.boltzmann.estimator")


def parameters(name: str) -> dict[str, inspect.Parameter]:
    try:
        return dict(inspect.signature(FUNCTIONS[name]).parameters)
    except ValueError:  # exceptions do not have a signature
        return {}


def test_the_walk_finds_the_functions():
    assert len(FUNCTIONS) > 150
    assert {"glasshouse.anneal", "glasshouse.statistics.fit_law",
            "glasshouse.AnnealResult.tts"} <= set(FUNCTIONS)  # fmt: skip


def test_randomness_and_confidence_have_one_name_each():
    for name, function in FUNCTIONS.items():
        taken = parameters(name)
        # Records contain the seed that was derived from `rng`.
        if inspect.isfunction(function) and function.__module__ not in OTHERS_WORDS:
            assert not {"seed", "random_state", "level"} & set(taken), name
        if "rng" in taken and not name.endswith(".of"):
            assert taken["rng"].kind is inspect.Parameter.KEYWORD_ONLY, name
            assert taken["rng"].default is None, name
        for word, usual in {"confidence": 0.95, "success": 0.99}.items():
            if word in taken:
                assert taken[word].default in (usual, inspect.Parameter.empty), name


SEEDS = [7, np.int64(7), [1, 2], (1, 2), np.array([1, 2]), np.random.SeedSequence(3),
         np.random.SeedSequence([1, 2]).spawn(2)[1], gh.Seed(5, (1,))]  # fmt: skip
RANDOM: dict[str, Callable[[Any], Any]] = {
    "random_loops": lambda rng: gh.random_loops(5, 5, frustration=0.2, loops=3, rng=rng).state,
    "ensemble": lambda rng: (
        gh.random_loops_ensemble(5, 5, 2, frustration=0.2, loops=3, rng=rng).states
    ),
    "anneal": lambda rng: gh.anneal(RING, sweeps=1, runs=8, rng=rng).states,
    "temper": lambda rng: gh.temper(RING, sweeps=1, runs=2, replicas=2, rng=rng).states,
    "hitting": lambda rng: gh.sweeps_to_solution(PLANT, samples=9, rng=rng).totals,
    "optimal_tts": lambda rng: (
        gh.optimal_tts(PLANT, sweeps_grid=(2,), runs=8, rng=rng).results[0].states
    ),
    "tune": lambda rng: [gh.tune(8, 20, tolerance=0.9, rng=rng).estimate.value],
    "optimal_sweeps": lambda rng: [
        *optimal_sweeps(6, 0.1, 0.6, instances=10, start=4, rng=rng).tries
    ],
}


@pytest.mark.parametrize("name", RANDOM)
def test_rng_takes_whatever_numpy_takes(name):
    draw = RANDOM[name]
    for seed in SEEDS:
        assert np.array_equal(draw(seed), draw(seed)), seed
    for make in (np.random.default_rng, np.random.PCG64):
        assert np.array_equal(draw(make(7)), draw(make(7)))
    assert np.array_equal(draw([1, 2]), draw(np.random.SeedSequence([1, 2])))
    draw(None)
    with pytest.raises(ValueError, match="rng="):
        draw("seven")


@pytest.mark.parametrize("kind", [tuple, list, np.array])
def test_two_inverse_temperatures_are_a_range_in_whatever_they_come(kind):
    pair, qubo = (0.25, 2.0), gh.to_qubo(RING)[0]
    for problem in (RING, qubo):
        result = gh.anneal(problem, sweeps=3, runs=1, beta=kind(pair), rng=1)
        assert result.betas == pytest.approx([0.25, 0.5**0.5, 2])
        assert gh.anneal(problem, sweeps=2, runs=1, beta=kind(pair)).betas.tolist() == [0.25, 2]
        assert gh.anneal(problem, sweeps=1, runs=1, beta=kind(pair)).betas.tolist() == [2]
        ladder = gh.temper(problem, sweeps=1, runs=1, replicas=3, beta=kind(pair)).betas
        assert len(ladder) == 3
        assert ladder[[0, -1]] == pytest.approx(pair)
    assert gh.sweeps_to_solution(PLANT, beta=kind(pair)).beta == pair
    assert Annealer(beta=kind(pair)).canonical()["beta"] == ["1/4", "2"]
    best = gh.optimal_tts(PLANT, sweeps_grid=(3,), runs=1, beta=kind(pair), rng=1)
    assert best.results[0].betas == pytest.approx([0.25, 0.5**0.5, 2])


@pytest.mark.parametrize("beta", ["hot", 0.5, [], [[1, 2]], (True, False), ("1", "x"), (-1, 1),
                                  (0.1, math.inf), (math.nan, 1), {1, 2}])  # fmt: skip
def test_what_is_no_range_of_temperatures_is_refused_everywhere(beta):
    qubo = gh.to_qubo(RING)[0]  # a problem whose β are scaled
    for call in (
        lambda: gh.anneal(RING, beta=beta), lambda: gh.anneal(qubo, beta=beta),
        lambda: gh.temper(qubo, beta=beta), lambda: gh.sweeps_to_solution(PLANT, beta=beta),
        lambda: Annealer(beta=beta), lambda: gh.optimal_tts(PLANT, beta=beta),
    ):  # fmt: skip
        with pytest.raises(ValueError, match="beta="):
            call()


LIMITED: dict[str, Callable[[Any], Any]] = {
    "anneal": lambda limit: gh.anneal(RING, sweeps=2, runs=1, time_limit=limit).runs,
    "temper": lambda limit: gh.temper(RING, sweeps=2, runs=1, time_limit=limit).runs,
    "minimise": lambda limit: gh.minimise(RING, target=0, time_limit=limit).energy <= 0,
    "prove": lambda limit: gh.prove(RING, time_limit=limit).optimal,
    "rc2": lambda limit: solve_exactly(RING, solver="rc2", time_limit=limit).optimal,
    "highs": lambda limit: solve_exactly(RING, solver="highs", time_limit=limit).optimal,
    "is_gauged": lambda limit: is_gauged([[3, 1], [1, -1]], time_limit=limit),
}


@pytest.mark.parametrize("name", LIMITED)
def test_time_limits_mean_the_same_everywhere(name):
    for limit in (None, math.inf, np.inf, 100, 1e300, 10**400, Fraction(200, 3), np.float32(90)):
        assert LIMITED[name](limit) in (1, True)
    for limit in (0, -1, -math.inf, math.nan, True, "10", [3]):
        with pytest.raises(ValueError, match=r"time_limit=.* is not a positive number of seconds"):
            LIMITED[name](limit)


@pytest.mark.parametrize("target", [math.inf, -math.inf, -3, -3.5, Fraction(-7, 2), np.int8(-3)])
def test_any_number_is_a_target(target):
    for call in (gh.anneal, gh.temper):
        result = call(RING, sweeps=50, runs=8, target=target, rng=1)
        assert ((result.energies <= target) == (result.hits > 0)).all()
    found = gh.minimise(RING, time_limit=0.2, target=target, rng=1)
    assert (found.energy <= target) == (found.ended == "target")
    assert gh.prove(RING, target=target).energy == -7
