"""The mode of an RBM: its most likely state, found by enumeration or by annealing."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from glasshouse.boltzmann.data import as_units
from glasshouse.boltzmann.kernels import enumeration
from glasshouse.boltzmann.kernels.modes import CLOSED, descend, rounding, spin_weights
from glasshouse.boltzmann.model import BoltzmannMachine
from glasshouse.boltzmann.settings import ModeSearch, enumerates
from glasshouse.problems import Rbm, SpinArray, validation
from glasshouse.proofs import Proof, prove
from glasshouse.randomness import RngLike, Seed
from glasshouse.solvers import anneal
from glasshouse.stopping import in_slices, working_time
from glasshouse.summaries import Summarised

# Annealing takes 15 ms for 64 × 64 units and 50 ms for 128 × 128. Larger machines get a quarter of
# the runs: 784 × 500 units take 0.2 s, a third of it for preparing the problem.
_SWEEPS, _RUNS, _FEW_RUNS = 200, 64, 16
_MANY_WEIGHTS = 128 * 128
_TINY = 1e-250  # smaller weights could underflow when they are scaled
_BITS = 20  # of rounded weights: more bits slow proofs down, and fewer hide small differences


@dataclass(frozen=True, eq=False, repr=False)
class Mode(Summarised):
    """The most likely state of an RBM, or the most likely state that a search has found.

    Attributes:
        visible: the visible units of the mode.
        hidden: the hidden units of the mode.
        energy: the machine's energy at the mode.
        frustration: the frustration index at the mode, for the machine in ±1 units.
        is_proven: whether it is proven that no state is more likely by more than a millionth of its
            probability: by enumerating all states (unless weights are so large that rounding could
            hide more), or by a certificate that was checked in exact numbers. The certificate may
            be one for weights that were rounded in disfavour of this state.
    """

    visible: SpinArray
    hidden: SpinArray
    energy: float
    frustration: float
    is_proven: bool

    @property
    def verdict(self) -> str:
        """The verdict as text: "proven" or "best found"."""
        return "proven" if self.is_proven else "best found"


def find_mode(
    machine: BoltzmannMachine,
    *,
    search: ModeSearch = "auto",
    start: npt.ArrayLike | None = None,
    seconds: float = 2.0,
    time_limit: float | None = None,
    rng: RngLike = None,
) -> Mode:
    """Find the mode of an RBM, which is its most likely state.

    Args:
        machine: the machine.
        search: "enumerate" enumerates all states of the smaller layer, of at most 24 units;
            "anneal" anneals, and proves nothing; "prove" enumerates layers of at most 24 units, and
            tries to prove the annealed state of larger machines, first with rounded weights; "auto"
            enumerates layers of at most 16 units, and anneals larger machines.
        start: visible units of the mode of a similar machine, such as this machine a few updates
            earlier; a descent from this state competes with the annealed state.
        seconds: the time limit of a proof.
        time_limit: seconds for which annealing is repeated, each time with twice the sweeps; the
            first annealing always finishes. By default, annealing runs once.
        rng: a seed for annealing, or anything that `numpy.random.default_rng` takes.

    >>> found = find_mode(BoltzmannMachine([[1.0, 1.0], [1.0, -1.0]]))
    >>> found.energy, found.frustration, found.is_proven
    (-2.0, 0.25, True)
    """
    if enumerates(search, min(machine.weights.shape)):
        if not machine.can_be_enumerated:
            raise ValueError("search='enumerate' needs a layer of at most 24 units; use 'prove'")
        least = rounding(machine.weights, machine.visible_bias, machine.hidden_bias)
        return _mode(machine, *_enumerated(machine), is_proven=least <= CLOSED)
    problem = machine.to_instance()
    runs = _RUNS if machine.weights.size <= _MANY_WEIGHTS else _FEW_RUNS
    seed, sweeps, end = Seed.of(rng), _SWEEPS, working_time() + _limit(time_limit)
    mode = _annealed(machine, problem, sweeps, runs, seed)
    while (left := end - working_time()) > 0:
        sweeps, seed = 2 * sweeps, seed.child(0)
        again = _annealed(machine, problem, sweeps, runs, seed, left)
        mode = min(mode, again, key=lambda mode: mode.frustration)
    if start is not None:
        near = as_units(start, machine.num_visible, machine.units, "start")
        other = _mode(machine, *_descended(machine, near), is_proven=False)
        mode = min(mode, other, key=lambda mode: mode.frustration)  # the lower energy has the lower
    return _proven(machine, problem, mode, seconds) if search == "prove" else mode


def _proven(machine: BoltzmannMachine, problem: Rbm, mode: Mode, seconds: float) -> Mode:
    """Try to prove a mode, first with rounded weights; return the proven or the best mode."""
    end = working_time() + seconds
    while (left := end - working_time()) > 0:
        state = _spins(mode)
        rounded = weakened(machine, state)
        if rounded is None:
            break
        proof = _proof(rounded, state, left)
        if proof.optimal and proof.energy == rounded.energy(state):
            return replace(mode, is_proven=True)
        other = _mode(machine, *_in_units(machine, proof.state), is_proven=False)
        if other.frustration >= mode.frustration:  # the rounding is too coarse
            break
        mode = other
    if (left := end - working_time()) <= 0:
        return mode
    target = float(problem.energy(_spins(mode))) - CLOSED / 2
    proof = _proof(problem, _spins(mode), left, target)
    # The problem of a machine of 0 and 1 has rounded sums of weights; the proof is about these.
    floats = machine.weights, machine.visible_bias, machine.hidden_bias
    error = 0.0 if machine.units == "spin" else float(rounding(*floats))
    found = _mode(machine, *_in_units(machine, proof.state), proof.gap + error <= CLOSED)
    return found if error <= CLOSED else min(mode, found, key=lambda mode: mode.frustration)


def _proof(problem: Rbm, state: SpinArray, left: float, target: float | None = None) -> Proof:
    proof = prove(problem, state=state, target=target, time_limit=left)
    if proof.statistics.stopped == "Ctrl-C":
        raise KeyboardInterrupt
    return proof


def weakened(machine: BoltzmannMachine, state: SpinArray) -> Rbm | None:
    """Return a problem of integers that proves `state` to be the mode if it is a ground state.

    The weights of ±1 units are scaled to 20 bits. A weight that `state` satisfies is rounded
    towards zero, and any other weight away from zero. So no state is further above `state` in the
    problem than in the scaled machine: if no state is below `state` here, none is there.

    Returns:
        The problem; None if tiny weights could underflow.
    """
    floats = machine.weights.ravel(), machine.visible_bias, machine.hidden_bias
    sizes = np.abs(np.concatenate(floats))
    if ((sizes > 0.0) & (sizes < _TINY)).any():
        return None
    visible, hidden = state[: machine.num_visible], state[machine.num_visible :]
    quarter = 1.0 if machine.units == "spin" else 0.25
    weights = quarter * machine.weights
    parts = [(weights, np.zeros_like(weights), np.multiply.outer(visible, hidden))]
    layers = (weights, machine.visible_bias, visible), (weights.T, machine.hidden_bias, hidden)
    for table, biases, signs in layers:
        values, rests = biases, np.zeros_like(biases)
        if machine.units == "binary":  # sums of floats, with the exact sign of their rounding error
            terms = np.column_stack([table, biases / 2]).tolist()
            values = np.array([*map(math.fsum, terms)])
            rests = np.array([math.fsum([*row, -x]) for row, x in zip(terms, values, strict=True)])
        parts.append((values, rests, signs))
    largest = max(float(np.abs(values).max()) for values, _, _ in parts)
    scale = math.ldexp(1.0, _BITS - math.frexp(largest)[1])
    rounded = []
    for values, rests, signs in parts:
        scaled = scale * values
        if not np.array_equal(scaled / scale, values):
            return None
        least = np.floor(scaled * signs)
        least -= (least == scaled * signs) & (rests * signs < 0)
        rounded.append((least * signs).astype(np.int64))
    return Rbm(*rounded)  # type: ignore[arg-type]


def _spins(mode: Mode) -> SpinArray:
    return np.where(np.append(mode.visible, mode.hidden) == 1, 1, -1).astype(np.int8)


def _limit(seconds: float | None) -> float:
    if seconds is not None and (not validation.is_real(seconds) or not 0 < seconds < math.inf):
        raise ValueError(f"time_limit={seconds!r} must be a number of seconds above 0")
    return seconds or 0.0


def _annealed(
    machine: BoltzmannMachine, problem: Rbm, sweeps: int, runs: int, seed: Seed,
    left: float | None = None,
) -> Mode:  # fmt: skip
    found = anneal(problem, sweeps=sweeps, runs=runs, rng=seed, time_limit=left)
    if found.stopped == "interrupted":  # Ctrl-C is for the whole training, not for one mode
        raise KeyboardInterrupt
    visible, _ = _in_units(machine, found.best_state)
    return _mode(machine, *_descended(machine, visible), is_proven=False)


def _in_units(machine: BoltzmannMachine, spins: SpinArray) -> tuple[SpinArray, SpinArray]:
    values = np.where(spins == 1, 1, machine.low).astype(np.int8)
    return values[: machine.num_visible], values[machine.num_visible :]


def _descended(machine: BoltzmannMachine, visible: SpinArray) -> tuple[SpinArray, SpinArray]:
    visible, hidden = visible.copy(), np.empty(machine.num_hidden, dtype=np.int8)
    descend(machine.weights, machine.back, machine.visible_bias, machine.hidden_bias,
                    machine.low, visible, hidden)  # fmt: skip
    return visible, hidden


def _enumerated(machine: BoltzmannMachine) -> tuple[SpinArray, SpinArray]:
    visible = np.empty(machine.num_visible, dtype=np.int8)
    hidden = np.empty(machine.num_hidden, dtype=np.int8)
    is_visible_first = machine.num_visible <= machine.num_hidden
    pair = (visible, hidden) if is_visible_first else (hidden, visible)
    best = np.array([-np.inf, 0.0])

    def visit(first: int, last: int) -> None:
        enumeration.ground_state(*machine.smaller_first, machine.low, first, last, best, *pair)

    in_slices(visit, enumeration.num_blocks(min(machine.weights.shape)))
    return visible, hidden


def _mode(
    machine: BoltzmannMachine, visible: SpinArray, hidden: SpinArray, is_proven: bool
) -> Mode:
    signed, total = spin_weights(
        machine.weights, machine.visible_bias, machine.hidden_bias, machine.low, visible, hidden
    )
    energy = -float(
        (visible @ machine.weights + machine.hidden_bias) @ hidden + visible @ machine.visible_bias
    )
    return Mode(visible, hidden, energy, frustration_of(signed, total), is_proven)


def frustration_of(signed: float, total: float) -> float:
    """Return the frustration index; `signed` is the satisfied minus the unsatisfied weight."""
    return (1 - signed / total) / 2 if total else 0.0
