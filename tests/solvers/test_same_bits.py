"""A seed means the same on every CPU: children that may use less of this one get the same bits.

NumPy and the C library have a version of exp, log and pow for each kind of CPU, and Numba compiles
for the given one. Each child prints a digest of all numbers that a solver returned.
"""

import os
import subprocess
import sys

import numpy as np
import pytest
from tests.solvers.test_registers import AVX2

SCRIPT = """
import hashlib
import numpy as np
from glasshouse.planting import posiform, random_loops
from glasshouse.problems import Ising, Rbm
from glasshouse.solvers import anneal, brute_force, descend, paper_schedule, peak_density, temper
from glasshouse.boltzmann.settings import TrainingSettings

draws = np.random.Generator(np.random.PCG64(1))
ring = [(i, (i + 1) % 20) for i in range(20)]
whole = draws.integers(0, 2, 20) * 2 - 1
floats = draws.random(20) - 0.5
problems = {
    "bytes": (Ising.from_edges(20, ring, whole), 20),
    "few": (Ising.from_edges(20, ring, floats), 1),
    "float32": (Ising.from_edges(20, ring, floats), 20),
    "float64": (Ising.from_edges(20, ring, floats * 10.0 ** np.arange(20)), 20),
    "scalar": (Ising.from_edges(20, ring, whole * 2**58), 20),
    "dense": (Ising.from_matrix(np.triu(draws.integers(-9, 10, (60, 60)), 1)), 4),
    "dense floats": (Ising.from_matrix(np.triu(draws.random((60, 60)) - 0.5, 1)), 4),
    "layers": (Rbm(draws.integers(-99, 100, (20, 20))), 1),
    "layers of floats": (Rbm(draws.random((20, 20)) - 0.5), 1),
}

def say(name, *arrays):
    data = [np.ascontiguousarray(array).tobytes() for array in arrays]
    print(name, hashlib.sha256(b"|".join(data)).hexdigest()[:16], sep=": ")

def told(name, result):
    say(f"{name} on {result.kernel}", result.energies, result.states, result.betas)

for name, (problem, runs) in problems.items():
    told(f"anneal {name}", anneal(problem, sweeps=300, runs=runs, rng=1))
    told(f"temper {name}", temper(problem, sweeps=30, runs=2, rng=1))
    if name in ("bytes", "float32"):
        found = brute_force(problem)
        say(f"brute force {name}", found.energy, found.states)
        start = np.ones(problem.num_variables, np.int8)
        below = descend(problem, start)
        say(f"descend {name}", below.energies, below.states, below.flips)
loops = random_loops(40, 40, frustration="0.22", loop_density=0.45, rng=1)
told("anneal loops", anneal(loops, sweeps=1000, rng=1))
told("temper loops", temper(loops, sweeps=100, rng=1))
say("a range", anneal(loops, beta=(0.1, 3), schedule="geometric", sweeps=999, runs=1).betas)
say("a given ladder", temper(loops, beta=(0.1, 3), sweeps=9, runs=1, replicas=7, rng=1).betas)
say("a fit", *(paper_schedule(n, 0.1).beta for n in range(2, 300)))
say("densities", *(peak_density(n) for n in range(1, 300)))
say("clauses", posiform(60, rng=1).problem.weights)
say("chances", TrainingSettings(3, 1000, mode_probability=0.1).mode_chances())
"""

_SIMD = np.show_config(mode="dicts")["SIMD Extensions"]
_PLAIN = {
    "NPY_DISABLE_CPU_FEATURES": " ".join(_SIMD["found"]),
    "GLIBC_TUNABLES": "glibc.cpu.hwcaps=-AVX512F,-AVX2,-FMA,-FMA4,-AVX2_Usable,-FMA_Usable",
}


def _digests(**settings):
    plain = {k: v for k, v in os.environ.items() if k not in _PLAIN}
    call = [sys.executable, "-c", SCRIPT]
    return subprocess.check_output(call, text=True, env=plain | settings).splitlines()


@pytest.fixture(scope="module")
def usual():
    return _digests()


def test_without_vectors_in_numpy_and_the_c_library(usual):
    kernels = {line.split(": ")[0].split(" on ")[1] for line in usual if " on " in line}
    assert kernels >= {
        "byte lanes", "few float32 lanes", "float32 lanes", "float64 lanes", "scalar",
        "dense lanes", "dense layers",
    }  # fmt: skip
    assert _digests(**_PLAIN) == usual


@pytest.mark.slow
def test_compiled_for_an_older_cpu(usual):
    assert _digests(**AVX2) == usual
    assert _digests(**AVX2, **_PLAIN) == usual
