"""`glasshouse tune`: find instances of a chosen hardness."""

from __future__ import annotations

import shlex
from collections.abc import Collection, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

from cyclopts import Parameter

from glasshouse.cli.console import bar
from glasshouse.cli.errors import CheckFailedError
from glasshouse.cli.instances import Output
from glasshouse.cli.options import MaybeOutputPath, MaybeWhole, Whole, whole
from glasshouse.cli.output import show_json
from glasshouse.cli.plant import grow, named_graph, typed

if TYPE_CHECKING:
    from glasshouse.planting.method import Method
    from glasshouse.studies.tuning import Tuned, TuningProgress


def tune(
    *,
    n: Annotated[int | None, Parameter(name=["--n", "-n"], converter=whole)] = None,
    graph: str | None = None,
    target_sweeps: float,
    method: str | None = None,
    knob: str | None = None,
    frustration: Annotated[str | None, Parameter(name=["--frustration", "-f"])] = None,
    parameter: Annotated[list[str] | None, Parameter(name=["--parameter", "-p"])] = None,
    statistic: Literal["median", "geometric_mean", "quantile_95", "paper_95"] = "median",
    tolerance: float = 0.15,
    seed: Whole = 1,
    output: MaybeOutputPath = None,
    count: MaybeWhole = None,
    format: str | None = None,
    json: bool = False,
) -> None:
    """Find and plant instances of a chosen hardness.

    Varies one knob, and solves as many instances at each setting as it takes to be sure. Hardness
    is the number of sweeps that simulated annealing needs: with the paper's schedule for loops,
    with runs of 1000 sweeps over the range of `solve` for methods with their own knob. A target
    that the knob cannot reach is refused early. Ctrl-C prints the best setting so far. Ends with
    exit code 1, and plants nothing, if no setting is within the tolerance.

    For instance:

    ```
    glasshouse tune -n 100 --target-sweeps 1e4
    glasshouse tune -n 40 --target-sweeps 1e5 --knob block -f 0.23 -p loop_density=10
    glasshouse tune --graph torus:8x8 -p length=4 --target-sweeps 300
    glasshouse tune --graph "pegasus:6 without 3,17" --target-sweeps 1e5 --tolerance 0.5
    glasshouse tune -n 60 --target-sweeps 1000 -o suite --count 100
    glasshouse tune --method wishart -n 32 --knob alpha --target-sweeps 2000 --tolerance 0.3
    glasshouse tune --method xorsat --knob n --target-sweeps 5000 --tolerance 0.3
    ```

    Args:
        n: visible spins, and as many hidden ones; all spins for methods that make their own graph.
        graph: a graph's name, such as torus:8x8, or a file of edges; instead of -n.
        target_sweeps: the required hardness.
        method: a planting method, such as wishart; by default random loops, or loops on a graph.
        knob: the parameter to vary: frustration, loop_density or block of loops, or another knob of
            the method; by default its first knob. If loop_density is neither given nor varied, it
            is the peak density. On a graph, the knob and its range are such that weights are small.
        frustration: the fraction of violated weight of all instances, if another knob is varied.
        parameter: any other parameter of the method, as NAME=VALUE, such as block=0.3 of structured
            loops, or length=4 of loops on a graph; may be repeated.
        statistic: the statistic of the hardness of instances. Half of the instances need more
            sweeps than the median.
        tolerance: the allowed deviation of the measured value, as a fraction of the target.
        seed: an integer that fixes all randomness.
        output: a folder for a suite of such instances; needs --count.
        count: the number of instances to plant there.
        format: the format of the suite's files; wcnf by default.
        json: print one JSON object, and one per planted instance.
    """
    from glasshouse.studies.knobs import usual_knob
    from glasshouse.studies.tuning import tune as search

    if (n is None) == (graph is None) and (n is not None or method is None):
        raise ValueError("use either -n or --graph")
    if (output is None) != (count is None):
        raise ValueError("a suite needs both --count and -o DIR; add the missing one")
    if format is not None and output is None:
        raise ValueError("--format applies to files, but no file is written; add -o DIR --count K")
    if output is not None and (output / "manifest.jsonl").exists():  # before the long search
        raise ValueError(f"{output} already contains a suite; name another folder")
    given: dict[str, Any] = {"frustration": frustration}
    given |= _named(parameter or [], given)
    asked = {name for name, value in given.items() if value is not None}
    method = _by_command(method, asked | ({knob.replace("-", "_")} if knob else set()))
    if knob is not None or graph is None or method is not None or "block" in asked:
        knob = usual_knob(method) if knob is None else knob.replace("-", "_")
    if knob is not None and given.pop(knob, None) is not None:
        raise ValueError(f"--knob {knob} varies this parameter; remove the option that sets it")
    parameters = {name: value for name, value in given.items() if value is not None}
    with _progress() as progress:
        found = search(
            n if graph is None else named_graph(graph), target_sweeps, knob=knob, method=method,
            parameters=parameters, statistic=statistic, tolerance=tolerance, rng=seed,
            progress=progress,
        )  # fmt: skip
    line = _plant_line(found, graph, seed, count, output, format)
    if json:
        show_json(_values(found, line))
    else:
        print(found.summary())
    if not found.is_within_tolerance:
        off = abs(found.estimate.value / found.target - 1)
        raise CheckFailedError(
            f"{found.estimate} is {off:.0%} off the target {found.target:g}, outside the tolerance "
            f"of {tolerance:.0%}; no setting that was tried is closer; try another size or knob. "
            f"To plant it anyway: {line}"
        )
    if not json:
        print(line)
    if output is not None:
        method, where = found.task.method, {} if graph is None else {"graph": named_graph(graph)}
        suite = Output(seed=seed, count=count, output=output, format=format, json=json)
        grow(method, suite, **{**found.task.parameters, **where})


