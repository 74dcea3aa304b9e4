"""Labels in files: a chip's qubits stay its qubits, here and when the file is opened elsewhere."""

from __future__ import annotations

import itertools
import subprocess
import sys
from dataclasses import replace

import dimod
import dwave.graphs
import networkx
import numpy as np
import pytest
from dimod.serialization import coo as dimod_coo
from hypothesis import given
from hypothesis import strategies as st
from tests import strategies as some

import glasshouse as gh
from glasshouse import files, suites
from glasshouse.certificates import checker
from glasshouse.files import FileError, read, read_document, read_planted, verify_file, write
from glasshouse.planting import Graph, Planted, shuffle
from glasshouse.planting.methods import graph_loops, random_loops
from glasshouse.problems import Ising, Max2Sat, Qubo

CHIPS = {
    "chimera:3x3x4 without 5,6,17,40": dwave.graphs.chimera_graph(3, 3, 4),
    "pegasus:3 without 4,5,31,40,77": dwave.graphs.pegasus_graph(3),
    "zephyr:2x4 without 0,3,64,100": dwave.graphs.zephyr_graph(2, 4),
}
TEXT = [".wcnf", ".qubo", ".mc", ".coo"]


def plant_on(chip: str) -> Planted:
    return graph_loops(chip, frustration="1/5", loop_density=1, max_length=5, rng=1)


def opened_with_dimod(path) -> dimod.BinaryQuadraticModel:
    if path.suffix == ".coo":
        with path.open() as file:
            return dimod_coo.load(file)
    return dimod.BinaryQuadraticModel.from_file(path.read_bytes())


@pytest.mark.parametrize("chip", CHIPS)
@pytest.mark.parametrize("suffix", [".bqm", ".coo"])
@pytest.mark.parametrize("blind", [False, True])
def test_every_coupling_is_a_coupler_of_the_chip(tmp_path, chip, suffix, blind):
    plant, couplers = plant_on(chip), CHIPS[chip]
    dead = set(map(int, chip.partition(" without ")[2].split(",")))
    path = tmp_path / f"chip{suffix}"
    write(path, plant, blind=blind)
    model = opened_with_dimod(path)
    assert model.num_interactions == plant.problem.num_edges > 20
    assert all(couplers.has_edge(u, v) for u, v in model.quadratic)
    assert not dead & set(model.variables)
    sample = dict(zip(plant.problem.labels, plant.state.tolist(), strict=True))
    assert model.energy(sample) == plant.energy
    direct = plant.problem.to_bqm()
    assert direct == model
    assert read(path) == plant.problem
    assert read(path).labels == plant.problem.labels
    if not blind:
        assert verify_file(path).proven


@pytest.mark.parametrize("chip", CHIPS)
@pytest.mark.parametrize("suffix", [*TEXT, ".bqm", ".npz", ".mc.xz"])
def test_labels_come_back_and_certificates_still_hold(tmp_path, chip, suffix):
    plant = plant_on(chip)
    path = tmp_path / f"chip{suffix}"
    write(path, plant)
    document = read_document(path)
    assert document.problem.labels == plant.problem.labels == Graph.parse(chip).labels
    assert verify_file(path).proven
    if suffix != ".bqm":
        assert read_planted(path) == plant
    again = tmp_path / f"again{suffix}"
    write(again, document)
    assert read_document(again).problem.labels == plant.problem.labels
    assert verify_file(again).proven


def test_the_stand_alone_checker_agrees(tmp_path):
    path = tmp_path / "chip.wcnf"
    write(path, plant_on(next(iter(CHIPS))))
    assert "c labels [0,1,2,3,4,7," in path.read_text()
    command = [sys.executable, checker.__file__, path, f"{path}.cert"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout[:16]) == (0, "VERIFIED optimum")


def test_labels_are_in_the_summary_and_stay_when_gauged():
    plant = plant_on("pegasus:3 without 4,5,31,40,77")
    assert plant.summary().labels == plant.problem.labels
    assert "labels" in str(plant.summary())
    assert plant.regauge(np.ones_like(plant.state)).problem.labels == plant.problem.labels
    assert plant.ising.labels == plant.problem.labels
    assert plant.problem.labels[0] > 5
    assert "labels" not in str(random_loops(4, 4, frustration="1/5", loops=2, rng=1).summary())


def test_a_recipe_holds_the_labels_of_any_graph():
    graph = networkx.relabel_nodes(dwave.graphs.pegasus_graph(2), {1: "one", 2: (0, 2)})
    graph.remove_edge(*next(iter(graph.edges)))
    plant = graph_loops(graph, frustration="1/5", loops=5, rng=1)
    assert plant.problem.labels == tuple(graph.nodes)
    assert Planted.from_recipe(plant.recipe) == plant
    assert all(graph.has_edge(u, v) for u, v in plant.problem.to_bqm().quadratic)
    half = Graph.of(graph).without(["one"] if "one" in graph else [])
    assert Graph.parse(half.name).labels == half.labels
    assert Graph.of(plant.problem).labels == plant.problem.labels
    assert Graph.of(plant.problem.to_bqm()).labels == plant.problem.labels


def test_labels_that_no_recipe_holds_stay_in_the_plant():
    graph = networkx.relabel_nodes(
        networkx.complete_graph(4), {k: frozenset([k]) for k in range(4)}
    )
    plant = graph_loops(graph, frustration="1/3", loops=2, length=3, rng=1)
    assert plant.problem.labels == tuple(graph.nodes)
    again = Planted.from_recipe(plant.recipe)
    assert replace(plant.problem, labels=None) == again.problem


