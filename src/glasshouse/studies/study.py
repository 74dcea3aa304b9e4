"""Studies as TOML files: families of instances, a solver and stop rules.

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

`suites/grammar` describes how families are written. Unknown keys are refused.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Any, get_args

from glasshouse.planting import METHODS
from glasshouse.problems.validation import INT64_MAX
from glasshouse.statistics.estimators import STATISTICS, Statistic
from glasshouse.store import Stop, Store, StoreError, damaged, one_line
from glasshouse.store.purpose import STUDY
from glasshouse.studies.ensembles import ENSEMBLES, own_function
from glasshouse.studies.quantities import KINDS
from glasshouse.studies.quantities.hardness import HARDNESS
from glasshouse.studies.task import Task, settings_of, task_of
from glasshouse.suites.grammar import (
    MOST_COMBINATIONS,
    combinations,
    each_family,
    is_own,
    parse_toml,
    read_toml,
    refuse_unknown,
    table,
    word,
)
from glasshouse.summaries import Summarised

# What `study plot` draws: the parameter along the axis; or any parameter of a planting method.
FIGURES = ("density", "size", "frustration", "none")
_SCALE = "study scale"


def is_axis(name: object) -> bool:
    """Return whether a figure can have this axis: a size, a density, or a method's parameter."""
    if not isinstance(name, str) or name == "none":
        return False
    known = [*METHODS.values()], [*ENSEMBLES.values()]
    return name in (*FIGURES, "beta") or any(
        name in one.parameters for sources in known for one in sources
    )


_STUDY_KEYS = {
    "name", "title", "figure", "statistic", "value", "seed", "measures", "solver", "stop", "family",
}  # fmt: skip
_FAMILY_KEYS = {"method", "parameters", "grid", "solver", "stop"}


@dataclass(frozen=True, repr=False)
class Study(Summarised):
    """A study: what to measure, and how to show it.

    Attributes:
        name: the name that file names contain.
        title: the title of figures.
        figure: the axis of the figure: "density", "size", a parameter such as "frustration" or
            "alpha", or "none".
        statistic: the statistic that is plotted and fitted.
        tasks: all tasks.
        text: the TOML text from which the study was read; stores keep this text.
        scale: the factor by which the numbers of instances in `text` are multiplied.
        value: the column that the statistic is about; None for the quantity's own.
    """

    name: str
    title: str
    figure: str
    statistic: Statistic
    tasks: tuple[Task, ...]
    text: str = field(repr=False)
    scale: float = 1.0
    value: str | None = None

    def scaled(self, scale: float, least: int = 20) -> Study:
        """Return the study with `scale` times its instances per task, but at least `least`."""
        if not (math.isfinite(scale) and scale > 0):
            raise ValueError(f"scale={scale} must be above 0; 1 keeps the study's own numbers")
        tasks = []
        for task in self.tasks:
            wanted = max(min(least, task.stop.instances), round(scale * task.stop.instances))
            tasks.append(task.with_stop(replace(task.stop, instances=wanted)))
        return replace(self, tasks=tuple(tasks), scale=self.scale * scale)

    def part(self, index: int, count: int) -> Study:
        """Return the study with only part `index` (from 1) of `count` parts of its tasks.

        Task k belongs to part k mod `count`, whatever computes it, so the parts of all computers
        merge to the rows of one run.
        """
        if not 1 <= index <= count <= len(self.tasks):
            raise ValueError(
                f"part={index}/{count} must be I/N with 1 ≤ I ≤ N ≤ {len(self.tasks)}, the number "
                "of tasks of this study"
            )
        return replace(self, tasks=self.tasks[index - 1 :: count])

    def along(
        self, axis: str | None, statistic: Statistic | None, value: str | None = None
    ) -> Study:
        """Return the study with a different axis, statistic or column; None keeps the old one."""
        if axis is not None and not is_axis(axis):
            raise ValueError(
                f"axis={axis} must be density, size, frustration or a method's parameter"
            )
        usual = self.statistic if value in (None, self.value) else "mean"
        return replace(
            self, figure=axis or self.figure, statistic=statistic or usual,
            value=value or self.value,
        )  # fmt: skip


def load_study(path: str | Path) -> Study:
    """Read a study from a TOML file; errors name the file.

    Functions of the user that the study names (`module:function`) are imported. Nothing else
    imports them before they are called: a store from an untrusted source runs no code.
    """
    study = parse_study(read_toml(Path(path)), str(path))
    try:
        for task in study.tasks if study.value is not None else ():
            task.quantity.about(study.value)
        for name in dict.fromkeys(name for task in study.tasks for name in task.functions):
            own_function(name)
    except ValueError as error:
        raise ValueError(f"{path}: {error}") from error
    return study


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
    return parse_toml(text, source, lambda values: _study(values, text))


def study_of(store: Store) -> Study:
    """Return a store's study, or one with default figures if the store has only tasks."""
    text = store.noted(STUDY.note)
    if text is not None:
        return parse_study(text, f"the study in {store.path}")
    known = (
        one for one in store.tasks() if one.kind in KINDS or is_own(one.description.get("measures"))
    )
    tasks = tuple(map(task_of, known))
    return replace(_plain_study(store), tasks=tasks)


def reserve(store: Store, study: Study) -> None:
    """Record in a store which study it belongs to; raise if it belongs to a different study."""
    held = store.reserve(STUDY)
    if held is not None and held != study.text:
        _refuse_other_name(store, heading_of(store).name, study.name)
    with store.transaction():
        if study.text and held != study.text:
            store.note(STUDY.note, study.text)
        if study.scale != _scale_of(store):
            store.note(_SCALE, repr(study.scale))


