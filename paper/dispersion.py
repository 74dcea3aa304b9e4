"""Dispersion of local fields if frustration is concentrated (a formula of the appendix)."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import numpy.typing as npt

from glasshouse.charts.style import looks, mark, new_figure, place_legend
from glasshouse.landscape import local_field_dispersion
from paper.report import Claim, Reproduction

_BLOCKS = (0.1, 0.2, 0.3, 0.4, 0.5)
_SIZE = _LOOPS = 1000
_F = Fraction(33, 133)  # ε = 1 - α = 0.01
_SAMPLES = 200_000


def build() -> Reproduction:
    """Draw c_v over the alignment r, from the formula and from simulated fields."""
    figure, ax = new_figure(6.2, 4.0)
    aligned = np.linspace(0.55, 0.99, 89)
    data, claims = [], []
    rng = np.random.default_rng(1)
    for d, look in zip(_BLOCKS, looks(len(_BLOCKS)), strict=True):
        curve = [_formula(d, r) for r in aligned]
        ax.plot(aligned, curve, color=look.colour)
        data += [
            {"block": d, "aligned": round(float(r), 4), "dispersion": c}
            for r, c in zip(aligned, curve, strict=True)
        ]
        drawn = [_simulated(d, r, rng) for r in (0.6, 0.7, 0.8, 0.9)]
        ax.plot((0.6, 0.7, 0.8, 0.9), drawn, look.marker, color=look.colour, label=f"$d = {d}$")
        claims.append(
            Claim(
                f"c_v at r = 0.8, d = {d}", "falls with d", f"{_formula(d, 0.8):.2f}",
                d == _BLOCKS[0] or _formula(d, 0.8) < _formula(_BLOCKS[_BLOCKS.index(d) - 1], 0.8),
                f"simulated: {drawn[2]:.2f}",
            )
        )  # fmt: skip
    ax.set_yscale("log")
    ax.set_xlabel("fraction $r$ of visible spins aligned with the plant")
    ax.set_ylabel("dispersion $c_v$ of a local field")
    ax.set_title(r"Dispersion of local fields, $n = N = 1000$, $\epsilon = 0.01$")
    place_legend(ax, [mark("lines: formula", linestyle="-"), mark("points: simulated", marker="o")])
    return Reproduction(
        "Dispersion of local fields", figure, claims,
        "The claims agree if the dispersion grows as the frustration becomes more concentrated.",
        f"the exact (hypergeometric) variance; each point has {_SAMPLES} simulated fields", data,
    )  # fmt: skip


def _formula(block: float, aligned: float) -> float:
    return local_field_dispersion(_SIZE, _LOOPS, frustration=_F, block=block, aligned=aligned)


def _simulated(block: float, aligned: float, rng: np.random.Generator) -> float:
    """Return c_v of simulated fields of N centre loops through one hidden spin, as in the paper."""
    inside = round(_SIZE * block)
    up = round(_SIZE * aligned)
    in_block: npt.NDArray[np.int64] = rng.hypergeometric(inside, _SIZE - inside, up, _SAMPLES)
    epsilon = 0.01
    negative = rng.binomial(_LOOPS, in_block / inside)
    positive = rng.binomial(_LOOPS, (up - in_block) / (_SIZE - inside))
    fields = 2 * negative * (epsilon - 1) + 2 * positive - epsilon * _LOOPS
    return float(fields.std() / (_LOOPS * epsilon * (2 * aligned - 1)))
