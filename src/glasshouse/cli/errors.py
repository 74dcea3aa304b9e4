"""Errors of commands: wrong usage, wrong input, failed checks, false claims in files."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping
from contextlib import suppress
from difflib import get_close_matches
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Any

from cyclopts import (
    CycloptsError,
    MissingArgumentError,
    UnknownCommandError,
    UnusedCliTokensError,
)

from glasshouse.cli.renamed import renamed_command, renamed_option

if TYPE_CHECKING:
    from glasshouse.files import Document

# A quoted text, which is a value that the user typed or a piece of a file.
_QUOTED = r"(?<!\w)'[^']*'|(?<!\w)\"[^\"]*\""
# Arguments of the library that have another name on the command line.
_LIBRARY_NAMES = {"rng": "--seed", "repeat": "--runs", "seconds": "--time-limit",
                  "cpu_seconds": "--cpu-limit", "mode_seconds": "--mode-time-limit",
                  "timeout": "--batch-time-limit"}  # fmt: skip
_ADVICE = "; pass overwrite=True to replace it"


class CheckFailedError(Exception):
    """Raised if a requested check failed, so that the answer is no; the exit code is 1."""


class FalseClaimError(Exception):
    """Raised if a file states an optimum that was found to be wrong; the exit code is 3."""


class AnswerCode(int):
    """An exit code that is part of the answer: it stays even if a signal ended the search."""


class StudyFileError(ValueError):
    """An error in a study file, whose keys are not options of a command."""


def usage_error(error: CycloptsError) -> str:
    """Return what is wrong with a command line, and the help command that shows the right usage."""
    chain = ["glasshouse", *(error.command_chain or ())]
    word, known = _first_word(error), list(error.app or ())
    near = get_close_matches(word, known, n=1)
    told = str(error)
    old = renamed_option(chain[1:], error.root_input_tokens or ())
    if isinstance(error, UnknownCommandError):
        old = renamed_command(chain[1:], word, bool(near))
    if old:
        return old
    if isinstance(error, UnknownCommandError):
        commands = [name for name in known if not name.startswith("-")]
        told = f"{word!r} is not a command"
        told += "" if near else f"; use one of {', '.join(commands)}"
        if word == "paper":
            told = "'paper' is not a command; use python -m paper in the repository of glasshouse"
    if isinstance(error, MissingArgumentError) and error.argument is not None:
        # The option is missing, or its value is.
        names = " or ".join(error.argument.names)
        told = f"{error.keyword} needs a value" if error.keyword else f"{names} is missing"
        typed = _misspelt(error.argument.names, error.root_input_tokens or ())
        if typed and not error.keyword:
            told = f"Unknown option: {typed[0]}. Did you mean {typed[1]}?"
    if isinstance(error, UnusedCliTokensError):
        told = f"too many words: {' '.join(error.unused_tokens or ())}"
    if near and word != near[0]:
        told += f"; did you mean `{' '.join([*chain, *near])}`?"
    return f"{told} (see {' '.join(chain)} --help)"


def _misspelt(names: Iterable[str], words: Iterable[str]) -> tuple[str, str] | None:
    """Return the word that probably is a misspelt option, and the option; None if there is none."""
    for word in (word.partition("=")[0] for word in words if word.startswith("--")):
        if near := get_close_matches(
            word, [name for name in names if name != word], n=1, cutoff=0.7
        ):
            return word, near[0]
    return None


def _first_word(error: CycloptsError) -> str:
    """Return the word after the last known command; empty if it cannot be a command's name."""
    words = (error.root_input_tokens or [])[len(error.command_chain or ()) :]
    if isinstance(error, UnknownCommandError) and error.unused_tokens:
        return error.unused_tokens[0]
    return words[0] if words and not words[0].startswith("-") else ""


def system_error(error: OSError) -> str:
    """Return what the operating system refused, and why, without its error number.

    >>> system_error(FileNotFoundError(2, "No such file or directory", "inst.wcnf"))
    'inst.wcnf: No such file or directory'
    """
    said = error.strerror or str(error)
    return said if error.filename is None else f"{error.filename}: {said}"


