"""MAX-k-SAT by frustrated cores: proven, as asked for, and quiet."""

from __future__ import annotations

import itertools
import math
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from glasshouse import files
from glasshouse.certificates import Certificate, Cores, verify
from glasshouse.cli import main
from glasshouse.files.replanting import regrown
from glasshouse.planting import Planted, shuffle
from glasshouse.planting.methods import cores
from glasshouse.problems import MaxSat
from glasshouse.solvers import anneal, sweeps_to_solution
from glasshouse.studies import Annealer, Task
from glasshouse.studies.quantities.solution import Runs

SHAPES = ("ring", "chain", "tetrahedron")


def least_cost(problem: MaxSat) -> int:
    bits = np.array(list(itertools.product([0, 1], repeat=problem.num_variables)), dtype=np.int8)
    return int(np.min(problem.cost(bits[np.asarray(problem.broken(bits)) == 0])))


@given(st.data())
@settings(max_examples=40)
def test_no_assignment_costs_less_than_the_planted_model(data):
    shape = data.draw(st.sampled_from(SHAPES))
    width = data.draw(st.integers(3 if shape == "tetrahedron" else 2, 4))
    lengths = {}
    if shape != "tetrahedron":
        lengths["length"] = data.draw(st.integers(2 if shape == "ring" else 1, 5))
        lengths["max_length"] = data.draw(st.integers(lengths["length"], 6))
    plant = cores(
        data.draw(st.integers(9, 14)), width=width, cores=data.draw(st.integers(1, 9)),
        shape=shape, **lengths, frustrated=data.draw(st.sampled_from(["0", "1/3", "1"])),
        max_weight=data.draw(st.integers(1, 5)),
        harden=data.draw(st.sampled_from(["0", "1/3", "1"])),
        rng=data.draw(st.integers(0, 99)),
    )  # fmt: skip
    plant.verify()
    problem = plant.problem
    assert (problem.soft.lengths == width).all()
    assert (problem.hard.lengths == width).all()
    assert problem.cost((plant.state > 0).astype(np.int8)) == plant.energy == least_cost(problem)
    mixed = shuffle(plant)
    mixed.verify()
    assert mixed.energy == plant.energy
    assert Planted.from_recipe(mixed.recipe) == mixed


@pytest.mark.slow
@pytest.mark.parametrize("shape", SHAPES)
def test_eighteen_variables_by_brute_force(shape):
    for seed in range(4):
        plant = cores(18, clause_density=4, shape=shape, max_weight=3, harden="1/9", rng=seed)
        assert least_cost(plant.problem) == plant.energy
        plant.verify()


def test_a_given_model_is_planted_and_turned():
    plant = cores(20, cores=5, state="+-" * 10, rng=3)
    assert plant.state.tolist() == [1, -1] * 10
    turned = plant.regauge("-+" * 10)
    turned.verify()
    assert turned.state.tolist() == [-1, 1] * 10
    assert turned.energy == plant.energy


def test_cores_can_be_renamed_with_lists_in_their_leaves():
    problem = MaxSat(2, [[1], [2], [-1], [-2]], [1, 1, 1, 1])
    tree = [1, 2, 0, 2, 1, 1, 2, 1, 0, 2, 1, 1, 4, 1, 2, 0, 2, 2, 1, 3, 1, 0, 2, 3, 1, 4, 1]
    plant = Planted.of_cores(problem, Cores.of([(2, tree)]), np.ones(2, np.int8))
    order, new = np.array([3, 0, 2, 1]), np.array([1, 0])
    rows = [[int(np.sign(x)) * (int(new[abs(x) - 1]) + 1) for x in row] for row in
            problem.soft.lists()]  # fmt: skip
    mixed = MaxSat(2, [rows[k] for k in order], [1, 1, 1, 1])
    turned = Certificate.of_cores([1, 1], plant.cores.renamed(new, np.argsort(order)))
    assert verify(mixed, turned).optimal


@pytest.mark.parametrize("shape", ["ring", "tetrahedron"])
def test_literals_are_balanced_exactly(shape):
    """Each variable has as many positive as negative literals, of the same weight."""
    problem = cores(300, clause_density=5, shape=shape, max_weight=7, rng=1).problem
    lean = np.zeros(301)
    weights = np.repeat(problem.weights, problem.soft.lengths)
    np.add.at(lean, np.abs(problem.literals), np.sign(problem.literals) * weights)
    assert not lean.any()


@pytest.mark.parametrize(("shape", "frustrated", "leans"),
                         [("ring", "1", False), ("tetrahedron", "1", False),
                          ("ring", "1/2", True), ("chain", "1", False)])  # fmt: skip
