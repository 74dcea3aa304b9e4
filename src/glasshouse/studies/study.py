"""Studies as TOML files: families of instances, a solver, stop rules.

    name = "hardness-peak"
    title = "Sweeps to solution over loop density"
    figure = "density"
    statistic = "paper_95"
    seed = 1

    [solver]
    sweeps_per_run = "paper-first"

    [stop]
    instances = 400

    [[family]]
    method = "random_loops"
    parameters = { frustration = "1/20" }
    grid = { n = [30, 50], loop_density = { first = 0.112, ratio = 1.12, count = 20 } }

`grid` gives every combination of its lists. A range is `{first, last, step}` or `{first, ratio,
count}`; `loop_density = "peak"` is the paper's peak density of n. Unknown keys are refused.
"""

from __future__ import annotations

import itertools
import math
import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from decimal import Decimal, localcontext
from fractions import Fraction
from pathlib import Path
from typing import Any, get_args

from glasshouse.files.errors import FileError
from glasshouse.files.streams import opened
from glasshouse.landscape.ratio import ratio
from glasshouse.solvers import peak_density
from glasshouse.studies.kinds import KINDS
from glasshouse.studies.kinds.hardness import HARDNESS, Annealer
from glasshouse.studies.kinds.kind import Stop
from glasshouse.studies.statistics.estimators import STATISTICS, Statistic
from glasshouse.studies.store.store import Store
from glasshouse.studies.store.stored_tasks import task_of
from glasshouse.studies.store.storefile import StoreError, one_line
from glasshouse.studies.task import Task
from glasshouse.summaries import Summarised

# What `study plot` draws: the parameter along the axis.
FIGURES = ("density", "size", "frustration", "none")

_STUDY_KEYS = {
    "name", "title", "figure", "statistic", "seed", "measures", "solver", "stop", "family",
}  # fmt: skip
_FAMILY_KEYS = {"method", "parameters", "grid", "solver", "stop"}
_MOST_TASKS = 100_000
_LONGEST_WORD = 1000
# Densities of a geometric range are rounded: 0.1·1.12^80 as an exact fraction has 200 digits.
_DIGITS = 6


@dataclass(frozen=True, repr=False)
class Study(Summarised):
    """What to measure, and how to look at it.

    Attributes:
        name: for files.
        title: for figures.
        figure: the parameter along the axis: "density", "size", "frustration" or "none".
        statistic: what is plotted and fitted.
        tasks: all of them.
        text: the TOML it was read from; stores keep it.
    """

    name: str
    title: str
    figure: str
    statistic: Statistic
    tasks: tuple[Task, ...]
    text: str = field(repr=False)

    def scaled(self, scale: float, least: int = 20) -> Study:
        """The same study with fewer (or more) instances per task, but at least `least`."""
        if not (math.isfinite(scale) and scale > 0):
            raise ValueError(f"scale={scale} must be above 0; 1 is the study as it is written")
        tasks = []
        for task in self.tasks:
            wanted = max(min(least, task.stop.instances), round(scale * task.stop.instances))
            tasks.append(task.with_stop(replace(task.stop, instances=wanted)))
        return replace(self, tasks=tuple(tasks))


def load_study(path: str | Path) -> Study:
    """Read a study from a TOML file; errors name the file."""
    place = Path(path)
    try:
        with opened(place) as source:
            text = source.read_all().decode("utf-8")
    except UnicodeDecodeError:
        raise FileError(place, "is not a text file; expected a study in TOML") from None
    return parse_study(text, str(place))


def parse_study(text: str, source: str = "study") -> Study:
    """Read a study from TOML text.

    >>> study = parse_study('''
    ... name = "tiny"
    ... [stop]
    ... instances = 10
    ... [[family]]
    ... method = "random_loops"
    ... parameters = { frustration = 0.1 }
    ... grid = { n = [10, 20], loop_density = [0.3, 0.5] }
    ... ''')
    >>> [(task.parameters["n"], task.parameters["loop_density"]) for task in study.tasks]
    [(10, '3/10'), (10, '1/2'), (20, '3/10'), (20, '1/2')]
    """
    values = _toml(text, source)
    try:
        return _study(values, text)
    except ValueError as error:
        raise ValueError(f"{source}: {error}") from error


