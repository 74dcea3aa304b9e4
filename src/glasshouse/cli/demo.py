"""`glasshouse demo`."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from glasshouse.planting import Planted


def demo() -> None:
    """Show what glasshouse does, in a minute: convert, plant, check, forge, solve, prove, measure.

    For instance:

    ```
    glasshouse demo
    ```
    """
    with tempfile.TemporaryDirectory() as folder:
        _convert()
        planted = _plant(Path(folder))
        _solve(planted)
        _prove(planted)
        _measure()
    print("\nEvery command has examples: glasshouse COMMAND --help")


def _convert() -> None:
    import glasshouse as gh

    _title("A MAX-2-SAT problem, as spins and back")
    problem = gh.Max2Sat.from_clauses(3, [[1, 2], [-1, 2], [-2], [1, -3]], [3, 2, 1, 4])
    ising, reduction = gh.to_ising(problem)
    print(problem)
    print(ising)
    print(reduction)
    state = [-1, 1, -1]
    cost = reduction.source_energy(ising.energy(state))
    print(f"spins {state} are the assignment {reduction.back(state).tolist()}, of cost {cost}")


def _plant(folder: Path) -> Planted:
    import glasshouse as gh

    _title("Plant an instance with a known optimum")
    _command("glasshouse plant random -n 100 -f 1/5 --loop-density 0.345 --seed 1 -o inst.wcnf")
    planted = gh.random_loops(100, 100, frustration="1/5", loop_density=0.345, rng=1)
    print(planted.summary())

    _title("Check it from the file and the certificate beside it")
    path = folder / "inst.wcnf"
    gh.write(path, planted)
    _command("glasshouse check inst.wcnf")
    result = gh.verify_file(path)
    print(f"{path.name}: VERIFIED, {result.summary()}")
    _forge(path)
    return planted


def _forge(path: Path) -> None:
    import glasshouse as gh

    _title("Forge it: nothing false is ever verified")
    print("$ sed -i 's/planted-cost 105/planted-cost 104/' inst.wcnf && glasshouse check inst.wcnf")
    true = path.read_text()
    path.write_text(true.replace("planted-cost 105", "planted-cost 104"))
    try:
        gh.verify_file(path)
    except gh.CertificateError as lie:
        print(str(lie).replace(str(path), path.name))
    path.write_text(true)


def _solve(planted: Planted) -> None:
    import glasshouse as gh

    _title("Find the planted energy by simulated annealing")
    _command("glasshouse solve inst.wcnf --runs 256")
    print("(the first time, the kernels are compiled: some seconds)")
    print(gh.anneal(planted, runs=256, rng=1).summary())


def _prove(planted: Planted) -> None:
    import glasshouse as gh

    _title("Prove the optimum without knowing the plant")
    _command("glasshouse prove inst.wcnf")
    print(gh.prove(planted.problem).summary())


def _measure() -> None:
    import glasshouse as gh

    _title("Measure how hard a thousand such instances are")
    density = gh.peak_density(60)
    for frustration in ("1/20", "1/10", "3/20"):
        ensemble = gh.random_loops_ensemble(
            60, 60, 1000, frustration=frustration, loop_density=density, rng=1
        )
        found = gh.sweeps_to_solution(ensemble, rng=1)
        print(f"f = {frustration:<5} {found.geometric_mean:8.1f} sweeps in the geometric mean")


def _title(text: str) -> None:
    print(f"\n── {text} ".ljust(78, "─"), flush=True)


def _command(text: str) -> None:
    print(f"$ {text}", flush=True)
