"""Parser for samplers on the command line, and search for a parameter's best value."""

from __future__ import annotations

import ast
import importlib
import inspect
import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from glasshouse.races.samplers.problems import SuiteLike
from glasshouse.races.samplers.racing import race_samplers
from glasshouse.races.samplers.results import SamplerResults
from glasshouse.statistics.samples import Estimate
from glasshouse.statistics.time_model import BY, By
from glasshouse.summaries import Summarised, SummaryTable

_FORM = '"[NAME=]MODULE:CLASS [PARAMETER=VALUE ...]"'


def entered_sampler(text: str) -> tuple[str, Any]:
    """Parse `NAME=MODULE:CLASS PARAMETER=VALUE` into a name and an entry for `race_samplers`.

    A class is called without arguments; a function or an object is taken unchanged. Values are
    Python literals; any other text is a string.

    >>> name, (sampler, parameters) = entered_sampler("r=dimod:RandomSampler num_reads=3")
    >>> name, type(sampler).__name__, parameters
    ('r', 'RandomSampler', {'num_reads': 3})

    Raises:
        ValueError: the text does not have this form, or the sampler cannot be imported.
    """
    try:
        first, *rest = shlex.split(text) or [""]
    except ValueError as error:
        raise ValueError(f"sampler={text!r:.80} cannot be split into words: {error}") from None
    head, _, where = first.rpartition("=")
    module, colon, attribute = where.partition(":")
    pairs = [word.partition("=") for word in rest]
    if not (module and colon and attribute) or not all(key and sign for key, sign, _ in pairs):
        raise ValueError(f"sampler={text!r:.80} must have the form {_FORM}")
    try:
        found: Any = importlib.import_module(module)
        for part in attribute.split("."):
            found = getattr(found, part)
        sampler = found() if inspect.isclass(found) else found
    except Exception as error:  # an import can raise anything
        told = " ".join(f"{type(error).__name__}: {error}".split())
        raise ValueError(f"sampler={where!r:.80} cannot be loaded: {told:.200}") from None
    return head or attribute, (sampler, {key: _literal(value) for key, _, value in pairs})


def _literal(text: str) -> Any:
    try:
        return ast.literal_eval(text)
    except (ValueError, SyntaxError, MemoryError, RecursionError):
        return text


@dataclass(frozen=True, eq=False, repr=False)
class OptimalSetting(Summarised):
    """The value of a sampler's parameter that gives the least time to solution.

    Attributes:
        parameter: the name of the parameter.
        value: the best value.
        tts: the time to solution with the best value: the median over instances.
        by: whether `tts` is elapsed time or work.
        values: all values, in the order given.
        is_at_edge: whether the best value is the lowest or the highest, so that values beyond it
            may be better still.
        results: the race of all values; the sampler with value v is named "parameter=v".
    """

    parameter: str
    value: Any
    tts: Estimate
    by: By
    values: tuple[Any, ...]
    is_at_edge: bool
    results: SamplerResults

    def summary(self) -> str:
        """Return a text with one line for each value of the parameter; the best value is marked."""
        table = self._summary_table()
        return "\n".join(["  ".join(row).rstrip() for row in table.rows] + list(table.below))

    def _summary_table(self) -> SummaryTable:
        rows = []
        for value in self.values:
            name = f"{self.parameter}={value}"
            mark = "← best" if value == self.value else ""
            rows.append((name, str(self.results.tts(name, by=self.by)), mark))
        edge = (
            ["the best value is at the edge of the tried values; try more values"]
            if self.is_at_edge
            else []
        )
        return SummaryTable(rows, ("setting", f"TTS99 ({self.by}), s", ""), below=edge)

    def __repr__(self) -> str:
        return f"OptimalSetting({self.parameter}={self.value}, TTS99 ({self.by}) {self.tts} s)"


def optimal_setting(
    sampler: Any,
    suite: SuiteLike,
    parameter: str,
    values: Sequence[Any],
    *,
    by: By = "elapsed",
    parameters: Mapping[str, Any] | None = None,
    **options: Any,
) -> OptimalSetting:
    """Find the value of a sampler's parameter, such as its sweeps, that gives the least TTS99.

    Args:
        sampler: a dimod sampler, or a callable that takes a model and returns a SampleSet.
        suite: a suite, as for `race_samplers`.
        parameter: the name of a keyword of the sampler, such as "num_sweeps" or "annealing_time".
        values: at least two numbers to try, each once.
        by: "elapsed" or "work".
        parameters: further keywords of every call.
        options: anything else that `race_samplers` takes, such as `reads`, `clock` or `store`.

    >>> from glasshouse import GlasshouseAnnealer, random_loops
    >>> plant = random_loops(20, 20, frustration="1/5", loop_density=0.4, rng=1)
    >>> def annealed(model, num_reads, num_sweeps, seed):  # a sweep takes 1 µs, a read 20 more
    ...     found = GlasshouseAnnealer().sample(model, num_reads=num_reads, num_sweeps=num_sweeps,
    ...                                           seed=seed)
    ...     found.info["timing"] = {"sweeps": num_reads * (20 + num_sweeps)}
    ...     return found
    >>> best = optimal_setting(annealed, plant, "num_sweeps", (1, 30, 3000), clock="sweeps",
    ...                        calls=2, batches=(1, 10), reads=100, by="work", rng=1)
    >>> best.value, best.is_at_edge
    (30, False)
    """
    if len(values) < 2 or len(set(values)) < len(values):
        raise ValueError(f"values={values!r:.60} must contain at least two values, all different")
    if by not in BY:
        raise ValueError(f"by={by!r} must be 'elapsed' or 'work'")
    fixed = dict(parameters or {})
    entries = {f"{parameter}={value}": (sampler, {**fixed, parameter: value}) for value in values}
    found = race_samplers(entries, suite, **options)
    times = {value: found.tts(f"{parameter}={value}", by=by) for value in values}
    # A value without successes has only a lower bound, and wins only if all values do.
    best = min(values, key=lambda value: (times[value].value, times[value].low))
    edge = best in (min(values), max(values))
    return OptimalSetting(parameter, best, times[best], by, tuple(values), edge, found)
