"""`glasshouse train`: RBMs that learn, one or thousands, and what is seen meanwhile."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from glasshouse.cli.collecting import collect_steps, refuse_both, refuse_lost
from glasshouse.cli.options import (
    Dask,
    Force,
    MaybePicture,
    MaybeWhole,
    OutputPath,
    Whole,
    Workers,
    command_group,
)
from glasshouse.cli.output import free_pictures, save_pictures, show_json
from glasshouse.cli.train_machine import show_machine, train_one

if TYPE_CHECKING:
    from glasshouse.boltzmann.curves import Ensemble
    from glasshouse.boltzmann.ensemble import TrainingTask

_STORES = (".sqlite", ".sqlite3", ".db")

train = command_group(
    "train",
    """Train restricted Boltzmann machines; watch KL divergence and frustration.

    For instance:

    ```
    glasshouse train run bars --hidden 12 --epochs 1000 --count 1000 -o run.sqlite --workers 2
    glasshouse train show run.sqlite
    glasshouse train plot run.sqlite
    ```
    """,
)


@train.command
def run(
    data: str,
    /,
    *,
    output: OutputPath,
    hidden: Whole,
    epochs: Whole = 1000,
    count: Whole = 1,
    monitor: str = "kl,frustration",
    every: Whole = 10,
    units: Literal["spin", "binary"] = "spin",
    gradient: Literal["cd", "pcd", "exact"] = "cd",
    steps: Whole = 1,
    chains: MaybeWhole = None,
    batch_size: MaybeWhole = None,
    learning_rate: str = "0.05,0.0005",
    reduction: Literal["mean", "sum"] = "mean",
    momentum: float = 0.0,
    weight_decay: float = 0.0,
    sigma: float = 0.01,
    no_biases: bool = False,
    mode_probability: float = 0.0,
    mode_slope: float = 20.0,
    mode_offset: float = -6.0,
    mode_use: Literal["update", "restart"] = "update",
    mode_step: Literal["energy", "full"] = "energy",
    mode_search: Literal["auto", "enumerate", "anneal", "prove"] = "auto",
    mode_time_limit: float = 2.0,
    width: MaybeWhole = None,
    length: MaybeWhole = None,
    side: MaybeWhole = None,
    threshold: MaybeWhole = None,
    held_out: float | None = None,
    seed: Whole = 1,
    workers: Workers = None,
    dask: Dask = None,
    json: bool = False,
    force: bool = False,
) -> None:
    """Train an ensemble of RBMs into a store, or one RBM into a model file.

    Killed at any moment and started again, no finished machine of an ensemble is trained again.
    Other settings on the same data may go into the same store, where they are compared.

    For instance:

    ```
    glasshouse train run bars --hidden 12 --count 1000 -o run.sqlite
    glasshouse train run bars --hidden 12 --count 1000 --mode-probability 0.1 -o run.sqlite
    glasshouse train run digits --hidden 64 --batch-size 10 --monitor frustration -o digits.npz
    ```

    Args:
        data: bars (a bar at every place of a ring), stripes (bars and stripes), digits
            (scikit-learn's, 8 × 8 pixels), or a file of rows of 0 and 1, or of -1 and 1: .npz,
            .npy or .csv.
        output: the store, made when it is not there; or NAME.npz for the model of one machine.
        hidden: hidden units.
        epochs: passes through the data.
        count: how many machines. Later more of them join those that are there.
        monitor: what to look at, with commas between (see docs/training.md).
        every: look every so many epochs, and at the beginning and the end.
        units: spin for ±1, binary for 0 and 1.
        gradient: cd (contrastive divergence), pcd (persistent chains) or exact (all states).
        steps: of each chain per update: the k of CD-k.
        chains: persistent chains; as many as a batch has rows by default.
        batch_size: rows per update; all of them by default.
        learning_rate: one number, or FIRST,LAST for one that falls linearly over the epochs.
        reduction: the gradient is the mean over a batch, or the sum.
        momentum: share of the last step that is added to the next.
        weight_decay: pull of the weights towards zero.
        sigma: standard deviation of the first weights.
        no_biases: train weights only.
        mode_probability: the highest probability that an update uses the mode; 0.1 is usual in
            mode-assisted training.
        mode_slope: slope of the sigmoid by which that probability rises.
        mode_offset: where the sigmoid begins.
        mode_use: update takes the mode for the model's averages; restart starts chains there.
        mode_step: energy scales these updates by the mode's energy; full does not.
        mode_search: how modes are found; auto enumerates layers of at most 16 units.
        mode_time_limit: seconds after which prove stops trying to prove a mode.
        width: of bars: how many units; 9 by default.
        length: of bars: how many of them are ones; 5 by default.
        side: of stripes: images of SIDE × SIDE pixels; 4 by default.
        threshold: of digits: ones are the pixels from this value on, of 0 to 16; 8 by default.
        held_out: share of the rows that is not learnt, drawn by the seed.
        seed: a whole number that fixes all randomness; machine k has its child k.
        json: print one JSON object at the end.
        force: overwrite a model file; a store always goes on.
    """
    from glasshouse.boltzmann.data import DataOptions
    from glasshouse.boltzmann.ensemble import TrainingTask
    from glasshouse.boltzmann.settings import TrainingSettings

    refuse_both(workers, dask)
    settings = TrainingSettings(
        hidden, epochs=epochs, units=units, gradient=gradient, steps=steps, chains=chains,
        batch_size=batch_size, learning_rate=_rates(learning_rate), reduction=reduction,
        momentum=momentum, weight_decay=weight_decay, sigma=sigma, biases=not no_biases,
        mode_probability=mode_probability, mode_slope=mode_slope, mode_offset=mode_offset,
        mode_use=mode_use, mode_step=mode_step, mode_search=mode_search,
        mode_seconds=mode_time_limit,
    )  # fmt: skip
    options = DataOptions(width, length, side, threshold, held_out)
    rows, kept = options.load(data, seed)
    monitors = [name.strip() for name in monitor.split(",") if name.strip()]
    name = Path(data).name
    task = TrainingTask(rows, settings, monitors, every, seed, count, kept, name, options)
    if Path(data).exists() and output.resolve() == Path(data).resolve():
        raise ValueError(f"--output {output} is the file of the data; give another one")
    if output.suffix.lower() == ".npz":
        if workers is not None or dask is not None:
            raise ValueError(f"{output} is one machine, trained in one process; leave out --workers"
                             " and --dask")  # fmt: skip
        train_one(task, output, json, force)
    elif output.suffix.lower() not in _STORES:
        raise ValueError(f"--output {output}: give NAME.sqlite for an ensemble, or NAME.npz for "
                         "the model of one machine")  # fmt: skip
    else:
        _ensemble(task, output, workers, dask, json)


@train.command
def show(store: Path, /, *, json: bool = False) -> None:
    """Show what became of ensembles: final medians with 95 % intervals, modes, divergence, time.

    Of a model file: how its machine was trained.

    For instance:

    ```
    glasshouse train show run.sqlite
    ```

    Args:
        store: the ensembles' store, or the .npz of one machine.
        json: print one JSON object.
    """
    if store.suffix.lower() == ".npz":
        show_machine(store, json)
    else:
        _report(store, json)


@train.command
def plot(
    store: Path,
    /,
    *,
    monitor: str | None = None,
    along: Literal["epochs", "updates", "seconds"] = "epochs",
    output: MaybePicture = None,
    force: Force = False,
) -> None:
    """Draw monitors over epochs: median and 30–70 percentile band, one colour per setting.

    For instance:

    ```
    glasshouse train plot run.sqlite -o run.pdf
    glasshouse train plot run.sqlite --monitor kl --along seconds -o time.png
    ```

    Args:
        store: the ensembles' store.
        monitor: which ones, with commas between; all of them by default.
        along: epochs, updates, or seconds of learning (looks not counted).
    """
    from glasshouse.boltzmann.figures import training_figure

    paths = free_pictures(output, store, force=force)
    names = None if monitor is None else monitor.split(",")
    save_pictures(training_figure(_read(store), names, along=along), paths)


def _rates(text: str) -> Any:
    """A learning rate, or the first and the last of them."""
    try:
        numbers = [float(part) for part in text.split(",")]
    except ValueError:
        numbers = []
    if not 1 <= len(numbers) <= 2:
        raise ValueError(f"learning_rate={text} is neither a number nor FIRST,LAST")
    return numbers[0] if len(numbers) == 1 else tuple(numbers)


def _ensemble(
    task: TrainingTask, store: Path, workers: int | None, dask: str | None, json: bool
) -> None:
    from glasshouse.boltzmann.ensemble import iter_train

    last = collect_steps(
        lambda executor: iter_train([task], store, workers=workers, executor=executor),
        store, dask=dask, things="machines",
    )  # fmt: skip
    _report(store, json)
    _warn_diverged(store, task)
    refuse_lost(last, store)


def _warn_diverged(store: Path, task: TrainingTask) -> None:
    """Say on standard error how many machines of an ensemble diverged."""
    for one in _read(store):
        if one.task_id == task.task_id and one.diverged:
            print(
                f"glasshouse: {one.diverged:,} of {one.machines:,} machines diverged, and medians "
                "are those of the others; use a smaller --learning-rate",
                file=sys.stderr,
            )


def _read(store: Path) -> list[Ensemble]:
    from glasshouse.boltzmann.curves import read_ensembles
    from glasshouse.store.store import Store

    if not store.exists():
        raise ValueError(f"{store}: no such store; `glasshouse train run … -o {store.name}` first")
    with Store(store) as opened:
        return read_ensembles(opened)


def _report(store: Path, json: bool) -> None:
    from glasshouse.boltzmann.curves import overview, text_table

    ensembles = _read(store)
    if json:
        show_json({"store": store, "ensembles": [*map(overview, ensembles)]})
        return
    first = ensembles[0]
    print(f"{first.data}: {first.rows:,} rows of {first.visible} units")
    for line in text_table(ensembles):
        print(line)
