"""Counting by meeting in the middle."""

from __future__ import annotations

from functools import partial

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.oracles import all_states

from glasshouse.planting import shuffle
from glasshouse.planting.counting import halves
from glasshouse.planting.counting.halves import count_by_halves, count_solutions
from glasshouse.planting.methods import partition, random_loops, wishart


@given(st.data())
@settings(max_examples=100, deadline=None)
def test_solutions_are_counted(data):
    size, number = data.draw(st.integers(1, 8)), data.draw(st.integers(1, 4))
    entries = st.integers(-3, 3) | st.integers(-(2**58), 2**58)
    row = st.lists(entries, min_size=size, max_size=size)
    rows = np.array(data.draw(st.lists(row, min_size=number, max_size=number)))
    state = np.array(data.draw(st.lists(st.sampled_from([-1, 1]), min_size=size, max_size=size)))
    aim = rows @ state
    states = all_states(size, -1).astype(np.int64)
    assert count_solutions(rows, aim) == (states @ rows.T == aim).all(axis=1).sum()


def test_words_that_collide_are_no_solutions(monkeypatch):
    """If the mixer is 1, two rows become their sum, which matches far too often."""
    monkeypatch.setattr(halves, "_MIXER", 1)
    rows = np.array([[1, 1, 0, 0], [0, 0, 1, 1]])
    assert count_solutions(rows.sum(axis=0, keepdims=True), np.zeros(1, int)) == 6
    assert count_solutions(rows, np.zeros(2, int)) == 4


def test_too_many_matches_are_not_looked_at(monkeypatch):
    plant = wishart(32, columns=4, rng=1)
    monkeypatch.setattr(halves, "_MOST_MATCHES", 100)
    counted = count_by_halves(plant)
    assert not counted.is_exact
    assert counted.least == 2


def test_forty_spins_are_counted_and_more_are_not():
    assert str(count_by_halves(partition(38, bits=25, rng=1))).endswith("(counted)")
    assert not count_by_halves(partition(42, bits=25, rng=1)).is_exact


@pytest.mark.parametrize(
    "grow", [partial(wishart, 24, columns=6, rng=1), partial(partition, 23, bits=9, rng=2)]
)
def test_names_do_not_matter(grow):
    plant = grow()
    assert count_by_halves(shuffle(plant)) == count_by_halves(plant)
    assert plant.summary().ground_states.least > 2


def test_plants_without_squares_are_left_to_the_others():
    plant = random_loops(6, 5, frustration="1/5", loops=4, rng=1)
    assert count_by_halves(plant) == plant.summary().ground_states
