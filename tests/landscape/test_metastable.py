import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from glasshouse.landscape import distance, gauge, is_local_minimum, metastable_state
from glasshouse.problems import Ising, Rbm


def structured(rng, n, m, block, left, upper, center, positive=4, negative=-3):
    """Loops of the three types, dropped without any rule on overlap: signs do not matter here."""
    rows, columns = block
    weights = np.zeros((n, m), dtype=np.int64)
    through = np.zeros((2, 3, max(n, m)), dtype=np.int64)  # loops on each row, on each column

    def drop(kind, i1, i2, j1, j2):
        weights[i1, j1] += negative
        for place in ((i1, j2), (i2, j1), (i2, j2)):
            weights[place] += positive
        through[0, kind, [i1, i2]] += 1
        through[1, kind, [j1, j2]] += 1

    for _ in range(left):
        j1, j2 = rng.choice(columns, 2, replace=False)
        drop(0, rng.integers(rows), rng.integers(rows, n), j1, j2)
    for _ in range(upper):
        i1, i2 = rng.choice(rows, 2, replace=False)
        drop(1, i1, i2, rng.integers(columns), rng.integers(columns, m))
    for _ in range(center):
        i2, j2 = rng.integers(rows, n), rng.integers(columns, m)
        drop(2, rng.integers(rows), i2, rng.integers(columns), j2)
    return Rbm(weights), through


@given(st.integers(0, 2**32 - 1))
def test_centre_loops_leave_the_outer_spins_flat(seed):
    rng = np.random.default_rng(seed)
    n, m, block, loops = 7, 6, (3, 2), 30
    gauged, _ = structured(rng, n, m, block, 0, 0, loops)
    planted = rng.choice([-1, 1], n + m)
    problem = gauge(gauged, planted)
    found = metastable_state(problem, planted, block=block)
    assert found.gap == 2 * (4 - 3) * loops
    assert found.energy == problem.energy(found.state)
    assert found.is_local_minimum
    assert is_local_minimum(problem, found.state)
    outside = np.r_[3:7, 7 + 2 : 7 + 6]
    assert not found.margins[outside].any()
    assert np.count_nonzero(found.margins == 0) >= len(outside)
    assert found.distance == distance(problem, planted, found.state)
    assert found.distance * n * m == 3 * 2 + 4 * 4


@given(st.integers(0, 2**32 - 1), st.integers(0, 6), st.integers(0, 6))
def test_enough_centre_loops_make_a_local_minimum(seed, left, upper):
    rng = np.random.default_rng(seed)
    block = (3, 3)
    problem, through = structured(rng, 6, 6, block, left, upper, 12)
    found = metastable_state(problem, np.ones(12), block=block)
    assert found.gap == 2 * (4 - 3) * (left + upper + 12)
    lefts, _, centers = through[0][:, : block[0]]
    _, uppers, centers_down = through[1][:, : block[1]]
    if (centers >= lefts).all() and (centers_down >= uppers).all():
        assert found.is_local_minimum


def test_bad_blocks_are_named():
    problem = Rbm([[1, 1], [1, -1]])
    with pytest.raises(ValueError, match="must fit into the 2 × 2"):
        metastable_state(problem, [1, 1, 1, 1], block=(3, 1))
    with pytest.raises(ValueError, match=r"block\[1\]=0 is below 1"):
        metastable_state(problem, [1, 1, 1, 1], block=(1, 0))
    with pytest.raises(ValueError, match="block=2 must be a pair"):
        metastable_state(problem, [1, 1, 1, 1], block=2)
    with pytest.raises(ValueError, match="only an Rbm"):
        metastable_state(Ising.from_edges(2, [(0, 1)], [1]), [1, 1], block=(1, 1))