def join_studies(into: Store, source: Store) -> None:
    """Add a source store's study to the target; raise if the target's study has another name."""
    text, heading = source.noted(STUDY.note), heading_of(source)
    if text is None:
        return
    if into.noted(STUDY.note) is None:
        into.note(STUDY.note, text)
    else:
        _refuse_other_name(source, heading.name, heading_of(into).name)
    scale = max(_scale_of(into), _scale_of(source))  # as the larger stop rules are kept
    if scale != _scale_of(into):
        into.note(_SCALE, repr(scale))


def _refuse_other_name(store: Store, held: str, asked: str) -> None:
    if held != asked:
        raise StoreError(f"{store.path} holds the study {held!r}, not {asked!r}; use another store")


def _scale_of(store: Store) -> float:
    """Return the factor that multiplies the numbers of instances in the text of a study."""
    text = store.noted(_SCALE)
    try:
        scale = 1.0 if text is None else float(text)
        if not (math.isfinite(scale) and scale > 0):
            raise ValueError(f"the scale of its study must be above 0, not {scale}")
    except ValueError as fault:
        raise damaged(store.path, fault) from None
    return scale


def heading_of(store: Store) -> Study:
    """Return a store's study without tasks, which suffices to show its results."""
    text = store.noted(STUDY.note)
    if text is None:
        return _plain_study(store)
    scale = _scale_of(store)
    try:
        heading = parse_toml(
            text, f"the study in {store.path}", lambda values: _heading(values, text)
        )
        return replace(heading, scale=scale)
    except ValueError as error:
        raise StoreError(one_line(error)) from error


def _usual_statistic(measures: object) -> Statistic:
    """Return the default statistic of a quantity, which is shown if a study names none."""
    is_positive = isinstance(measures, str) and measures in KINDS and not KINDS[measures].signed
    return "geometric_mean" if is_positive else "mean"


def _plain_study(store: Store) -> Study:
    kinds = {_usual_statistic(kind) for kind in store.kinds}
    usual: Statistic = "mean" if kinds == {"mean"} else "geometric_mean"
    return Study(store.path.stem, store.path.stem, "none", usual, (), "")


def _study(values: dict[str, Any], text: str) -> Study:
    return replace(_heading(values, text), tasks=_all_tasks(values))


def _heading(values: dict[str, Any], text: str) -> Study:
    """Return the study that parsed TOML describes, without its tasks."""
    refuse_unknown(values, _STUDY_KEYS, "the study")
    name = word(values.get("name"), "name")
    figure = values.get("figure", "none")
    if figure != "none" and not is_axis(figure):
        raise ValueError(
            f"figure={figure!r} must be one of {', '.join(FIGURES)} or a method's parameter"
        )
    measures = values.get("measures", HARDNESS.name)
    statistic = values.get("statistic", _usual_statistic(measures))
    if statistic not in STATISTICS:
        raise ValueError(f"statistic={statistic!r} is not one of {', '.join(get_args(Statistic))}")
    title = word(values.get("title", name), "title")
    value = values.get("value")
    if value is not None:
        value = word(value, "value")
        statistic = values.get("statistic", "mean")
    return Study(name, title, figure, statistic, (), text, value=value)


def _all_tasks(values: dict[str, Any]) -> tuple[Task, ...]:
    settings_of(values.get("measures", HARDNESS.name))
    tasks: dict[str, Task] = {}
    for task in each_family(values, partial(_tasks, values), "study"):
        tasks.setdefault(task.task_id, task)
        if len(tasks) > MOST_COMBINATIONS:
            raise ValueError(f"a study has more than {MOST_COMBINATIONS} tasks; split it")
    return tuple(tasks.values())


def _tasks(study: Mapping[str, Any], family: object) -> Iterator[Task]:
    family = table(family, _FAMILY_KEYS, "a family")
    measures = study.get("measures", HARDNESS.name)
    kind, settings = settings_of(measures), _settings(study, family, "solver")
    if kind is None and settings:
        raise ValueError(f"measures={measures!r} uses no solver; remove [solver]")
    solvers = [None]
    if kind is not None:
        solver = kind(**_fields(kind, settings, "solver"))
        solvers = solver.each() if hasattr(solver, "each") else [solver]
    method, seed = word(family.get("method"), "method"), study.get("seed", 0)
    usual = INT64_MAX if method == "files" else 100  # all files of a folder
    rules = {"instances": usual} | _settings(study, family, "stop")
    if "relative_error" in rules and "statistic" in study:  # the statistic that is shown by default
        rules.setdefault("statistic", study["statistic"])
    stop = Stop(**_fields(Stop, rules, "stop"))
    for parameters in combinations(family):
        for solver in solvers:
            yield Task(method, parameters, measures, solver, seed, stop)


def _settings(study: Mapping[str, Any], family: Mapping[str, Any], name: str) -> dict[str, Any]:
    """Return a table of the study, in which the family's own values take precedence."""
    return table(study.get(name, {}), None, name) | table(family.get(name, {}), None, name)


def _fields(kind: type, values: dict[str, Any], where: str) -> dict[str, Any]:
    known = {name for name, one in kind.__dataclass_fields__.items() if one.init}  # type: ignore[attr-defined]
    refuse_unknown(values, known, where)
    return values
