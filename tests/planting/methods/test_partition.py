"""Number partitioning with a planted partition, checked by enumeration."""

from __future__ import annotations

import itertools
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.oracles import optimum
from tests.planting.test_golden import fingerprint

from glasshouse.files import read_planted, write
from glasshouse.planting import Plan, Planted, Recipe, Seed
from glasshouse.planting.methods import partition

TOTALS = ("even", "odd")


@st.composite
def plants(draw: st.DrawFn) -> Planted:
    n, bits = draw(st.integers(2, 12)), draw(st.integers(1, 26))
    total = TOTALS[n % 2] if bits == 1 else draw(st.sampled_from(TOTALS))
    size = {"bits": bits} if draw(st.booleans()) else {"bits_per_spin": f"{bits}/{n}"}
    state = draw(st.none() | st.lists(st.sampled_from([-1, 1]), min_size=n, max_size=n))
    return partition(n, **size, total=total, state=state, rng=draw(st.integers(0, 2**64)))


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
    asked = plant.recipe.parameters
    numbers, difference = plant.squares.coefficients, plant.squares.coefficients @ plant.state
    assert abs(difference) == TOTALS.index(asked["total"])
    bits = asked.get("bits") or Fraction(asked["bits_per_spin"]) * asked["n"]
    assert 1 <= np.abs(numbers).min() <= np.abs(numbers).max() < 2 ** int(bits)
    if "state" not in asked:
        assert (numbers > 0).all()


def test_a_given_state_turns_numbers_and_nothing_else():
    plant = partition(12, bits=8, rng=5)
    moved = partition(12, bits=8, state="+" * 12, rng=5)
    assert moved == plant.regauge("+" * 12)
    assert (moved.squares.coefficients == plant.squares.coefficients * plant.state).all()


@pytest.mark.parametrize("total", TOTALS)
def test_all_numbers_and_partitions_that_fit_are_equally_likely(total):
    fitting = [
        numbers
        for numbers in itertools.product((-3, -2, -1, 1, 2, 3), repeat=3)
        if sum(numbers) == TOTALS.index(total)
    ]
    drawn: dict[tuple[int, ...], int] = dict.fromkeys(fitting, 0)
    draws = 200 * len(fitting)
    for seed in range(draws):
        plant = partition(3, bits=2, total=total, rng=seed)
        drawn[tuple((plant.squares.coefficients * plant.state).tolist())] += 1
    chi_squared = sum((count - 200) ** 2 / 200 for count in drawn.values())
    assert chi_squared < 3 * len(fitting)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"n": 1, "bits": 4}, "n=1 is below 2"),
        ({"n": 8, "bits": 3, "bits_per_spin": 1}, "bits=NUMBER and bits_per_spin=RATIO; both are"),
        (
            {"n": 8, "bits": 4, "bits_per_spin": 1},
            "bits_per_spin=RATIO; both are given",
        ),
        ({"n": 8, "bits": 0}, "bits=0 is below 1"),
        ({"n": 8, "bits": "4"}, "bits='4' is not an integer"),
        ({"n": 8, "bits_per_spin": 0}, "bits_per_spin=0 must be above 0"),
        ({"n": 8, "bits": 29}, "numbers of 29 bits are too large for n=8; .* at most 27 bits"),
        ({"n": 32, "bits_per_spin": 1}, "numbers of 32 bits .* use at most 25 bits"),
        ({"n": 1000, "bits": 10**8}, "use at most 20 bits"),
        ({"n": 10**5, "bits": 1}, "the graph would have 4999950000 edges"),
        ({"n": 7, "bits": 1}, "the sum of n=7 numbers cannot be even; use at least 2 bits"),
        ({"n": 8, "bits": 1, "total": "odd"}, "n=8 numbers cannot be odd; use at least 2 bits"),
        ({"n": 8, "bits": 4, "total": "any"}, "total='any' is not one of 'even', 'odd'"),
    ],
)
def test_corners_are_refused_with_one_line(arguments, message):
    with pytest.raises(ValueError, match=message) as caught:
        partition(**arguments, rng=1)
    assert "\n" not in str(caught.value)
    with pytest.raises(ValueError, match=message):
        Plan.of(Recipe("partition", arguments, Seed(1)))


@pytest.mark.parametrize("n", [2, 5, 26, 100, 1000])
@pytest.mark.parametrize("total", TOTALS)
def test_as_many_bits_as_are_allowed_stay_exact(n, total):
    with pytest.raises(ValueError, match="use at most") as caught:
        partition(n, bits=99, total=total, rng=1)
    bits = int(str(caught.value).split()[-2])
    plant = partition(n, bits=bits, total=total, rng=1)
    plant.verify()
    # Even if all numbers were the largest, the QUBO would be exact.
    assert 9 * (n * (2**bits - 1)) ** 2 // 2 < 2**63 <= 9 * (n * (2 ** (bits + 1) - 1)) ** 2 // 2


@pytest.mark.parametrize("suffix", [".npz", ".wcnf", ".qubo", ".coo", ".json", ".mc", ".qplib"])
@pytest.mark.parametrize("n", [2, 25])
def test_the_largest_numbers_are_written_and_read(suffix, n, tmp_path):
    plant = partition(n, bits=29 if n == 2 else 25, rng=1)
    write(tmp_path / f"x{suffix}", plant)
    assert read_planted(tmp_path / f"x{suffix}") == plant


@pytest.mark.parametrize(
    ("arguments", "golden"),
    [
        ({"n": 20, "bits": 12}, "0fb954b47173ec84"),
        ({"n": 24, "bits_per_spin": "3/4", "total": "odd"}, "29e52cefffae0b81"),
    ],
)
def test_seeds_grow_what_they_always_grew(arguments, golden):
    assert fingerprint(partition(**arguments, rng=1)) == golden


def test_thousands_of_spins_are_planted():
    plant = partition(3000, bits=18, total="odd", rng=1)
    assert abs(plant.squares.coefficients @ plant.state) == 1


@pytest.mark.parametrize(("n", "bits"), [(20, 20), (60, 24), (2, 2)])
def test_without_bits_there_is_one_per_number_as_far_as_energies_are_exact(n, bits):
    plain = partition(n, rng=1)
    assert plain.recipe == partition(n, bits=bits, rng=1).recipe
    if bits < n:
        with pytest.raises(ValueError, match=f"at most {bits} bits"):
            partition(n, bits=bits + 1)
