"""The cycle LP finds and proves every plant without seeing it."""

from __future__ import annotations

import pytest
from tests.proofs.plants import METHODS, planted

from glasshouse import files
from glasshouse.certificates import checker, verify
from glasshouse.problems import Ising
from glasshouse.problems.convert import to_max2sat
from glasshouse.proofs import prove


def check_plant(method, seed, folder):
    plant = planted(method, seed)
    problem: Ising = plant.ising
    proof = prove(problem)
    assert proof.optimal, (method, seed)
    assert proof.energy == proof.lower_bound == plant.energy
    assert verify(problem, plant.certificate).lower_bound == plant.energy
    assert verify(problem, proof.certificate).energy == plant.energy
    # The same from the file, by the stand-alone checker.
    path = folder / "plant.wcnf"
    clauses, reduction = to_max2sat(problem)
    files.write(path, clauses, overwrite=True)
    side_car = folder / "plant.cert"
    files.write_certificate(side_car, proof.certificate, overwrite=True)
    cost = reduction.target_energy(plant.energy)
    assert checker.check(path.read_text(), side_car.read_text()) == (cost, cost)


@pytest.mark.parametrize("method", METHODS)
def test_plants_are_proven_unseen(method, tmp_path):
    for seed in range(4):
        check_plant(method, seed, tmp_path)


@pytest.mark.slow
@pytest.mark.parametrize("method", METHODS)
def test_two_hundred_plants_are_proven_unseen(method, tmp_path):
    for seed in range(4, 204):
        check_plant(method, seed, tmp_path)
