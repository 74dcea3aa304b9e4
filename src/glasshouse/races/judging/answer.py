"""Parser for solvers' answers: the `o`, `s` and `v` lines of the MaxSAT Evaluation."""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace

from glasshouse.files.clause_file import ClauseFile, Dialect
from glasshouse.races.running.transcript import Transcript
from glasshouse.summaries import Summarised

STATUSES = ("OPTIMUM FOUND", "SATISFIABLE", "UNSATISFIABLE", "UNKNOWN")

_MOST_INCUMBENTS = 100_000
_LONGEST_QUOTE = 60  # characters
_VALUE = re.compile(r"[+-]?[0-9]{1,40}")
_LITERAL = re.compile(r"(-?)x?([1-9][0-9]{0,9})|0")


class AnswerError(ValueError):
    """Raised if a solver's output cannot be parsed, or contradicts itself."""


class IncompleteError(AnswerError):
    """Raised if a part of the answer is missing, for example because the solver was killed."""


@dataclass(frozen=True, repr=False)
class Answer(Summarised):
    """A solver's output, parsed but not trusted.

    Attributes:
        statuses: the status of each `s` line, or the whole line if it is not spelled exactly as in
            the rules.
        incumbents: the values of `o` lines with their times: each value lower than all before it,
            and the last one.
        model_words: all words of the `v` lines of the last model; an `o` line between `v` lines
            begins a new model. None if there is no `v` line.
        faults: lines that resemble `o`, `s` or `v` lines but do not follow the rules.
        unread: the last `o` line, if it does not follow the rules.
    """

    statuses: tuple[str, ...]
    incumbents: tuple[tuple[float, int], ...]
    model_words: tuple[str, ...] | None
    faults: tuple[str, ...]
    unread: str | None = None

    @property
    def value(self) -> int | None:
        """The value of the last `o` line; None without `o` lines."""
        return self.incumbents[-1][1] if self.incumbents else None

    @property
    def status(self) -> str | None:
        """The status on the `s` line; None if the output has no `s` line.

        Raises:
            AnswerError: there are several `s` lines.
        """
        if len(self.statuses) > 1:
            raise AnswerError(f"the output has {len(self.statuses)} s lines; expected only one")
        return self.statuses[0] if self.statuses else None

    def model(self, num_variables: int, needed: Collection[int] | None = None) -> list[int] | None:
        """Return the model as a list of 0 and 1, one per variable; None without `v` lines.

        A model may be one word of digits, separate digits, or literals, over any number of lines.

        Args:
            num_variables: the number of variables of the file.
            needed: the variables that must have a value, by default all; any other variable without
                a value is 0.

        Raises:
            IncompleteError: a variable has no value.
            AnswerError: the words are not an assignment of `num_variables` variables.
        """
        if self.model_words is None:
            return None
        needed = range(1, num_variables + 1) if needed is None else needed
        least = max(needed, default=0)
        if not _are_digits(self.model_words, least, num_variables):
            return _from_literals(self.model_words, needed, num_variables)
        digits = "".join(self.model_words)
        if len(digits) > num_variables:
            raise AnswerError(
                f"the v lines have {len(digits)} values, but must have {num_variables}"
            )
        if len(digits) < least:
            raise IncompleteError(
                f"the v lines have {len(digits)} values, but must have at least {least}"
            )
        return [int(digit) for digit in digits.ljust(num_variables, "0")]


