"""Solutions come back: from any conversion to the original's variables, with the right energy."""

from __future__ import annotations

import itertools
import json

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.strategies import isings, max2sats, qubos

import glasshouse as gh
from glasshouse.cli import main
from glasshouse.files import FileError, bring_back, write
from glasshouse.planting import shuffle
from glasshouse.problems import Ising, Max2Sat, convert

KINDS = ["ising", "rbm", "qubo", "max2sat", "maxcut"]


def save(folder, state):
    path = folder / "solution.txt"
    path.write_text(" ".join(map(str, np.asarray(state).tolist())))
    return path


def lowest(problem) -> int:
    """The least energy of all states, by trying them; hard clauses kept."""
    states = np.array(list(itertools.product([0, 1], repeat=problem.num_variables)))
    states = problem.space.from_bits(states)
    if isinstance(problem, Max2Sat):
        states = states[problem.broken(states) == 0]
    return min(problem.energy(states)) if len(states) else None


@settings(max_examples=40)
@given(
    problem=st.one_of(isings(max_spins=4, min_spins=2), qubos(), max2sats()),
    kind=st.sampled_from(KINDS),
)
def test_the_optimum_of_a_conversion_is_that_of_the_original(problem, kind, tmp_path_factory):
    if lowest(problem) is None:
        return
    folder = tmp_path_factory.mktemp("back")
    converted = getattr(convert, f"to_{kind}")(problem)[0]
    write(folder / "a.npz", problem)
    write(folder / "b.npz", converted)
    best = gh.brute_force(converted)
    found = bring_back(folder / "a.npz", folder / "b.npz", save(folder, best.states[0]))
    assert found.energy == problem.energy(found.state) == lowest(problem)
    assert found.converted_energy == best.energy


@pytest.mark.parametrize("suffix", ["wcnf", "qubo", "mc", "coo", "bqm", "npz", "opb", "wcnf.gz"])
@pytest.mark.parametrize("fields", [None, [1, 0, -2, 0, 3, 0]])
def test_every_format_leads_back(suffix, fields, tmp_path):
    ring = [(k, (k + 1) % 6) for k in range(6)]
    problem = Ising.from_edges(6, [*ring, (0, 2), (1, 4)], [1, -2, 3, -1, 2, 1, 2, -3], fields)
    write(tmp_path / "a.coo", problem)
    way = write(tmp_path / f"b.{suffix}", problem).reduction
    state = np.array([1, -1, -1, 1, 1, -1], dtype=np.int8)
    solution = save(tmp_path, way.forward(state))
    found = bring_back(tmp_path / "a.coo", tmp_path / f"b.{suffix}", solution)
    assert np.array_equal(found.state, state)
    assert found.energy == problem.energy(state)
    assert found.converted_energy == way.target_energy(found.energy)


def test_a_solver_of_a_cut_sees_the_ancilla(tmp_path):
    problem = Ising.from_edges(3, [(0, 1), (1, 2)], [1, -2], [1, 0, -2])
    write(tmp_path / "a.coo", problem)
    write(tmp_path / "b.mc", problem)
    for ancilla in (1, -1):
        solution = save(tmp_path, [ancilla, ancilla, -ancilla, ancilla])
        found = bring_back(tmp_path / "a.coo", tmp_path / "b.mc", solution)
        assert found.state.tolist() == [1, 1, -1]


def test_a_pseudo_boolean_solver_sees_relaxations(tmp_path):
    problem = Max2Sat.from_clauses(2, [[1, 2], [-1], [-2]], [3, 1, 2])
    write(tmp_path / "a.wcnf", problem)
    write(tmp_path / "b.opb", problem)
    (tmp_path / "s").write_text("s OPTIMUM FOUND\nv x1 -x2 -x3 x4 -x5\n")
    found = bring_back(tmp_path / "a.wcnf", tmp_path / "b.opb", tmp_path / "s")
    assert (found.state.tolist(), found.energy) == ([1, 0], 1)


