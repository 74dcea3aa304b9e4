"""`glasshouse train`: train one RBM or thousands, and evaluate their monitors."""

from __future__ import annotations

import inspect
import sys
from dataclasses import MISSING, Field, fields
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal, get_type_hints

from cyclopts import Parameter

from glasshouse.cli.collecting import collect_steps, refuse_both, refuse_lost
from glasshouse.cli.options import (
    Dask,
    Force,
    MaybePicture,
    OutputPath,
    Whole,
    Workers,
    command_group,
    described,
    whole,
)
from glasshouse.cli.output import free_pictures, save_pictures, show_json
from glasshouse.cli.train_machine import show_machine, train_one

if TYPE_CHECKING:
    from glasshouse.boltzmann import TrainingSettings, TrainingTask
    from glasshouse.boltzmann.curves import Ensemble

_STORES = (".sqlite", ".sqlite3", ".db")

train = command_group(
    "train",
    """Train restricted Boltzmann machines.

    For instance:

    ```
    glasshouse train run bars --hidden 12 --epochs 1000 --count 1000 -o run.sqlite --workers 2
    glasshouse train show run.sqlite
    glasshouse train plot run.sqlite
    ```
    """,
)


def add_run() -> None:
    """Create `train run`: its options are those of `_run`, and the fields of `TrainingSettings`.

    This waits until the user trains, because the package that trains takes a second to load.
    """
    from glasshouse.boltzmann.settings import TrainingSettings, option_of

    hints, told = get_type_hints(TrainingSettings), described(TrainingSettings)
    settings = {
        one.name: _option(one, option_of(one), hints[one.name], told[one.name])
        for one in fields(TrainingSettings)
    }

    switches = {
        one.name: one.default for one in fields(TrainingSettings) if hints[one.name] is bool
    }

    def run(data: str, **given: Any) -> None:
        chosen = {name: given.pop(name) for name in settings if name in given}
        if "learning_rate" in chosen:
            chosen["learning_rate"] = _rates(chosen["learning_rate"])
        for name, default in switches.items():  # one of what is on by default switches it off
            if name in chosen:
                chosen[name] = chosen[name] != default
        _run(data, TrainingSettings(**chosen), **given)

    known = {"TrainingSettings": TrainingSettings}
    own = dict(inspect.signature(_run, eval_str=True, locals=known).parameters)
    data, _ = own.pop("data"), own.pop("settings")
    made: Any = run
    made.__signature__ = inspect.Signature(
        [data, own.pop("output"), *settings.values(), *own.values()]
    )
    made.__doc__ = _run.__doc__
    if "run" in train:
        del train["run"]
    train.command(made, name="run", sort_key=-1)


def _option(setting: Field[Any], name: str, hint: Any, help_: str) -> inspect.Parameter:
    """Return the option for a field; a Boolean field becomes a switch."""
    converter = whole if hint in (int, int | None) else None
    default: Any = inspect.Parameter.empty if setting.default is MISSING else setting.default
    if hint is bool:
        help_ = f"leave this out: {help_}" if default else help_
        default = False
    if setting.name == "learning_rate":
        hint, default = str, ",".join(map(str, default))
    shown = Parameter(name=name, converter=converter, help=" ".join(help_.split()))
    typed: Any = Annotated[hint, shown]
    return inspect.Parameter(
        setting.name, inspect.Parameter.KEYWORD_ONLY, default=default, annotation=typed
    )


