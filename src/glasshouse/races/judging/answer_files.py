"""Pairs of problem files and the files that contain solvers' answers to them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from glasshouse.files import FORMATS, FileError
from glasshouse.files.certificate.reading import has_side_car
from glasshouse.files.text.streams import format_suffix
from glasshouse.summaries import Summarised

_INSTANCES, _ANSWERS = "instances", "answers"  # the folders of a suite
_DOUBTFUL = (".json", ".csv", ".npy")  # such a file in a folder may be something else
_MOST_NAMES = 3  # names of files in a message
_PIPE = Path("-")


@dataclass(frozen=True, repr=False)
class AnswerFiles(Summarised):
    """Pairs of problem and answer files, and the problem and answer files without a partner.

    Attributes:
        pairs: problem files and answers, sorted so that the answers to one file are together.
        unanswered: problem files without an answer.
        unmatched: answers that are not named after a problem file.
    """

    pairs: tuple[tuple[Path, Path], ...]
    unanswered: tuple[Path, ...] = ()
    unmatched: tuple[Path, ...] = ()


def find_answers(place: Path, answers: Sequence[Path]) -> AnswerFiles:
    """Match answers to a problem file, or to the problem files of a folder or suite.

    An answer to a file of a folder has the name of that file, with or without its suffix, and
    optionally more after a dot: `inst.wcnf.txt`, `inst.wcnf.solver-2.log` and `inst.out` answer
    `inst.wcnf`. A .json, .csv or .npy file in a folder may be something else and is not judged.

    Args:
        place: a problem file, a folder of them, or a suite.
        answers: files with answers, or folders that contain only answers; `-` is standard input.

    Raises:
        FileError: a file is missing, or an answer matches two problem files.
    """
    if not place.is_dir():
        return AnswerFiles(tuple((place, answer) for answer in _files(answers)))
    folder = place / _INSTANCES if (place / _INSTANCES).is_dir() else place
    problems = sorted(path for path in folder.iterdir() if _is_problem(path))
    if not problems:
        raise FileError(place, "contains no problem files; expected, for example, .wcnf files")
    own = {path.resolve() for path in problems}
    pairs, unmatched = [], []
    for answer in _files(answers):
        if answer.resolve() in own or answer.suffix == ".cert":
            continue  # answers may be in the folder of the problem files
        problem = _answered(answer, problems)
        if problem is None:
            unmatched.append(answer)
        else:
            pairs.append((problem, answer))
    if not pairs:
        raise FileError(
            place,
            f"none of the answers is named after a problem file; an answer to {problems[0].name} "
            f"must have a name such as {problems[0].name}.txt",
        )
    left = own - {problem.resolve() for problem, _ in pairs}
    unanswered = tuple(path for path in problems if path.resolve() in left)
    return AnswerFiles(tuple(sorted(pairs)), unanswered, tuple(unmatched))


def certificate_of(problem: Path, certificate: Path | None = None) -> Path | None:
    """Return the path of a given certificate or of one in the suite's answers; None without both.

    Args:
        problem: the problem file.
        certificate: a certificate, or a folder of certificates that are named after their problem
            files; None searches the folder of a suite's answers.
    """
    if certificate is not None:
        return certificate / f"{problem.name}.cert" if certificate.is_dir() else certificate
    folder = problem.absolute().parent
    if folder.name != _INSTANCES or has_side_car(problem):
        return None
    apart = folder.with_name(_ANSWERS) / f"{problem.name}.cert"
    return apart if apart.is_file() else None


def shortened(paths: Sequence[Path]) -> str:
    """Return a text with the names of at most three files and the number of further files.

    >>> shortened([Path("x/a"), Path("b"), Path("c"), Path("d"), Path("e")])
    'a, b, c and 2 more'
    """
    more = len(paths) - _MOST_NAMES
    names = ", ".join(path.name for path in paths[:_MOST_NAMES])
    return f"{names} and {more} more" if more > 0 else names


def _files(answers: Iterable[Path]) -> list[Path]:
    """Return all answer files; each folder is replaced by its files in sorted order."""
    found: list[Path] = []
    for answer in answers:
        if answer == _PIPE or not answer.is_dir():
            found.append(answer)
            continue
        inside = sorted(path for path in answer.rglob("*") if path.is_file())
        inside = [path for path in inside if not path.name.startswith(".")]
        if not inside:
            raise FileError(answer, "is an empty folder; pass a folder that contains answers")
        found += inside
    return found


def _is_problem(path: Path) -> bool:
    suffix = format_suffix(path)
    format_ = FORMATS.get(suffix)
    is_read = format_ is not None and format_.read is not None
    return is_read and suffix not in _DOUBTFUL and path.is_file()


def _answered(answer: Path, problems: Sequence[Path]) -> Path | None:
    """Return the problem whose name or stem is a prefix of the answer's name; None if none is."""
    for names in (_name, _stem):
        fits = [path for path in problems if f"{answer.name}.".startswith(f"{names(path)}.")]
        longest = max((len(names(path)) for path in fits), default=0)
        fits = [path for path in fits if len(names(path)) == longest]
        if len(fits) > 1:
            raise FileError(
                answer,
                f"may answer {fits[0].name} or {fits[1].name}; rename it to {fits[0].name}.txt or "
                f"{fits[1].name}.txt",
            )
        if fits:
            return fits[0]
    return None


def _name(path: Path) -> str:
    return path.name


def _stem(path: Path) -> str:
    """Return a file's name without the suffixes of format and compression."""
    return path.name[: path.name.lower().rindex(format_suffix(path))]
