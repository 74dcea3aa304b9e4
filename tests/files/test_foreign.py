"""Files from elsewhere are read, and what we write is understood elsewhere."""

from __future__ import annotations

import dimod
import numpy as np
import pytest
from dimod.serialization import coo as dimod_coo
from hypothesis import given, settings
from pysat.examples.rc2 import RC2
from pysat.formula import WCNF
from tests import strategies as some
from tests.oracles import energies_of, optimum, rc2_cost, states_of

from glasshouse.files import read, read_document, write
from glasshouse.planting.methods import random_loops
from glasshouse.problems import Ising, Max2Sat, Qubo
from glasshouse.problems.convert import to_max2sat


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("foreign")


TABS_AND_CRLF = (
    b"c\ttabs, CRLF, comments and no newline at the end\r\n"
    b"\r\n"
    b"p  wcnf\t3 4   20\r\n"
    b"\t7 1\t-2 0 \r\n"
    b"c between clauses\r\n"
    b"cat is a comment, too\r\n"
    b"20 -3 0\r\n"
    b" 5  3  0\r\n"
    b"25 +1 2 0"
)


def test_tabs_crlf_comments_and_no_newline_at_the_end(tmp_path):
    path = tmp_path / "x.WCNF"
    path.write_bytes(TABS_AND_CRLF)
    expected = Max2Sat.from_clauses(3, [[1, -2], [3]], [7, 5], hard=[[-3], [1, 2]])
    assert read(path) == expected


def test_the_new_dialect_is_told_apart_by_itself(tmp_path):
    path = tmp_path / "x.wcnf"
    path.write_bytes(b"c no header\nh -3 0\r\n7 1 -2 0\n5 3 0\n\nh 1 2 0")
    expected = Max2Sat.from_clauses(3, [[1, -2], [3]], [7, 5], hard=[[-3], [1, 2]])
    assert read(path) == expected


def test_a_header_without_top_makes_all_clauses_soft(tmp_path):
    path = tmp_path / "x.wcnf"
    path.write_bytes(b"p wcnf 2 2\n7 1 -2 0\n5 2 0\n")
    assert read(path) == Max2Sat.from_clauses(2, [[1, -2], [2]], [7, 5])


def test_comments_of_people_are_no_notes(tmp_path):
    path = tmp_path / "x.wcnf"
    path.write_bytes(b"c offset of 3 s\nc planted-cost is not known\nc recipe\n5 2 0\n")
    document = read_document(path)
    assert document.stated.cost is None
    assert document.stated.recipe is None


def test_whole_numbers_are_integers_however_they_are_spelled(tmp_path):
    path = tmp_path / "x.qubo"
    path.write_bytes(b"c qbsolv\np qubo unconstrained 4 2 2\n0 0 -1.0\n3 3 2e1\n0 1 +4\n3 1 -0.0\n")
    problem = read(path)
    assert problem == Qubo(4, [(0, 1), (1, 3)], [4, 0], [-1, 0, 0, 20])
    path.write_bytes(b"p qubo 0 2 1 1\n0 0 -1.5\n0 1 4\n")
    assert read(path) == Qubo(2, [(0, 1)], [4.0], [-1.5, 0.0])


def test_repeated_terms_add_up(tmp_path):
    path = tmp_path / "x.mc"
    path.write_bytes(b"3 4\n1 2 1\n2 1 1\n3 2 -4\n1 3 1\n")
    assert read(path) == Ising(3, [(0, 1), (0, 2), (1, 2)], [-2, -1, 4], [0, 0, 0])


def test_the_energy_of_a_maxcut_graph_tells_the_cut(tmp_path):
    path = tmp_path / "x.mc"
    path.write_bytes(b"3 3\n1 2 5\n2 3 7\n1 3 -2\n")
    problem = read(path)
    total = 5 + 7 - 2
    for state in states_of(problem):
        ends = [(0, 1, 5), (1, 2, 7), (0, 2, -2)]
        cut = sum(w for i, j, w in ends if state[i] != state[j])
        assert problem.energy(state) == total - 2 * cut


@settings(max_examples=50)
@given(some.isings(exact=None, max_spins=4))
def test_dimod_reads_our_coo_and_we_read_its(folder, problem):
    path = folder / "x.coo"
    write(path, problem, overwrite=True)
    with path.open() as file:
        model = dimod_coo.load(file)
    assert set(model.variables) == set(range(problem.num_variables))
    spins = states_of(problem)
    energies = model.energies((spins, range(problem.num_variables))) + problem.offset
    assert np.array_equal(energies, energies_of(problem))
    path.write_text(dimod_coo.dumps(model, vartype_header=True))  # six decimals: eighths fit
    again = read(path)
    if again.num_variables == problem.num_variables:  # dimod leaves spins out that have no bias
        assert np.array_equal(energies_of(again) + problem.offset, energies_of(problem))


@settings(max_examples=50)
@given(some.isings(exact=None, max_spins=5), some.qubos(exact=None, max_variables=5))
def test_dimod_reads_our_bqm_and_we_read_its(folder, ising, qubo):
    for problem in (ising, qubo):
        path = folder / "x.bqm"
        write(path, problem, overwrite=True)
        model = dimod.BinaryQuadraticModel.from_file(path.read_bytes())
        states = states_of(problem)
        energies = model.energies((states, range(states.shape[1])))
        assert np.array_equal(energies, energies_of(problem))
        labels = {i: f"label {i}" for i in range(states.shape[1])}
        for version, dtype in ((1, np.float64), (2, np.float32)):
            other = dimod.BinaryQuadraticModel(model, dtype=dtype).relabel_variables(
                labels, inplace=False
            )
            path.write_bytes(other.to_file(version=version).read())
            assert np.array_equal(energies_of(read(path)), energies_of(problem))


