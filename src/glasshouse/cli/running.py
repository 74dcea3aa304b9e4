"""The execution of a command, from the words of the command line to an exit code."""

from __future__ import annotations

import sys
import traceback
from contextlib import suppress

from cyclopts import CycloptsError

from glasshouse import cli
from glasshouse.cli import console
from glasshouse.cli.errors import (
    AnswerCode,
    CheckFailedError,
    FalseClaimError,
    spoken,
    system_error,
    usage_error,
)
from glasshouse.cli.evaluation import by_the_rules
from glasshouse.cli.options import as_paths
from glasshouse.cli.termination import Termination, is_interruption
from glasshouse.extras import MissingPackageError

_INTERRUPTED, _TERMINATED, _NOBODY_READS = 130, 143, 141
_BUG = 70  # EX_SOFTWARE of sysexits.h


def execute(words: list[str], termination: Termination) -> int:
    """Run a command, and return its exit code however it ends.

    Args:
        words: the words of the command line.
        termination: handles signals as soon as the words are understood.
    """
    console.survive()
    try:
        code, told = _outcome(words, termination)
    except KeyboardInterrupt:  # a second Ctrl-C while the first was being handled
        console.hush()
        code, told = _INTERRUPTED, ""
    termination.finish()
    if isinstance(code, AnswerCode):
        return code
    if termination.is_asked:
        return _complain(f"terminated{told}", _TERMINATED)
    return code if code != _INTERRUPTED else _complain(f"interrupted{told}", _INTERRUPTED)


def _outcome(words: list[str], termination: Termination) -> tuple[int, str]:
    """Return the exit code of a command, and its message about an interruption."""
    told = ""
    try:
        code = _run(words, termination)
    except KeyboardInterrupt as stop:
        code, told = _INTERRUPTED, f"; {stop}" if str(stop) else ""
    except Exception as fault:
        code = _INTERRUPTED
        if not termination.was_lost() and not is_interruption(fault):
            traceback.print_exception(fault)
            code = _complain("this is a bug; please report it with the lines above", _BUG)
    if code == _INTERRUPTED:
        console.flush_if_read()
    return code, told


def _run(words: list[str], termination: Termination) -> int:
    try:
        result = _result(words, termination)
        console.flush()
    except CycloptsError as error:
        return _complain(usage_error(error), 2)
    except CheckFailedError as error:
        return _complain(error, 1)
    except FalseClaimError as error:
        return _complain(error, 3)
    except (ValueError, MemoryError, MissingPackageError) as error:
        return _complain(spoken(error, words), 2)
    except BrokenPipeError:
        console.hush()  # the reader of our output has closed it
        return _NOBODY_READS
    except SystemExit as stop:
        if not isinstance(stop.__context__, BrokenPipeError):
            raise
        return _NOBODY_READS  # rich, which prints the help, has handled the closed pipe
    except console.BlockedError:
        console.hush()
        return _INTERRUPTED
    except OSError as error:
        return _complain(system_error(error), 2)
    return result if isinstance(result, int) else 0


def _result(words: list[str], termination: Termination) -> object:
    """Parse the command line, run its command, and return the result."""
    if words:
        cli.add_options(words[0])
    command, bound, _ = cli.app.parse_args(as_paths(words), exit_on_error=False, print_error=False)
    if bound.arguments.get("maxsat_output"):
        return by_the_rules(lambda: command(*bound.args, **bound.kwargs), termination)
    termination.begin()
    return command(*bound.args, **bound.kwargs)


def _complain(error: object, code: int) -> int:
    """Print why a command ended, after its other output."""
    message = " ".join(str(error).splitlines()) or type(error).__name__
    with suppress(OSError):  # Standard output is closed, but standard error may be read.
        console.flush()
    if console.may_write(sys.stderr):
        print(f"glasshouse: {message}", file=sys.stderr)
    return code
