"""Planted polynomials: products of loops, and native 3-XORSAT, beside brute force."""

from __future__ import annotations

import itertools
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.certificates.mutations import mutate, mutate_numbers, rewrite
from tests.problems.test_polynomial import states

import glasshouse as gh
from glasshouse.certificates import CertificateError, Squares, checker
from glasshouse.cli import main
from glasshouse.files import FileError, read_document, read_planted, read_side_car, side_car, write
from glasshouse.planting import Planted, product_loops, shuffle, xorsat
from glasshouse.problems.monomials import Monomials
from glasshouse.solvers import sweeps_to_solution
from glasshouse.studies import Annealer, Task

fresh = itertools.count()


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("plants")


@st.composite
def plants(draw: st.DrawFn, most: int = 10) -> Planted:
    """Native equations, or products of loops, of a few spins."""
    seed = draw(st.integers(0, 2**64))
    if draw(st.booleans()):
        variables = 3 * draw(st.integers(1, most // 3))
        return xorsat(variables, degree=draw(st.integers(1, 3)), native=True, rng=seed)
    length = draw(st.integers(3, 4))
    size = draw(st.integers(length, most))
    state = draw(st.none() | st.text("+-", min_size=size, max_size=size))
    frustration = draw(st.sampled_from(["0", "1/20", "1/5", "1/4", f"1/{length}"]))
    factors = draw(st.integers(1, 3 if length == 3 else 2))
    return product_loops(
        size, frustration=frustration, products=draw(st.integers(1, 4)), length=length,
        factors=factors, lift=draw(st.integers(0, 2)), state=state, rng=seed,
    )  # fmt: skip


@settings(max_examples=60, deadline=None)
@given(plants(), st.sampled_from([".hubo", ".json", ".npz", ".hubo.gz"]), st.booleans())
def test_a_plant_is_the_optimum_in_every_format(folder, plant, suffix, shuffled):
    plant = shuffle(plant) if shuffled else plant
    energies = plant.problem.energy(states(plant.problem.num_variables, "spin"))
    assert energies.min() == plant.energy == plant.problem.energy(plant.state)
    counted = plant.summary().ground_states
    assert counted.is_exact
    assert counted.least == (energies == plant.energy).sum()
    plant.verify()
    assert Planted.from_recipe(plant.recipe) == plant
    path = folder / f"{next(fresh)}{suffix}"
    write(path, plant)
    assert read_planted(path) == plant
    assert gh.verify_file(path).proven.verdict.optimal
    if suffix == ".hubo":
        texts = path.read_text(), side_car(path).read_text()
        assert checker.check(*texts, is_hubo=True) == (plant.energy, plant.energy)
    turned = plant.regauge(np.ones(len(plant.state), np.int8))
    turned.verify()
    assert Planted.from_recipe(turned.recipe) == turned


def test_eighteen_spins():
    for plant in (
        xorsat(18, native=True, rng=1),
        product_loops(18, products=12, frustration="1/4", rng=1),
        product_loops(18, products=5, frustration="1/5", lift=1, factors=3, rng=1),
    ):
        plant.verify()
        assert gh.brute_force(plant.problem).energy == plant.energy


def test_the_polynomial_is_the_sum_of_products_of_its_loops():
    # One product of two triangles with spins in common, multiplied out by hand.
    plant = product_loops(3, products=1, frustration="1/3", state="+++", rng=1)
    low = plant.problem.energy(states(3, "spin"))
    assert plant.problem.degree == 2  # because terms of four over the same three spins cancel
    assert sorted(set((low - plant.energy).tolist())) in ([0, 16], [0])


def test_native_equations_are_those_of_the_pairs():
    pairs, native = xorsat(24, rng=5), xorsat(24, native=True, rng=5)
    assert (pairs.state[:24] == native.state).all()
    rows = np.sort(pairs.squares.nodes.reshape(-1, 5)[:, :3], axis=1)
    assert sorted(map(tuple, rows.tolist())) == sorted(native.problem.terms())
    assert pairs.summary().ground_states == native.summary().ground_states
    assert "native" not in pairs.recipe.parameters
    assert native.recipe.parameters["native"] is True


def test_forged_plants_are_refused(tmp_path):
    plant = product_loops(9, products=3, frustration="1/4", rng=1)
    weights = plant.problem.weights.copy()
    weights[0] += 1
    other = plant.squares.multipliers.copy()
    other[0] += 4
    squares = Squares(plant.squares.nodes, plant.squares.starts, plant.squares.coefficients, other)
    turned = plant.state * np.array([-1, *[1] * 8], np.int8)
    for forged in (
        replace(plant, problem=replace(plant.problem, weights=weights)),
        replace(plant, problem=replace(plant.problem, offset=1)),
        replace(plant, squares=squares),
        replace(plant, energy=plant.energy - 1),
        replace(plant, denominator=1),
        replace(plant, state=turned),
        replace(plant, monomials=Monomials.of([[0, 1]])),
    ):
        with pytest.raises(CertificateError):
            forged.verify()
    with pytest.raises(ValueError, match="needs spins or clauses"):
        replace(plant, problem=gh.to_polynomial(plant.problem, "binary")[0])
    with pytest.raises(ValueError, match="no pairs of spins"):
        plant.ising  # noqa: B018


@pytest.mark.parametrize(
    ("asked", "message"),
    [
        ({"frustration": "1/2", "products": 2}, "above 1/3"),
        ({"frustration": "1/4"}, "exactly one of products=NUMBER and product_density=RATIO"),
        ({"frustration": "1/4", "products": 2, "factors": 5}, "degree 10; use at most 4"),
        ({"frustration": "1/4", "products": 2, "length": 9}, "leaves|at least|9"),
        ({"frustration": "1/4", "products": 2, "lift": -1}, "lift"),
        ({"frustration": "1/8", "products": 2, "length": 8, "factors": 4}, "fewer factors"),
        ({"frustration": "0", "products": 1, "n": 10**6, "length": 10**6, "factors": 4}, "shorter"),
        ({"frustration": "1/4", "products": 2, "lift": 10**12}, "more than 2\\^63-1"),
    ],
)
def test_arguments_that_do_not_fit_are_refused(asked, message):
    with pytest.raises(ValueError, match=message):
        product_loops(**{"n": 8} | asked)


def judged(path, text, certificate):
    """The common verdict of both checkers on two texts: value and bound, or None."""
    rewrite(path, text)
    rewrite(side_car(path), certificate)
    try:
        mine = checker.check(text, certificate, is_hubo=True)
    except (ValueError, RecursionError):
        mine = None
    try:
        document = read_document(path)
        found = document.examined(read_side_car(side_car(path))).verdict
        theirs = found.exact_energy, found.lower_bound
    except (CertificateError, FileError):
        theirs, document = None, None
    assert mine == theirs, (text, certificate)
    if theirs is not None and theirs[0] == theirs[1] and document.problem.num_variables <= 10:
        problem = document.problem
        units = problem.units
        assert problem.energy(states(problem.num_variables, units)).min() == theirs[0]
    return theirs


def mutations_are_refused_or_true(folder, count, seed):
    rng = np.random.default_rng(seed)
    path, tally = folder / f"{next(fresh)}.hubo", {"refused": 0, "true": 0}
    while sum(tally.values()) < count:
        plant = (
            xorsat(6, native=True, rng=int(rng.integers(2**32)))
            if rng.random() < 0.3
            else product_loops(
                6, products=2, frustration="1/4", lift=int(rng.integers(2)),
                rng=int(rng.integers(2**32)),
            )
        )  # fmt: skip
        write(path, plant, overwrite=True)
        texts = [path.read_text(), side_car(path).read_text()]
        for _ in range(20):
            damaged = list(texts)
            which = int(rng.random() < 0.8)
            damage = mutate if rng.random() < 0.4 else mutate_numbers
            damaged[which] = damage(damaged[which], rng)
            tally["refused" if judged(path, *damaged) is None else "true"] += 1
    return tally


def test_a_thousand_mutations_are_refused_or_true(folder):
    tally = mutations_are_refused_or_true(folder, 1000, seed=1)
    assert tally["refused"] > 300
    assert tally["true"] > 20


@pytest.mark.slow
def test_ten_thousand_mutations_are_refused_or_true(folder):
    assert mutations_are_refused_or_true(folder, 10_000, seed=2)["refused"] > 3000


def test_damaged_archives_are_refused_or_true(tmp_path):
    rng, path, held = np.random.default_rng(1), tmp_path / "a.npz", 0
    write(path, product_loops(6, products=2, frustration="1/4", rng=1))
    with np.load(path) as archive:
        whole = dict(archive)
    arrays = [name for name, array in whole.items() if array.dtype.kind == "i" and array.size]
    assert {"product_spins", "product_starts", "square_nodes", "indices"} <= {*arrays}
    for _ in range(300):
        name = arrays[rng.integers(len(arrays))]
        changed = whole[name].copy()
        how = rng.integers(3)
        if how == 0:
            changed[rng.integers(changed.size)] = rng.choice([-1, 0, 1, 2, 7, 30, 99])
        elif how == 1:
            changed = np.delete(changed, rng.integers(changed.size))
        else:
            changed = np.insert(changed, rng.integers(changed.size), changed[0])
        np.savez(path, **{**whole, name: changed})
        try:
            document = read_document(path)
            proven = document.proven
        except (CertificateError, FileError):
            continue
        held += 1
        if proven is not None and proven.verdict.optimal:
            energies = document.problem.energy(states(document.problem.num_variables, "spin"))
            assert energies.min() == proven.verdict.energy
    assert held < 60


def test_sweeps_to_solution_and_studies_take_polynomials_as_they_are():
    plant = xorsat(18, native=True, rng=2)
    found = sweeps_to_solution(plant, samples=20, rng=1, max_sweeps=100_000)
    assert not found.censored.any()
    assert (found.sweeps_per_run, found.schedule) == (1000, "geometric")
    for method, asked in (
        ("xorsat", {"n": 12, "native": True}),
        ("product_loops", {"n": 12, "products": 8, "frustration": "1/4"}),
    ):
        task = Task(method, asked, solver=Annealer(max_sweeps=100_000))
        rows = task.measure(0, 3)
        assert rows["solved"].all()
        assert (rows["loops"] == 0).all()
        assert Task.from_canonical(task.canonical(), task.stop) == task


def test_suites_hold_polynomials_as_hubo_files(tmp_path):
    (tmp_path / "s.toml").write_text(
        'name = "s"\n[[family]]\nmethod = "xorsat"\ncount = 2\n'
        "parameters = { n = 6, native = true }\n"
        '[[family]]\nmethod = "random_loops"\ncount = 1\n'
        'parameters = { n = 4, frustration = "1/5", loops = 2 }\n'
    )
    folder = tmp_path / "out"
    assert main(["suite", "write", str(tmp_path / "s.toml"), "-o", str(folder)]) == 0
    files = sorted(path.suffix for path in (folder / "instances").iterdir())
    assert files == [".hubo", ".hubo", ".wcnf"]
    manifest = str(folder / "answers" / "manifest.jsonl")
    assert main(["check", manifest, "--instances", str(folder / "instances")]) == 0
    words = ["plant", "polynomial", "-n", "6", "--products", "2", "-f", "1/4", "--count", "2"]
    assert main([*words, "--seed", "1", "-o", str(tmp_path / "many")]) == 0
    assert main(["check", str(tmp_path / "many" / "manifest.jsonl")]) == 0


def test_the_command_line_plants_checks_and_converts(tmp_path, capsys):
    for name, words in (
        ("a.hubo", ["xorsat", "--native", "-n", "12"]),
        ("b.npz", ["polynomial", "-n", "9", "--products", "5", "-f", "1/4"]),
    ):
        path = str(tmp_path / name)
        assert main(["plant", *words, "--seed", "1", "-o", path]) == 0
        assert main(["check", path, "--recipe"]) == 0
        assert main(["info", path]) == 0
        assert main(["convert", path, str(tmp_path / f"{name}.json")]) == 0
        assert main(["check", str(tmp_path / f"{name}.json")]) == 0
    told = capsys.readouterr().out
    assert "polynomial" in told
    assert "VERIFIED" in told or "proven" in told