def _run(
    data: str,
    settings: TrainingSettings,
    /,
    *,
    output: OutputPath,
    count: Whole = 1,
    monitor: str = "kl,frustration",
    every: Whole = 10,
    held_out: float | None = None,
    seed: Whole = 1,
    workers: Workers = None,
    dask: Dask = None,
    force: Force = False,
    json: bool = False,
) -> None:
    """Train an ensemble of RBMs and store it, or train one RBM and write its model file.

    If killed and started again, it does not repeat any finished RBM of an ensemble. Other
    settings on the same data may use the same store, where they are compared.

    For instance:

    ```
    glasshouse train run bars --hidden 12 --count 1000 -o run.sqlite
    glasshouse train run bars:9x5 --hidden 12 --count 1000 --mode-probability 0.1 -o run.sqlite
    glasshouse train run digits --hidden 64 --batch-size 10 --monitor frustration -o digits.npz
    ```

    Args:
        data: bars or bars:WIDTHxLENGTH (a bar at every position of a ring, 9x5 by default), stripes
            or stripes:SIDE (bars and stripes, images of SIDE × SIDE pixels, 4 by default), digits
            or digits:THRESHOLD (scikit-learn's, 8 × 8 pixels; ones are the pixels of at least this
            value of 0 to 16, 8 by default), or a file of rows of 0 and 1, or of -1 and 1: .npz,
            .npy or .csv.
        output: the store, created if it does not exist; or NAME.npz for the model of one RBM.
        count: the number of RBMs. A larger number later adds RBMs.
        monitor: the monitors, separated by commas (see docs/training.md).
        every: evaluate the monitors every this many epochs, and at the beginning and the end.
        held_out: the fraction of the rows that is not used for training, drawn by the seed.
        seed: an integer that fixes all randomness; RBM k uses child seed k.
        json: print one JSON object at the end.
    """
    from glasshouse.boltzmann.data import DataOptions
    from glasshouse.boltzmann.ensemble import TrainingTask

    refuse_both(workers, dask)
    name, options = DataOptions.of_name(data, held_out)
    rows, kept = options.load(name, seed)
    monitors = [name.strip() for name in monitor.split(",") if name.strip()]
    source = Path(name)
    task = TrainingTask(rows, settings, monitors, every, seed, count, kept, source.name, options)
    if source.exists() and output.resolve() == source.resolve():
        raise ValueError(f"--output {output} is the data file; choose another file")
    if output.suffix.lower() == ".npz":
        if workers is not None or dask is not None:
            raise ValueError(f"{output} requires a single RBM, trained in one process; remove "
                             "--workers and --dask")  # fmt: skip
        train_one(task, output, json, force)
    elif output.suffix.lower() not in _STORES:
        raise ValueError(f"--output {output}: use NAME.sqlite for an ensemble, or NAME.npz for "
                         "the model of one RBM")  # fmt: skip
    else:
        _ensemble(task, output, workers, dask, json)


@train.command
def show(store: Path, /, *, json: bool = False) -> None:
    """Show the results of ensembles: final medians with 95 % intervals, modes, divergence, time.

    For a model file, it shows how its RBM was trained.

    For instance:

    ```
    glasshouse train show run.sqlite
    ```

    Args:
        store: the ensembles' store, or the .npz of one RBM.
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
        monitor: the monitors to draw, separated by commas; all by default.
        along: epochs, updates, or seconds of learning (without the monitors).
    """
    from glasshouse.boltzmann.figures import training_figure

    paths = free_pictures(output, store, force=force)
    names = None if monitor is None else monitor.split(",")
    save_pictures(training_figure(_read(store), names, along=along), paths)


def _rates(text: str) -> Any:
    """Parse a single learning rate, or a pair of the first and the last rate."""
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
        store, dask=dask, things="RBMs",
    )  # fmt: skip
    _report(store, json)
    _warn_diverged(store, task)
    refuse_lost(last, store)


def _warn_diverged(store: Path, task: TrainingTask) -> None:
    """Print on standard error how many RBMs of an ensemble diverged."""
    for one in _read(store):
        if one.task_id == task.task_id and one.diverged:
            print(
                f"glasshouse: {one.diverged:,} of {one.machines:,} RBMs diverged, and the medians "
                "are those of the others; use a smaller --learning-rate",
                file=sys.stderr,
            )


def _read(store: Path) -> list[Ensemble]:
    from glasshouse.boltzmann.curves import read_ensembles
    from glasshouse.store.store import Store

    if not store.exists():
        raise ValueError(
            f"{store}: no such store; run `glasshouse train run … -o {store.name}` first"
        )
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
