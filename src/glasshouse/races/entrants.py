"""Who races: somebody's command, or a built-in solver, which is a command of ours.

Built-in solvers run as `glasshouse solve` in an interpreter of their own, so that limits and kills
hold for them as for all others. The start of that interpreter is part of their time; `start_of`
measures it.
"""

from __future__ import annotations

import hashlib
import re
import shlex
import sys
from collections.abc import Container, Iterable
from dataclasses import dataclass
from itertools import count
from pathlib import Path

from glasshouse.proofs.exact import OURS
from glasshouse.races.answer import Answer, read_answer
from glasshouse.races.builtin import NAMES, refuse_missing, version_of
from glasshouse.races.clause_file import ClauseFile
from glasshouse.races.command import SolverCommand
from glasshouse.races.dialects import SUFFIXES, Dialect, read_from, text_in
from glasshouse.races.guardian import scratch_folder
from glasshouse.races.judging import Judgement, RunVerdict, judge
from glasshouse.races.limits import Limits
from glasshouse.races.rounds import SAMPLERS
from glasshouse.races.runner import Outcome, run
from glasshouse.races.truth import Truth
from glasshouse.summaries import Summarised
from glasshouse.version import __version__

_RANDOM = ("anneal", "temper", *SAMPLERS)
_OURS = tuple(name for name in OURS if name != "brute")  # which would never end here
_THEIRS = (*NAMES, *SAMPLERS)
_NAMED = re.compile(r"([A-Za-z][A-Za-z0-9_.+-]*)=(?=\S)")
_LONGEST_NAME, _LONGEST_QUOTE = 60, 120
_SHORT = 10.0  # seconds; in longer runs a start hardly counts
_PROBED: tuple[Dialect, ...] = ("mse22", "classic", "opb", "cnf")
# What a solver says of a file that it cannot read.
_NOT_UNDERSTOOD = (RunVerdict.CRASH, RunVerdict.NO_ANSWER, RunVerdict.MALFORMED)
_HARDLY_ANYTHING = ClauseFile(2, ((3, (-1,)), (2, (-2,))), ((1, 2),))
_WITHOUT_WEIGHTS = ClauseFile(2, ((1, (-1,)), (1, (-2,)), (1, (1, 2))), ())


@dataclass(frozen=True, repr=False)
class Entrant(Summarised):
    """A solver in a race.

    Attributes:
        name: what tables and figures call it.
        command: what is run.
        dialect: what it reads.
        fingerprint: of the program, to notice that it is another one than before.
        is_built_in: whether it runs in an interpreter of ours.
    """

    name: str
    command: SolverCommand
    dialect: Dialect
    fingerprint: str
    is_built_in: bool = False


def built_in_names() -> tuple[str, ...]:
    """The names of all built-in solvers, installed or not."""
    return (*_OURS, *_THEIRS)


def entrants_of(
    solvers: Iterable[str], limits: Limits, dialect: Dialect | None = None
) -> list[Entrant]:
    """Solvers as one types them: a command, `name=command`, a built-in's name, or `all` built-ins.

    Args:
        solvers: the texts.
        limits: of the run that finds out what a command reads.
        dialect: what all commands read; found out when None.

    Raises:
        ValueError: a solver is not there, or two have one name.
        MissingPackageError: a built-in solver is not installed.
    """
    words = [text.strip() for text in solvers]
    if "all" in words:
        known = dict.fromkeys([*words, *filter(_is_installed, built_in_names())])
        words = [word for word in known if word != "all"]
    found: dict[str, Entrant] = {}
    for text in words:
        entrant = _built_in(text) if text in built_in_names() else _external(text, limits, dialect)
        if entrant.name in found:
            raise ValueError(
                f"two solvers are called {entrant.name!r}; {_another_name(entrant, text, found)}"
            )
        found[entrant.name] = entrant
    if not found:
        raise ValueError("no solver; give at least one command or the name of a built-in")
    return list(found.values())


def _another_name(entrant: Entrant, text: str, taken: Container[str]) -> str:
    """The advice for a solver whose name is taken."""
    if entrant.is_built_in:
        return "a built-in solver races once; remove one of them"
    named = _NAMED.match(text)
    command = text[named.end() :] if named else text
    name = next(name for k in count(2) if (name := f"{entrant.name}-{k}") not in taken)
    return f"name them, as in {shlex.quote(f'{name}={command}')}"


