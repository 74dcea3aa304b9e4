"""`glasshouse race`: race third-party solvers on instances with proven optima."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from glasshouse.cli.collecting import collect_steps, refuse_both, refuse_lost
from glasshouse.cli.console import bar
from glasshouse.cli.errors import StudyFileError
from glasshouse.cli.options import (
    Dask,
    Force,
    MaybePicture,
    MaybeWhole,
    OutputPath,
    Whole,
    command_group,
)
from glasshouse.cli.output import free_pictures, save_pictures, show_json
from glasshouse.cli.samplers import run_samplers

if TYPE_CHECKING:
    from glasshouse.races.commands.probing import Probed
    from glasshouse.races.commands.results import Results, Run
    from glasshouse.races.samplers.results import SamplerResults
    from glasshouse.suites.loading import Suite

_Figure = Literal[
    "cactus", "ecdf", "profile", "scatter", "incumbents", "tts", "reaching", "residual", "batches"
]
_WIDEST = 150
_MOST_NAMES = 10  # names of missing instances that are shown
_MOST_FAULTS = 20  # faults of a solver that are shown one by one

race = command_group(
    "race",
    """Race solvers on instances of proven optimum.

    For instance:

    ```
    glasshouse race run --solver "mysolver {file}" --solver rc2 --suite smoke -o race.sqlite
    glasshouse race show race.sqlite
    glasshouse race plot race.sqlite -o cactus.pdf
    ```
    """,
)


@race.command
def run(
    *,
    solver: list[str] | None = None,
    sampler: list[str] | None = None,
    suite: str,
    output: OutputPath,
    answers: Path | None = None,
    instances: Path | None = None,
    time_limit: float = 60.0,
    cpu_limit: float | None = None,
    grace: float = 1.0,
    memory_limit: Whole = 4096,
    seed: Whole = 1,
    runs: MaybeWhole = None,
    reads: Whole = 100,
    clock: str = "wall",
    dialect: Literal["classic", "mse22", "cnf", "opb"] | None = None,
    strict: bool = False,
    meter: Literal["process-group", "benchexec"] | None = None,
    workers: MaybeWhole = None,
    cores: MaybeWhole = None,
    dask: Dask = None,
    json: bool = False,
) -> int:
    """Race solvers, or dimod samplers, on a suite, or resume a race.

    Every answer is judged against the proof of the instance's optimum. Exit code 1 if an answer was
    wrong or a solver crashed, else 0. A race that was killed resumes without repeating any run.

    For instance:

    ```
    glasshouse race run --solver "mysolver {file}" --suite smoke -o race.sqlite
    glasshouse race run --solver rc2 --solver anneal --suite my-instances/ --runs 5 -o race.sqlite
    glasshouse race run --sampler dwave.samplers:TabuSampler --suite smoke -o samplers.sqlite
    ```

    Args:
        solver: a command, in which {file}, {seed} and {seconds} are replaced (without {file}, the
            file is the last argument); NAME=COMMAND to name it; a built-in such as rc2, highs,
            anneal, temper or prove; or all, for every installed built-in. Repeat the option for
            each solver.
        sampler: a dimod sampler, "[NAME=]MODULE:CLASS [PARAMETER=VALUE ...]", which is called in
            this process; instead of --solver. Repeat the option for each sampler.
        suite: the name of a suite (`glasshouse suite list`) or its TOML file, grown once into the
            folder suites next to the store; a folder of .wcnf or .cnf files, a manifest, or a file;
            standard instances such as gset, dimacs or biqmac:rudy, with --instances.
        output: the store; created if it does not exist.
        answers: the folder with the answers of a folder of blind files, if they are elsewhere; or
            with the certificates of standard instances, which are then verified.
        instances: a folder with files of standard instances (`glasshouse library`), under any names
            and in any format. They are recognised by their content.
        time_limit: seconds of wall-clock time per run. Then solvers get SIGTERM. Built-in solvers
            compile before their time starts. For samplers: seconds per instance after which no
            further call begins.
        cpu_limit: seconds of CPU time per run, of all its processes together. Then solvers get
            SIGTERM. No limit by default.
        grace: seconds after SIGTERM in which a solver may print its best model. Output in this time
            counts as printed at the time limit, and a claim of optimality comes too late.
        memory_limit: megabytes of memory per run.
        seed: the seed of the first run on each instance; run k uses seed + k.
        runs: runs of each solver on each instance, 1 by default; for samplers, calls with each
            batch size, 10 by default.
        reads: for samplers, the reads of a call; time is also measured at other batch sizes.
        clock: for samplers: wall, cpu, or the name of a number in the sampler's info["timing"],
            such as qpu_access_time.
        dialect: the format that the commands read. By default, each command is tried on an instance
            of two variables, in mse22, classic and opb, for at most 10 seconds each; the detected
            dialect is printed and stored. cnf, which has neither weights nor hard clauses, must be
            chosen.
        strict: count a wrong exit code alone as a fault.
        meter: what measures time and memory: benchexec (cgroups) or process-group (our own). By
            default, the meter of the store; for a new store, benchexec if it is usable.
        workers: the number of concurrent runs, at most the number of cores. One by default.
        cores: pin each run to this many cores, which no other run of the race uses. Runs are not
            pinned by default.
        json: print one JSON object at the end.
    """
    from glasshouse.races.commands.entrants import entrants_of
    from glasshouse.races.commands.racing import Race, iter_race
    from glasshouse.races.running.command import MEGABYTE, Limits
    from glasshouse.suites.loading import load_suite

    refuse_both(workers, dask)
    if bool(solver) == bool(sampler):
        raise ValueError("a race needs either --solver or --sampler")
    if sampler:
        run_samplers(
            sampler, suite, output, answers, instances, reads=reads, clock=clock, rng=seed,
            calls=10 if runs is None else runs, time_limit=time_limit,
        )  # fmt: skip
        return 1 if _report(output, json) else 0
    assert solver is not None
    if memory_limit < 1:
        raise ValueError(f"--memory-limit {memory_limit} is below 1; use at least 1")
    if cores is not None and dask is not None:
        raise ValueError("--cores pins workers on this computer only; remove --dask or --cores")
    limits = Limits(time_limit, cpu_limit, memory_limit * MEGABYTE, grace=grace)
    entrants_of(solver, limits, "classic")  # this checks that they exist; none is run yet
    # This comes first: dialects are detected by running the solvers.
    try:
        with _growing(suite) as grown:
            loaded = load_suite(suite, output.parent / "suites", grown, answers, instances)
    except ValueError as error:  # the error is about the suite's file, whose keys are not options
        raise StudyFileError(error) from error
    entrants = entrants_of(
        solver, limits, dialect, known=_known_solvers(output), tell=_tell_dialect
    )
    _tell_missing(loaded)
    asked = Race(entrants, loaded, limits, seed, 1 if runs is None else runs, strict, meter, cores)
    number = 1 if workers is None else workers
    last = collect_steps(
        lambda executor: iter_race(asked, output, workers=number, executor=executor),
        output, dask=dask, things="runs",
    )  # fmt: skip
    faults = _report(output, json)
    refuse_lost(last, output, things="runs")
    return 1 if faults else 0


@race.command
def show(store: Path, /, *, json: bool = False) -> int:
    """Show the results of a race, even if it is not over; exit with code 1 if there are faults.

    For instance:

    ```
    glasshouse race show race.sqlite
    ```

    Args:
        store: the race's store; of commands, or of samplers (--sampler).
        json: print one JSON object.
    """
    return 1 if _report(store, json) else 0


@race.command
def compare(store: Path, first: str, second: str, /, *, json: bool = False) -> None:
    """Compare two solvers instance by instance: solved instances, times, and significance.

    For instance:

    ```
    glasshouse race compare race.sqlite mysolver rc2
    ```

    Times are compared by the wall clock and by CPU time: the ratio on the instances that both
    solved, with a 95 % interval, and the p-values of the sign test and of Wilcoxon's test.

    Args:
        store: the race's store.
        first: the name of a solver.
        second: the name of another solver.
        json: print one JSON object.
    """
    from glasshouse.races import compare_solvers
    from glasshouse.races.commands.overview import comparison_values
    from glasshouse.races.samplers.results import SamplerResults

    results = _results(store)
    if isinstance(results, SamplerResults):
        raise ValueError(f"{store} contains a race of samplers; compare samplers with "
                         "SamplerResults.compare in Python")  # fmt: skip
    found = compare_solvers(results, first, second)
    if json:
        show_json({"store": store} | comparison_values(found))
    else:
        print(found.summary())


@race.command
def plot(
    store: Path,
    /,
    *,
    figure: _Figure | None = None,
    solver: list[str] | None = None,
    dial: str | None = None,
    clock: Literal["wall", "cpu"] = "wall",
    output: MaybePicture = None,
    force: Force = False,
) -> None:
    """Draw a chart of a race.

    For instance:

    ```
    glasshouse race plot race.sqlite -o cactus.pdf
    glasshouse race plot race.sqlite --figure scatter --solver mysolver --solver rc2
    ```

    Args:
        store: the race's store.
        figure: cactus (the default), ecdf (fraction solved over time), profile (fraction solved
            within a multiple of the fastest time), scatter (two solvers), incumbents (o values over
            time), tts (seconds until the best cost is reached with probability 0.99, by repeated
            runs) or reaching (seconds until it was printed), both over the dial. For samplers, tts
            (the default), residual (energy above the target over time) or batches (time to solution
            on the first instance over the reads of a call).
        solver: the two solvers of a scatter plot; the first two by default.
        dial: the parameter along x of tts and reaching, such as n; by default frustration, size or
            density, whichever has most settings, or any other number that varies in the suite.
        clock: wall-clock time, or CPU time, for cactus, ecdf, profile and scatter.
    """
    from glasshouse.races.figures import race_figure

    results = _results(store)
    runs = getattr(results, "runs", None)
    if figure == "tts" and runs and all(run.number == 0 for run in runs):
        print("one run per instance: the fraction of runs that reach the best cost is uncertain; "
              "race with --runs for times to solution", file=sys.stderr)  # fmt: skip
    paths = free_pictures(output, store, force=force)
    save_pictures(race_figure(results, figure, tuple(solver or ()), dial, clock), paths)


@contextmanager
def _growing(suite: str) -> Iterator[Any]:
    """Yield a function that updates a progress bar while a suite grows, which may take minutes."""
    with bar() as shown:
        task = shown.add_task(f"growing {suite}", total=None)
        yield lambda done, total: shown.update(task, completed=done, total=total)


def _known_solvers(store: Path) -> Mapping[str, Any]:
    """Return the solvers of a resumed race, and their dialects."""
    from glasshouse.races.commands.racing import held_race
    from glasshouse.store.store import Store

    if not store.exists():
        return {}
    with Store(store) as opened:
        held = held_race(opened)
    return {} if held is None else held["solvers"]


def _tell_dialect(found: Probed) -> None:
    how = "as before"
    if found.judgement is not None:
        how = "by its answer on an instance of two variables"
        if not found.judgement.is_right:
            how = f"though its answer on an instance of two variables was: {found.judgement}"
    print(f"{found.name} reads {found.dialect}, {how}; --dialect chooses another", file=sys.stderr)


def _tell_missing(suite: Suite) -> None:
    """Print one line about the standard instances that the user's folder lacks."""
    if number := len(suite.missing):
        some = ", ".join([*suite.missing[:_MOST_NAMES], *["…"] * (number > _MOST_NAMES)])
        total = number + len(suite.instances)
        print(f"{number} of the {total} instances of {suite.name} are not in {suite.files} and "
              f"are left out: {some}", file=sys.stderr)  # fmt: skip


