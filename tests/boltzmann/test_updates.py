"""Updates, against a slow transcription in NumPy that draws the same random words."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from tests.boltzmann.machines import Everything, random_machine

from glasshouse.boltzmann import BoltzmannMachine, Trainer, TrainingSettings, find_mode
from glasshouse.boltzmann.data import in_units, shifting_bars
from glasshouse.kernels.xoshiro import below, next_word

DATA = shifting_bars(5, 2)


class Transcription:
    """One RBM in training, as a textbook would write it."""

    def __init__(self, start: BoltzmannMachine, data: Any, settings: TrainingSettings) -> None:
        self.w, self.a, self.b = (
            np.array(part) for part in (start.weights, start.visible_bias, start.hidden_bias)
        )
        self.data, self.settings, self.low = data, settings, start.low
        self.speeds = [np.zeros_like(part) for part in (self.w, self.a, self.b)]
        self.stream, self.chains = np.empty(0), np.empty(0)
        self.modes = 0

    @property
    def machine(self) -> BoltzmannMachine:
        return BoltzmannMachine(self.w, self.a, self.b, self.settings.units)

    def uniform(self) -> float:
        return float(int(next_word(self.stream)) >> 11) * 2.0**-53

    def drawn(self, chances: Any) -> Any:
        return np.array([1 if self.uniform() < chance else self.low for chance in chances])

    def chances(self, fields: Any) -> Any:
        return 1 / (1 + np.exp(-(1 - self.low) * fields))

    def means(self, visible: Any) -> Any:
        return self.low + (1 - self.low) * self.chances(visible @ self.w + self.b)

    def chain(self, hidden: Any) -> Any:
        for step in range(self.settings.steps):
            visible = self.drawn(self.chances(self.w @ hidden + self.a))
            if step < self.settings.steps - 1:
                hidden = self.drawn(self.chances(visible @ self.w + self.b))
        return visible

    def run(self) -> None:
        s, size = self.settings, len(self.data)
        batch = min(s.batch_size or size, size)
        order = np.arange(size)
        for epoch in range(s.epochs):
            if batch < size:
                for k in range(size - 1, 0, -1):
                    other = below(self.stream, k + 1)
                    order[[k, other]] = order[[other, k]]
            for first in range(0, size, batch):
                rows = self.data[order[first : first + batch]].astype(float)
                self.update(rows, s.learning_rates()[epoch], s.mode_chances()[epoch])

    def update(self, rows: Any, rate: float, mode_chance: float) -> None:
        s, count = self.settings, len(rows)
        uses_mode = bool(mode_chance) and self.uniform() < mode_chance
        self.modes += uses_mode
        mode = find_mode(self.machine) if uses_mode else None
        plus = [rows.T @ self.means(rows), rows.sum(0), self.means(rows).sum(0)]
        if mode is not None and s.mode_use == "update":
            v, h = mode.visible.astype(float), mode.hidden.astype(float)
            minus = [count * np.outer(v, h), count * v, count * h]
            if s.mode_step == "energy":
                rate *= self.spin_energy(v, h) / ((len(self.a) + 1) * (len(self.b) + 1))
        elif s.gradient == "exact":
            truth = Everything(self.machine)
            minus = [count * x for x in (truth.products, truth.visible_means, truth.hidden_means)]
        else:
            ends, weight = self.ends(rows, mode)
            minus = [ends.T @ self.means(ends), ends.sum(0), self.means(ends).sum(0)]
            minus = [weight * x for x in minus]
        self.move([p - m for p, m in zip(plus, minus, strict=True)], rate, count)

    def ends(self, rows: Any, mode: Any) -> tuple[Any, float]:
        """Where the chains end, and what each counts for."""
        if self.settings.gradient == "cd":
            ends = []
            for row in rows:
                chances = self.chances(row @ self.w + self.b)
                ends.append(self.chain(self.drawn(chances) if mode is None else mode.hidden))
            return np.array(ends, dtype=float), 1.0
        for c in range(len(self.chains)):
            if mode is not None:
                self.chains[c] = mode.visible
            hidden = self.drawn(self.chances(self.chains[c] @ self.w + self.b))
            self.chains[c] = self.chain(hidden)
        return self.chains.astype(float), len(rows) / len(self.chains)

    def spin_energy(self, visible: Any, hidden: Any) -> float:
        """Minus the energy of a state of the same machine with ±1 units, without a constant."""
        spins = self.machine.in_units("spin")
        v, h = np.where(visible == 1, 1, -1), np.where(hidden == 1, 1, -1)
        return max(0.0, -float(spins.energy(v, h)))

    def move(self, slopes: list[Any], rate: float, count: int) -> None:
        s = self.settings
        slopes = [slope / count for slope in slopes] if s.reduction == "mean" else slopes
        slopes[0] = slopes[0] - s.weight_decay * self.w
        for k, (part, slope) in enumerate(zip((self.w, self.a, self.b), slopes, strict=True)):
            if k == 0 or s.biases:
                self.speeds[k] = s.momentum * self.speeds[k] + rate * slope
                part += self.speeds[k]


CASES: dict[str, dict[str, Any]] = {
    "cd-1": {},
    "cd-3": {"steps": 3},
    "pcd": {"gradient": "pcd", "steps": 2, "chains": 4},
    "pcd, a chain per row": {"gradient": "pcd"},
    "exact": {"gradient": "exact"},
    "sum": {"reduction": "sum", "learning_rate": 0.02},
    "batches": {"batch_size": 2},
    "batches of a sum": {"batch_size": 3, "reduction": "sum"},
    "momentum": {"momentum": 0.9},
    "decay": {"weight_decay": 0.1},
    "decay of a sum": {"weight_decay": 0.1, "reduction": "sum", "batch_size": 2, "momentum": 0.5},
    "no biases": {"biases": False},
    "linear rate": {"learning_rate": (0.5, 0.01)},
    "mode": {"mode_probability": 0.7},
    "mode at full step": {"mode_probability": 0.7, "mode_step": "full", "batch_size": 2},
    "exact and mode": {"mode_probability": 0.5, "gradient": "exact"},
    "chains from the mode": {"mode_probability": 0.7, "mode_use": "restart", "steps": 2},
    "persistent chains from the mode": {
        "mode_probability": 0.7, "mode_use": "restart", "gradient": "pcd",
    },
}  # fmt: skip


@pytest.mark.parametrize("units", ["spin", "binary"])
@pytest.mark.parametrize("name", CASES)
def test_updates_are_those_of_the_transcription(name: str, units: str) -> None:
    options = {"epochs": 12, "learning_rate": 0.3, "mode_slope": 6.0, "mode_offset": 0.0}
    chosen = TrainingSettings(4, units=units, **options | CASES[name])  # type: ignore[arg-type]
    start = random_machine(5, 4, units, seed=5)
    trainer = Trainer(DATA, chosen, start=start, rng=7)
    slow = Transcription(start, in_units(DATA, chosen.units), chosen)
    slow.stream, slow.chains = trainer._arrays.stream.copy(), trainer._arrays.chains.astype(int)
    assert trainer.advance(12)
    slow.run()
    assert trainer.machine.weights == pytest.approx(slow.w, abs=1e-9)
    assert trainer.machine.visible_bias == pytest.approx(slow.a, abs=1e-9)
    assert trainer.machine.hidden_bias == pytest.approx(slow.b, abs=1e-9)
    run = trainer.run()
    assert run.modes == run.modes_proven == slow.modes
    assert bool(slow.modes) == bool(chosen.mode_probability)