def _by_command(word: str | None, asked: Collection[str]) -> str | None:
    """Return a method by its name, or by the word after `glasshouse plant`.

    The requested parameters distinguish methods that share a word: the method that takes them and
        needs the fewest others.
    """
    from glasshouse.planting import METHODS

    named = [one for one in METHODS.values() if one.command == word]
    if not named:
        return word
    fitting = [one for one in named if set(asked) <= set(one.parameters)]
    return min(fitting or named, key=_number_needed).name


def _number_needed(method: Method) -> int:
    """Return the number of required parameters of a method."""
    return sum(one.default is one.empty for one in method.parameters.values())


def _named(words: list[str], given: Mapping[str, object]) -> dict[str, str]:
    """Parse parameters in the form NAME=VALUE."""
    named: dict[str, str] = {}
    for word in words:
        name, is_set, value = word.partition("=")
        name = name.strip().replace("-", "_")
        if not (name and is_set and value.strip()):
            raise ValueError(f"--parameter {word} must have the form NAME=VALUE, such as block=6")
        if name in named or given.get(name) is not None:
            raise ValueError(f"{name} is given twice; remove one of them")
        named[name] = value.strip()
    return named


def _values(found: Tuned, line: str) -> dict[str, Any]:
    return {
        "method": found.task.method, "parameters": dict(found.task.parameters),
        "statistic": found.statistic, "value": found.estimate.value, "low": found.estimate.low,
        "high": found.estimate.high, "target": found.target,
        "within_tolerance": found.is_within_tolerance, "instances": found.instances,
        "sweeps": found.sweeps, "seconds": found.seconds, "plant": line,
    }  # fmt: skip


def _plant_line(
    found: Tuned, graph: str | None, seed: int, count: int | None, output: Path | None,
    format: str | None,
) -> str:  # fmt: skip
    """Return the command that plants the result; the same seed plants the same bytes."""
    from glasshouse.planting import METHODS
    from glasshouse.suites.family import as_typed

    parameters = {name: as_typed(value) for name, value in found.task.parameters.items()}
    where = {} if graph is None else {"graph": graph}
    words = ["glasshouse", *typed(METHODS[found.task.method], where | parameters | where)]
    words += ["--seed", str(seed), "--count", str(count or 10)]
    words += ["-o", str(output or "suite")]
    return shlex.join(words + ([] if format is None else ["--format", format]))


@contextmanager
def _progress() -> Iterator[Any]:
    """Yield a function that shows the current and the best setting; None without a terminal."""
    from rich.progress import BarColumn, TextColumn, TimeElapsedColumn

    with bar(TextColumn("{task.description}"), BarColumn(), TimeElapsedColumn()) as shown:
        task = shown.add_task("searching the range of the knob", total=1.0)

        def report(at: TuningProgress) -> None:
            best = "" if at.best is None else f"; best {at.best.estimate.value:.4g} sweeps"
            at_setting = f"at {float(at.setting):g}, {at.instances} instances{best}"
            shown.update(task, completed=at.fraction, description=at_setting)

        yield None if shown.disable else report
