"""`glasshouse demo`."""

from __future__ import annotations

import tempfile
from pathlib import Path


def demo() -> None:
    """Show what glasshouse does, in a minute: plant, convert, verify.

    For instance:

    ```
    glasshouse demo
    ```
    """
    with tempfile.TemporaryDirectory() as folder:
        _convert()
        _plant(Path(folder))


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


def _plant(folder: Path) -> None:
    import glasshouse as gh

    _title("Plant an instance with a known optimum")
    _command("glasshouse plant random -n 100 -f 1/5 --loop-density 0.345 --seed 1 -o inst.wcnf")
    planted = gh.random_loops(100, 100, frustration="1/5", loop_density=0.345, rng=1)
    print(planted.summary())

    _title("Prove it from the file and the certificate beside it")
    path = folder / "inst.wcnf"
    gh.write(path, planted)
    _command("glasshouse check inst.wcnf")
    result = gh.verify_file(path)
    print(f"{path.name}: VERIFIED, {result.cost} is the optimum (proven by {result.loops} loops)")


def _title(text: str) -> None:
    print(f"\n── {text} ".ljust(78, "─"))


def _command(text: str) -> None:
    print(f"$ {text}")
