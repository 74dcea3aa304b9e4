"""`glasshouse study`: crash-safe measurements of ensembles."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from glasshouse.cli.collecting import collect_steps, refuse_both, refuse_lost
from glasshouse.cli.errors import CheckFailedError, StudyFileError
from glasshouse.cli.options import (
    Dask,
    Force,
    MaybePicture,
    OutputPath,
    Workers,
    command_group,
)
from glasshouse.cli.output import free_pictures, save_pictures, show_json

if TYPE_CHECKING:
    from concurrent.futures import Executor

    from glasshouse.store import Store, StoredTask, StudyProgress

_WIDEST = 200
Statistic = Literal["median", "geometric_mean", "quantile_95", "paper_95", "mean"]

study = command_group(
    "study",
    """Measure the hardness of ensembles; plot and fit it.

    For instance:

    ```
    glasshouse study run peak.toml -o peak.sqlite --workers 2
    glasshouse study plot peak.sqlite
    glasshouse study fit peak.sqlite
    ```
    """,
)


@study.command
def run(
    file: Path,
    /,
    *,
    output: OutputPath,
    workers: Workers = None,
    dask: Dask = None,
    scale: float = 1.0,
    batch_time_limit: float = 3600.0,
    part: str | None = None,
    json: bool = False,
) -> None:
    """Run a study, or resume it.

    A study that was killed and started again ends with the same table as an uninterrupted run.

    For instance:

    ```
    glasshouse study run peak.toml -o peak.sqlite --workers 2
    glasshouse study run peak.toml -o peak.sqlite --dask tcp://host:8786
    glasshouse study run peak.toml -o part1.sqlite --part 1/3
    ```

    Args:
        file: the study, in TOML (see docs/studies.md).
        output: the store; created if it does not exist.
        scale: the factor by which the study's numbers of instances are multiplied.
        batch_time_limit: seconds after which a batch on --workers counts as hanging. A study with
            functions of the user (module:function) has at least one worker.
        part: I/N, the I-th of N disjoint parts of the tasks, for several computers: `glasshouse
            store merge` makes one store of all parts.
        json: print one JSON object at the end.
    """
    from glasshouse.store import Store, iter_collect
    from glasshouse.studies.study import load_study, reserve

    refuse_both(workers, dask)
    sys.path.insert(0, str(file.resolve().parent))  # the user's modules are searched here first
    try:
        asked = load_study(file)
    except ValueError as error:
        raise StudyFileError(error) from error
    if workers is None and dask is None and any(task.functions for task in asked.tasks):
        workers = 1  # a worker that hangs or dies can be replaced; this process cannot
    if scale != 1:
        asked = asked.scaled(scale)
    if part is not None:
        asked = asked.part(*_part(part))

    def start(executor: Executor | None) -> Iterator[StudyProgress]:
        with Store(output, write=True) as opened:  # opened once the workers exist
            reserve(opened, asked)
        return iter_collect(
            asked.tasks, output, executor=executor, workers=workers, timeout=batch_time_limit
        )

    last = collect_steps(start, output, dask=dask)
    if json:
        show_json(last)
    else:
        print(f"{output}: {last.rows:,} instances, {last.new_rows:,} of them new, "
              f"{last.tasks_done} of {last.tasks} tasks done in {last.seconds:.1f} s")  # fmt: skip
    refuse_lost(last, output)


@study.command
def show(store: Path, /, *, json: bool = False) -> None:
    """Show the progress of a study.

    For instance:

    ```
    glasshouse study show peak.sqlite
    ```

    Args:
        store: the study's store.
        json: print one JSON object.
    """
    from glasshouse.studies.export import plain_number

    with _opened(store) as opened:
        found = opened.status()
    rows = sum(one.rows for one in found)
    wanted = sum(one.task.stop.instances for one in found)
    seconds = sum(one.seconds for one in found)
    if json:
        tasks = [
            {"task_id": one.task.task_id, "rows": one.rows, "wanted": one.task.stop.instances,
             "finished": one.task.is_finished, "solved": one.counted, "seconds": one.seconds,
             "method": one.task.description.get("method"),
             "parameters": {name: plain_number(value)
                            for name, value in one.task.table("parameters").items()}}
            for one in found
        ]  # fmt: skip
        show_json({"rows": rows, "wanted": wanted, "seconds": seconds, "tasks": tasks})
        return
    done = sum(one.task.is_finished for one in found)
    more = f"{rows:,} instances, more than the {wanted:,} requested"
    counted = more if rows > wanted else f"{rows:,} of {wanted:,} instances"
    print(f"{counted}, {done} of {len(found)} tasks, {seconds:,.0f} s")
    for one in found:
        if not one.task.is_finished:
            name = _task_name(one.task)
            print(f"  {one.rows:>8,} of {one.task.stop.instances:,}  {name}")


@study.command
def plot(
    store: Path,
    /,
    *,
    axis: str | None = None,
    statistic: Statistic | None = None,
    value: str | None = None,
    output: MaybePicture = None,
    force: Force = False,
) -> None:
    """Draw the figure of a study.

    For instance:

    ```
    glasshouse study plot peak.sqlite
    glasshouse study plot peak.sqlite --axis n --statistic median -o peak.pdf
    ```

    Args:
        store: the study's store.
        axis: the quantity along x: density, size, or a parameter such as n or alpha; by default,
            as in the study (`figure`).
        statistic: the statistic of the hardness of instances; by default, as in the study.
        value: the column to show, such as specific_heat; by default, as in the study.
    """
    from glasshouse.studies.charts import plot_study
    from glasshouse.studies.study import heading_of

    with _opened(store) as opened:
        paths = free_pictures(output, store, force=force)
        shown = heading_of(opened).along(axis, statistic, value)
        figure: Any = plot_study(opened, study=shown).figure
    save_pictures(figure, paths)


@study.command
def fit(
    store: Path,
    /,
    *,
    axis: str | None = None,
    statistic: Statistic | None = None,
    value: str | None = None,
    json: bool = False,
) -> None:
    """Fit a study's main result, with intervals: scaling laws, limits or peaks.

    Along size, n or L, positive quantities have scaling laws, which are compared by their odds, and
    means have a limit in 1/L. Along density or any other parameter, the fit is a peak.

    For instance:

    ```
    glasshouse study fit scaling.sqlite
    glasshouse study fit glasses.sqlite --axis L --statistic mean
    ```

    Args:
        store: the study's store.
        axis: density, size, or a parameter such as n or alpha; by default, as in the study.
        statistic: the statistic of the hardness to fit; by default, as in the study.
        value: the column to fit, such as specific_heat; by default, as in the study.
        json: print one JSON object.
    """
    from glasshouse.studies.analysis import fit_study
    from glasshouse.studies.study import heading_of

    with _opened(store) as opened:
        found = fit_study(opened, heading_of(opened).along(axis, statistic, value))
    if found.is_empty:
        said = "; ".join(found.notes) or "no task has rows along this axis"
        raise CheckFailedError(f"{store}: nothing could be fitted: {said}")
    if json:
        show_json(found)
    else:
        print(found.summary())


def _part(text: str) -> tuple[int, int]:
    """Parse a text I/N, and return I and N."""
    first, is_two, second = text.partition("/")
    if not (is_two and first.isdecimal() and second.isdecimal()):
        raise ValueError(f"--part {text} must be I/N, such as 1/3")
    return int(first), int(second)


@contextmanager
def _opened(path: Path) -> Iterator[Store]:
    """Open the store of a study; refuse stores of races or of trained RBMs."""
    from glasshouse.store import Store
    from glasshouse.store.purpose import STUDY

    with Store(path) as store:
        if other := [purpose for purpose in store.purposes if purpose is not STUDY]:
            raise ValueError(f"{path} contains {other[0].words}, not a study")
        yield store


def _decimal(value: Any) -> Any:
    """Convert a fraction such as 1/20 to 0.05; return any other value unchanged."""
    from glasshouse.problems.ratio import decimal_text, ratio

    try:
        return decimal_text(ratio(value, "it")) if isinstance(value, str) else value
    except ValueError:
        return value


def _task_name(task: StoredTask) -> str:
    """Return a printable name of a task, because its store may come from an untrusted source."""
    from glasshouse.store.records import without_codes

    values = " ".join(f"{k}={_decimal(v)}" for k, v in task.table("parameters").items())
    return without_codes(f"{task.description.get('method', '')} {values}"[:_WIDEST])
