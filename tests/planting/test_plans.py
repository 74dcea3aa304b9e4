"""A plan is cheap: arguments are checked and counted, nothing is drawn, and no graph is built."""

from __future__ import annotations

import inspect
import random
import re
import time
import tracemalloc
from typing import Any

import numpy as np
import pytest
from tests.planting.examples import EXAMPLES, grown

import glasshouse as gh
from glasshouse.planting import METHODS, Graph, Plan, Planted, Recipe, Seed

# Values that an untrusted file may contain instead of those that a method expects.
HOSTILE: list[Any] = [
    True, False, -1, 0, 1, 3, 4, 10**9, 2**31, 2**63, 10**30, 10**400, None, "", "4", "x", "∞",
    "nan", "inf", "1/0", "-1/3", "1e999", "1e400", "9" * 5000, [], [4], [4, 4], [2**27, 2**27],
    [[0]], [[0, 2**40]],
    [[0, 1], [1, 2], [0, 2]], [[-1, 2], [0, 1]], [[0, True]], [[0, 2**23]], [None, 3],
    ["a", "b"], "complete:16000", "torus:4000x4000", "chimera:200", "layers:9999x9999", "edges:9",
    "deep:" + "x".join(["9"] * 5000), "torus:3x3 without 99", "edges:16777216 0-1 1-2 0-2",
]  # fmt: skip
LARGE: list[tuple[str, dict[str, Any]]] = [
    ("random_loops", {"n": 2**27, "m": 2**27, "frustration": "1/5", "loops": 2**28}),
    ("structured_loops", {"n": 2**27, "m": 2**27, "frustration": "1/5", "block": "1/2",
                          "loop_density": 2}),
    ("bias_loops", {"n": 2**27, "m": 2**27, "frustration": "1/5", "loop_density": 2}),
    ("uniform_max2sat", {"n": 2**27, "m": 2**27, "clause_density": 4}),
    ("graph_loops", {"graph": "complete:16000", "frustration": "1/3", "loops": 2**28}),
    ("graph_loops", {"graph": "chimera:200", "frustration": "1/8", "loops": 9, "length": 8}),
    ("graph_loops", {"graph": [[0, 2**24 - 1]], "frustration": 0, "loops": 9}),
    ("classic_loops", {"graph": (2**27, 2**27), "loops": 2**28, "max_weight": 9}),
    ("structured_graph_loops", {"graph": "torus:4000x4000", "frustration": 0, "block": 1,
                                "loops": 9}),
    ("cluster_loops", {"rows": 1400, "alpha": 99}),
    ("wishart", {"n": 16_000, "alpha": 1}),
    ("partition", {"n": 16_000, "bits": 9}),
    ("xorsat", {"n": 2**25 * 3}),
    ("nae3sat", {"n": 2**24, "clause_density": 5}),
    ("two_in_four", {"n": 2**24, "clause_density": 2}),
    ("exactly", {"n": 20_000, "literals": 10_000, "true_literals": 1, "clauses": 2**28}),
    ("posiform", {"n": 2**28, "block": 2**28}),
    ("posiform", {"graph": "complete:16000"}),
    ("tiles2d", {"length": 2**14}),
    ("tiles3d", {"length": 644}),
]  # fmt: skip


@pytest.fixture
def no_graphs(monkeypatch):
    """From now on no graph is built."""

    def refuse(*arguments, **options):
        raise AssertionError("a graph was built")

    for maker in ("parse", "_explicit", "_family", "_machine"):
        monkeypatch.setattr(Graph, maker, refuse)


@pytest.mark.parametrize("example", EXAMPLES)
def test_a_plan_knows_what_the_recipe_will_hold(example):
    name, number = example.split()
    method, plant = METHODS[name], grown(example)
    plan = method.plan(**method.completed(method.examples[int(number)]))
    assert plan.method is method
    assert plan.held == dict(plant.recipe.parameters)
    assert plan.grow(rng=Seed(1)) == plan.grow(rng=Seed(1)) == plant
    assert Plan.of(plant.recipe).held == plan.held