def _toml(text: str, source: str) -> dict[str, Any]:
    try:
        return tomllib.loads(text)
    except RecursionError:
        raise ValueError(f"{source} is nested too deeply") from None
    except ValueError as error:  # not TOML, or numbers of thousands of digits
        raise ValueError(f"{source} is not TOML: {error}") from None


def study_of(store: Store) -> Study:
    """The study that a store was collected for; a plain one for tasks without a study."""
    text = store.noted("study")
    if text is not None:
        return parse_study(text, f"the study in {store.path}")
    tasks = tuple(task_of(task) for task in store.tasks() if task.kind in KINDS)
    return replace(_plain_study(store), tasks=tasks)


def claim(store: Store, study: Study) -> None:
    """Remember in a store which study it is for; a store that holds another one is refused."""
    held = store.noted("study")
    if held == study.text:
        return
    name = study.name if held is None else heading_of(store).name
    if name != study.name:
        raise StoreError(
            f"{store.path} holds the study {name!r}, not {study.name!r}; use another store"
        )
    if study.text:
        store.note("study", study.text)


def heading_of(store: Store) -> Study:
    """The study that a store was collected for, without its tasks: how to look at it."""
    text = store.noted("study")
    if text is None:
        return _plain_study(store)
    source = f"the study in {store.path}"
    try:
        return _heading(_toml(text, source), text)
    except ValueError as error:
        raise StoreError(f"{source}: {one_line(error)}") from error


def _plain_study(store: Store) -> Study:
    return Study(store.path.stem, store.path.stem, "none", "geometric_mean", (), "")


def _study(values: dict[str, Any], text: str) -> Study:
    return replace(_heading(values, text), tasks=_all_tasks(values))


def _heading(values: dict[str, Any], text: str) -> Study:
    """All of a study but its tasks."""
    _refuse_unknown(values, _STUDY_KEYS, "the study")
    name = _word(values.get("name"), "name")
    figure = values.get("figure", "none")
    if figure not in FIGURES:
        raise ValueError(f"figure={figure!r} is not one of {', '.join(FIGURES)}")
    statistic = values.get("statistic", "geometric_mean")
    if statistic not in STATISTICS:
        raise ValueError(f"statistic={statistic!r} is not one of {', '.join(get_args(Statistic))}")
    title = _word(values.get("title", name), "title")
    return Study(name, title, figure, statistic, (), text)


def _all_tasks(values: dict[str, Any]) -> tuple[Task, ...]:
    KINDS.find(values.get("measures", HARDNESS.name), "measures")
    families = values.get("family")
    if not isinstance(families, list) or not families:
        raise ValueError("a study needs at least one [[family]]")
    tasks: dict[str, Task] = {}
    for number, family in enumerate(families, start=1):
        try:
            for task in _tasks(values, family):
                tasks.setdefault(task.task_id, task)
        except ValueError as error:
            raise ValueError(f"family {number}: {error}") from error
        if len(tasks) > _MOST_TASKS:
            raise ValueError(f"more than {_MOST_TASKS} tasks; split the study")
    return tuple(tasks.values())


