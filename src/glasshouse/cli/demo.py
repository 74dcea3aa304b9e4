"""`glasshouse demo`: every command that it shows is the one that runs."""

from __future__ import annotations

import subprocess
import sys
import tempfile
from contextlib import chdir
from pathlib import Path

from glasshouse.cli.check import CHECKER, check
from glasshouse.cli.convert import convert
from glasshouse.cli.errors import CheckFailedError
from glasshouse.cli.judge import judge
from glasshouse.cli.prove import prove
from glasshouse.cli.solve import solve

INSTANCE, BLIND = Path("inst.wcnf"), Path("blind.wcnf")


def demo() -> None:
    """Show what glasshouse does, in a minute or two: plant, prove, judge, measure, train.

    For instance:

    ```
    glasshouse demo
    ```
    """
    with tempfile.TemporaryDirectory() as folder, chdir(folder):
        _convert()
        _plant()
        _forge()
        _families()
        _solve()
        _prove()
        _unplanted()
        _judge()
        _measure()
        _train()
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


def _plant() -> None:
    import glasshouse as gh

    _title("Plant an instance with a known optimum")
    _command("glasshouse plant random -n 100 -f 1/5 --loop-density 0.345 --seed 1 -o inst.wcnf")
    planted = gh.random_loops(100, 100, frustration="1/5", loop_density=0.345, rng=1)
    gh.write(INSTANCE, planted)
    print(planted.summary())

    _title("Check it from the file and the certificate beside it")
    _command("glasshouse check inst.wcnf")
    check(INSTANCE)


def _forge() -> None:
    _title("Forge it: nothing false is ever verified")
    _command(
        "sed -i 's/planted-cost 105/planted-cost 104/' inst.wcnf && glasshouse check inst.wcnf"
    )
    true = INSTANCE.read_text()
    INSTANCE.write_text(true.replace("planted-cost 105", "planted-cost 104"))
    try:
        check(INSTANCE)
    except CheckFailedError as lie:
        print(lie)
    INSTANCE.write_text(true)


def _families() -> None:
    import glasshouse as gh

    _title("Other planted families, under the same proof: squares instead of loops")
    _command("glasshouse plant wishart -n 64 --columns 32 --seed 1")
    _command("glasshouse plant xorsat -n 48 --seed 1")
    for planted in (gh.wishart(64, columns=32, rng=1), gh.xorsat(48, rng=1)):
        planted.verify()
        print(f"{planted}, verified; ground states: {planted.summary().ground_states}")


def _solve() -> None:
    _title("Find the optimum by simulated annealing")
    _command("glasshouse solve inst.wcnf --runs 256 --seed 1")
    print("(the first time, the kernels are compiled: some seconds)")
    solve(INSTANCE, runs=256, seed=1)


def _prove() -> None:
    _title("Prove the optimum without knowing the plant")
    _command("glasshouse convert inst.wcnf blind.wcnf --blind && glasshouse prove blind.wcnf")
    convert(INSTANCE, BLIND, blind=True)
    prove(BLIND)


def _unplanted() -> None:
    import numpy as np

    import glasshouse as gh

    _title("Prove a spin glass that nobody planted, and let Python alone check the proof")
    _command("glasshouse prove cube.mc && glasshouse check --print-checker > checker.py")
    _command("python checker.py cube.mc cube.mc.cert")
    sites = np.arange(125).reshape(5, 5, 5)
    ends = [np.stack([sites, np.roll(sites, -1, axis)], -1).reshape(-1, 2) for axis in range(3)]
    edges = np.sort(np.concatenate(ends), axis=1)
    weights = np.random.default_rng(1).integers(-1000, 1001, len(edges))
    gh.write("cube.mc", gh.Ising.from_edges(125, edges[weights != 0], weights[weights != 0]))
    prove(Path("cube.mc"))
    command = [sys.executable, str(CHECKER), "cube.mc", "cube.mc.cert"]
    print(subprocess.run(command, capture_output=True, text=True, check=False).stdout, end="")


def _judge() -> None:
    _title("Judge somebody's solver, which claims too much")
    _command("somesolver inst.wcnf > answer.txt && glasshouse judge inst.wcnf answer.txt")
    answer = Path("answer.txt")
    answer.write_text("o 104\ns OPTIMUM FOUND\nv " + "01" * 100)
    try:
        judge(INSTANCE, answer)
    except CheckFailedError as verdict:
        print(verdict)


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


def _train() -> None:
    import glasshouse as gh

    _title("Train an RBM, and look at its frustration at the mode, which is proven")
    run = gh.train(gh.shifting_bars(), 12, epochs=1000, every=250, rng=1)
    for epoch, kl, f in zip(run.epochs, *run.history.values(), strict=True):
        print(f"epoch {epoch:<5} KL divergence {kl:.3f}   frustration index {f:.3f}")


def _title(text: str) -> None:
    print(f"\n── {text} ".ljust(78, "─"), flush=True)


def _command(text: str) -> None:
    print(f"$ {text}", flush=True)