def read_answer(transcript: Transcript) -> Answer:
    r"""Parse all `o`, `s` and `v` lines of a solver's output, and ignore all other lines.

    >>> answer = read_answer(Transcript.of(b"c hello\no 7\no 4\ns OPTIMUM FOUND\nv 1 -2 0\n"))
    >>> answer.value, answer.status, answer.model(2)
    (4, 'OPTIMUM FOUND', [1, 0])
    """
    statuses, faults = [], []
    words: list[str] = []
    has_model, is_over = False, False
    incumbents: list[tuple[float, int]] = []
    last: tuple[float, int] | None = None
    unread = None
    for seconds, untrimmed in transcript.lines():
        line = untrimmed.rstrip()  # the Evaluation's own test of solvers does the same
        kind = _kind_of(line)
        rest = line[2:].strip()
        if kind == "v":
            if is_over:  # clasp prints each model, its value after it: the last one counts
                words.clear()
            has_model, is_over = True, False
            words += rest.split()
        elif kind == "s":
            is_exact = line[:2] == "s " and line[2:] in STATUSES
            statuses.append(line[2:] if is_exact else line[:_LONGEST_QUOTE])
            if not is_exact:
                faults.append(line[:_LONGEST_QUOTE])
        elif kind == "o" and line[0] == "o" and line[1:2] == " " and _VALUE.fullmatch(rest):
            last = seconds, int(rest)
            unread = None
            is_over = True
            if not incumbents or last[1] < incumbents[-1][1]:
                del incumbents[_MOST_INCUMBENTS - 1 :]  # the lowest value stays
                incumbents.append(last)
        elif kind == "o":
            unread = line[:_LONGEST_QUOTE]
            faults.append(unread)
        elif kind == "?":
            faults.append(line[:_LONGEST_QUOTE])
    if last is not None and last[1] != incumbents[-1][1]:
        incumbents.append(last)
    model = tuple(words) if has_model else None
    return Answer(tuple(statuses), tuple(incumbents), model, tuple(faults), unread)


def read_from(dialect: Dialect, answer: Answer, clauses: ClauseFile) -> Answer:
    """Return an answer without the extra variables that an OPB file has, one per soft clause."""
    if dialect != "opb" or answer.model_words is None:
        return answer
    most = clauses.num_variables
    extra = {f"{sign}x{most + k}" for k in range(1, len(clauses.soft) + 1) for sign in ("", "-")}
    return replace(answer, model_words=tuple(w for w in answer.model_words if w not in extra))


def _kind_of(line: str) -> str:
    """Return a line's kind: o, s or v; ? for a malformed `v` line; empty for other lines.

    The rules require a lower-case letter at the start of the line and a space after it. A line that
    only misses this is not ignored: an answer must not vanish silently.
    """
    if line[1:2] in ("", " ") and line[:1] in ("v", "s", "o"):
        return line[:1]
    letter, *words = line.split() or [""]
    if letter in ("s", "S") and " ".join(words).upper() in STATUSES:
        return "s"
    if letter in ("o", "O") and len(words) == 1 and _VALUE.fullmatch(words[0]):
        return "o"
    if letter in ("v", "V") and words and all(map(_LITERAL.fullmatch, words)):
        return "?"
    if letter in ("v", "V") and words and set("".join(words)) <= {"0", "1"}:
        return "?"
    return ""


def _are_digits(words: Sequence[str], least: int, most: int) -> bool:
    """Return whether `v` lines list a digit (0 or 1) per variable, rather than literals.

    `1 10 11 0` could be either. It is a list of literals unless it has between `least` and `most`
    digits, or a word that is not a literal of `most` variables.
    """
    if not all(set(word) <= {"0", "1"} for word in words):
        return False
    total = sum(map(len, words))
    if all(len(word) == 1 for word in words) or len(words) == 1:
        # `1 0` is also a list of literals, and means the same unless there is only one variable; a
        # lone `0` is an empty list of literals if there are no variables.
        return not (total == most + 1 <= 2 and words[-1] == "0")
    longest = len(str(most))
    is_none = any(
        len(word) > 1 and (word[0] == "0" or len(word) > longest or int(word) > most)
        for word in words
    )
    return is_none or least <= total <= most


def _from_literals(words: Sequence[str], needed: Collection[int], num_variables: int) -> list[int]:
    values: dict[int, int] = {}
    for word in words:
        match = _LITERAL.fullmatch(word)
        variable = int(match[2] or 0) if match else -1
        if match is None or variable > num_variables:
            raise AnswerError(
                f"{word[:40]!r} in a v line is not a literal of variables 1 to {num_variables}"
            )
        value = 0 if match[1] else 1
        if variable and values.setdefault(variable, value) != value:
            raise AnswerError(f"variable {variable} is both true and false in the v lines")
    missing = sorted(set(needed) - values.keys())
    if missing:
        others = f", nor for {len(missing) - 1} more" * (len(missing) > 1)
        raise IncompleteError(f"the v lines have no value for variable {missing[0]}{others}")
    return [values.get(variable, 0) for variable in range(1, num_variables + 1)]
