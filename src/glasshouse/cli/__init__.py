"""The command line, with one module per command; each loads its dependencies only when called.

Exit codes: 0 done, 1 the answer is no (a check failed), 2 wrong usage or input, 3 a file states
    something that was found to be false, 70 a bug in glasshouse, 130 interrupted (Ctrl-C), 143
    terminated (SIGTERM, even if the best answer so far was printed). `solve --maxsat-output` uses
    those of the MaxSAT Evaluation.

Importing this package loads hardly anything: signals are handled first (`clock`, `termination`),
    then the rest is loaded (`running`, and one module per command). Commands share `options`,
    `console`, `output`, `errors`, `collecting` (into a store), `evaluation` (the rules of the
    MaxSAT Evaluation), `instances` (the output of plants) and `searches` (all solvers). `about` has
    `--version` and `completion`; `info` also has `draw`, `convert` also has `back`. `renamed` lists
    the words of older versions.
"""

from __future__ import annotations

import gc
import sys

from glasshouse.cli import clock
from glasshouse.cli.termination import Termination

TYPE_CHECKING = False  # the module `typing` is slow to load
if TYPE_CHECKING:
    import typing

    app: typing.Any
    COMMANDS: dict[str, typing.Any]

HELP = "Grow spin glasses and MAX-2-SAT instances; examples: `glasshouse COMMAND --help`."


def run() -> typing.NoReturn:
    """Run the command `glasshouse`, and end the process."""
    code = main()
    # The last garbage collections of Python take half a second with Numba loaded. The system frees
    # all memory in any case, so they are not needed.
    gc.freeze()
    sys.exit(code)


def main(arguments: list[str] | None = None) -> int:
    """Run the command line; report wrong input as one line on standard error, not as a traceback.

    Args:
        arguments: the words of the command line; by default those of the process. The process then
            ends with the command, and a later signal does not change its exit code.
    """
    clock.start(process=arguments is None)
    with Termination(is_last=arguments is None) as termination:
        from glasshouse.cli.running import execute

        return execute(sys.argv[1:] if arguments is None else arguments, termination)


def __getattr__(name: str) -> typing.Any:
    """Build `app` and `COMMANDS` when they are first used."""
    if name not in ("app", "COMMANDS"):
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    groups = _commands()
    commands = {name: command for group in groups.values() for name, command in group.items()}
    globals().update(COMMANDS=commands, app=_app(groups))
    return globals()[name]


def add_options(command: str | None = None) -> None:
    """Create the commands whose options come from the library: `plant METHOD` and `train run`.

    Args:
        command: only those of this command; None creates all of them.
    """
    from glasshouse.cli.plant import add_methods
    from glasshouse.cli.train import add_run

    for name, add in (("plant", add_methods), ("train", add_run)):
        if command in (None, name):
            add()


def _commands() -> dict[str, dict[str, typing.Any]]:
    """Return all commands by group; the modules of commands do not import large packages."""
    from glasshouse.cli.about import completion
    from glasshouse.cli.check import check
    from glasshouse.cli.compile import compile_kernels
    from glasshouse.cli.convert import back, convert
    from glasshouse.cli.demo import demo
    from glasshouse.cli.fuzz import fuzz
    from glasshouse.cli.info import draw, info
    from glasshouse.cli.judge import judge
    from glasshouse.cli.library import library
    from glasshouse.cli.plant import plant
    from glasshouse.cli.prove import prove
    from glasshouse.cli.race import race
    from glasshouse.cli.report import report
    from glasshouse.cli.solve import solve
    from glasshouse.cli.store import store
    from glasshouse.cli.study import study
    from glasshouse.cli.suite import suite
    from glasshouse.cli.train import train
    from glasshouse.cli.tune import tune

    return {
        "Files": {"info": info, "convert": convert, "back": back, "draw": draw},
        "Instances": {"plant": plant, "tune": tune, "suite": suite, "library": library},
        "Answers": {"solve": solve, "prove": prove, "check": check, "judge": judge},
        "Experiments": {
            "study": study, "race": race, "fuzz": fuzz, "train": train, "store": store,
            "report": report,
        },
        "Other": {"demo": demo, "compile": compile_kernels, "completion": completion},
    }  # fmt: skip


def _app(groups: dict[str, dict[str, typing.Any]]) -> typing.Any:
    from cyclopts import App, Group

    from glasshouse.cli.about import versions
    from glasshouse.cli.options import SWITCHES

    app = App(
        name="glasshouse",
        help=HELP,
        version=versions,
        version_format="plaintext",
        version_flags=["--version", "-V"],
        help_format="markdown",
        default_parameter=SWITCHES,
        result_action="return_value",
        suppress_keyboard_interrupt=False,
    )
    for place, (title, commands) in enumerate(groups.items()):
        group = Group(title, sort_key=place)
        for order, (name, command) in enumerate(commands.items()):
            if isinstance(command, App):
                command.sort_key, command.group = order, group
                app.command(command)
            else:
                app.command(command, name=name, sort_key=order, group=group)
    for flag in ("--help", "--version"):
        app[flag].group = group  # the last group
    return app
