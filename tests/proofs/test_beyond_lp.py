"""Dense glasses whose optimum no linear program over cycles can prove: the program is left out."""

from __future__ import annotations

from typing import Any

import pytest
from tests.proofs.fixed_set import random_graph

from glasshouse.planting.methods import random_loops
from glasshouse.problems import Ising
from glasshouse.proofs import prove, prover
from glasshouse.proofs.budget import Budget
from glasshouse.proofs.lp.blocks import Blocks
from glasshouse.proofs.lp.cut_lp import CutLp
from glasshouse.proofs.preparation import Prepared
from glasshouse.proofs.prover import Prover
from glasshouse.solvers import brute_force
from glasshouse.stopping import working_time


@pytest.fixture
def programs(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """The numbers of cuts of all linear programs that a proof solves at its root."""
    sizes = list[int]()
    solve = CutLp.solve

    def counted(self: CutLp, *arguments: Any, **options: Any) -> Any:
        sizes.append(len(self.cuts))
        return solve(self, *arguments, **options)

    monkeypatch.setattr(CutLp, "solve", counted)
    return sizes


def prover_of(problem: Ising) -> Prover:
    search = Prover(Prepared(problem, None, None), Budget())
    search.search = Blocks(search.prepared.graph, search.budget)
    return search


@pytest.mark.parametrize("seed", range(40))
def test_the_program_is_left_out_only_if_it_would_not_prove_the_optimum(seed: int) -> None:
    problem = random_graph(14, 13 - seed % 6, seed, normal=seed % 4 == 0, fields=seed % 3 == 0)
    if not prover_of(problem)._is_beyond_lp():
        return
    complete = prove(problem, loops_only=True, node_limit=1)
    assert complete.statistics.converged
    assert not complete.optimal
    assert complete.energy == brute_force(problem).energy


def test_complete_glasses_are_beyond_the_program_and_plants_are_not() -> None:
    assert all(prover_of(random_graph(40, 39, seed))._is_beyond_lp() for seed in range(10))
    plants = (random_loops(20, 20, frustration="0.22", loop_density="2", rng=k) for k in range(10))
    assert not any(prover_of(plant.ising)._is_beyond_lp() for plant in plants)


def test_a_complete_glass_is_proven_without_a_linear_program(programs: list[int]) -> None:
    proof = prove(random_graph(45, 44, seed=1))
    assert proof.optimal
    assert proof.statistics.method == "semidefinite"
    assert programs == []


def test_a_dense_plant_is_proven_by_a_linear_program(programs: list[int]) -> None:
    plant = random_loops(40, 40, frustration="0.1", loop_density="2", rng=1)
    proof = prove(plant.problem)
    assert proof.energy == plant.energy
    assert proof.statistics.method == "cycle LP"
    assert programs


def test_a_target_keeps_the_linear_program(programs: list[int]) -> None:
    """The program may reach a target, although it cannot prove the optimum."""
    problem = random_graph(45, 44, seed=1)
    easy = -0.9 * problem.total_weight
    assert prove(problem, target=easy).lower_bound >= easy
    assert programs


def test_ctrl_c_while_a_dense_graph_is_annealed_keeps_a_state(
    programs: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupted(*arguments: Any) -> Any:
        raise KeyboardInterrupt

    monkeypatch.setattr(prover, "annealed_state", interrupted)
    problem = random_graph(45, 44, seed=1)
    proof = prove(problem)
    assert proof.statistics.stopped == "Ctrl-C"
    assert proof.energy == problem.energy(proof.state)
    assert proof.energy < 0
    assert programs == []


def test_a_proof_without_time_after_the_program_was_left_out_is_not_finished(
    programs: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    decide = Prover._is_beyond_lp

    def slowly(self: Prover) -> bool:
        is_beyond = decide(self)
        self.budget.end_by(working_time())
        return is_beyond

    monkeypatch.setattr(Prover, "_is_beyond_lp", slowly)
    proof = prove(random_graph(45, 44, seed=1), time_limit=60.0)
    assert not proof.optimal
    assert proof.statistics.stopped == "time limit"
    assert programs == []
