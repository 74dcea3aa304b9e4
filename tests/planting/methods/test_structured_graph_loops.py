from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from tests.planting.graph_plants import structured_graph_plants

from glasshouse.landscape import gauge
from glasshouse.planting.methods import structured_graph_loops


@given(structured_graph_plants())
def test_negative_edges_lie_in_the_block(plant):
    share = Fraction(plant.recipe.parameters["block"])
    border = -int(-(plant.problem.num_variables - 1) * share // 1)
    gauged = gauge(plant.problem, plant.state)
    assert (gauged.edges[gauged.weights < 0] < border).all()
    i2, i3, i4, i1 = plant.loops.nodes.reshape(-1, 4).T
    assert (i1 < border).all()
    assert (i2 < border).all()
    assert (i3 >= border).all()
    lefts = int((i4 < border).sum())
    assert lefts == round(len(i4) * Fraction(plant.recipe.parameters["left"]))


def test_energy_and_frustration_are_exact():
    plant = structured_graph_loops(
        "complete:24", frustration="0.24", block="1/4", left="1/3", loop_density=10, rng=1
    )
    assert plant.loops.num_loops == 120
    assert plant.energy == -120 * (3 * 19 - 18)
    assert plant.summary().frustration == Fraction(6, 25)
    plant.verify()


def test_errata_no_metastable_state_is_planted():
    """On an RBM, flipping the block costs 2(1-α)N; B1 and B4 are not a cut here."""
    loops = 200
    options = {"frustration": "1/4", "block": "1/2", "loops": loops}
    plant = structured_graph_loops("complete:12", **options, rng=1)
    gauged = gauge(plant.problem, plant.state)
    states = np.array(np.meshgrid(*[[1, -1]] * 12)).reshape(12, -1).T
    energies = gauged.energy(states)
    flipped_block = np.where(np.arange(12) < 6, -1, 1)
    assert gauged.energy(flipped_block) - energies.min() > loops
    # At α = 1 an RBM would have a second ground state far away; here all of them are near.
    grounds = states[energies == energies.min()]
    assert np.minimum((grounds < 0).sum(axis=1), (grounds > 0).sum(axis=1)).max() <= 2


@pytest.mark.parametrize(
    ("graph", "options", "message"),
    [
        ("complete:8", {"frustration": "1/3"}, "above 1/4"),
        ("complete:8", {"block": 0}, "above 0 and at most 1"),
        ("complete:8", {"block": "3/2"}, "above 0 and at most 1"),
        ("complete:8", {"left": 2}, "from 0 to 1"),
        ("complete:8", {"block": "1/8"}, "no center loop was found"),
        ("complete:8", {"block": 1}, "no center loop was found"),
        ("complete:8", {"block": "1/4", "left": 1}, "no left loop was found"),
        ("lattice:8", {}, "has no cycle"),
        ("torus:9", {}, "no center loop was found"),
    ],
)
def test_bad_input_is_refused(graph, options, message):
    settings = {"frustration": "1/5", "block": "1/2", "loops": 4, "rng": 1} | options
    with pytest.raises(ValueError, match=message):
        structured_graph_loops(graph, **settings)
