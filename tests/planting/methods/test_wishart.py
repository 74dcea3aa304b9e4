"""The Wishart planted ensemble: columns of ±1 and normal ones, checked by enumeration."""

from __future__ import annotations

import time

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.oracles import optimum
from tests.planting.test_golden import fingerprint

from glasshouse.planting import Plan, Planted, Recipe, Seed
from glasshouse.planting.methods import wishart

LAWS = [{"weights": "signs"}, {"weights": "normal"}, {"weights": "normal", "resolution": 1}]


@st.composite
def plants(draw: st.DrawFn) -> Planted:
    law = draw(st.sampled_from(LAWS))
    n = draw(st.integers(2, 12))
    n += n % 2 if law["weights"] == "signs" else 0
    size = draw(
        st.one_of(
            st.integers(1, 15).map(lambda m: {"columns": m}),
            st.fractions("1/20", 2, max_denominator=20).map(lambda a: {"alpha": a}),
        )
    )
    state = draw(st.none() | st.lists(st.sampled_from([-1, 1]), min_size=n, max_size=n))
    return wishart(n, **size, **law, state=state, rng=draw(st.integers(0, 2**64)))


@given(plants())
@settings(max_examples=150, deadline=None)
def test_the_plant_is_optimal_proven_and_counted(plant):
    energy, states = optimum(plant.problem)
    assert energy == plant.energy
    assert tuple(plant.state.tolist()) in states
    plant.verify()
    counted = plant.summary().ground_states
    assert counted.is_exact
    assert counted.least == len(states)
    assert Planted.from_recipe(Recipe.from_json(plant.recipe.to_json())) == plant
    assert Plan.of(plant.recipe).demand.spins == plant.problem.num_variables


def columns_of(plant: Planted) -> np.ndarray:
    """One column per row, in the gauge of the planted state."""
    squares, table = plant.squares, np.zeros((plant.squares.num_squares, len(plant.state)), int)
    table[np.repeat(np.arange(len(table)), squares.lengths), squares.nodes] = squares.coefficients
    return table * plant.state


def test_columns_are_what_they_are_called():
    signs = columns_of(wishart(100, columns=400, rng=1))
    assert set(np.unique(signs)) == {-1, 1}
    assert not signs.sum(axis=1).any()
    normal = columns_of(wishart(101, columns=400, weights="normal", resolution=50, rng=1))
    assert not normal.sum(axis=1).any()
    # The projection leaves a variance of σ²(1 - 1/n) and, for a normal law, a kurtosis of 3.
    assert np.mean(normal**2.0) == pytest.approx(50**2 * 100 / 101, rel=0.03)
    assert np.mean(normal**4.0) / np.mean(normal**2.0) ** 2 == pytest.approx(3, rel=0.05)
    # No spin is favoured by the rounding, nor any pair: covariances are -σ²/n.
    assert np.abs(normal.mean(axis=0)).max() < 50 / 20 * 5
    pairs = normal.T @ normal / 400
    off = pairs[~np.eye(101, dtype=bool)]
    assert off.mean() == pytest.approx(-(50**2) / 101, rel=0.05)


def test_rounding_falls_on_every_entry_alike():
    """At resolution 1 most of a column is rounding; its places must not depend on the order."""
    columns = columns_of(wishart(7, columns=20_000, weights="normal", resolution=1, rng=3))
    assert np.abs(columns.mean(axis=0)).max() < 5 / np.sqrt(20_000)
    assert np.ptp((columns**2).mean(axis=0)) < 0.08


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"n": 7, "columns": 3}, 'n=7 is odd, .* use an even n, or weights="normal"'),
        ({"n": 0, "columns": 3}, "n=0 is below 2"),
        ({"n": 8}, "columns=NUMBER and alpha=RATIO; neither is given"),
        ({"n": 8, "columns": 3, "alpha": 1}, "columns=NUMBER and alpha=RATIO; both are given"),
        ({"n": 8, "columns": 0}, "columns=0 is below 1"),
        ({"n": 8, "columns": "2"}, "columns='2' is not an integer"),
        ({"n": 8, "alpha": 0}, "alpha=0 must be above 0"),
        ({"n": 8, "alpha": "-1/2"}, "alpha=-1/2 must be above 0"),
        ({"n": 8, "columns": 2**26}, "columns=67108864 requests more than 2.28 numbers"),
        ({"n": 8, "alpha": 10**30}, "requests more than 2.28 columns"),
        ({"n": 10**5, "columns": 1}, "the graph would have 4999950000 edges"),
        (
            {"n": 8, "columns": 2, "weights": "gaussian"},
            "'gaussian' is not one of",
        ),
        ({"n": 8, "columns": 2, "resolution": 5}, 'resolution needs weights="normal"'),
        ({"n": 8, "columns": 2, "weights": "normal", "resolution": 0}, "resolution=0 is below 1"),
        (
            {"n": 8, "columns": 2, "weights": "normal", "resolution": 4097},
            "above 4096, the largest",
        ),
        (
            {"n": 20_000, "columns": 10_000, "weights": "normal", "resolution": 1000},
            "resolution=1000 is above 759, the largest at which energies of n=20000 spins and",
        ),
    ],
)
def test_corners_are_refused_with_one_line(arguments, message):
    with pytest.raises(ValueError, match=message) as caught:
        wishart(**arguments, rng=1)
    assert "\n" not in str(caught.value)
    # A recipe from a file is refused as well, before anything is grown.
    with pytest.raises(ValueError, match=message):
        Plan.of(Recipe("wishart", arguments, Seed(1)))


def test_the_finest_resolution_stays_exact():
    plant = wishart(1000, columns=16, weights="normal", resolution=4096, rng=1)
    plant.verify()
    assert int(plant.problem.total_weight) < 2**62


@pytest.mark.parametrize(
    ("arguments", "golden"),
    [
        ({"n": 64, "columns": 48}, "e1dc72d8585e63ab"),
        ({"n": 25, "alpha": "1/5", "weights": "normal"}, "a751625c4b10685a"),
    ],
)
def test_seeds_grow_what_they_always_grew(arguments, golden):
    assert fingerprint(wishart(**arguments, rng=1)) == golden


@pytest.mark.slow
@pytest.mark.parametrize("law", ["signs", "normal"])
def test_a_thousand_columns_of_a_thousand(law):
    begin = time.perf_counter()
    plant = wishart(1000, columns=1000, weights=law, rng=1)
    grown = time.perf_counter()
    plant.verify()
    print(f"planted in {grown - begin:.2f} s, verified in {time.perf_counter() - grown:.2f} s")