@settings(max_examples=60)
@given(some.max2sats())
def test_pysat_reads_the_same_clauses(folder, problem):
    # PySAT drops clauses of weight zero and does not know empty ones.
    kept = (problem.weights > 0) & (problem.clauses[:, 0] != 0)
    problem = Max2Sat(
        problem.num_variables, problem.clauses[kept], problem.weights[kept], problem.hard
    )
    for dialect in ("classic", "mse22"):
        path = folder / "x.wcnf"
        write(path, problem, dialect=dialect, overwrite=True)
        formula = WCNF(from_file=str(path))
        assert formula.hard == [[x for x in clause if x] for clause in problem.hard.tolist()]
        assert formula.soft == [[x for x in clause if x] for clause in problem.clauses.tolist()]
        assert formula.wght == problem.weights.tolist()


@pytest.mark.parametrize("suffix", [".wcnf", ".wcnf.gz"])
@pytest.mark.parametrize("dialect", ["classic", "mse22"])
@pytest.mark.parametrize("encoding", ["clause", "edge"])
def test_rc2_finds_the_cost_we_state(tmp_path, suffix, dialect, encoding):
    plant = random_loops(20, 20, frustration="1/5", loop_density=0.5, rng=3)
    path = tmp_path / f"x{suffix}"
    write(path, plant, dialect=dialect, encoding=encoding)
    formula = WCNF(from_file=str(path))
    stated = next(c for c in formula.comments if "planted-cost" in c)
    with RC2(formula) as solver:
        model = solver.compute()
        assert stated == f"c planted-cost {solver.cost}"
    state = np.where(np.array(model[:40]) > 0, 1, -1)
    assert plant.problem.energy(state) == plant.energy


@settings(max_examples=25)
@given(some.isings(max_spins=5))
def test_the_edge_encoding_has_the_same_least_cost_and_states_its_model(folder, problem):
    path = folder / "edge.wcnf"
    write(path, problem, encoding="edge", overwrite=True)
    formula = WCNF(from_file=str(path))
    with RC2(formula) as solver:
        solver.compute()
        assert solver.cost == rc2_cost(to_max2sat(problem)[0])
    cost, _ = optimum(to_max2sat(problem)[0])
    assert solver.cost == cost


@settings(max_examples=40)
@given(some.max2sats(max_variables=4))
def test_the_edge_encoding_keeps_costs_and_hard_clauses(folder, problem):
    path = folder / "edge.wcnf"
    if not problem.is_integer:
        return
    reduction = write(path, problem, encoding="edge", overwrite=True).reduction
    formula = WCNF(from_file=str(path))
    for state in states_of(problem):
        model = reduction.forward(state)
        true = {k if bit else -k for k, bit in enumerate(model.tolist(), start=1)}
        keeps = all(true & set(clause) for clause in formula.hard)
        assert keeps == (problem.broken(state) == 0)
        if keeps:
            falsified = (not true & set(clause) for clause in formula.soft)
            cost = sum(w for w, lost in zip(formula.wght, falsified, strict=True) if lost)
            assert cost == reduction.target_energy(problem.cost(state))
            assert np.array_equal(reduction.back(model), state)


def test_the_planted_model_of_the_edge_encoding_satisfies_its_hard_clauses(tmp_path):
    plant = random_loops(6, 6, frustration="1/4", loops=6, rng=5)
    path = tmp_path / "x.wcnf"
    write(path, plant, encoding="edge")
    formula = WCNF(from_file=str(path))
    bits = next(c for c in formula.comments if "planted-model" in c).split()[2]
    assert len(bits) == formula.nv
    true = {k if bit == "1" else -k for k, bit in enumerate(bits, start=1)}
    assert all(true & set(clause) for clause in formula.hard)
    cost = sum(
        w for w, clause in zip(formula.wght, formula.soft, strict=True) if not true & set(clause)
    )
    assert f"c planted-cost {cost}" in formula.comments


def opb_costs(text: str, size: int) -> dict[tuple[int, ...], int]:
    """Least objective for every assignment of the first `size` variables, or none if infeasible."""
    lines = [line for line in text.splitlines() if not line.startswith("*")]
    words = lines[0].removeprefix("min:").removesuffix(";").split()
    objective = {v: int(w) for w, v in zip(words[::2], words[1::2], strict=True)}
    constraints = []
    for line in lines[1:]:
        left, right = line.removesuffix(";").split(">=")
        words = left.split()
        terms = [(int(w), int(v[1:])) for w, v in zip(words[::2], words[1::2], strict=True)]
        constraints.append((terms, int(right)))
    costs = {}
    for number in range(2**size):
        bits = tuple(number >> k & 1 for k in range(size))
        cost = 0
        for terms, bound in constraints:
            value = sum(w * bits[v - 1] for w, v in terms if v <= size)
            relaxed = [v for _, v in terms if v > size]
            if value < bound and not relaxed:
                break
            if value < bound:
                cost += objective[f"x{relaxed[0]}"]
        else:
            costs[bits] = cost
    return costs


@settings(max_examples=60)
@given(some.max2sats(max_variables=4))
def test_opb_has_the_same_cost_for_every_assignment(folder, problem):
    path = folder / "x.opb"
    write(path, problem, overwrite=True)
    text = path.read_text()
    relaxed = problem.num_variables + problem.num_clauses
    constraints = problem.num_clauses + problem.num_hard
    assert text.startswith(f"* #variable= {relaxed} #constraint= {constraints}\n")
    costs = opb_costs(text, problem.num_variables)
    for state in states_of(problem):
        expected = None if problem.broken(state) else problem.cost(state)
        assert costs.get(tuple(state.tolist())) == expected
