"""Frustrated rings on a given hypergraph: proven, and every clause on one of the given sets."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.planting.methods.test_cores import least_cost

from glasshouse import files
from glasshouse.cli import main
from glasshouse.planting import Planted, shuffle
from glasshouse.planting.hypergraphs import VariableSets
from glasshouse.planting.methods import hypergraph_cores
from glasshouse.problems import Ising, MaxSat, Polynomial

FANO = "sets:7 0-1-2 0-3-4 0-5-6 1-3-5 1-4-6 2-3-6 2-4-5"


def sets_of(problem: MaxSat) -> set[tuple[int, ...]]:
    rows = [*problem.soft.lists(), *problem.hard.lists()]
    return {tuple(sorted(abs(literal) - 1 for literal in row)) for row in rows}


@st.composite
def hypergraphs(draw: st.DrawFn) -> list[list[int]]:
    """Sets with at least one ring of three, as the first three sets form one."""
    size = draw(st.integers(3, 11))
    one = st.lists(st.integers(0, size - 1), min_size=1, max_size=5, unique=True)
    more = st.lists(st.integers(3, size - 1), max_size=3) if size > 3 else st.just([])
    ring = [[0, 1], [1, 2], [0, 2]]
    return [[*ring[k], *draw(more)] for k in range(3)] + draw(st.lists(one, max_size=12))


@settings(max_examples=150, deadline=None)
@given(hypergraphs(), st.data())
def test_no_assignment_costs_less_and_every_clause_is_on_a_given_set(listed, data):
    by_number = data.draw(st.booleans())
    number = data.draw(st.integers(1, 30))
    plant = hypergraph_cores(
        listed, **({"cores": number} if by_number else {"clause_density": number}),
        longest=data.draw(st.integers(3, 6)), max_weight=data.draw(st.integers(1, 5)),
        frustrated=data.draw(st.sampled_from(["0", "1/3", "1"])),
        harden=data.draw(st.sampled_from(["0", "1/3", "1"])), rng=data.draw(st.integers(0, 2**64)),
    )  # fmt: skip
    plant.verify()
    problem = plant.problem
    assert sets_of(problem) <= {tuple(sorted(set(row))) for row in listed}
    assert problem.cost((plant.state > 0).astype(np.int8)) == plant.energy == least_cost(problem)
    mixed = shuffle(plant)
    mixed.verify()
    assert Planted.from_recipe(mixed.recipe) == mixed


def test_a_density_is_reached_by_whole_cores():
    for density in (1, "7/2", 30):
        plant = hypergraph_cores(FANO, clause_density=density, longest=3, rng=1)
        assert 0 <= plant.problem.num_clauses - 7 * Fraction(density) < 12  # of three sets


def test_frustrated_rings_are_quiet():
    """Each variable has as many positive as negative literals, of the same weight."""
    rng = np.random.default_rng(1)
    rows = [rng.choice(300, 3, replace=False).tolist() for _ in range(900)]
    plant = hypergraph_cores(rows, clause_density=5, max_weight=7, rng=1)
    problem, lean = plant.problem, np.zeros(301)
    assert plant.energy > 20
    np.add.at(
        lean, np.abs(problem.literals),
        np.sign(problem.literals) * np.repeat(problem.weights, problem.soft.lengths),
    )  # fmt: skip
    assert not lean.any()
    assert sets_of(problem) <= {tuple(sorted(row)) for row in rows}


def test_rings_have_at_most_the_asked_length():
    path = [(k, k + 1) for k in range(9)]
    ring = [*path, (0, 9)]
    plant = hypergraph_cores(ring, cores=2, longest=10, rng=1)
    assert plant.problem.num_clauses == 2 * 10 * 2
    with pytest.raises(ValueError, match="no ring of 3 to 9 sets was found; use a larger longest"):
        hypergraph_cores(ring, cores=1, longest=9, rng=1)
    for none in (path, [], [(0, 1), (0, 1), (1,)]):
        with pytest.raises(ValueError, match="form no ring"):
            hypergraph_cores(none, cores=1)
    with pytest.raises(ValueError, match="no ring of 3 to 8"):  # two sets are no ring of three
        hypergraph_cores([(0, 1, 2), (0, 1, 3)], cores=1)


def test_a_hypergraph_may_be_a_text_or_a_problem():
    wanted = [(0, 1, 2), (1, 2, 3), (2, 3)]
    clauses = MaxSat(5, [[1, -2, 3], [2, 3, -4], [-1]], [1, 2, 3], hard=[[3, 4], [-3, -4]])
    terms = Polynomial.from_terms(5, {(0, 1, 2): 1, (1, 2, 3): 2, (2, 3): 1, (0,): 1})
    for form in (clauses, terms, "sets:5 2-3 0-1-2 1-2-3", VariableSets.of([*wanted, (4,)])):
        assert VariableSets.of(form).name == "sets:5 2-3 0-1-2 1-2-3"
    assert VariableSets.of(wanted).name == "sets:4 2-3 0-1-2 1-2-3"
    triangle = Ising.from_edges(3, [(0, 1), (1, 2), (0, 2)], [1, 1, 1])
    assert hypergraph_cores(triangle, cores=1, rng=1).problem.num_clauses == 6
    plant = hypergraph_cores(clauses, cores=2, rng=1)
    assert plant.recipe.parameters["hypergraph"] == "sets:5 2-3 0-1-2 1-2-3"
    assert plant.problem.num_variables == 5


@pytest.mark.parametrize(
    ("asked", "message"),
    [
        ({"hypergraph": "torus:4x4"}, "is not a list of sets such as"),
        ({"hypergraph": "sets:"}, "is not a list of sets"),
        ({"hypergraph": "sets:4 0-1-2  1-2"}, "is not a list of sets"),
        ({"hypergraph": "sets:4 0--1"}, "is not a list of sets"),
        ({"hypergraph": "sets:4 -1-2"}, "is not a list of sets"),
        ({"hypergraph": "sets:4 0-1-x"}, "is not a list of sets"),
        ({"hypergraph": "sets:\u0664 0-1"}, "is not a list of sets"),
        ({"hypergraph": "sets:9999999999 0-1"}, "more than 9 digits"),
        ({"hypergraph": "sets:999999999 0-1"}, "above|exceeds"),
        ({"hypergraph": "sets:99999999 0-1"}, "above the limit"),
        ({"hypergraph": "sets:4 0-1-4"}, "variable 4; variables are 0 to 3"),
        ({"hypergraph": [[0, "1"]]}, "must be a list of sets of variables"),
        ({"hypergraph": [[0, -1]]}, "must be a list of sets of variables"),
        ({"hypergraph": [0, 1]}, "must be a list of sets of variables"),
        ({"hypergraph": [range(13), (0, 1), (1, 2)]}, "a set has 13 variables"),
        ({"longest": 2}, "longest=2"),
        ({"longest": 65}, "above the limit of 64"),
        ({"cores": None}, "exactly one of cores=NUMBER and clause_density"),
        ({"clause_density": 2}, "both are given"),
        ({"frustrated": "3/2"}, "from 0 to 1"),
        ({"max_weight": 2**32}, "above the limit of 2"),
        ({"state": "++"}, "state"),
    ],
)
def test_arguments_that_do_not_fit_are_refused(asked, message):
    with pytest.raises(ValueError, match=message):
        hypergraph_cores(**{"hypergraph": FANO, "cores": 2} | asked)


def test_the_command_line_reads_sets_and_problems(tmp_path, capsys):
    text, path, again = tmp_path / "sets.txt", tmp_path / "a.wcnf", tmp_path / "b.wcnf"
    text.write_text("# a plane\n1 2 3\n1 4 5  # a line\n1 6 7\n\n2 4 6\n2 5 7\n3 4 7\n3 5 6\n")
    words = ["plant", "cores", "--cores", "5", "--seed", "1"]
    assert main([*words, "--hypergraph", str(text), "-o", str(path)]) == 0
    assert files.read_planted(path) == hypergraph_cores(FANO, cores=5, rng=1)
    assert main(["check", str(path), "--recipe"]) == 0
    assert main([*words, "--hypergraph", str(path), "--shuffle", "-o", str(again)]) == 0
    assert main(["check", str(again)]) == 0
    assert sets_of(files.read(path)) <= sets_of(MaxSat(7, [[1, 2, 3], [1, 4, 5], [1, 6, 7],
        [2, 4, 6], [2, 5, 7], [3, 4, 7], [3, 5, 6]], [1] * 7))  # fmt: skip
    capsys.readouterr()
    for content, message in (
        ("1 2 3\n0 1\n", "line 2: a set must be variable numbers from 1 to 10^9"),
        ("1 2 x\n", "line 1: a set must be variable numbers"),
        ("1 2 99999999999\n", "line 1: a set must be variable numbers"),
        ("# nothing\n", "contains no sets"),
        ("1 2\n3 4\n", "the sets form no ring"),
    ):
        text.write_text(content)
        assert main([*words, "--hypergraph", str(text)]) == 2
        assert message in capsys.readouterr().err
    assert main([*words, "--hypergraph", str(tmp_path / "none.txt")]) == 2
    assert "there is no such file" in capsys.readouterr().err
    assert main([*words, "--hypergraph", FANO, "-n", "9"]) == 2
    assert "cannot be combined" in capsys.readouterr().err
    assert main(words) == 2
    assert "add -n or --hypergraph" in capsys.readouterr().err


def test_a_recipe_that_asks_for_more_than_its_file_is_refused(tmp_path):
    path = tmp_path / "c.wcnf"
    files.write(path, hypergraph_cores(FANO, cores=3, rng=1))
    (tmp_path / "c.wcnf.cert").unlink()
    text = path.read_text()
    assert '"cores":3' in text
    path.write_text(text.replace('"cores":3', '"cores":99999999'))
    with pytest.raises(files.FileError, match=r"needs \d+ bytes to grow"):
        files.read_planted(path)
    # Sets that make cores larger than their mean: the work is limited while the instance grows.
    wide = [tuple(range(k, k + 12)) for k in range(3)]
    pairs = [(20 + 2 * k, 21 + 2 * k) for k in range(3000)]
    files.write(path, hypergraph_cores([*wide, *pairs], cores=1, rng=1), overwrite=True)
    path.with_name("c.wcnf.cert").unlink()
    text = path.read_text()
    path.write_text(text.replace('"cores":1,', '"cores":6000,'))
    assert path.read_text() != text
    with pytest.raises(files.FileError, match=r"from the recipe: its cores have \d+ clauses"):
        files.read_planted(path)


def test_suites_and_studies_take_a_hypergraph(tmp_path):
    (tmp_path / "s.toml").write_text(
        'name = "s"\n[[family]]\nmethod = "hypergraph_cores"\ncount = 2\n'
        f'parameters = {{ hypergraph = "{FANO}", cores = 3 }}\n'
    )
    assert main(["suite", "write", str(tmp_path / "s.toml"), "-o", str(tmp_path / "out")]) == 0
    manifest = str(tmp_path / "out" / "answers" / "manifest.jsonl")
    assert main(["check", manifest, "--instances", str(tmp_path / "out" / "instances")]) == 0
