"""Cores and planted polynomials in every format and with every option, beside brute force.

Both checkers must agree on what is proven, and so must the least energy of all assignments.
"""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tests.planting.methods.test_hypergraph_cores import hypergraphs
from tests.problems.test_polynomial import states

from glasshouse.certificates import checker
from glasshouse.extras import MissingPackageError
from glasshouse.files import FORMATS, read_document, read_planted, side_car, verify_file, write
from glasshouse.planting import Planted, cores, hypergraph_cores, product_loops, shuffle, xorsat
from glasshouse.problems import MaxSat, Polynomial

fresh = itertools.count()
SHARES = st.sampled_from(["0", "1/3", "1/2", "1"])
# What the stand-alone checker reads, and how it is asked to.
READ_ALONE = {".wcnf": {}, ".hubo": {"is_hubo": True}}
# Formats that hold the problem itself, so that the whole plant can be read again.
HOMES = {MaxSat: (".wcnf", ".npz"), Polynomial: (".hubo", ".json", ".npz")}
MANY_STATES = 1 << 14  # of the problem read from a file, with its ancillas


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("formats")


def some_cores(draw: st.DrawFn, size: int, seed: int, state: str | None) -> Planted:
    shared = {
        "frustrated": draw(SHARES), "max_weight": draw(st.integers(1, 9)), "harden": draw(SHARES),
        "rng": seed,
    }  # fmt: skip
    number = draw(st.integers(1, 8))
    asked = {"cores": number} if draw(st.booleans()) else {"clause_density": number}
    if draw(st.booleans()):
        return hypergraph_cores(
            draw(hypergraphs()), longest=draw(st.integers(3, 5)), **asked, **shared
        )
    shape = draw(st.sampled_from(["ring", "chain", "tetrahedron"]))
    width = draw(st.integers(3 if shape == "tetrahedron" else 2, 4))
    if shape != "tetrahedron":
        shared["length"] = draw(st.integers(2 if shape == "ring" else 1, 4))
        shared["max_length"] = draw(st.integers(shared["length"], 5))
    return cores(max(size, 9), width=width, shape=shape, state=state, **asked, **shared)


@st.composite
def plants(draw: st.DrawFn, most: int) -> Planted:
    """A plant of at most `most` variables, with any of its method's options."""
    size, seed = draw(st.integers(9, most)), draw(st.integers(0, 2**64))
    state = draw(st.none() | st.text("+-", min_size=size, max_size=size))
    kind = draw(st.sampled_from(["cores", "xorsat", "products"]))
    if kind == "cores":
        plant = some_cores(draw, size, seed, state)
    elif kind == "xorsat":
        state = state and state[: size // 3 * 3]
        degree = draw(st.integers(1, 3))
        plant = xorsat(size // 3 * 3, degree=degree, native=True, state=state, rng=seed)
    else:
        length = draw(st.integers(3, 4))
        plant = product_loops(
            size, frustration=draw(st.sampled_from(["0", "1/20", "1/5", f"1/{length}"])),
            products=draw(st.integers(1, 4)), length=length, lift=draw(st.integers(0, 2)),
            factors=draw(st.integers(1, 3 if length == 3 else 2)), state=state, rng=seed,
        )  # fmt: skip
    return shuffle(plant) if draw(st.booleans()) else plant


def least(problem) -> int:
    """The least energy, or the least cost of assignments that satisfy all hard clauses."""
    size = problem.num_variables
    every = states(size, "binary" if problem.space.low == 0 else "spin")
    if isinstance(problem, MaxSat):
        every = every[np.asarray(problem.broken(every)) == 0]
    return np.min(problem.energy(every)).item()


def check_everywhere(folder, plant: Planted) -> int:
    """Write a plant in each format, read it, and check it; return how many formats held it."""
    plant.verify()
    assert Planted.from_recipe(plant.recipe) == plant
    assert least(plant.problem) == plant.problem.energy(
        plant.state if plant.problem.space.low else (plant.state > 0).astype(np.int8)
    ) == plant.energy  # fmt: skip
    held = 0
    for suffix, form in FORMATS.items():
        path = folder / f"{next(fresh)}{suffix}"
        try:
            written = write(path, plant)
        except (ValueError, MissingPackageError):  # the format does not support it
            assert suffix not in HOMES[type(plant.problem)]
            continue
        if form.read is None:
            continue
        held += 1
        document = read_document(path)
        optimum = written.reduction.target_energy(plant.energy)
        if document.problem.num_variables <= MANY_STATES.bit_length() - 1:
            problem = document.problem
            if not getattr(problem, "num_hard", 0) or isinstance(problem, MaxSat):
                assert least(problem) == optimum, suffix
        if written.certificate is not None:
            verdict = verify_file(path).proven.verdict
            assert verdict.energy <= optimum
            assert verdict.lower_bound <= optimum
            assert verdict.optimal
            if suffix in READ_ALONE:
                texts = path.read_text(), side_car(path).read_text()
                found = checker.check(*texts, **READ_ALONE[suffix])
                assert found == (verdict.energy, verdict.lower_bound), suffix
        if suffix in HOMES[type(plant.problem)]:
            assert read_planted(path) == plant
        path.unlink()
    return held


LOOSE = {"deadline": None, "suppress_health_check": list(HealthCheck)}


@settings(max_examples=25, **LOOSE)
@given(plants(most=11))
def test_small_plants_in_every_format(folder, plant):
    assert check_everywhere(folder, plant) >= 3


@pytest.mark.slow
@settings(max_examples=1000, **LOOSE)
@given(plants(most=18))
def test_plants_of_up_to_eighteen_variables_in_every_format(folder, plant):
    assert check_everywhere(folder, plant) >= 3
