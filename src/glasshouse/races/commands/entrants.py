"""Entrants of a race: the user's commands, and built-in solvers, which also run as commands.

Built-in solvers run as `glasshouse solve` in their own interpreter, so that limits and kills apply
to them as to other commands. The start of that interpreter is part of their time; `start_of`
measures it.
"""

from __future__ import annotations

import hashlib
import re
import shlex
import sys
from collections.abc import Callable, Container, Iterable, Mapping
from dataclasses import dataclass, replace
from functools import partial
from itertools import count
from pathlib import Path
from typing import Any

from glasshouse.files.clause_file import SUFFIXES, Dialect
from glasshouse.proofs.exact import OURS
from glasshouse.races.commands.builtin import NAMES, refuse_missing, version_of
from glasshouse.races.commands.probing import Probed, probe, try_out
from glasshouse.races.running.command import Limits, SolverCommand
from glasshouse.races.running.compiling import Words, run_compiled
from glasshouse.races.running.runner import Outcome
from glasshouse.races.samplers import SAMPLERS
from glasshouse.summaries import Summarised
from glasshouse.version import __version__

_RANDOM = ("anneal", "temper", "minimise", *SAMPLERS)
_OURS = tuple(name for name in OURS if name != "brute")  # brute force would never end here
_THEIRS = (*NAMES, *SAMPLERS)
_NAMED = re.compile(r"([A-Za-z][A-Za-z0-9_.+-]*)=(?=\S)")
_LONGEST_NAME = 60
_SHORT = 10.0  # seconds; in longer runs, the start-up time hardly matters


@dataclass(frozen=True, repr=False)
class Entrant(Summarised):
    """A solver that takes part in a race.

    Attributes:
        name: the name in tables and figures.
        command: the command that is run.
        dialect: the format that the command reads.
        fingerprint: a hash of the program, which shows whether the program has changed.
        is_built_in: whether the solver is a built-in solver.
    """

    name: str
    command: SolverCommand
    dialect: Dialect
    fingerprint: str
    is_built_in: bool = False


def built_in_names() -> tuple[str, ...]:
    """Return the names of all built-in solvers, installed or not."""
    return (*_OURS, *_THEIRS)


def entrants_of(
    solvers: Iterable[str],
    limits: Limits,
    dialect: Dialect | None = None,
    *,
    known: Mapping[str, Mapping[str, Any]] | None = None,
    tell: Callable[[Probed], None] | None = None,
) -> list[Entrant]:
    """Parse entrants: each text is a command, `name=command`, a built-in solver's name, or `all`.

    Args:
        solvers: the texts; `all` means all built-in solvers.
        limits: the limits of the runs that detect a dialect; their time limit is at most 10 seconds
            for each dialect.
        dialect: the format that all commands read. None detects it among mse22, classic and opb.
            Plain cnf, which has neither weights nor hard clauses, must be chosen.
        known: the solvers in a race's store, by name; their dialects are not detected again.
        tell: a function that is called with every detected dialect.

    Raises:
        ValueError: a solver does not exist, or two have the same name.
        MissingPackageError: a built-in solver is not installed.
    """
    words = [text.strip() for text in solvers]
    if "all" in words:
        each = dict.fromkeys([*words, *filter(_is_installed, built_in_names())])
        words = [word for word in each if word != "all"]
    found: dict[str, Entrant] = {}
    for text in words:
        if text in built_in_names():
            entrant = _built_in(text)
        else:
            name, command = _named_command(text)
            spoken = Probed(name, dialect) if dialect else _known(name, known or {})
            spoken = spoken or probe(name, command, limits)
            if dialect is None and tell is not None:
                tell(spoken)
            entrant = Entrant(name, command, spoken.dialect, _fingerprint(command))
        if entrant.name in found:
            raise ValueError(
                f"two solvers have the name {entrant.name!r}; {_another_name(entrant, text, found)}"
            )
        found[entrant.name] = entrant
    if not found:
        raise ValueError("no solver was named; pass a command or the name of a built-in solver")
    return list(found.values())


def _another_name(entrant: Entrant, text: str, taken: Container[str]) -> str:
    """Return the remedy part of the error message for a solver name that is already taken."""
    if entrant.is_built_in:
        return "a built-in solver can race only once; remove one of the two"
    named = _NAMED.match(text)
    command = text[named.end() :] if named else text
    name = next(name for k in count(2) if (name := f"{entrant.name}-{k}") not in taken)
    return f"rename one of them, as in {shlex.quote(f'{name}={command}')}"


def start_of(entrant: Entrant, limits: Limits) -> float | None:
    """Measure a solver's start-up time: seconds to its first answer on a two-variable instance.

    The first o line counts, because some solvers run until the limit; they are measured only if the
    limit is short. Returns the whole limit if the solver does not answer in time, and None if the
    run fails for another reason, such as memory.
    """
    if entrant.is_built_in and entrant.name in _RANDOM and limits.seconds > _SHORT:
        return None
    execute = partial(_compiled, entrant.name) if entrant.is_built_in else None
    unhurried = replace(limits, cpu_seconds=None)
    outcome, answer, judgement = try_out(entrant.command, entrant.dialect, unhurried, execute)
    if answer.incumbents and (judgement.is_right or outcome.stopped == "time"):
        return min(answer.incumbents[0][0], outcome.seconds)
    if outcome.stopped == "time":
        return limits.seconds
    return outcome.seconds if judgement.is_right else None


def _compiled(name: str, words: Words, limits: Limits) -> Outcome:
    return run_compiled(name, words, limits)[0]


def _built_in(name: str) -> Entrant:
    if name in _THEIRS:
        refuse_missing(name)
    words = (
        sys.executable, "-m", "glasshouse", "solve", "{file}", "--solver", name, "--maxsat-output",
        "--time-limit", "{seconds}", *(("--seed", "{seed}") if name in _RANDOM else ()),
    )  # fmt: skip
    return Entrant(name, SolverCommand(words), "classic", _versions(name), is_built_in=True)


def _is_installed(name: str) -> bool:
    return name not in _THEIRS or version_of(name) is not None


def _versions(name: str) -> str:
    """Return a text with the versions of glasshouse and of the package behind a built-in solver."""
    ours = f"glasshouse {__version__}"
    return ours if name not in _THEIRS else f"{ours}, {version_of(name)}"


def _named_command(text: str) -> tuple[str, SolverCommand]:
    named = _NAMED.match(text)
    try:
        command = SolverCommand.parse(text[named.end() :] if named else text)
    except ValueError as fault:
        if len(text.split()) != 1:
            raise
        known = ", ".join(built_in_names())
        raise ValueError(f"{fault}; the built-in solvers are {known}") from None
    name = named[1] if named else Path(command.words[0]).name
    if len(name) > _LONGEST_NAME:
        raise ValueError(f"a solver's name has {len(name)} characters; use at most {_LONGEST_NAME}")
    return name, command


def _known(name: str, known: Mapping[str, Mapping[str, Any]]) -> Probed | None:
    """Return the dialect that a race's store records for a solver, or None if it has no record.

    `Race.reserve` checks whether the store means the same program.
    """
    held = known.get(name, {}).get("dialect")
    return next((Probed(name, dialect) for dialect in SUFFIXES if dialect == held), None)


def _fingerprint(command: SolverCommand) -> str:
    """Return the SHA-256 of a command's program and of the files among its arguments."""
    digest = hashlib.sha256()
    for word in command.words:
        if Path(word).is_absolute() and Path(word).is_file():
            with Path(word).open("rb") as file:
                digest.update(hashlib.file_digest(file, "sha256").digest())
    return digest.hexdigest()