def _results(store: Path) -> Results | SamplerResults:
    from glasshouse.races.commands.results import read_results
    from glasshouse.races.samplers.stored import read_sampler_results
    from glasshouse.store.purpose import SAMPLER_RACE
    from glasshouse.store.store import Store

    if not store.exists():
        raise ValueError(
            f"{store}: no such race; run `glasshouse race run … -o {store.name}` first"
        )
    with Store(store) as opened:
        is_of_samplers = SAMPLER_RACE in opened.purposes
        return read_sampler_results(opened) if is_of_samplers else read_results(opened)


def _report_samplers(store: Path, results: SamplerResults, json: bool) -> bool:
    if json:
        show_json({"store": store, "suite": results.suite, "instances": len(results.problems),
                   "faults": len(results.faults), "calls": results.rows()})  # fmt: skip
    else:
        print(results.summary())
    return bool(results.faults)


def _report(store: Path, json: bool) -> bool:
    """Show a race; return whether there are faults."""
    from glasshouse.races.commands.overview import note_lines, score_lines, score_values
    from glasshouse.races.commands.scores import truths
    from glasshouse.races.samplers.results import SamplerResults

    results = _results(store)
    if isinstance(results, SamplerResults):
        return _report_samplers(store, results, json)
    if json:
        show_json(
            {
                "store": store, "suite": results.suite, "instances": results.num_entered,
                "unproven": len(results.unproven),
                "runs": len(results.runs), "expected_runs": results.expected,
                "missing_runs": results.missing,
                "faults": [_values(run) for run in results.faults],
                **score_values(results),
                "start_seconds": dict(results.starts),
                "truths": truths(results),
            }
        )  # fmt: skip
        return bool(results.faults)
    _show_faults(results)
    number = results.num_entered
    print(f"{results.suite}: {number} instance{'s' * (number != 1)}, {len(results.runs):,} of "
          f"{results.expected:,} runs")  # fmt: skip
    print("\n".join([*score_lines(results), *note_lines(results)]))
    return bool(results.faults)


def _show_faults(results: Results) -> None:
    for name in results.solvers:
        mine = [run for run in results.faults if run.solver == name]
        for fault in mine[:_MOST_FAULTS]:
            again = f" (run {fault.number})" if fault.number else ""
            where = fault.file or fault.instance
            line = f"{name} on {where}{again}: {fault.verdict}: {fault.reason}"
            print(line if len(line) <= _WIDEST else line[: _WIDEST - 1] + "…")
        if len(mine) > _MOST_FAULTS:
            print(f"{name}: {len(mine) - _MOST_FAULTS} more faults; --json lists all of them")
    if results.faults:
        print()


def _values(run: Run) -> dict[str, Any]:
    names = ("solver", "instance", "file", "number", "verdict", "reason", "cost", "optimum",
             "seconds", "cpu_seconds", "memory")  # fmt: skip
    return {name: getattr(run, name) for name in names}