@pytest.mark.parametrize("dialect", ["classic", "mse22"])
def test_the_edge_encoding(dialect, tmp_path):
    plant = gh.random_loops(5, 5, frustration="1/5", loops=4, rng=1)
    write(tmp_path / "a.wcnf", plant)
    way = write(tmp_path / "e.wcnf", plant, encoding="edge", dialect=dialect).reduction
    solution = save(tmp_path, way.forward(plant.state))
    found = bring_back(tmp_path / "a.wcnf", tmp_path / "e.wcnf", solution)
    assert found.energy == way.target_energy(plant.energy)
    assert found.converted_energy is None
    other = gh.random_loops(5, 5, frustration="1/5", loops=4, rng=2)
    write(tmp_path / "other.wcnf", other)
    with pytest.raises(FileError, match="is not a conversion"):
        bring_back(tmp_path / "other.wcnf", tmp_path / "e.wcnf", solution)


@pytest.mark.parametrize("original", ["a.npz", "a.coo", "a.wcnf", "a.qubo"])
@pytest.mark.parametrize("told_by", ["side-car", "recipe", "certificate elsewhere"])
def test_shuffled_variables_find_back(original, told_by, tmp_path):
    plant = gh.random_loops(5, 4, frustration="1/5", loops=4, rng=1)
    write(tmp_path / original, plant)
    mixed, path, elsewhere = shuffle(plant), tmp_path / "s.wcnf", None
    if told_by == "certificate elsewhere":
        elsewhere = tmp_path / "far.cert"
        write(path, mixed, blind=True, certificate=elsewhere)
    else:
        write(path, mixed)
    if told_by == "recipe":
        gh.files.side_car(path).unlink()
    solution = save(tmp_path, (mixed.state + 1) // 2)
    found = bring_back(tmp_path / original, path, solution, certificate=elsewhere)
    problem = gh.files.read_document(tmp_path / original).problem
    assert np.array_equal(found.state > 0, plant.state > 0)
    assert found.energy == problem.energy(found.state) == lowest(problem)


def test_a_lie_about_names_leads_nowhere(tmp_path):
    plant = gh.random_loops(5, 4, frustration="1/5", loops=4, rng=1)
    write(tmp_path / "a.coo", plant)
    path = tmp_path / "s.wcnf"
    write(path, shuffle(plant), blind=True, certificate=gh.files.side_car(path))
    text = gh.files.side_car(path).read_text()
    line = next(line for line in text.splitlines() if line.startswith("names"))
    lie = " ".join(["names", *reversed(line.split()[1:])])
    gh.files.side_car(path).write_text(text.replace(line, lie))
    with pytest.raises(FileError, match="is not a conversion"):
        bring_back(tmp_path / "a.coo", path, save(tmp_path, [0] * 9))


class TestTyped:
    def test_a_doubled_file(self, tmp_path, capsys):
        original, doubled = tmp_path / "o.coo", tmp_path / "d.npz"
        plant = ["plant", "graph", "complete:7", "-f", "1/3", "--length", "3", "--loops", "9"]
        assert main([*plant, "--seed", "1", "-o", str(original)]) == 0
        assert main(["convert", str(original), str(doubled), "--kind", "rbm"]) == 0
        capsys.readouterr()
        assert main(["solve", str(doubled), "--json", "--runs", "8", "--seed", "1"]) == 0
        solution = tmp_path / "answer.json"
        solution.write_text(capsys.readouterr().out)
        words = ["back", str(original), str(doubled), str(solution)]
        assert main([*words, "--json"]) == 0
        answer = json.loads(capsys.readouterr().out)
        assert (answer["energy"], answer["target_energy"], len(answer["model"])) == (-9, -36, 7)
        assert main(words) == 0
        assert f"-9 in {original}, -36 in {doubled}" in capsys.readouterr().out
        before = doubled.read_bytes()
        for more in ["--force"], ["--blind"], ["--kind", "rbm"]:
            assert main([*words, *more]) == 2
            assert "Unknown option" in capsys.readouterr().err
        assert doubled.read_bytes() == before
        assert main(["back", str(original), "-", str(solution)]) == 2
        assert main(["back", str(doubled), str(original), str(solution)]) == 2
        assert "is not a conversion" in capsys.readouterr().err

    def test_broken_hard_clauses_are_said(self, tmp_path, capsys):
        path = tmp_path / "h.wcnf"
        path.write_text("p wcnf 2 2 10\n10 1 2 0\n3 -1 0\n")
        (tmp_path / "s").write_text("v -1 -2 0")
        assert main(["back", str(path), str(path), str(tmp_path / "s")]) == 1
        assert "violates 1 hard clause" in capsys.readouterr().err
