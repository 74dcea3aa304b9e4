"""The command line: one module per command; what a command needs is loaded when it is called.

Exit codes: 0 done, 1 the answer is no (a check failed), 2 wrong usage or input, 3 what a file
states was found to be false, 70 a bug in glasshouse, 130 interrupted (Ctrl-C), 143 terminated
(SIGTERM, also where the best answer so far was given). `solve --maxsat-output` has those of the
MaxSAT Evaluation.

Importing this package loads hardly anything: signals are handled first (`clock`, `termination`),
then the rest is loaded (`running`, and one module per command). Commands share `options`,
`console`, `output`, `errors`, `collecting` (into a store), `evaluation` (the MaxSAT Evaluation's
rules), `instances` (where plants go) and `searches` (all solvers).
`about` has `--version` and `completion`; `info` has `draw`, `convert` has `back`, too.
`renamed` lists the words of older versions.
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

HELP = """Grow spin glasses and MAX-2-SAT instances whose optimum is planted, and prove it.

Every command has examples: `glasshouse COMMAND --help`.
"""


def run() -> typing.NoReturn:
    """Run the command `glasshouse`, and end the process."""
    code = main()
    # The last garbage collections of Python take half a second with Numba loaded. The system takes
    # all memory back in any case, so nothing is left for them to look at.
    gc.freeze()
    sys.exit(code)


def main(arguments: list[str] | None = None) -> int:
    """Run the command line; wrong input is one line on standard error, never a traceback.

    Args:
        arguments: the words of the command line; by default those of the process. The process then
            ends with the command, and a signal that comes afterwards leaves its exit code alone.
    """
    clock.start(process=arguments is None)
    with Termination(is_last=arguments is None) as termination:
        from glasshouse.cli.running import execute

        return execute(sys.argv[1:] if arguments is None else arguments, termination)


def __getattr__(name: str) -> typing.Any:
    """Build `app` and `COMMANDS` when they are first asked for."""
    if name not in ("app", "COMMANDS"):
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    commands = _commands()
    globals().update(COMMANDS=commands, app=_app(commands))
    return globals()[name]


def _commands() -> dict[str, typing.Any]:
    """All commands, in the order of the work. None of these modules imports anything heavy."""
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
        "demo": demo,
        "info": info,
        "convert": convert,
        "back": back,
        "plant": plant,
        "check": check,
        "prove": prove,
        "solve": solve,
        "library": library,
        "judge": judge,
        "study": study,
        "tune": tune,
        "suite": suite,
        "race": race,
        "fuzz": fuzz,
        "train": train,
        "store": store,
        "report": report,
        "draw": draw,
        "compile": compile_kernels,
        "completion": completion,
    }


def _app(commands: dict[str, typing.Any]) -> typing.Any:
    from cyclopts import App

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
    for order, (name, command) in enumerate(commands.items()):
        if isinstance(command, App):
            command.sort_key = order
            app.command(command)
        else:
            app.command(command, name=name, sort_key=order)
    return app
