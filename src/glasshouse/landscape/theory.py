"""The paper's formulas for ensembles, as corrected by its errata."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from glasshouse.problems import validation
from glasshouse.problems.ratio import ratio
from glasshouse.summaries import Summarised


@dataclass(frozen=True, repr=False)
class ExpectedMinima(Summarised):
    """An *approximation* of the number of local minima of a dense random instance.

    Attributes:
        total: the number of all local minima, including the two planted states, comparable to
            `local_minima(problem).count`.
        planted: the estimated probability p(0,0) that a planted state is a local minimum.
    """

    total: float
    planted: float

    @property
    def others(self) -> float:
        """The expected number of local minima other than planted states: `total - 2 * planted`."""
        return self.total - 2 * self.planted


def expected_local_minima(n: int, *, frustration: Fraction | str | float) -> ExpectedMinima:
    """Approximate the number of local minima of a dense n × n instance of random loops.

    The formula is that of appendix G, with both planted states subtracted (the paper omits the
    flipped state). It is a poor approximation: it assumes that weights, rows and columns are
    independent, and that the sums of n weights are normal. Exact counts grow over a range in which
    this approximation does not. For small problems, `local_minima` counts exactly.

    Args:
        n: the number of visible spins, which is also the number of hidden spins.
        frustration: f of the loops, at most 1/4; the paper's alpha is `3f/(1-f)`.

    >>> expected = expected_local_minima(10, frustration="3/13")  # alpha = 0.9
    >>> round(expected.total, 5), round(expected.planted, 5), round(expected.others, 5)
    (2.77959, 0.64351, 1.49256)
    """
    from scipy.special import gammaln, log_ndtr

    n = count(n, "n", 1)
    alpha = _alpha(frustration)
    flipped = np.arange(n + 1, dtype=np.float64)
    # erfc(x)/2 = Φ(-√2·x); logarithms keep products of 2n factors in range.
    reach = math.sqrt(2) * (3 - alpha) / (1 + alpha) * (n - 2 * flipped) / math.sqrt(6 * n)
    against, along = log_ndtr(-reach), log_ndtr(reach)
    one_side = np.outer(flipped, against) + np.outer(n - flipped, along)
    log_probability = one_side + one_side.T
    log_choices = gammaln(n + 1) - gammaln(flipped + 1) - gammaln(n - flipped + 1)
    total = np.exp(log_probability + log_choices[:, None] + log_choices).sum()
    return ExpectedMinima(total=float(total), planted=float(np.exp(log_probability[0, 0])))


def expected_intersections(n: int, m: int, loops: int) -> float:
    """Return the expected number of destructive intersections of random 4-loops in an RBM.

    Appendix E: with N loops on n × m spins, an edge gets k1 negative and k2 positive contributions,
    Poisson with means λ/4 and 3λ/4, `λ = 4N/(nm)`, and `min(k1, k2)` of them cancel. The result is
    nm times the paper's Bessel series, summed as `Σ_t P(k1 ≥ t) P(k2 ≥ t)`, which cannot overflow.
    Its limit is N/(nm) per edge, N in total (the paper's limit N/(4nm) is an error).

    >>> round(expected_intersections(100, 100, 2500), 3)  # λ = 1
    1213.945
    """
    from scipy.special import gammainc

    pairs = count(n, "n", 2) * count(m, "m", 2)
    mean = count(loops, "loops") / pairs
    if mean > 100:
        # k1 > k2 has a probability below exp(-0.53 · 100): all negative weights cancel.
        return float(loops)
    terms = np.arange(1, 400, dtype=np.float64)  # P(k1 ≥ 400) is below 1e-90 at a mean of 100
    return pairs * float((gammainc(terms, mean) * gammainc(terms, 3 * mean)).sum())


def expected_frustration(n: int, m: int, loops: int) -> float:
    """Return the expected frustration index of N random 4-loops with weights ±1.

    Section "Intersection", for the classic algorithm: `f ≈ ½ (1 - N / (2N - N×))`, with the
    expected N×. The index falls from 1/4 to 0 as loops are added and cancel.

    >>> [round(expected_frustration(50, 50, loops), 4) for loops in (1, 1000, 100_000)]
    [0.2499, 0.1349, 0.0]
    """
    loops = count(loops, "loops", 1)
    return 0.5 * (1 - loops / (2 * loops - expected_intersections(n, m, loops)))


def energy_gap_variance(
    n: int, m: int, *, distance: Fraction | float, mean: float = 0.0, deviation: float = 1.0
) -> float:
    """Return the variance of the energy difference of two random states at a given distance.

    Section "Metric" and appendix C: `4nm·d·(μ² + σ²)` for an n × m RBM with independent weights of
    mean μ and standard deviation σ; the mean difference is 0.

    >>> energy_gap_variance(10, 20, distance=0.5)
    400.0
    """
    if not 0 <= distance <= 1:
        raise ValueError(f"distance={distance} must be from 0 to 1")
    if deviation < 0:
        raise ValueError(f"deviation={deviation} must not be negative")
    pairs = count(n, "n", 1) * count(m, "m", 1)
    variance = float(4 * pairs * distance) * (float(mean) * mean + float(deviation) * deviation)
    if not math.isfinite(variance):
        raise ValueError(f"mean={mean} or deviation={deviation} is too large; use smaller values")
    return variance


def local_field_dispersion(
    n: int,
    loops: int,
    *,
    frustration: Fraction | str | float,
    block: float,
    aligned: float,
) -> float:
    """Return the relative spread c_v of a hidden spin's local field in a structured instance.

    Appendix "Concentration of Frustration": the standard deviation of the local field of a hidden
    spin of the first block, divided by its mean `Nε(2r-1)`. The number of aligned spins in the
    block has its exact, hypergeometric law. c_v is infinite if the mean is 0 (f = 1/4 or r = 1/2).

    Args:
        n: the number of visible spins.
        loops: the number of centre loops through the hidden spin (the paper's N).
        frustration: f of the loops; the paper's ε is `1 - 3f/(1-f)`.
        block: the paper's d, the fraction of visible spins in the block of negative weights.
        aligned: the paper's r, the fraction of visible spins aligned with the plant.

    >>> f = "33/133"  # ε = 0.01
    >>> for block in (0.1, 0.2, 0.5):
    ...     c = local_field_dispersion(1000, 1000, frustration=f, block=block, aligned=0.8)
    ...     print(round(c, 2))
    15.14
    12.02
    10.28
    """
    n, loops = count(n, "n", 2), count(loops, "loops", 1)
    if not 0 < block < 1:
        raise ValueError(f"block={block} must be above 0 and below 1")
    if not 0 <= aligned <= 1:
        raise ValueError(f"aligned={aligned} must be from 0 to 1")
    epsilon = 1 - _alpha(frustration)
    mean = loops * epsilon * (2 * aligned - 1)
    if mean == 0:
        return math.inf
    single = aligned * (1 - aligned)
    share = single * (1 - block) / (block * (n - 1))
    between = 4 * loops**2 * (1 / (1 - block) - epsilon) ** 2 * share
    odds = block / (1 - block)
    within = 4 * loops * ((1 - epsilon) ** 2 * (single - share) + single - odds**2 * share)
    return math.sqrt(between + within) / abs(mean)


def count(value: object, name: str, least: int = 0) -> int:
    """Return an integer argument; raise unless it is from `least` to 2^63 - 1."""
    number = validation.count(value, name, least)
    if number > validation.INT64_MAX:
        raise ValueError(f"{name}={number} must be at most 2^63-1, the limit of the formulas")
    return number


def _alpha(frustration: Fraction | str | float) -> float:
    """Return the paper's alpha = 3f/(1-f), for f between 0 and 1/4."""
    f = ratio(frustration, "frustration")
    if not 0 <= f <= Fraction(1, 4):
        raise ValueError(f"frustration={frustration} must be from 0 to 1/4, the range for 4-loops")
    return float(3 * f / (1 - f))