def test_a_vote_of_literals_tells_the_model_only_where_the_docs_say_so(shape, frustrated, leans):
    """Ties are broken at random. False alarms: 6e-7 for each case (five standard deviations)."""
    rng, right, votes = np.random.default_rng(5), 0, 0
    for seed in range(10):
        plant = cores(400, clause_density=4, shape=shape, frustrated=frustrated, rng=seed)
        lean = np.zeros(401)
        np.add.at(lean, np.abs(plant.problem.literals), np.sign(plant.problem.literals))
        vote = np.where(lean[1:] == 0, rng.choice([-1, 1], 400), np.sign(lean[1:]))
        right, votes = right + int((vote == plant.state).sum()), votes + 400
    deviation = (right - votes / 2) / math.sqrt(votes / 4)
    assert (deviation > 5) == leans
    assert deviation > -5


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("suffix", [".wcnf", ".npz", ".wcnf.gz"])
def test_a_file_is_proven_by_what_is_beside_it(shape, suffix, tmp_path):
    plant = shuffle(cores(30, cores=6, shape=shape, harden="1/5", rng=2))
    path = tmp_path / f"x{suffix}"
    files.write(path, plant)
    checked = files.verify_file(path, recipe=True)
    assert checked.cost == plant.energy
    assert checked.proven is not None
    assert checked.proven.verdict.optimal
    assert files.read_planted(path) == plant


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"n": 3, "cores": 1}, "n=3 is too small"),
        ({"n": 20}, "exactly one of cores=NUMBER and clause_density"),
        ({"n": 20, "cores": 1, "width": 1}, "width=1"),
        ({"n": 20, "cores": 1, "width": 13}, "width=13 is above the limit of 12"),
        ({"n": 20, "cores": 1, "shape": "tetrahedron", "width": 2}, "width=2"),
        ({"n": 20, "cores": 1, "shape": "tetrahedron", "length": 4}, "one size"),
        ({"n": 20, "cores": 1, "shape": "knot"}, "shape='knot' is not one of"),
        ({"n": 20, "cores": 1, "length": 1}, "length=1"),
        ({"n": 20, "cores": 1, "length": 5, "max_length": 4}, "max_length=4"),
        ({"n": 200, "cores": 1, "max_length": 65}, "at most 64"),
        ({"n": 20, "cores": 1, "frustrated": "3/2"}, "from 0 to 1"),
        ({"n": 20, "cores": 1, "harden": -1}, "from 0 to 1"),
        ({"n": 20, "cores": 1, "max_weight": 2**32}, "above the limit of 2"),
        ({"n": 20, "cores": 2**29}, "more than 2"),
    ],
)
def test_what_cannot_be_planted_is_refused(given, message):
    with pytest.raises(ValueError, match=message):
        cores(**given)


@pytest.mark.parametrize("width", [2, 3])
def test_sweeps_end_at_the_planted_cost(width):
    """β is in units of the cost, and no state has a cost below that of the planted model."""
    plant = cores(14, cores=9, width=width, max_weight=3, harden="1/3", rng=2)
    options = {"samples": 50, "rng": 1, "max_sweeps": 2000}
    found = sweeps_to_solution(plant, **options)
    assert not found.censored.any()
    betas = anneal(plant, sweeps=100, runs=1, rng=1).betas
    assert found.beta == pytest.approx((betas[0], betas[-1]))
    below = replace(plant, energy=plant.energy - 1)
    assert sweeps_to_solution(below, **options).censored.all()


def test_studies_measure_clauses(tmp_path):
    asked = {"n": 14, "cores": 7, "max_weight": 3, "harden": "1/5"}
    for unit in ("loop weight", "field"):
        solver = Annealer(sweeps_per_run=50, beta=("0.3", 3), unit=unit)
        task = Task("cores", asked, solver=solver)
        rows = task.measure(0, 3)
        assert rows["solved"].all()
        plants = [task.grow(k) for k in range(3)]
        assert rows["energy"].tolist() == [plant.energy for plant in plants]
        assert rows["frustration"] == pytest.approx(
            [plant.energy / plant.problem.total_weight for plant in plants]
        )
    proven = Task("cores", asked, "ground").measure(0, 3)
    assert proven["proven"].all()
    assert (proven["energy"] == proven["bound"]).all()
    shapes = Task("cores", asked | {"frustrated": 0}, "shapes").measure(0, 1)
    assert (shapes["frustration"], shapes["edges"]) == (0, 7 * 12 - 7)
    runs = Runs(sweeps=100, runs=64, beta=("0.2", 4), algorithm="temper")
    assert Task("cores", asked, "solution", solver=runs).measure(0, 2)["solved"].all()
    for width in (2, 3):
        task = Task("cores", asked | {"width": width}, "levels")
        levels, problem = task.measure(0, 1), task.grow(0).problem
        bits = np.array(list(itertools.product([0, 1], repeat=14)), dtype=np.int8)
        costs = np.sort(problem.cost(bits))  # hard clauses cost more than all others together
        number = (costs == costs[0]).sum()
        assert (levels["energy"], levels["ground_states"]) == (costs[0], number)
        assert levels["gap"] == costs[number] - costs[0]


