"""`glasshouse store`: commands for stores of every kind."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

from cyclopts import Parameter

from glasshouse.cli.errors import CheckFailedError
from glasshouse.cli.options import Force, OutputPath, command_group, is_pipe, say, target

if TYPE_CHECKING:
    from glasshouse.files.text.streams import Place
    from glasshouse.store import Store

store = command_group(
    "store",
    """Export, merge, copy and check stores.

    A store belongs to a study, a race, a race of samplers, or trained RBMs.

    For instance:

    ```
    glasshouse store export peak.sqlite -o peak.csv
    glasshouse store merge all.sqlite first.sqlite second.sqlite
    glasshouse store check peak.sqlite
    ```
    """,
)


@store.command
def export(
    store: Path,
    /,
    *,
    output: OutputPath,
    rows: str | None = None,
    form: Annotated[Literal["rows", "curves", "time-series"], Parameter(name="--as")] = "rows",
    force: Force = False,
) -> None:
    """Export a store as CSV or Parquet, or the incumbents of a race as JSON files.

    For instance:

    ```
    glasshouse store export peak.sqlite -o peak.csv
    glasshouse store export race.sqlite -o race.parquet
    glasshouse store export run.sqlite --as curves -o curves.csv
    glasshouse store export race.sqlite --as time-series -o series/
    ```

    Args:
        store: the store of a study, a race, a race of samplers, or trained RBMs.
        output: a file that ends in .csv or .parquet (needs the extra `tables`), or `-` for CSV on
            standard output; for --as time-series, a folder.
        rows: the name of the rows, such as shapes; by default hardness, otherwise the only rows
            in the store. For trained RBMs, the default is their final values, and `training` gives
            the rows as stored.
        form: rows (one line per instance, run or RBM), curves (for trained RBMs: one line per RBM
            and measurement) or time-series (for a race: QOBLIB's JSON, one file per
            solver and instance).
    """
    from glasshouse.files.text.streams import refuse_existing
    from glasshouse.store import Store
    from glasshouse.store.purpose import TRAINING

    if form == "time-series":
        _export_series(store, output, force)
        return
    if not is_pipe(output):
        if output.suffix.lower() not in (".csv", ".parquet"):
            raise ValueError(f"--output {output} must end in .csv or .parquet, or be - for CSV")
        refuse_existing(output, overwrite=force and output.resolve() != store.resolve())
    place = target(output, "csv")
    with Store(store) as opened:
        is_training = TRAINING in opened.purposes and rows is None
        if form == "curves" and not is_training:
            raise ValueError(f"--as curves applies to trained RBMs; {store} contains none")
        if is_training:
            number = _export_machines(opened, place, form == "curves", force)
        else:
            from glasshouse.studies.export import export_rows

            number = export_rows(opened, place, rows, overwrite=force)
    say(f"{output}: {number:,} rows", output)


@store.command
def merge(target: Path, /, *sources: Path) -> None:
    """Add the rows of stores, for instance from several computers, to another store.

    For instance:

    ```
    glasshouse store merge all.sqlite first.sqlite second.sqlite
    ```

    Args:
        target: the store to add to; created if it does not exist.
        sources: the stores to read; they are not changed.
    """
    from glasshouse.studies.merging import merge as merge_stores

    if not sources:
        raise ValueError("no store to merge; name at least one after the target")
    done = merge_stores(target, sources)
    print(f"{target}: {done.new_rows:,} new rows, {done.known_rows:,} known, {done.tasks} tasks")


@store.command
def copy(store: Path, target: Path, /, *, force: Force = False) -> None:
    """Copy a store with all its rows, even while a study writes to it.

    A plain `cp` misses the rows of the write-ahead log next to the store.

    For instance:

    ```
    glasshouse store copy peak.sqlite backup.sqlite
    ```

    Args:
        store: the store to read.
        target: the copy.
    """
    from glasshouse.store import Store

    with Store(store) as opened:
        opened.copy_to(target, overwrite=force)
    print(f"{target}: a copy of {store}")


@store.command
def check(store: Path, /) -> None:
    """Check that a store is intact: its file, its tasks and its rows.

    For instance:

    ```
    glasshouse store check peak.sqlite
    ```

    Args:
        store: the store to check.
    """
    from glasshouse.store import Store

    with Store(store) as opened:
        faults = opened.check()
    if faults:
        raise CheckFailedError(f"{store}: {'; '.join(faults)}")
    print(f"{store}: intact")


def _export_machines(opened: Store, place: Place, curves: bool, force: bool) -> int:
    from glasshouse.boltzmann.curves import export_machines, read_ensembles

    return export_machines(read_ensembles(opened), place, curves=curves, overwrite=force)


def _export_series(store: Path, folder: Path, force: bool) -> None:
    from glasshouse.races.commands.results import read_results
    from glasshouse.races.commands.time_series import export_time_series
    from glasshouse.store import Store

    if is_pipe(folder) or folder.suffix.lower() in (".csv", ".parquet", ".json"):
        raise ValueError(f"--output {folder}: time series need several files; name a folder")
    with Store(store) as opened:
        written = export_time_series(read_results(opened), folder, overwrite=force)
    print(f"{folder}: {len(written)} files")
