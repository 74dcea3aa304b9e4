"""Loops are dropped a few at a time, so that signals are handled; what is drawn stays the same."""

from __future__ import annotations

import os
import signal

import numpy as np
import pytest

import glasshouse as gh
from glasshouse.planting import demand
from glasshouse.planting.methods import dropping

PLANTS = {
    "random": lambda: gh.random_loops(30, 30, frustration="1/5", loops=200, rng=1),
    "normal": lambda: gh.random_loops(30, 30, frustration="1/5", loops=50, weights="normal", rng=1),
    "limited": lambda: gh.random_loops(30, 30, frustration="1/5", loops=50, max_weight=8, rng=1),
    "bias": lambda: gh.bias_loops(30, 30, frustration="1/5", loops=200, rng=1),
    "structured": lambda: gh.structured_loops(
        30, 30, frustration="1/5", loops=200, block=0.4, left=0.3, rng=1
    ),
    "graph": lambda: gh.graph_loops("torus:6x6", frustration="1/5", loops=90, rng=1),
    # Loops are repeated here, of all that were dropped.
    "tiny": lambda: gh.graph_loops("complete:4", frustration="1/5", loops=60, rng=1),
    "disjoint": lambda: gh.graph_loops(
        "torus:8x8", frustration="1/4", loops=12, length=4, overlap="none", rng=1
    ),
    "classic": lambda: gh.classic_loops("torus:6x6", loops=40, rng=1),
}


@pytest.mark.parametrize("name", PLANTS)
def test_pieces_change_nothing(name, monkeypatch):
    whole = PLANTS[name]()
    monkeypatch.setattr(demand, "_FIRST_PIECE", 3)
    monkeypatch.setattr(demand, "_PIECE_SECONDS", 0.0)
    monkeypatch.setattr(dropping, "_STEPS_AT_ONCE", 1)
    parts = PLANTS[name]()
    assert np.array_equal(whole.loops.nodes, parts.loops.nodes)
    assert np.array_equal(whole.loops.weights, parts.loops.weights)
    assert np.array_equal(whole.state, parts.state)


def test_what_has_no_room_is_refused_alike(monkeypatch):
    def refusal() -> str:
        with pytest.raises(ValueError, match="no space for") as refused:
            gh.graph_loops("torus:4x4", frustration="1/4", loops=9, length=4, overlap="none", rng=1)
        return str(refused.value)

    whole = refusal()
    monkeypatch.setattr(dropping, "_STEPS_AT_ONCE", 1)
    assert refusal() == whole


def test_a_signal_is_handled_between_two_pieces():
    class StopError(Exception):
        pass

    def stop(*_: object) -> None:
        raise StopError

    pieces = []

    def drop(first: int, last: int) -> int:
        pieces.append(first)
        os.kill(os.getpid(), signal.SIGUSR1)
        return last

    before = signal.signal(signal.SIGUSR1, stop)
    try:
        with pytest.raises(StopError):
            demand.in_pieces(0, 1 << 40, drop)
    finally:
        signal.signal(signal.SIGUSR1, before)
    assert pieces == [0]