def start_of(entrant: Entrant, limits: Limits) -> float | None:
    """Seconds until a solver has an answer for an instance of two variables: hardly but its start.

    Its first o line counts: some work until the limit whatever they have, and are asked only where
    that is short. The whole limit where it does not get so far in time; None where something else
    is in its way, such as memory.
    """
    if entrant.is_built_in and entrant.name in _RANDOM and limits.seconds > _SHORT:
        return None
    outcome, answer, judgement = _try(entrant.command, entrant.dialect, limits)
    if answer.incumbents and (judgement.is_right or outcome.stopped == "time"):
        return min(answer.incumbents[0][0], outcome.seconds)
    if outcome.stopped == "time":
        return limits.seconds
    return outcome.seconds if judgement.is_right else None


def understood(command: SolverCommand, limits: Limits, dialects: Iterable[Dialect]) -> set[Dialect]:
    """The dialects in which a solver answers an instance of two variables, rightly or not."""
    return {
        dialect for dialect in dialects
        if _try(command, dialect, limits)[2].verdict not in _NOT_UNDERSTOOD
    }  # fmt: skip


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
    """What is behind a built-in solver: our version, and that of the package it comes from."""
    ours = f"glasshouse {__version__}"
    return ours if name not in _THEIRS else f"{ours}, {version_of(name)}"


def _external(text: str, limits: Limits, dialect: Dialect | None) -> Entrant:
    named = _NAMED.match(text)
    try:
        command = SolverCommand.parse(text[named.end() :] if named else text)
    except ValueError as fault:
        if len(text.split()) != 1:
            raise
        known = ", ".join(built_in_names())
        raise ValueError(f"{fault}; built-in solvers are {known}") from None
    name = named[1] if named else Path(command.words[0]).name
    if len(name) > _LONGEST_NAME:
        raise ValueError(f"the name of a solver has {len(name)} letters; use {_LONGEST_NAME}")
    spoken = _probe(name, command, limits) if dialect is None else dialect
    return Entrant(name, command, spoken, _fingerprint(command))


def _fingerprint(command: SolverCommand) -> str:
    """A hash of the program and of the scripts among its arguments."""
    digest = hashlib.sha256()
    for word in command.words:
        if Path(word).is_absolute() and Path(word).is_file():
            with Path(word).open("rb") as file:
                digest.update(hashlib.file_digest(file, "sha256").digest())
    return digest.hexdigest()


def _probe(name: str, command: SolverCommand, limits: Limits) -> Dialect:
    """The first dialect in which a solver answers an instance of two variables.

    Rightly, if there is one; a solver that is wrong in every dialect may race, too.
    """
    heard: dict[Dialect, Judgement] = {}
    first = ""
    for dialect in _PROBED:
        outcome, _, heard[dialect] = _try(command, dialect, limits)
        first = first or _first_line(bytes(outcome.transcript.errors))
        if heard[dialect].is_right:
            return dialect
    for dialect, judgement in heard.items():
        if judgement.verdict not in _NOT_UNDERSTOOD:
            return dialect
    said: dict[str, list[str]] = {}
    for dialect, judgement in heard.items():
        said.setdefault(str(judgement), []).append(dialect)
    told = "; ".join(f"{', '.join(dialects)}: {what}" for what, dialects in said.items())
    if first and first not in told:
        told += f"; its standard error begins with {first!r}"
    raise ValueError(
        f"the solver {name} understands no dialect ({told}); check the command, or give dialect="
        "'classic' (or another) to race it all the same"
    )


def _first_line(text: bytes) -> str:
    """The first line with something in it, short enough to be quoted."""
    lines = (line.strip() for line in text.decode("ascii", "replace").splitlines())
    return next((line[:_LONGEST_QUOTE] for line in lines if line), "")


def _try(
    command: SolverCommand, dialect: Dialect, limits: Limits
) -> tuple[Outcome, Answer, Judgement]:
    clauses = _WITHOUT_WEIGHTS if dialect == "cnf" else _HARDLY_ANYTHING
    least = 1 if dialect == "cnf" else 2
    with scratch_folder("glasshouse-probe-") as folder:
        path = folder / f"instance{SUFFIXES[dialect]}"
        path.write_bytes(text_in(dialect, clauses))
        outcome = run(command.arguments(path, 1, limits.seconds), limits)
    answer = read_from(dialect, read_answer(outcome.transcript), clauses)
    return outcome, answer, judge(clauses, answer, Truth(least, least), outcome)