def test_the_command_line_runs_studies_and_tunes_and_draws(tmp_path, capsys):
    pytest.importorskip("matplotlib")
    study = 'name = "c"\n[stop]\ninstances = 3\n[solver]\nmax_sweeps = 20000\n[[family]]\n'
    study += 'method = "cores"\nparameters = { n = 12 }\ngrid = { clause_density = [2, 4] }\n'
    (tmp_path / "c.toml").write_text(study)
    store = str(tmp_path / "c.sqlite")
    assert main(["study", "run", str(tmp_path / "c.toml"), "-o", store]) == 0
    plotted = ["study", "plot", store, "--axis", "clause_density", "-o", str(tmp_path / "c.png")]
    assert main(plotted) == 0
    (tmp_path / "l.toml").write_text(study.replace("[stop]", 'measures = "excitations"\n[stop]')
                                     .replace("[solver]\nmax_sweeps = 20000\n", ""))  # fmt: skip
    capsys.readouterr()
    assert main(["study", "run", str(tmp_path / "l.toml"), "-o", str(tmp_path / "l.sqlite")]) == 2
    assert "use ground, hardness, levels, shapes" in capsys.readouterr().err
    words = ["tune", "--method", "cores", "-n", "200", "--target-sweeps", "60", "--tolerance", ".9"]
    assert main(words) == 0
    path = str(tmp_path / "c.wcnf")
    assert main(["plant", "cores", "-n", "30", "--cores", "4", "--seed", "1", "-o", path]) == 0
    assert main(["draw", path, "-o", str(tmp_path / "d.png")]) == 0


def test_what_needs_pairs_of_spins_is_refused_by_name():
    with pytest.raises(ValueError, match="cores plants clauses"):
        cores(20, cores=2, rng=1).ising  # noqa: B018


@pytest.mark.parametrize("frustrated", [0, 1])
@pytest.mark.parametrize("suffix", [".hubo", ".qubo", ".coo", ".mc"])
def test_a_file_without_clauses_gets_no_certificate_of_cores(tmp_path, suffix, frustrated):
    path = tmp_path / f"plant{suffix}"
    assert files.write(path, cores(12, cores=3, frustrated=frustrated, rng=1)).certificate is None
    assert files.read(path).num_variables >= 12


def test_satisfiable_pairs_get_a_certificate_of_triangles(tmp_path):
    path = tmp_path / "plant.wcnf"
    written = files.write(path, cores(12, cores=3, width=2, frustrated=0, rng=1))
    assert written.certificate is not None
    assert files.verify_file(path).proven.verdict.optimal
    assert files.read_planted(path).energy == 0
    words = ["plant", "cores", "-n", "12", "--cores", "3", "--width", "2", "--frustrated", "0"]
    assert main([*words, "-o", str(tmp_path / "b.wcnf")]) == 0


def test_a_summary_counts_clauses_and_cores_even_if_none_is_frustrated():
    told = str(cores(12, cores=3, frustrated=0, rng=1).summary())
    assert told.startswith("cores: 12 variables, 33 clauses; ground energy 0")
    assert "cores" in [line.split()[0] for line in told.splitlines()]


@pytest.mark.parametrize("width", [2, 3])
@pytest.mark.parametrize("suffix", [".wcnf", ".cnf", ".npz"])
def test_a_file_is_grown_again_and_proven_by_its_recipe(width, suffix, tmp_path):
    plant = cores(12, cores=3, width=width, rng=1)
    path = tmp_path / f"c{suffix}"
    files.write(path, plant)
    assert files.read_planted(path) == plant
    if suffix != ".npz":
        (tmp_path / f"{path.name}.cert").unlink()
    _, document = regrown(files.read_document(path))
    assert document.proven.verdict.optimal


@pytest.mark.parametrize("width", [2, 3])
def test_clauses_in_another_order_are_not_what_the_recipe_grows(width, tmp_path):
    path = tmp_path / "c.wcnf"
    files.write(path, cores(12, cores=3, width=width, rng=1))
    (tmp_path / "c.wcnf.cert").unlink()
    lines = path.read_text().splitlines(keepends=True)
    lines[-2:] = lines[:-3:-1]
    path.write_text("".join(lines))
    with pytest.raises(files.FileError, match="that differs from the problem in the file"):
        files.read_planted(path)