@pytest.mark.parametrize("example", EXAMPLES)
def test_the_state_is_checked_with_the_other_arguments(example, no_graphs):
    name, number = example.split()
    asked = METHODS[name].completed(METHODS[name].examples[int(number)])
    size = METHODS[name].plan(**asked).demand.spins
    METHODS[name].plan(**asked, state="+" * size)
    METHODS[name].plan(**asked, state=np.ones(size, dtype=np.int8))
    for state in ("+", "x" * size, [0] * size, [[1] * size], 5, "", {}):
        with pytest.raises(ValueError, match="state"):
            METHODS[name].plan(**asked, state=state)


@pytest.mark.parametrize(("name", "asked"), LARGE)
def test_what_would_take_gigabytes_is_planned_in_no_time(name, asked, no_graphs):
    METHODS[name].plan(**asked)  # the cached result of all calls
    tracemalloc.start()
    began = time.process_time()
    plan = METHODS[name].plan(**asked)
    took, (_, peak) = time.process_time() - began, tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert plan.demand.memory > 1e6 * 100
    assert took < 0.1
    assert peak < 1e5


def test_no_recipe_is_worse_than_a_refusal(no_graphs):
    rng = random.Random(1)
    seen = set()
    tracemalloc.start()
    for _ in range(4000):
        name, number = rng.choice(EXAMPLES).split()
        method = METHODS[name]
        asked = dict(method.completed(method.examples[int(number)]))
        for _ in range(rng.choice([1, 1, 1, 2])):
            asked[rng.choice([*method.parameters, "state", "rng", "shuffled", "x"])] = rng.choice(
                HOSTILE
            )
        try:
            demand = Plan.of(Recipe(name, asked, Seed(1))).demand
        except (ValueError, ArithmeticError):
            continue
        assert all(type(size) is int and size > 0 for size in (demand.spins, demand.memory))
        seen.add(name)
    assert tracemalloc.get_traced_memory()[1] < 1e7
    tracemalloc.stop()
    assert seen == {example.split()[0] for example in EXAMPLES}


def outcome(call) -> str:
    try:
        call()
    except ValueError as error:
        return str(error)
    return ""


def test_what_is_planned_and_checked_can_be_grown():
    """Only the room for loops, which is found by trial, shows in nothing but growing."""
    rng = random.Random(2)
    outcomes = set()
    for k in range(150):
        name = rng.choice(["graph_loops", "classic_loops"])
        asked: dict[str, Any] = {
            "graph": rng.choice(["torus:4x4", "complete:6", "lattice:3x4", "edges:4 0-1 1-2 0-2"]),
            "loops": rng.choice([1, 4]),
        }
        if rng.random() < 0.7:
            asked[rng.choice(["length", "max_weight"])] = rng.choice([3, 4, 5, 6, 8])
        if name == "graph_loops" or "length" in asked:
            asked["frustration"] = rng.choice([0, "1/8", "1/5", "1/4", "1/3"])
        checked = outcome(lambda: METHODS[name].plan(**asked).check())  # noqa: B023
        planted = outcome(lambda: METHODS[name].function(**asked, rng=k))  # noqa: B023
        assert checked == planted or (not checked and re.search("no space|was found", planted))
        outcomes.add((bool(checked), bool(planted)))
    assert {(False, False), (True, True)} <= outcomes


def test_the_public_function_returns_a_plant():
    told = inspect.signature(gh.random_loops)
    assert told.return_annotation == gh.random_loops.__annotations__["return"] == "Planted"
    assert [*told.parameters][-1] == "rng"
    assert inspect.signature(METHODS["random_loops"].planner).return_annotation == "Plan"
    assert isinstance(gh.random_loops(4, 4, frustration="1/5", loops=2), Planted)


def test_bad_arguments_leave_a_generator_where_it_was():
    mine, twin = np.random.default_rng(1), np.random.default_rng(1)
    with pytest.raises(ValueError, match="loops=0"):
        gh.random_loops(4, 4, frustration="1/5", loops=0, rng=mine)
    assert mine.integers(2**60) == twin.integers(2**60)
