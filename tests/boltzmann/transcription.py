"""Trainings in NumPy, slow and plain, that draw the same random words as the compiled ones."""

from __future__ import annotations

from typing import Any

import numpy as np
from tests.boltzmann.machines import Everything
from tests.entries import entry

from glasshouse.boltzmann import BoltzmannMachine, Trainer, TrainingSettings, find_mode
from glasshouse.kernels.xoshiro import below, next_word

drawn_below = entry(below)


class Transcription:
    """One RBM in training, as a textbook would write it."""

    def __init__(self, start: BoltzmannMachine, data: Any, settings: TrainingSettings) -> None:
        self.w, self.a, self.b = (
            np.array(part) for part in (start.weights, start.visible_bias, start.hidden_bias)
        )
        self.data, self.settings, self.low = data, settings, start.low
        self.speeds = [np.zeros_like(part) for part in (self.w, self.a, self.b)]
        self.stream, self.lanes, self.chains = np.empty(0), np.empty(0), np.empty(0)
        self.modes = 0

    @classmethod
    def of(cls, trainer: Trainer) -> Transcription:
        """A training that is about to begin."""
        slow = cls(trainer.machine, trainer.data, trainer.settings)
        arrays = trainer._arrays
        slow.stream, slow.lanes = arrays.stream.copy(), arrays.lanes.T.copy()
        slow.chains = arrays.chains.astype(int)
        return slow

    @property
    def machine(self) -> BoltzmannMachine:
        return BoltzmannMachine(self.w, self.a, self.b, self.settings.units)

    def uniform(self) -> float:
        return float(int(next_word(self.stream)) >> 11) * 2.0**-53

    def chances(self, fields: Any) -> Any:
        return 1 / (1 + np.exp(-(1 - self.low) * fields))

    def means(self, visible: Any) -> Any:
        return self.low + (1 - self.low) * self.chances(visible @ self.w + self.b)

    def drawn(self, chances: Any) -> Any:
        """Many layers at once: streams take turns, and all of them advance together."""
        words = [[int(next_word(lane)) >> 12 for lane in self.lanes]
                 for _ in range(-(-chances.size // len(self.lanes)))]  # fmt: skip
        numbers = np.array(words, dtype=float).reshape(-1)[: chances.size] * 2.0**-52
        return np.where(numbers.reshape(chances.shape) < chances, 1, self.low)

    def chains_from(self, hidden: Any) -> Any:
        for step in range(self.settings.steps):
            visible = self.drawn(self.chances(hidden @ self.w.T + self.a))
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
                    other = drawn_below(self.stream, k + 1)
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
        is_persistent = self.settings.gradient == "pcd"
        starts = self.chains if is_persistent else rows.copy()
        if mode is not None and is_persistent:
            starts[:] = mode.visible
        for first in range(0, len(starts), 16):
            group = starts[first : first + 16]
            if mode is not None and not is_persistent:
                hidden = np.tile(mode.hidden, (len(group), 1))
            else:
                hidden = self.drawn(self.chances(group @ self.w + self.b))
            group[:] = self.chains_from(hidden)
        return starts.astype(float), len(rows) / len(starts)

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
