"""The command line: one module per command; what a command needs is loaded when it is called.

Exit codes: 0 done, 1 the answer is no (a check failed), 2 wrong usage or input, 3 what a file
states was found to be false, 130 interrupted (Ctrl-C), 143 terminated (SIGTERM, also where the best
answer so far was given). `solve --maxsat-output` has those of the MaxSAT Evaluation.
"""

from __future__ import annotations

import os
import sys
from contextlib import suppress
from typing import Any, NoReturn

from cyclopts import App, CycloptsError

from glasshouse.cli import clock, console, pipes
from glasshouse.cli.check import check
from glasshouse.cli.compile import compile_kernels
from glasshouse.cli.completion import completion
from glasshouse.cli.convert import convert
from glasshouse.cli.demo import demo
from glasshouse.cli.draw import draw
from glasshouse.cli.errors import (
    AnswerCode,
    CheckFailedError,
    FalseClaimError,
    StudyFileError,
    as_options,
    system_error,
    usage_error,
)
from glasshouse.cli.fuzz import fuzz
from glasshouse.cli.info import info
from glasshouse.cli.judge import judge
from glasshouse.cli.paper import paper
from glasshouse.cli.plant import add_methods, plant
from glasshouse.cli.prove import prove
from glasshouse.cli.race import race
from glasshouse.cli.report import report
from glasshouse.cli.solve import solve
from glasshouse.cli.study import study
from glasshouse.cli.suite import suite
from glasshouse.cli.termination import heeded, is_interruption
from glasshouse.cli.train import train
from glasshouse.cli.tune import tune
from glasshouse.cli.types import SWITCHES
from glasshouse.cli.versions import versions
from glasshouse.extras import MissingPackageError

HELP = """Grow spin glasses and MAX-2-SAT instances whose optimum is planted, and prove it.

Every command has examples: `glasshouse COMMAND --help`.
"""

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
# In the order of the work. None of these modules imports anything heavy at its head.
COMMANDS: dict[str, Any] = {
    "demo": demo,
    "info": info,
    "convert": convert,
    "plant": plant,
    "check": check,
    "prove": prove,
    "solve": solve,
    "judge": judge,
    "study": study,
    "tune": tune,
    "suite": suite,
    "race": race,
    "fuzz": fuzz,
    "train": train,
    "report": report,
    "paper": paper,
    "draw": draw,
    "compile": compile_kernels,
    "completion": completion,
}
for _order, (_name, _command) in enumerate(COMMANDS.items()):
    if isinstance(_command, App):
        _command.sort_key = _order
        app.command(_command)
    else:
        app.command(_command, name=_name, sort_key=_order)


def run() -> NoReturn:
    """What the command `glasshouse` is: the command line, and the end of the process.

    After an answer whose exit code counts, the process ends at once: threads of others' solvers
    may still be at work, and can bring Python's own shutdown down.
    """
    code = main()
    if isinstance(code, AnswerCode):
        for stream in (sys.stdout, sys.stderr):
            with suppress(OSError, ValueError):
                stream.flush()
        os._exit(code)
    sys.exit(code)


def main(arguments: list[str] | None = None) -> int:
    """Run the command line; errors are one line on standard error, never a traceback."""
    clock.start()
    console.survive()
    with heeded() as termination:
        told = ""
        try:
            code = _run(arguments)
        except KeyboardInterrupt as stop:
            code, told = 130, f"; {stop}" if str(stop) else ""
        except Exception as fault:
            if not termination.was_lost() and not is_interruption(fault):
                raise
            code = 130
        if isinstance(code, AnswerCode):
            # Whoever hands over arguments goes on afterwards; a process's own are all it does.
            termination.is_the_end = arguments is None
            return code
        if termination.is_asked:
            return _complain(f"terminated{told}", 143)
        return code if code != 130 else _complain(f"interrupted{told}", 130)


def _run(arguments: list[str] | None) -> int:
    try:
        try:
            words = sys.argv[1:] if arguments is None else arguments
            if words[:1] == ["plant"]:
                add_methods()
            result = app(pipes.as_paths(words), exit_on_error=False, print_error=False)
        finally:
            console.flush()
    except CycloptsError as error:
        return _complain(usage_error(error), 2)
    except CheckFailedError as error:
        return _complain(error, 1)
    except FalseClaimError as error:
        return _complain(error, 3)
    except (ValueError, MemoryError) as error:
        return _complain(error, 2)
    except MissingPackageError as error:
        return _complain(error, 2)
    except BrokenPipeError:
        console.hush()  # the reader of our output went away
        return 141
    except OSError as error:
        return _complain(system_error(error), 2)
    return result if isinstance(result, int) else 0


def _complain(error: object, code: int) -> int:
    message = " ".join(str(error).split()) or type(error).__name__
    if not isinstance(error, StudyFileError):
        message = as_options(message)
    print(f"glasshouse: {message}", file=sys.stderr)
    return code
