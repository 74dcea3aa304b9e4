"""`glasshouse study`: ensembles that survive a crash."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

from glasshouse.cli.collecting import collect_steps, refuse_both, refuse_lost
from glasshouse.cli.errors import CheckFailedError, StudyFileError
from glasshouse.cli.options import (
    Dask,
    Force,
    MaybePicture,
    OutputPath,
    Workers,
    command_group,
    is_pipe,
    say,
    target,
)
from glasshouse.cli.output import free_pictures, save_pictures, show_json

if TYPE_CHECKING:
    from concurrent.futures import Executor

    from glasshouse.store import StudyProgress
    from glasshouse.store.store import StoredTask

_WIDEST = 200

study = command_group(
    "study",
    """Measure hardness over ensembles of instances; plot, fit and export what was measured.

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
    json: bool = False,
) -> None:
    """Run a study, or go on where it stopped.

    Killed at any moment and started again, it ends with the table of an undisturbed run.

    For instance:

    ```
    glasshouse study run peak.toml -o peak.sqlite --workers 2
    glasshouse study run peak.toml -o peak.sqlite --dask tcp://host:8786
    ```

    Args:
        file: the study, in TOML (see docs/studies.md).
        output: the store; made when it is not there.
        scale: this many times the instances that the study asks for.
        batch_time_limit: seconds after which a batch on --workers counts as hanging.
        json: print one JSON object at the end.
    """
    from glasshouse.store import Store, iter_collect
    from glasshouse.studies.study import claim, load_study

    refuse_both(workers, dask)
    try:
        asked = load_study(file)
    except ValueError as error:
        raise StudyFileError(error) from error
    if scale != 1:
        asked = asked.scaled(scale)

    def start(executor: Executor | None) -> Iterator[StudyProgress]:
        with Store(output, write=True) as opened:  # not before the workers are there
            claim(opened, asked)
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
    """Show how far a study is.

    For instance:

    ```
    glasshouse study show peak.sqlite
    ```

    Args:
        store: the study's store.
        json: print one JSON object.
    """
    from glasshouse.store import Store
    from glasshouse.studies.export import plain_number

    with Store(store) as opened:
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
    print(f"{rows:,} of {wanted:,} instances, {done} of {len(found)} tasks, {seconds:,.0f} s")
    for one in found:
        if not one.task.is_finished:
            name = _task_name(one.task)
            print(f"  {one.rows:>8,} of {one.task.stop.instances:,}  {name}")


@study.command
def plot(
    store: Path,
    /,
    *,
    output: MaybePicture = None,
    force: Force = False,
) -> None:
    """Draw the figure of a study.

    For instance:

    ```
    glasshouse study plot peak.sqlite
    glasshouse study plot peak.sqlite -o peak.pdf
    ```

    Args:
        store: the study's store.
    """
    from glasshouse.store import Store
    from glasshouse.studies.charts import plot_study

    paths = free_pictures(output, store, force=force)
    with Store(store) as opened:
        figure: Any = plot_study(opened).figure
    save_pictures(figure, paths)


@study.command
def fit(store: Path, /) -> None:
    """Fit what a study is about: scaling laws with their odds, hardness peaks, with intervals.

    For instance:

    ```
    glasshouse study fit scaling.sqlite
    ```

    Args:
        store: the study's store.
    """
    from glasshouse.store import Store
    from glasshouse.studies.analysis import fit_study

    with Store(store) as opened:
        print(fit_study(opened).summary())


@study.command
def export(
    store: Path,
    /,
    *,
    csv: Path | None = None,
    parquet: Path | None = None,
    kind: str | None = None,
    force: Force = False,
) -> None:
    """Hand over all rows as a CSV or a Parquet file.

    For instance:

    ```
    glasshouse study export peak.sqlite --csv peak.csv
    glasshouse study export peak.sqlite --parquet peak.parquet
    ```

    Args:
        store: the study's store.
        csv: the CSV file to write, or `-` for standard output.
        parquet: the Parquet file to write (needs the extra `tables`).
        kind: which rows, such as shapes; hardness by default, or else what there is.
    """
    from glasshouse.files.text.streams import refuse_existing
    from glasshouse.store import Store
    from glasshouse.studies.export import export_csv, export_parquet

    if csv is None and parquet is None:
        raise ValueError("nothing to write; add --csv FILE or --parquet FILE")
    for file in (csv, parquet):
        if file is not None and not is_pipe(file):
            refuse_existing(file, overwrite=force and file.resolve() != store.resolve())
    with Store(store) as opened:
        if csv is not None:
            number = export_csv(opened, target(csv, "csv"), kind, overwrite=force)
            say(f"{csv}: {number:,} rows", csv)
        if parquet is not None:
            number = export_parquet(opened, parquet, kind)
            say(f"{parquet}: {number:,} rows", csv)


@study.command
def merge(target: Path, /, *sources: Path) -> None:
    """Add the rows of some stores, measured on several machines, to another one.

    For instance:

    ```
    glasshouse study merge all.sqlite first.sqlite second.sqlite
    ```

    Args:
        target: the store to add to; made when it is not there.
        sources: the stores to read; they are not changed.
    """
    from glasshouse.studies.merging import merge as merge_stores

    if not sources:
        raise ValueError("no store to merge; name one or more after the target")
    done = merge_stores(target, sources)
    print(f"{target}: {done.new_rows:,} new rows, {done.known_rows:,} known, {done.tasks} tasks")


@study.command
def check(store: Path, /) -> None:
    """Check that a store is whole: the file, its tasks, its rows.

    For instance:

    ```
    glasshouse study check peak.sqlite
    ```

    Args:
        store: the study's store.
    """
    from glasshouse.store import Store

    with Store(store) as opened:
        faults = opened.check()
    if faults:
        raise CheckFailedError(f"{store}: {'; '.join(faults)}")
    print(f"{store}: whole")


def _decimal(value: Any) -> Any:
    """A fraction such as 1/20 as 0.05; whatever else a store holds as it is."""
    from glasshouse.problems.ratio import decimal_text, ratio

    try:
        return decimal_text(ratio(value, "it")) if isinstance(value, str) else value
    except ValueError:
        return value


def _task_name(task: StoredTask) -> str:
    """What a task is about; the store may come from a stranger."""
    from glasshouse.store.records import without_codes

    values = " ".join(f"{k}={_decimal(v)}" for k, v in task.table("parameters").items())
    return without_codes(f"{task.description.get('method', '')} {values}"[:_WIDEST])
