"""Every format gives back what was written into it, and costs that agree where it was converted."""

from __future__ import annotations

import gzip
import itertools
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests import strategies as some
from tests.files.stating import write_stated
from tests.oracles import energies_of, states_of

from glasshouse.files import Document, Stated, read, read_document, write
from glasshouse.problems import Ising, Max2Sat, Qubo, Rbm
from glasshouse.problems.convert import to_ising, to_max2sat, to_qubo

compression = st.sampled_from(["", ".gz", ".xz"])
# Any finite float; sums of a few stay finite.
floats = st.floats(-1e300, 1e300)
large = st.integers(-(2**59), 2**59)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("files")


fresh = itertools.count()


def back(folder: Path, thing: object, suffix: str, **options: object) -> object:
    path = folder / f"{next(fresh)}{suffix}"
    write(path, thing, **options)
    return read(path)


@st.composite
def wild_numbers(draw, size):
    """Weights of the whole range: small and large integers, or any floats."""
    kind = draw(st.sampled_from(["small", "large", "float", "whole"]))
    element = {
        "small": some.whole, "large": large, "float": floats, "whole": some.whole.map(float),
    }[kind]  # fmt: skip
    values = draw(st.lists(element, min_size=size, max_size=size))
    return np.array(values, dtype=np.int64 if kind in ("small", "large") else np.float64)


@st.composite
def wild(draw, kind):
    """An Ising problem or QUBO with weights from the whole range."""
    size = draw(st.integers(1, 5))
    possible = list(itertools.combinations(range(size), 2))
    chosen = sorted(draw(st.lists(st.sampled_from(possible), unique=True))) if possible else []
    edges = np.array(chosen, dtype=np.int32).reshape(-1, 2)
    numbers = draw(wild_numbers(len(chosen) + size + 1))
    weights, single = numbers[: len(chosen)], numbers[len(chosen) : -1]
    return kind(size, edges, weights, single, numbers[-1].item())


def without_zeros(problem: Ising) -> Ising:
    return Ising.from_edges(
        problem.num_variables, problem.edges, problem.weights, problem.fields, problem.offset
    )


@given(some.max2sats(), compression, st.sampled_from(["classic", "mse22"]))
def test_wcnf(folder, problem, packed, dialect):
    assert back(folder, problem, f".wcnf{packed}", dialect=dialect) == problem


@given(some.max2sats(hard=False), compression)
def test_cnf(folder, problem, packed):
    unweighted = Max2Sat(problem.num_variables, problem.clauses, np.ones(problem.num_clauses, int))
    assert back(folder, unweighted, f".cnf{packed}") == unweighted


@given(wild(Qubo), compression)
def test_qubo(folder, problem, packed):
    assert back(folder, problem, f".qubo{packed}") == problem


@given(wild(Ising), compression)
def test_maxcut_with_fields_as_an_ancilla(folder, problem, packed):
    again = back(folder, problem, f".mc{packed}")
    if problem.fields.any():  # edges of weight zero go when an ancilla is added
        problem, again = without_zeros(problem), without_zeros(again)
    assert again == problem


@given(st.one_of(wild(Ising), wild(Qubo)), compression)
def test_coo(folder, problem, packed):
    assert back(folder, problem, f".coo{packed}") == problem


@given(st.one_of(some.isings(exact=None), some.qubos(exact=None)), compression)
def test_bqm(folder, problem, packed):
    again = back(folder, problem, f".bqm{packed}")
    assert type(again) is type(problem)
    assert np.array_equal(energies_of(again), energies_of(problem))


@given(
    st.one_of(wild(Ising), wild(Qubo), some.rbms(exact=None), some.max2sats(exact=False)),
    compression,
)
def test_npz(folder, problem, packed):
    again = back(folder, problem, f".npz{packed}")
    assert again == problem
    if isinstance(problem, Rbm):
        assert again.is_sparse == problem.is_sparse


@given(some.problems, st.sampled_from([".wcnf", ".qubo", ".mc", ".coo", ".bqm", ".npz"]))
def test_any_problem_goes_into_any_format_and_keeps_its_optima(folder, problem, suffix):
    if suffix == ".wcnf" and not to_max2sat(problem)[0].is_integer:
        return  # floats are refused there; see below
    again = back(folder, problem, suffix)
    before, after = energies_of(problem), energies_of(again)
    assert len(before) == len(after)  # as many variables, in the same order
    convert = {".wcnf": to_max2sat, ".qubo": to_qubo, ".npz": lambda p: (p, None)}.get(
        suffix, to_ising
    )
    if convert is to_ising and isinstance(problem, Qubo) and suffix != ".mc":
        assert isinstance(again, Qubo)  # it fits as it is
        convert = to_qubo
    reduction = convert(problem)[1]
    expected = before if reduction is None else reduction.target_energy(before)
    assert np.array_equal(after, expected)


