"""The matrix engine, which trains large layers and many chains with NumPy matrix products.

Nothing changes before the end of an update, so a signal between two products undoes the update.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from glasshouse.boltzmann.kernels import tables
from glasshouse.boltzmann.kernels.machine import (
    BATCH,
    CD,
    EPOCH,
    MODE,
    MODES,
    MOST_WEIGHT,
    NONE,
    PCD,
    READY,
    UPDATES,
    WANTED,
    Machine,
    Plan,
)
from glasshouse.boltzmann.kernels.updates import DIVERGED, DONE, NEEDS_MODE, PAUSED
from glasshouse.boltzmann.settings import TrainingSettings
from glasshouse.kernels.xoshiro import next_word
from glasshouse.problems import FloatArray, SpinArray
from glasshouse.stopping import handle_waiting

_PRODUCTS = 1 << 29  # the most operations of a matrix product, about 0.1 seconds

Table = npt.NDArray[Any]


class Matrices:
    """The matrix engine of one training run: it updates an RBM with matrix products.

    Args:
        arrays: the machine; its chains are hidden states, starting with those at temperature 1.
        plan: the plan, as for compiled updates.
        settings: the settings of the training.
        data: one row per example.
    """

    def __init__(
        self, arrays: Machine, plan: Plan, settings: TrainingSettings, data: SpinArray
    ) -> None:
        self.arrays, self.plan, self.settings, self.data = arrays, plan, settings, data
        self.rates, self.chances = settings.learning_rates(), settings.mode_chances()
        n, m = arrays.weights.shape
        self.dtype = arrays.weights.dtype
        self.ladder = settings.temperatures
        most = max(plan.batch_size, len(arrays.chains))
        self.chunk = max(min(most, max(_PRODUCTS // (n * m), 16)), self.ladder)
        # Layers are collected in these buffers until the buffers are full, and then multiplied.
        self.seen, self.means = self._room(2 * self.chunk, n), self._room(2 * self.chunk, m)
        self.visible_fields, self.fields = self._room(self.chunk, n), self._room(self.chunk, m)
        self.visible, self.hidden = self._room(self.chunk, n), self._room(self.chunk, m)
        self.slopes = self._room(n, m)
        self.ones = np.ones(2 * self.chunk, dtype=self.dtype)
        self.betas = np.ones(self.chunk)
        self.waiting, self.has_slopes = 0, False
        self._compile()

    def _compile(self) -> None:
        """Call every kernel on empty input, so that compilation ends before timing starts."""
        arrays, seen, fields = self.arrays, self.seen[:0], self.fields[:0]
        tables.shuffle_rows(arrays.stream, arrays.order[:0])
        self._draw_hidden(fields, self.hidden[:0])
        tables.find_means(fields, arrays.hidden_bias, self.plan.low, 1.0, self.means[:0])
        self._step(seen[:0].reshape(-1), seen[:0].reshape(-1), arrays.visible_speed[..., :0],
                   0.0, 0.0, 0.0)  # fmt: skip

    def _room(self, rows: int, columns: int) -> Table:
        return np.empty((rows, columns), dtype=self.dtype)

    def run(self, last: int, most: int) -> int:
        """Train to epoch `last`; arguments and results are those of `updates.run_epochs`."""
        arrays, plan, progress = self.arrays, self.plan, self.arrays.progress
        size = len(self.data)
        while progress[EPOCH] < last:
            while progress[BATCH] * plan.batch_size < size:
                if most <= 0:
                    return PAUSED
                if progress[MODE] == WANTED:
                    return NEEDS_MODE
                before = arrays.stream.copy(), arrays.lanes.copy()
                order = arrays.order
                if progress[BATCH] == 0 and progress[MODE] == NONE and plan.batch_size < size:
                    order = order.copy()
                    tables.shuffle_rows(arrays.stream, order)
                uses_mode = progress[MODE] == READY
                if progress[MODE] == NONE and self._draws_mode():
                    arrays.order[:] = order
                    if not self._is_sound():
                        return self._go_back()
                    progress[MODE] = WANTED
                    return NEEDS_MODE
                start = int(progress[BATCH]) * plan.batch_size
                try:
                    chosen = order[start : start + plan.batch_size]
                    self._update(chosen, self.rates[progress[EPOCH]], uses_mode)
                except BaseException:
                    arrays.stream[:], arrays.lanes[:] = before
                    raise
                arrays.order[:] = order
                progress[MODE] = NONE
                progress[MODES] += uses_mode
                progress[UPDATES] += 1
                progress[BATCH] += 1
                most -= len(chosen) * plan.steps
            if not self._is_sound():
                return self._go_back()
            arrays.good_weights[:] = arrays.weights
            arrays.good_visible[:], arrays.good_hidden[:] = arrays.visible_bias, arrays.hidden_bias
            progress[BATCH] = 0
            progress[EPOCH] += 1
        return DONE

    def _draws_mode(self) -> bool:
        chance = self.chances[self.arrays.progress[EPOCH]]
        return bool(chance > 0.0) and (int(next_word(self.arrays.stream)) >> 11) * 2.0**-53 < chance

    def _is_sound(self) -> bool:
        parts = self.arrays.weights, self.arrays.visible_bias, self.arrays.hidden_bias
        return all(max(part.max(), -part.min()) <= MOST_WEIGHT for part in parts)

    def _go_back(self) -> int:
        arrays = self.arrays
        arrays.weights[:] = arrays.good_weights
        arrays.visible_bias[:], arrays.hidden_bias[:] = arrays.good_visible, arrays.good_hidden
        return DIVERGED

    def _update(self, chosen: npt.NDArray[np.int64], rate: float, uses_mode: bool) -> None:
        """Update all parameters once: add the data's averages, subtract the model's averages."""
        arrays, plan = self.arrays, self.plan
        n, m = arrays.weights.shape
        size, is_mode_step = len(chosen), uses_mode and not plan.restarts_chains
        runs_chains = plan.gradient == CD and not is_mode_step
        self.waiting, self.has_slopes = 0, False
        data_sums, model_sums = (np.zeros(n), np.zeros(m)), (np.zeros(n), np.zeros(m))
        for first in range(0, size, self.chunk):
            rows = chosen[first : first + self.chunk]
            self._begin(2 * len(rows) if runs_chains else len(rows))
            fields, hidden = self.fields[: len(rows)], self.hidden[: len(rows)]
            visible = self._next(len(rows))
            visible[:] = self.data[rows]
            np.matmul(visible, arrays.weights, out=fields)
            self._keep_means(visible, fields, 1.0, data_sums)
            if runs_chains:
                if uses_mode:
                    hidden[:] = arrays.mode_hidden
                else:
                    self._draw_hidden(fields, hidden)
                seen = self._next(len(rows))
                self._gibbs(hidden, seen, fields)
                self._keep_means(seen, fields, -1.0, model_sums)
        chains = arrays.chains
        if plan.gradient == PCD and not is_mode_step:
            chains = chains.copy()
            if uses_mode:
                chains[:] = arrays.mode_hidden
            self._persist(chains, size, model_sums)
        self._add_waiting()
        if is_mode_step:
            visible, hidden = arrays.mode_visible.astype(float), arrays.mode_hidden.astype(float)
            self.slopes -= (size * np.outer(visible, hidden)).astype(self.dtype)
            model_sums = -size * visible, -size * hidden
        step = rate / size if plan.is_mean else rate
        if is_mode_step and plan.scales_mode_step:
            step *= max(-arrays.mode_energy[0], 0.0) / ((n + 1.0) * (m + 1.0))
        slopes = [data + model for data, model in zip(data_sums, model_sums, strict=True)]
        if self.settings.centred:
            slopes = self._centre(slopes, [sums / size for sums in data_sums])
        self._move(slopes, step, rate, size)
        arrays.chains[:] = chains

    def _begin(self, rows: int) -> None:
        """Handle signals, and make space for more rows in the buffers."""
        handle_waiting()
        if self.waiting + rows > len(self.seen):
            self._add_waiting()

    def _next(self, rows: int) -> Table:
        """Return the first `rows` free rows of the buffer, for the next visible layers."""
        return self.seen[self.waiting : self.waiting + rows]

    def _keep_means(
        self, visible: Table, fields: Table, factor: float, sums: tuple[FloatArray, FloatArray]
    ) -> None:
        """Store the scaled hidden means for a later product, and add both layers to `sums`."""
        size = len(visible)
        means = self.means[self.waiting : self.waiting + size]
        tables.find_means(fields, self.arrays.hidden_bias, self.plan.low, factor, means)
        sums[0][:] += factor * (self.ones[:size] @ visible)
        sums[1][:] += self.ones[:size] @ means
        self.waiting += size

    def _add_waiting(self) -> None:
        seen, means = self.seen[: self.waiting], self.means[: self.waiting]
        if self.has_slopes:
            self.slopes += seen.T @ means
        else:
            np.matmul(seen.T, means, out=self.slopes)
        self.waiting, self.has_slopes = 0, True

    def _draw_hidden(self, fields: Table, hidden: Table) -> None:
        arrays, betas = self.arrays, self.betas[: len(fields)]
        tables.draw_units(arrays.lanes, fields, arrays.hidden_bias, betas, self.plan.low, hidden)

    def _gibbs(self, hidden: Table, visible: Table, fields: Table) -> None:
        """Run Gibbs steps from hidden units; store the final visible units and hidden fields."""
        arrays, betas = self.arrays, self.betas[: len(hidden)]
        for step in range(self.plan.steps):
            handle_waiting()
            if step:
                self._draw_hidden(fields, hidden)
            back = self.visible_fields[: len(hidden)]
            np.matmul(hidden, arrays.weights.T, out=back)
            tables.draw_units(arrays.lanes, back, arrays.visible_bias, betas, self.plan.low,
                              visible)  # fmt: skip
            handle_waiting()
            np.matmul(visible, arrays.weights, out=fields)

    def _persist(self, chains: SpinArray, size: int, sums: tuple[FloatArray, FloatArray]) -> None:
        """Run Gibbs steps of the persistent chains; subtract their averages from the gradient."""
        kept = len(chains) // self.ladder
        for first in range(0, kept, self.chunk // self.ladder):
            count = min(self.chunk // self.ladder, kept - first)
            # Row r of a chunk belongs to temperature number r // count.
            places = (np.arange(self.ladder)[:, None] * kept + first + np.arange(count)).ravel()
            rows = len(places)
            self._begin(count)
            hidden, visible, fields = self.hidden[:rows], self.visible[:rows], self.fields[:rows]
            hidden[:] = chains[places]
            if self.ladder > 1:
                self.betas[:rows] = np.repeat(np.linspace(1.0, 0.0, self.ladder), count)
            self._gibbs(hidden, visible, fields)
            self._draw_hidden(fields, hidden)
            if self.ladder > 1:
                self._swap(hidden, visible, fields, count)
                self.betas[:] = 1.0
            chains[places] = hidden
            seen = self._next(count)
            seen[:] = visible[:count]
            self._keep_means(seen, fields[:count], -size / kept, sums)

    def _swap(self, hidden: Table, visible: Table, fields: Table, count: int) -> None:
        """Exchange chains at neighbouring temperatures (parallel tempering)."""
        arrays = self.arrays
        energies = -((fields + arrays.hidden_bias) * hidden).sum(1) - visible @ arrays.visible_bias
        number = int(arrays.progress[UPDATES])
        for rung in range(number % 2, self.ladder - 1, 2):
            colder = np.arange(rung * count, (rung + 1) * count)
            warmer = colder + count
            logs = (energies[colder] - energies[warmer]) / (self.ladder - 1)
            words = [int(next_word(arrays.stream)) >> 11 for _ in range(count)]
            with np.errstate(over="ignore"):
                swapped = np.array(words) * 2.0**-53 < np.exp(logs)
            pairs = np.concatenate([colder[swapped], warmer[swapped]])
            others = np.concatenate([warmer[swapped], colder[swapped]])
            for table in (hidden, visible, fields, energies):
                table[pairs] = table[others]

    def _centre(self, slopes: list[FloatArray], offsets: list[FloatArray]) -> list[FloatArray]:
        """Centre the gradient; return its part for the biases (Melchior, Fischer, Wiskott 2016)."""
        visible, hidden = (part.astype(self.dtype) for part in offsets)
        self.slopes -= np.outer(visible, slopes[1].astype(self.dtype))
        self.slopes -= np.outer(slopes[0].astype(self.dtype), hidden)
        return [slopes[0] - self.slopes @ hidden, slopes[1] - visible @ self.slopes]

    def _move(self, slopes: list[FloatArray], step: float, rate: float, size: int) -> None:
        """Move weights and biases one step along the gradient."""
        arrays, plan = self.arrays, self.plan
        decay = plan.weight_decay * size if plan.is_mean else plan.weight_decay
        parts = [(arrays.weights, self.slopes, arrays.weight_speed, decay)]
        if plan.has_biases:
            parts.append((arrays.visible_bias, slopes[0], arrays.visible_speed, 0.0))
            parts.append((arrays.hidden_bias, slopes[1], arrays.hidden_speed, 0.0))
        for values, slope, speed, pull in parts:
            self._step(values.reshape(-1), slope.astype(self.dtype, copy=False).reshape(-1), speed,
                       step, rate, pull)  # fmt: skip

    def _step(
        self, values: Table, slopes: Table, speed: Table, step: float, rate: float, decay: float
    ) -> None:
        kind = self.dtype.type
        if self.settings.optimizer == "adam":
            scale = step / rate if rate else 0.0
            number = int(self.arrays.progress[UPDATES]) + 1
            tables.move_by_adam(values, slopes, speed[0].reshape(-1), speed[1].reshape(-1), rate,
                                scale, decay * scale, number)  # fmt: skip
        else:
            tables.move_by(values, slopes, speed.reshape(-1), kind(step), kind(self.plan.momentum),
                           kind(decay))  # fmt: skip
