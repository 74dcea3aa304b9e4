"""Kernels compiled for a processor without AVX-512 use none of its registers."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

AVX2 = {
    "NUMBA_CPU_NAME": "haswell",
    "NUMBA_CPU_FEATURES": "+avx2,+fma,+bmi,+bmi2,+f16c,+lzcnt,+popcnt,+sse4.2",
}
SCRIPT = """
import numpy as np
from glasshouse.problems import Ising, Rbm
from glasshouse.solvers import anneal
from glasshouse.solvers.kernels import driver

draws = np.random.default_rng(1)
ring = [(i, (i + 1) % 20) for i in range(20)]
whole, floats = draws.choice([-1, 1], 20), draws.normal(size=20)
problems = [
    (Ising.from_edges(20, ring, whole), 20),
    (Ising.from_edges(20, ring, whole), 1),
    (Ising.from_edges(20, ring, floats), 20),
    (Ising.from_edges(20, ring, floats * 10.0 ** np.arange(20)), 20),
    (Ising.from_edges(20, ring, whole * 2**58), 20),
    (Ising.from_matrix(np.triu(draws.choice([-1, 1], (60, 60)), 1)), 4),
    (Ising.from_matrix(np.triu(draws.normal(size=(60, 60)), 1)), 4),
    (Rbm(draws.integers(-99, 100, (20, 20))), 1),
    (Rbm(draws.normal(size=(20, 20))), 1),
]
for problem, runs in problems:
    for check in ("sweep", "flip"):
        kernel = anneal(problem, sweeps=2, runs=runs, target=-1e300, check=check, rng=1).kernel
    print(kernel.replace(" ", "-"))
for function in (driver.anneal_block, driver.watch_block, driver.start_block):
    for code in function.inspect_asm().values():
        print("ymm" in code, "zmm" in code)
"""


@pytest.mark.slow
def test_no_kernel_for_avx2_uses_registers_of_avx512(tmp_path):
    """Compile into an empty cache, because code loaded from a cache cannot be inspected."""
    environment = os.environ | AVX2 | {"NUMBA_CACHE_DIR": str(tmp_path)}
    call = [sys.executable, "-c", SCRIPT]
    lines = subprocess.check_output(call, text=True, env=environment).splitlines()
    kernels, registers = lines[:9], lines[9:]
    assert set(kernels) == {
        "byte-lanes", "few-float32-lanes", "float32-lanes", "float64-lanes", "scalar",
        "dense-lanes", "dense-layers",
    }  # fmt: skip
    assert len(registers) >= 2 * len(set(kernels))
    assert "True False" in registers
    assert all(line.endswith("False") for line in registers)
