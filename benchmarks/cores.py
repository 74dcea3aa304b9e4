"""Planted MAX-k-SAT over its parameters: the time of RC2 compared with that of the certificate.

Each instance is shuffled, so that the order of clauses does not reveal the cores. All times are
CPU times. RC2 runs in its own process, which the system ends after LIMIT seconds of CPU time.
"""

from __future__ import annotations

import multiprocessing
import resource
import tempfile
import time
from pathlib import Path
from typing import Any, cast

from pysat.examples.rc2 import RC2
from pysat.formula import WCNF

from benchmarks.record import store
from glasshouse.certificates import checker
from glasshouse.files import write_certificate
from glasshouse.planting import Planted, shuffle
from glasshouse.planting.methods import cores
from glasshouse.problems import MaxSat

SIZE, LIMIT = 200, 60
# Each row changes one parameter of the first: density, length, shape, frustration, weights, width.
DIALS: tuple[dict[str, Any], ...] = (
    {"clause_density": 2, "length": 5},
    {"clause_density": 1, "length": 5},
    {"clause_density": 3, "length": 5},
    {"clause_density": 2, "length": 3},
    {"clause_density": 2, "length": 8},
    {"clause_density": 2, "shape": "tetrahedron"},
    {"clause_density": 6, "shape": "tetrahedron"},
    {"clause_density": 2, "length": 5, "frustrated": "1/2"},
    {"clause_density": 2, "length": 5, "max_weight": 10},
    {"clause_density": 2, "length": 5, "width": 2},
    {"clause_density": 4, "length": 5, "width": 4},
)
SPEED = ({"clause_density": 4}, {"clause_density": 4, "shape": "tetrahedron"})


def wcnf_of(plant: Planted) -> str:
    """Return the clauses of a plant as the text of a WCNF file."""
    problem = cast(MaxSat, plant.problem)
    head = f"p wcnf {SIZE} {problem.num_clauses} {problem.total_weight + 1}\n"
    rows = zip(problem.weights.tolist(), problem.soft.lists(), strict=True)
    return head + "".join(f"{w} {' '.join(map(str, clause))} 0\n" for w, clause in rows)


def rc2(clauses: list[list[int]], weights: list[int], cost: int, seconds: Any) -> None:
    """Let RC2 compute the least cost, and store the CPU time that it took."""
    formula = WCNF()
    for clause, weight in zip(clauses, weights, strict=True):
        formula.append(clause, weight=weight)
    start = time.process_time()
    limit = int(start) + 1 + LIMIT
    resource.setrlimit(resource.RLIMIT_CPU, (limit, limit))
    with RC2(formula) as solver:
        solver.compute()
        assert solver.cost == cost
    seconds.value = time.process_time() - start


def rc2_seconds(plant: Planted) -> float | None:
    """Return the CPU seconds of RC2, or None if it did not finish in time."""
    context = multiprocessing.get_context("spawn")
    seconds = context.Value("d", -1.0)
    problem = cast(MaxSat, plant.problem)
    arguments = problem.soft.lists(), problem.weights.tolist(), plant.energy, seconds
    process = context.Process(target=rc2, args=arguments)
    process.start()
    process.join()
    if seconds.value < 0 and process.exitcode is not None and process.exitcode >= 0:
        raise RuntimeError("RC2 failed")
    return None if seconds.value < 0 else seconds.value


def measured(**dial: Any) -> dict[str, Any]:
    """Return a row for one instance: its size, and the times of RC2 and of both checkers."""
    plant = shuffle(cores(SIZE, **dial, rng=1))
    start = time.process_time()
    plant.verify()
    library = time.process_time() - start
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "x.cert"
        write_certificate(path, plant.certificate, cost=plant.energy)
        texts = wcnf_of(plant), path.read_text()
        start = time.process_time()
        cost, least = checker.check(*texts)
        alone = time.process_time() - start
    assert cost == least == plant.energy
    found = rc2_seconds(plant)
    return {
        **{name: str(dial.get(name, default)) for name, default in DEFAULTS.items()},
        "cores": plant.cores.num_cores,
        "cost": plant.energy,
        "RC2, CPU s": f"> {LIMIT}" if found is None else f"{found:.2f}",
        "check, CPU s": f"{library:.4f}",
        "stand-alone check, CPU s": f"{alone:.3f}",
    }


DEFAULTS = {
    "shape": "ring", "clause_density": "", "length": "", "width": 3, "frustrated": 1,
    "max_weight": 1,
}  # fmt: skip


def speed(**dial: Any) -> dict[str, Any]:
    """Return a row for the time of planting and checking a million clauses."""
    cores(SIZE, **dial, rng=1).verify()  # compiles before the clock runs
    start = time.process_time()
    plant = cores(250_000, **dial, rng=1)
    planted = time.process_time() - start
    start = time.process_time()
    plant.verify()
    verified = time.process_time() - start
    problem: Any = plant.problem
    return {
        "shape": dial.get("shape", "ring"),
        "variables": problem.num_variables,
        "clauses": problem.num_clauses,
        "plant, CPU s": f"{planted:.2f}",
        "check, CPU s": f"{verified:.2f}",
    }


def keep(rows: list[dict[str, Any]]) -> None:
    """Store the table of RC2's times over the parameters."""
    notes = f"{SIZE} variables, one shuffled instance for each row; RC2 as PySAT has it by default."
    title = "MAX-k-SAT by frustrated cores: RC2 and the certificate"
    store("cores", title, rows, ("python-sat",), notes)


def main() -> None:
    """Measure all parameters, and the speed of planting."""
    store("cores-speed", "Planting and checking cores", [speed(**dial) for dial in SPEED])
    keep([measured(**dial) for dial in DIALS])


if __name__ == "__main__":
    main()