@pytest.mark.parametrize(
    "name",
    ["edges:3 0-1 1-2 0-2 as [1,2]", "edges:3 0-1 as [1,1,1]", "edges:2 0-1 as x",
     "edges:2 0-1 as [1,2", "edges:2 0-1 as " + "[" * 5000],
)  # fmt: skip
def test_bad_labels_in_a_name_are_refused(name):
    with pytest.raises(ValueError, match="has invalid labels"):
        Graph.parse(name)


def test_a_file_with_other_labels_than_its_recipe_is_refused(tmp_path):
    path = tmp_path / "chip.qubo"
    write(path, plant_on("chimera:3x3x4 without 5,6,17,40"))
    text = path.read_text()
    path.write_text(text.replace("labels [0,", "labels [5,"))
    with pytest.raises(FileError, match="labels are not those"):
        read_planted(path)
    path.write_text("".join(line + "\n" for line in text.splitlines() if "labels" not in line))
    assert read_planted(path).problem.labels[5] == 7  # files of older versions have none


def test_shuffled_variables_have_no_labels(tmp_path):
    mixed = shuffle(plant_on("chimera:3x3x4 without 5,6,17,40"))
    assert mixed.problem.labels is None
    assert Planted.from_recipe(mixed.recipe) == mixed
    write(tmp_path / "mixed.coo", mixed)
    assert read(tmp_path / "mixed.coo").labels is None
    assert read_planted(tmp_path / "mixed.coo") == mixed


@pytest.mark.parametrize("blind", [False, True])
@pytest.mark.parametrize("mix", [False, True])
@pytest.mark.parametrize("suffix", [".coo", ".bqm", ".wcnf"])
def test_suites_on_a_chip_are_proven(tmp_path, blind, mix, suffix):
    plants = [plant_on("chimera:3x3x4 without 5,6,17,40")]
    plants = [shuffle(plant) for plant in plants] if mix else plants
    suites.write_suite(tmp_path, plants, suffix=suffix, blind=blind)
    assert len(suites.check_suite(tmp_path / "manifest.jsonl")) == 1


# Any labels --------------------------------------------------------------------------------------

plain = st.one_of(
    st.integers(0, 30), st.integers(-(2**70), 2**70), st.text(max_size=4), st.floats(-9, 9),
    st.tuples(st.integers(0, 9), st.text(max_size=2)), st.just("vartype=BINARY"),
)  # fmt: skip
fresh = itertools.count()


@st.composite
def labelled(draw):
    problem = draw(some.isings() | some.qubos() | some.max2sats() | some.rbms())
    size = problem.num_variables
    elements = draw(st.sampled_from([plain, st.integers(0, 40), st.integers(0, 2**31 + 9)]))
    labels = draw(st.lists(elements, min_size=size, max_size=size, unique=True))
    return replace(problem, labels=labels)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("labels")


@given(labelled(), st.sampled_from([*TEXT, ".bqm", ".npz"]))
def test_any_labels_come_back(folder, problem, suffix):
    path = folder / f"{next(fresh)}{suffix}"
    write(path, problem)
    again = read(path)
    assert again.labels == problem.labels
    held = {".wcnf": Max2Sat, ".qubo": Qubo, ".mc": Ising}.get(suffix)
    if isinstance(problem, held or type(again)) and suffix not in (".mc", ".bqm"):
        assert again == problem


def test_labels_that_no_file_holds_are_refused(tmp_path):
    odd = Ising.from_edges(2, [(0, 1)], [1], labels=[frozenset(), 1])
    for suffix in (*TEXT, ".bqm", ".npz"):
        with pytest.raises(ValueError, match="cannot be written"):
            write(tmp_path / f"x{suffix}", odd)
    assert not list(tmp_path.iterdir())


def test_numbers_that_no_line_has_are_no_variables(tmp_path):
    path = tmp_path / "x.coo"
    path.write_text("# vartype=SPIN\n5 2147483646 -1.5\n5 5 1\n")
    problem = read(path)
    assert (problem.num_variables, problem.labels) == (2, (5, 2**31 - 2))
    assert problem.energy([1, -1]) == 2.5


def test_a_model_goes_into_a_file_as_it_is(tmp_path):
    model = dimod.BinaryQuadraticModel({"a": 1.5}, {("a", "b"): -2}, 0.5, "BINARY")
    write(tmp_path / "x.bqm", model)
    assert opened_with_dimod(tmp_path / "x.bqm") == model
    assert gh.read(tmp_path / "x.bqm").labels == tuple(model.variables)


def test_a_model_of_the_first_version_of_the_format(tmp_path):
    model = dimod.BinaryQuadraticModel({"a": 1.0}, {("a", 7): -2.0}, 0.0, "SPIN")
    path = tmp_path / "x.bqm"
    path.write_bytes(model.to_file(version=1).read())
    assert read(path).labels == tuple(model.variables)


def test_torn_labels_of_a_model_are_refused(tmp_path):
    path = tmp_path / "x.bqm"
    write(path, Ising.from_edges(2, [(0, 1)], [1], labels="ab"))
    path.write_bytes(path.read_bytes()[:-3])
    with pytest.raises(FileError, match="the list of labels is incomplete"):
        read(path)


@pytest.mark.parametrize("mix", [False, True])
def test_solutions_come_back_to_labelled_variables(tmp_path, mix):
    plant = plant_on("chimera:3x3x4 without 5,6,17,40")
    original, converted = tmp_path / "chip.coo", tmp_path / "chip.wcnf"
    write(original, plant)
    there = shuffle(plant) if mix else plant
    write(converted, there)
    solution = tmp_path / "solution.txt"
    solution.write_text("v " + "".join("1" if s > 0 else "0" for s in there.state))
    found = files.bring_back(original, converted, solution)
    assert np.array_equal(found.state, plant.state)
    assert found.energy == plant.energy
