"""How a command says no."""

from __future__ import annotations

import re
from difflib import get_close_matches

from cyclopts import (
    CycloptsError,
    MissingArgumentError,
    UnknownCommandError,
    UnusedCliTokensError,
)

# Names of Python arguments in messages of the library, and the options they come from.
_OPTIONS = {"rng": "--seed", "n": "-n", "m": "-m"}
# Words of files that look like arguments are none: `# vartype=SPIN`, and names of files, which
# have a folder, a suffix or a colon after them: `n=100.coo`, `f=0.2/x`, `n=5:`. Library messages
# quote texts, and so never name an argument that way.
_FILE = r"(?!\S*/)(?![^\s'\"]*\.[A-Za-z])(?!\S*:(?:\s|$))"
_ARGUMENT = re.compile(rf"(?<![\w./-])(?<!# )([a-z]+(?:_[a-z]+)*)=(?=[\w.'\"-]){_FILE}")
# The file that a message is about, before its first colon: its name may have spaces.
_PLACE = re.compile(r"(?:[^:]|:(?! ))*(?:=|/|\.[A-Za-z])[^\s:/]*(?:, line \d+)?: ")
_NAMES = re.compile(
    r"\b(loop_density|clause_density|max_weight|max_length|min_length|time_limit)\b"
)


class CheckFailedError(Exception):
    """The answer is no: a check that was asked for failed. Ends with exit code 1."""


class FalseClaimError(Exception):
    """A file states an optimum that was found to be wrong. Ends with exit code 3."""


class AnswerCode(int):
    """An exit code that is part of the answer: it stays, also where a signal ended the search."""


class StudyFileError(ValueError):
    """Something wrong in a study file, whose keys are not options of a command."""


def usage_error(error: CycloptsError) -> str:
    """What is wrong with a command line, and the help that tells how it is right."""
    chain = ["glasshouse", *(error.command_chain or ())]
    word, known = _first_word(error), list(error.app or ())
    near = get_close_matches(word, known, n=1)
    told = str(error)
    if isinstance(error, UnknownCommandError):
        commands = [name for name in known if not name.startswith("-")]
        told = f"{word!r} is no command"
        told += "" if near else f"; there are {', '.join(commands)}"
    if isinstance(error, MissingArgumentError) and error.argument is not None:
        # Not given at all, or given without its value.
        names = " or ".join(error.argument.names)
        told = f"{error.keyword} needs a value" if error.keyword else f"{names} is missing"
    if isinstance(error, UnusedCliTokensError):
        told = f"too many words: {' '.join(error.unused_tokens or ())}"
    if near and word != near[0]:
        told += f"; did you mean `{' '.join([*chain, *near])}`?"
    return f"{told} (see {' '.join(chain)} --help)"


def _first_word(error: CycloptsError) -> str:
    """What was typed after the last command that there is, if it could be a command's name."""
    words = (error.root_input_tokens or [])[len(error.command_chain or ()) :]
    if isinstance(error, UnknownCommandError) and error.unused_tokens:
        return error.unused_tokens[0]
    return words[0] if words and not words[0].startswith("-") else ""


def system_error(error: OSError) -> str:
    """What the operating system said no to, and why, without its number.

    >>> system_error(FileNotFoundError(2, "No such file or directory", "inst.wcnf"))
    'inst.wcnf: No such file or directory'
    """
    said = error.strerror or str(error)
    return said if error.filename is None else f"{error.filename}: {said}"


def as_options(message: str) -> str:
    """A message of the library in the words of the command line.

    >>> as_options("loop_density=-1 must be above 0; say overwrite=True to replace it")
    '--loop-density -1 must be above 0; say --force to replace it'
    >>> as_options("time_limit=0 is not a number of seconds above 0; None sets no limit")
    '--time-limit 0 is not a number of seconds above 0'
    >>> as_options("/data/n=100_f=0.2.coo: no vartype; expected '# vartype=SPIN'")
    "/data/n=100_f=0.2.coo: no vartype; expected '# vartype=SPIN'"
    >>> as_options("n=100 f=0.2.coo: exists already; say overwrite=True to replace it")
    'n=100 f=0.2.coo: exists already; say --force to replace it'
    """
    found = _PLACE.match(message)
    place = found[0] if found else ""
    message = message[len(place) :].replace("overwrite=True", "--force")
    message = message.replace("; None sets no limit", "")  # there is no None to type
    message = _ARGUMENT.sub(lambda m: _option(m[1]) + " ", message)
    return place + _NAMES.sub(lambda m: _option(m[0]), message)


def _option(name: str) -> str:
    return _OPTIONS.get(name, "--" + name.replace("_", "-"))