def _tasks(study: Mapping[str, Any], family: object) -> Iterator[Task]:
    family = _table(family, _FAMILY_KEYS, "a family")
    measures = study.get("measures", HARDNESS.name)
    solver = None
    settings = _settings(study, family, "solver")
    if KINDS[measures].solves:
        solver = Annealer(**_fields(Annealer, settings, "solver"))
    elif settings:
        raise ValueError(f"{measures} are measured without a solver; leave [solver] out")
    rules = {"instances": 100} | _settings(study, family, "stop")
    stop = Stop(**_fields(Stop, rules, "stop"))
    fixed = _table(family.get("parameters", {}), None, "parameters")
    axes = {
        name: _axis(name, values)
        for name, values in _table(family.get("grid", {}), None, "grid").items()
    }
    both = sorted(set(fixed) & set(axes))
    if both:
        raise ValueError(f"{', '.join(both)} stands in parameters and in grid; keep one")
    if math.prod(len(axis) for axis in axes.values()) > _MOST_TASKS:
        raise ValueError(f"the grid has more than {_MOST_TASKS} combinations; split the study")
    seed = study.get("seed", 0)
    for combination in itertools.product(*axes.values()):
        parameters = fixed | dict(zip(axes, combination, strict=True))
        if parameters.get("loop_density") == "peak":
            if "n" not in parameters:
                raise ValueError('loop_density = "peak" needs n, which this family does not have')
            parameters["loop_density"] = str(round(Decimal(peak_density(parameters["n"])), 4))
        yield Task(_word(family.get("method"), "method"), parameters, measures, solver, seed, stop)


def _settings(study: Mapping[str, Any], family: Mapping[str, Any], name: str) -> dict[str, Any]:
    """A table of the study, with what the family says instead."""
    return _table(study.get(name, {}), None, name) | _table(family.get(name, {}), None, name)


def _axis(name: str, values: object) -> list[Any]:
    """The values along one axis of a grid."""
    if isinstance(values, list):
        if not values:
            raise ValueError(f"grid.{name} is empty")
        return values
    if not isinstance(values, dict):
        return [values]
    keys = set(values)
    try:
        numbers = {key: ratio(value, f"grid.{name}.{key}") for key, value in values.items()}
    except ValueError:
        raise ValueError(f"grid.{name}={values} must hold numbers") from None
    first = numbers.get("first", Fraction(0))
    if keys == {"first", "last", "step"} and numbers["step"] > 0:
        count = math.floor((numbers["last"] - first) / numbers["step"]) + 1
        return [_plain(first + k * numbers["step"]) for k in range(_length(name, count))]
    if keys == {"first", "ratio", "count"} and numbers["ratio"] > 0:
        count = _length(name, int(numbers["count"]))
        with localcontext(prec=40):  # more than enough, the same everywhere, and bounded
            start, factor = (
                Decimal(number.numerator) / Decimal(number.denominator)
                for number in (first, numbers["ratio"])
            )
            return [_plain(Fraction(start * factor**k)) for k in range(count)]
    raise ValueError(
        f"grid.{name}={values} is no range; give {{first, last, step}} or {{first, ratio, count}}"
    )


def _length(name: str, count: int) -> int:
    if not 1 <= count <= _MOST_TASKS:
        raise ValueError(f"grid.{name} has {count} values; give 1 to {_MOST_TASKS}")
    return count


def _plain(number: Fraction) -> int | str:
    rounded = round(number, _DIGITS)
    return int(rounded) if rounded.denominator == 1 else str(rounded)


def _shortened(text: str, most: int = 200) -> str:
    return text if len(text) <= most else f"{text[:most]}…"


def _refuse_unknown(values: Mapping[str, Any], known: set[str], where: str) -> None:
    unknown = sorted(set(values) - known)
    if unknown:
        raise ValueError(
            f"{where} has unknown keys {_shortened(', '.join(unknown))}; known are "
            f"{', '.join(sorted(known))}"
        )


def _table(value: object, known: set[str] | None, where: str) -> dict[str, Any]:
    if not isinstance(value, dict):
        raise ValueError(f"{where} must be a table, not {value!r}")
    if known is not None:
        _refuse_unknown(value, known, where)
    return dict(value)


def _fields(kind: type, values: dict[str, Any], where: str) -> dict[str, Any]:
    _refuse_unknown(values, set(kind.__dataclass_fields__), where)  # type: ignore[attr-defined]
    return values


def _word(value: object, name: str) -> str:
    if not isinstance(value, str) or not value.strip():
        raise ValueError(f"{name}={value!r} must be some text")
    if len(value) > _LONGEST_WORD:
        raise ValueError(f"{name} has {len(value)} characters; use at most {_LONGEST_WORD}")
    return value
