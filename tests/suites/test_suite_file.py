"""Suite files: the grammar, the ready-made ones, and what is refused in one line."""

from __future__ import annotations

import pytest

from glasshouse.planting import Planted
from glasshouse.studies import Task
from glasshouse.suites.control import plus_minus_j
from glasshouse.suites.suite_file import find_suite, parse_suite, ready_made

SUITE = """
name = "small"
title = "A small one"
seed = 3
count = 2

[[family]]
method = "random_loops"
parameters = { frustration = "1/5", loop_density = "peak" }
grid = { n = [8, 10] }

[[family]]
method = "uniform_max2sat"
parameters = { n = 10, clause_density = 1 }
count = 1
shuffle = true
"""
NAMES = {
    "smoke", "peak", "structured", "dense", "unweighted", "biased", "lattice", "dialled", "open",
}  # fmt: skip


def test_the_instances_are_those_of_a_study_with_the_same_seed():
    suite = parse_suite(SUITE)
    family = suite.families[0]
    task = Task("random_loops", family.parameters, "shapes", seed=3)
    assert family.grow(1) == task.grow(1)
    assert (len(suite), [f.count for f in suite.families]) == (5, [2, 2, 1])
    shuffled = suite.families[2].grow(0)
    assert isinstance(shuffled, Planted)
    assert shuffled.recipe.parameters["shuffled"] is True


def test_a_name_tells_the_family_and_no_two_are_alike():
    names = list(parse_suite(SUITE).names())
    assert names[0].startswith("random_loops(n=8,frustration=0.2,loop_density=0.")
    assert names[-1] == "uniform_max2sat(n=10,clause_density=1)#0"
    assert len(set(names)) == 5


def test_seed_and_count_can_be_given_instead():
    suite = parse_suite(SUITE, seed=4, count=3)
    assert (suite.seed, len(suite)) == (4, 9)
    assert suite.families[0].grow(0) != parse_suite(SUITE).families[0].grow(0)
    assert suite.canonical() != parse_suite(SUITE).canonical()


@pytest.mark.parametrize("name", ready_made())
def test_ready_made_suites_are_whole_families_of_instances(name):
    suite = find_suite(name)
    assert suite.name == name
    assert 10 <= len(suite) <= 200
    for family in suite.families:
        if family.method != "plus_minus_j":
            family.grow(0).verify()  # type: ignore[union-attr]


def test_all_the_promised_suites_are_there():
    assert set(ready_made()) == NAMES


def test_couplings_of_both_signs_that_a_seed_fixes():
    problem, recipe = plus_minus_j("torus:8x8", rng=5)
    assert set(problem.weights.tolist()) == {-1, 1}
    assert len(problem.weights) == 128
    assert abs(int(problem.weights.sum())) < 50  # four standard deviations
    assert plus_minus_j(recipe.parameters["graph"], rng=recipe.seed)[0] == problem
    assert plus_minus_j("torus:8x8", rng=6)[0] != problem


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        (("seed = 3", "sed = 3"), "the suite has unknown keys sed; use "),
        (("seed = 3", "seed = -3"), "seed=-3 is below 0"),
        (("seed = 3", 'seed = "x"'), "seed='x' is not an integer"),
        (("count = 2", "count = 0"), "family 1: count=0 is below 1"),
        (("count = 1\n", "cuont = 1\n"), "family 2: a family has unknown keys cuont"),
        (("shuffle = true", "shuffle = 1"), "family 2: shuffle=1 must be true or false"),
        (("shuffle = true", "prove_seconds = 1"), "family 2: prove_seconds is for plus_minus_j"),
        (("random_loops", "random_lops"), "family 1: method='random_lops' is not one of"),
        (('"1/5"', '"2/5"'), "family 1: frustration=2/5"),
        (('"small"', '"a/b"'), "name='a/b' must be a file name without folders"),
        (('"small"', '".."'), "name='..' must be a file name without folders"),
        (("[8, 10]", "[8, 8]"), r"random_loops\(n=8,.*\) occurs twice"),
        (("count = 2", "count = 99_999"), "more than 100000 instances"),
        (("uniform_max2sat", "plus_minus_j"), "family 2: plus_minus_j has unknown keys"),
        (("[[family]]", "[[famly]]"), "the suite has unknown keys famly"),
        (("title", "title ="), "is not TOML"),
    ],
)
def test_a_bad_file_is_one_clear_line(change, reason):
    with pytest.raises(ValueError, match=f"^mine.toml.*{reason}") as error:
        parse_suite(SUITE.replace(*change), "mine.toml")
    assert "\n" not in str(error.value)


@pytest.mark.parametrize("seconds", ["0", "-1", '"1"', "nan", "true"])
def test_a_limit_for_proofs_is_a_number(seconds):
    text = f'name = "x"\n[[family]]\nmethod = "plus_minus_j"\nprove_seconds = {seconds}\n'
    with pytest.raises(ValueError, match=r"prove_seconds=.* must be a number above 0"):
        parse_suite(text + 'parameters = { graph = "torus:3x3" }')


def test_a_graph_that_is_none_is_refused():
    text = 'name = "x"\n[[family]]\nmethod = "plus_minus_j"\nparameters = { graph = "tours:3x3" }'
    with pytest.raises(ValueError, match="family 1: 'tours:3x3' is not the name of a graph"):
        parse_suite(text)
    with pytest.raises(ValueError, match="family 1: graph=None must be a non-empty string"):
        parse_suite(text.replace('graph = "tours:3x3"', ""))
