"""Other people's samplers, in rounds."""

from __future__ import annotations

import itertools
import math
import os
import signal
import sys
import threading
import time

import numpy as np
import pytest
from hypothesis import given, settings
from tests import strategies
from tests.children import Child, start
from tests.oracles import optimum

import glasshouse as gh
from glasshouse.cli import main
from glasshouse.races.commands.builtin import version_of
from glasshouse.races.samplers import SAMPLERS, Sampler, iter_sampled, sampler


def installed(name: str) -> pytest.param:
    missing, package = version_of(name) is None, SAMPLERS[name].package
    reason = f"{package} is not installed: pip install {package}"
    return pytest.param(name, marks=pytest.mark.skipif(missing, reason=reason))


NAMES = [installed(name) for name in SAMPLERS]


@pytest.mark.parametrize("name", NAMES)
@given(problem=strategies.max2sats())
@settings(max_examples=10, deadline=None)
def test_states_are_the_problem_s_own_and_soon_the_best(name, problem):
    rounds = itertools.islice(iter_sampled(name, problem, rng=1), 4)
    states = [state for state in rounds if set(state.tolist()) <= {0, 1}]
    assert len(states) == 4
    best = min(problem.cost(state) for state in states)
    assert best == optimum(problem)[0]


@pytest.mark.parametrize("name", NAMES)
def test_a_seed_fixes_the_first_rounds(name):
    if name == "dwave-tabu":
        pytest.skip("tabu search counts milliseconds")
    plant = gh.random_loops(30, 30, frustration="1/4", loops=12, rng=1)

    def first() -> list[list[int]]:
        return [s.tolist() for s in itertools.islice(iter_sampled(name, plant.ising, rng=5), 3)]

    assert first() == first()


@pytest.mark.parametrize("name", NAMES)
def test_rounds_end_at_the_time_limit(name):
    plant = gh.random_loops(100, 100, frustration="1/5", loop_density=0.4, rng=1)
    began = time.monotonic()
    assert len(list(iter_sampled(name, plant.ising, rng=1, time_limit=1.0))) > 2
    assert 0.5 < time.monotonic() - began < 20


def in_a_process(*words: str) -> Child:
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)}
    return start([sys.executable, "-m", "glasshouse", *words], env=environment)


@pytest.mark.parametrize("name", [*NAMES, "anneal", "temper"])
def test_sigterm_ends_them_with_their_best(name, tmp_path):
    path = tmp_path / "x.wcnf"
    gh.write(path, gh.random_loops(60, 60, frustration="1/5", loop_density=0.4, rng=1).ising)
    process = in_a_process("solve", str(path), "--solver", name, "--maxsat-output",
                           "--time-limit", "1000")  # fmt: skip
    first = [process.stdout.readline(), process.stdout.readline()]
    process.send_signal(signal.SIGTERM)
    rest = process.heard()[0]
    assert process.returncode == 10
    *values, status, model = "".join([*first, rest]).splitlines()
    costs = [int(line.removeprefix("o ")) for line in values]
    assert costs == sorted(costs, reverse=True)
    assert (status, len(costs) >= 2) == ("s SATISFIABLE", True)
    assert gh.read(path).cost([int(bit) for bit in model.removeprefix("v ")]) == costs[-1]


def test_without_the_evaluation_s_rules_they_need_a_time_limit(tmp_path, capsys):
    pytest.importorskip("dwave.samplers")
    path = tmp_path / "x.qubo"
    plant = gh.random_loops(6, 6, frustration="1/5", loops=5, rng=1)
    gh.write(path, plant)
    words = ["solve", str(path), "--solver", "dwave-anneal"]
    assert main(words) == 2
    assert "runs until a time limit; add --time-limit" in capsys.readouterr().err
    assert main([*words, "--time-limit", "0.3", "--seed", "1"]) == 0
    assert "dwave-anneal: " in capsys.readouterr().out
    assert main([*words, "--time-limit", "0.3", "--sweeps", "3"]) == 2
    assert "--sweeps is invalid for --solver dwave-anneal" in capsys.readouterr().err


def test_one_file_adds_a_sampler():
    known = dict(SAMPLERS)
    try:

        @sampler("all-up", package="toy")
        def sample(model, effort, seed, seconds):
            import dimod

            return dimod.SampleSet.from_samples_bqm(dict.fromkeys(model.variables, 1), model)

        problem = gh.Max2Sat.from_clauses(3, [[1, 2], [-3]], [1, 1])
        assert next(iter_sampled("all-up", problem, time_limit=math.inf)).tolist() == [1, 1, 1]
    finally:
        SAMPLERS.clear()
        SAMPLERS.update(known)
    for name in ("anneal", "rc2"):
        with pytest.raises(ValueError, match="is already the name of a solver"):
            sampler(name, package="x")
    with pytest.raises(ValueError, match="solver='no' is not one of dwave-anneal"):
        next(iter_sampled("no", gh.Max2Sat.from_clauses(1, [[1]], [1])))


def test_a_sampler_that_cannot_be_pickled_runs_in_this_process(monkeypatch):
    class Locked:
        def __init__(self):
            self.lock = threading.Lock()

        def __call__(self, model, effort, seed, seconds):
            import dimod

            return dimod.SampleSet.from_samples_bqm(dict.fromkeys(model.variables, 1), model)

    monkeypatch.setitem(SAMPLERS, "locked", Sampler(Locked(), "toy"))
    problem = gh.Ising.from_edges(2, [(0, 1)], [1])
    assert next(iter_sampled("locked", problem, time_limit=math.inf)).tolist() == [1, 1]


def test_weights_that_no_float_holds_are_refused(tmp_path, capsys):
    pytest.importorskip("dwave.samplers")
    path = tmp_path / "large.wcnf"
    path.write_text(f"h 1 2 0\n{2**56} -1 0\n{2**56} -2 0\n")
    words = ["solve", str(path), "--solver", "dwave-tabu", "--maxsat-output", "--time-limit", "1"]
    assert main(words) == 10
    captured = capsys.readouterr()
    assert captured.out.splitlines()[:2] == [f"o {2**56}", "s SATISFIABLE"]
    assert "dimod holds floats" in captured.err
    assert np.array_equal(gh.read(path).hard, [[1, 2]])