@given(
    st.one_of(some.isings(), some.qubos(), some.rbms(), some.max2sats()),
    st.sampled_from([".wcnf", ".qubo", ".mc", ".coo", ".npz"]),
    st.data(),
)
def test_statements_come_back_in_the_weights_of_the_file(folder, problem, suffix, data):
    states = states_of(problem)
    state = states[data.draw(st.integers(0, len(states) - 1))]
    cost = energies_of(problem)[(states == state).all(axis=1)][0].item()
    recipe = {"method": "none", "seed": 2**100, "text": "ö\n\"'"}
    model = (state > 0).astype(np.int8)
    document = Document(problem, Stated(cost, model, recipe))
    path = folder / f"{next(fresh)}{suffix}"
    write_stated(path, document)
    again = read_document(path)
    assert again.stated.recipe == recipe
    assert np.array_equal(again.stated.model, model)
    assert again.stated.cost_of_model(again.problem) == again.stated.cost
    write(path, document, blind=True, overwrite=True)
    blind = read_document(path)
    assert blind.stated == Stated()
    assert blind.problem == again.problem


def test_the_largest_weights_are_exact(tmp_path):
    most = 2**63 - 1
    for dialect in ("classic", "mse22"):
        problem = Max2Sat.from_clauses(2, [[1, 2]], [most], hard=[[-1], [1, 2]])
        path = tmp_path / f"{dialect}.wcnf"
        write(path, problem, dialect=dialect)
        assert read(path) == problem
    qubo = Qubo.from_edges(2, [(0, 1)], [-most])
    ising = Ising.from_edges(2, [(0, 1)], [-most])
    for suffix, problem in ((".qubo", qubo), (".coo", ising), (".mc", ising), (".npz", qubo)):
        write(tmp_path / f"x{suffix}", problem)
        assert read(tmp_path / f"x{suffix}") == problem
    with pytest.raises(ValueError, match="inexact for integers above 2\\^53"):
        write(tmp_path / "x.bqm", qubo)
    assert not (tmp_path / "x.bqm").exists()


def test_top_is_above_the_sum_of_all_soft_weights(tmp_path):
    problem = Max2Sat.from_clauses(2, [[1, 2], [-1]], [3, 4], hard=[[1, -2]])
    write(tmp_path / "x.wcnf", problem)
    lines = (tmp_path / "x.wcnf").read_text().splitlines()
    assert lines == ["p wcnf 2 3 8", "8 1 -2 0", "3 1 2 0", "4 -1 0"]
    write(tmp_path / "y.wcnf", problem, dialect="mse22")
    lines = (tmp_path / "y.wcnf").read_text().splitlines()
    assert lines[-3:] == ["h 1 -2 0", "3 1 2 0", "4 -1 0"]


def test_variables_that_no_clause_uses_are_kept(tmp_path):
    problem = Max2Sat.from_clauses(9, [[1]], [1])
    for dialect in ("classic", "mse22"):
        write(tmp_path / f"{dialect}.wcnf", problem, dialect=dialect)
        assert read(tmp_path / f"{dialect}.wcnf").num_variables == 9


def test_the_same_problem_gives_the_same_bytes(tmp_path):
    problem = Ising.from_edges(3, [(0, 1), (1, 2)], [1, -2], [1, 0, 0])
    suffixes = [".wcnf.gz", ".wcnf.xz", ".npz", ".npz.gz", ".bqm", ".mc"]
    for suffix, name in itertools.product(suffixes, "ab"):
        write(tmp_path / f"{name}{suffix}", problem)
    for suffix in suffixes:
        first, second = ((tmp_path / f"{name}{suffix}").read_bytes() for name in "ab")
        assert first == second, suffix


def test_compressed_files_are_compressed(tmp_path):
    problem = Max2Sat.from_clauses(1, [[1]] * 500, [1] * 500)
    write(tmp_path / "x.wcnf.gz", problem)
    write(tmp_path / "x.wcnf", problem)
    plain = (tmp_path / "x.wcnf").read_bytes()
    assert gzip.decompress((tmp_path / "x.wcnf.gz").read_bytes()) == plain
    assert (tmp_path / "x.wcnf.gz").stat().st_size < len(plain) / 5


def test_float_weights_are_refused_where_a_format_has_none(tmp_path):
    halves = Max2Sat.from_clauses(1, [[1], [-1]], [1.0, 0.5])
    for suffix in (".wcnf", ".cnf", ".opb"):
        with pytest.raises(ValueError, match=r"clause 1 has weight 0.5; multiply .* or write .npz"):
            write(tmp_path / f"x{suffix}", halves)
    whole = Max2Sat.from_clauses(1, [[1], [-1]], [1.0, 2.0])
    write(tmp_path / "x.wcnf", whole)
    assert read(tmp_path / "x.wcnf").weights.tolist() == [1, 2]
    with pytest.raises(ValueError, match="needs integer weights"):
        write(tmp_path / "e.wcnf", Ising.from_edges(2, [(0, 1)], [0.5]), encoding="edge")
    assert sorted(p.name for p in tmp_path.iterdir()) == ["x.wcnf"]


@settings(max_examples=20)
@given(some.max2sats())
def test_cnf_refuses_weights_and_hard_clauses(folder, problem):
    if problem.num_hard or (problem.weights != 1).any():
        with pytest.raises(ValueError, match="CNF cannot store"):
            back(folder, problem, ".cnf")
    else:
        assert back(folder, problem, ".cnf") == problem