def spoken(error: BaseException, words: list[str]) -> str:
    """Return an error in one line, with the library's arguments renamed to command-line options.

    An error with a `path` is about a file; only overwrite, force and format are renamed in it. Any
    other error that is not a ValueError is left unchanged, unless its `names_arguments` is true.

    Args:
        error: the exception of a command.
        words: the command line as it was typed; names of files in it are never changed.
    """
    lines = str(error).strip().splitlines()
    message = " ".join(line.strip() for line in lines) or type(error).__name__
    path = getattr(error, "path", None)
    if path is None and not getattr(error, "names_arguments", type(error) is ValueError):
        return message
    options = _options(words)
    if "--force" not in options.values():
        message = message.removesuffix(_ADVICE)
    if path is not None:
        kept = ("overwrite", "force", "format")  # a file's own words are never changed
        options = {name: options[name] for name in kept if name in options}
    return as_options(message, options, _typed([*words, *([] if path is None else [path])]))


def as_options(message: str, options: Mapping[str, str], typed: Collection[str] = ()) -> str:
    """Replace the names of the library's arguments in a message with command-line options.

    Args:
        message: names arguments as `name=value`, or by names that have an underscore.
        options: the option of each argument; no other name is changed.
        typed: words that the user typed, which are never changed.

    >>> options = {"loop_density": "--loop-density", "force": "--force", "n": "-n"}
    >>> as_options("loop_density=-1 must be above 0; pass overwrite=True to replace it", options)
    '--loop-density -1 must be above 0; pass --force to replace it'
    >>> as_options("n=5 x.coo: n=0 is below 1, see 'n=3' in n=7.coo", options, ["n=5 x.coo"])
    "n=5 x.coo: -n 0 is below 1, see 'n=3' in -n 7.coo"
    """
    message = message.replace("; None sets no limit", "")  # None cannot be typed
    names = [*options, *(["overwrite=True"] if "force" in options else [])]
    if not names:
        return message
    kept = "|".join([*_longest_first(typed), _QUOTED])
    argument = rf"(?<![\w./-])({'|'.join(_longest_first(names))})(?:(=)(?=[\w.'\"-])|(?![\w=]))"
    known = {**options, "overwrite=True": "--force"}

    def option(found: re.Match[str]) -> str:
        name, has_value = found[2], found[3]
        if found[1] or not (has_value or "_" in name or "=" in name):
            return found[0]
        return known[name] + (" " if has_value else "")

    return re.sub(f"({kept})|{argument}", option, message)


def _longest_first(words: Collection[str]) -> list[str]:
    return [re.escape(word) for word in sorted(words, key=len, reverse=True) if word]


def _options(words: list[str]) -> dict[str, str]:
    """Return the option of each Python name of a command's arguments."""
    from glasshouse import cli

    _, apps, _ = cli.app.parse_commands(words)
    found = {}
    for argument in apps[-1].assemble_argument_collection():
        for option in argument.names:
            if option.startswith("-"):
                found[option.lstrip("-").replace("-", "_")] = option
    for name, option in _LIBRARY_NAMES.items():
        if option in found.values():
            found[name] = option
    if {"--from", "--to"} <= set(found.values()):
        found["format"] = "--from or --to"
    return found


def _typed(words: list[str]) -> list[str]:
    """Return all spellings of words that may name a file: as typed, absolute, without folders."""
    found = {*words, *(word.partition("=")[2] for word in words if word.startswith("--"))}
    for word in list(found):
        with suppress(OSError, RuntimeError, ValueError):  # some texts cannot name a file
            path = Path(word)
            found |= {str(path), path.name, str(path.absolute()), str(path.resolve())}
    return [word for word in found if "=" in word or "_" in word]


def false_claim(document: Document, found: Any, optimal: bool) -> str:
    """Return a message that refutes the stated optimum; empty if nothing refutes it.

    Args:
        document: the file as it was read.
        found: the energy of a state.
        optimal: whether no state has a lower energy.
    """
    from glasshouse.files.claims import agrees

    stated, measure = document.stated.cost, document.measure
    if stated is None or agrees(document.problem, stated, Fraction(found)):
        return ""
    claim = f"this file's claim is false: it states {measure.phrase} of {document.stated_value}"
    if found < stated:
        return f"{claim}, but the state found has {measure.of(found)}"
    return f"{claim}, but the optimum is {measure.of(found)}" if optimal else ""
