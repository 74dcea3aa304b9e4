"""What a solver said: the `o`, `s` and `v` lines of the MaxSAT Evaluation, in all their forms."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from glasshouse.races.transcript import Transcript
from glasshouse.summaries import Summarised

STATUSES = ("OPTIMUM FOUND", "SATISFIABLE", "UNSATISFIABLE", "UNKNOWN")

_MOST_INCUMBENTS = 100_000
_VALUE = re.compile(r"[+-]?[0-9]{1,40}")
_LITERAL = re.compile(r"(-?)x?([0-9]{1,10})")


class AnswerError(ValueError):
    """A solver's output says something that cannot be understood, or contradicts itself."""


@dataclass(frozen=True, repr=False)
class Answer(Summarised):
    """A solver's output, read but not believed.

    Attributes:
        statuses: what stands after `s`, one for each such line.
        incumbents: the values of `o` lines with their times: each that is lower than all before it,
            and the last one.
        model_words: all words of the `v` lines after which no `o` line comes before the next `v`
            line: of the last model, where a solver shows each; None where there is no `v` line.
        faults: lines that look like `o` or `s` lines and are none.
        unread: the last `o` line, where it is no number.
    """

    statuses: tuple[str, ...]
    incumbents: tuple[tuple[float, int], ...]
    model_words: tuple[str, ...] | None
    faults: tuple[str, ...]
    unread: str | None = None

    @property
    def value(self) -> int | None:
        """The last `o` value."""
        return self.incumbents[-1][1] if self.incumbents else None

    @property
    def status(self) -> str | None:
        """The one `s` line.

        Raises:
            AnswerError: there are several.
        """
        if len(self.statuses) > 1:
            raise AnswerError(f"{len(self.statuses)} s lines; expected one")
        return self.statuses[0] if self.statuses else None

    def model(self, num_variables: int) -> list[int] | None:
        """The assignment as 0 and 1, one for each variable; None without `v` lines.

        A model may be one word of digits, digits apart, or literals, over any number of lines.
        Variables that are not told of are 0.

        Raises:
            AnswerError: the words are no assignment of so many variables.
        """
        if self.model_words is None:
            return None
        if _are_digits(self.model_words, num_variables):
            digits = "".join(self.model_words)
            if len(digits) > num_variables:
                raise AnswerError(f"a model of {len(digits)} digits for {num_variables} variables")
            return [int(digit) for digit in digits.ljust(num_variables, "0")]
        return _from_literals(self.model_words, num_variables)


def read_answer(transcript: Transcript) -> Answer:
    r"""All `o`, `s` and `v` lines of an output; everything else is passed over.

    >>> answer = read_answer(Transcript.of(b"c hello\no 7\no 4\ns OPTIMUM FOUND\nv 1 -2 0\n"))
    >>> answer.value, answer.status, answer.model(3)
    (4, 'OPTIMUM FOUND', [1, 0, 0])
    """
    statuses, faults = [], []
    words: list[str] = []
    has_model, is_over = False, False
    incumbents: list[tuple[float, int]] = []
    last: tuple[float, int] | None = None
    unread = None
    for seconds, line in transcript.lines():
        letter = line[:1]
        if line[1:2].strip():  # a longer word
            continue
        rest = " ".join(line[1:].split())
        if letter == "v":
            if is_over:  # clasp shows each model, its value after it: the last one counts
                words.clear()
            has_model, is_over = True, False
            words += rest.split()
        elif letter == "s":
            statuses.append(rest)
            if rest not in STATUSES:
                faults.append(f"s {rest[:60]}")
        elif letter == "o" and _VALUE.fullmatch(rest):
            last = seconds, int(rest)
            unread = None
            is_over = True
            if not incumbents or last[1] < incumbents[-1][1]:
                del incumbents[_MOST_INCUMBENTS - 1 :]  # the lowest stays, however many there are
                incumbents.append(last)
        elif letter == "o":
            unread = f"o {rest[:60]}"
            faults.append(unread)
    if last is not None and last[1] != incumbents[-1][1]:
        incumbents.append(last)
    model = tuple(words) if has_model else None
    return Answer(tuple(statuses), tuple(incumbents), model, tuple(faults), unread)


def _are_digits(words: Sequence[str], num_variables: int) -> bool:
    """Whether words are 0 and 1 for one variable after the other, and not literals.

    `1 10 11 0` could be either. It is a list of literals unless it has as many digits as there are
    variables, or a word that is none of their literals.
    """
    if not all(set(word) <= {"0", "1"} for word in words):
        return False
    total = sum(map(len, words))
    if all(len(word) == 1 for word in words) or len(words) == 1:
        # `1 0` is also a list of literals, and means the same unless there is one variable only;
        # a lone `0` is the end of no literals where there is no variable.
        return not (total == num_variables + 1 <= 2 and words[-1] == "0")
    longest = len(str(num_variables))
    is_none = any(
        len(word) > 1 and (word[0] == "0" or len(word) > longest or int(word) > num_variables)
        for word in words
    )
    return is_none or total == num_variables


def _from_literals(words: Sequence[str], num_variables: int) -> list[int]:
    values: dict[int, int] = {}
    for word in words:
        match = _LITERAL.fullmatch(word)
        variable = int(match[2]) if match else -1
        if match is None or variable > num_variables:
            raise AnswerError(
                f"{word[:40]!r} in a v line is no literal of {num_variables} variables"
            )
        value = 0 if match[1] else 1
        if variable and values.setdefault(variable, value) != value:
            raise AnswerError(f"variable {variable} is both true and false in the v lines")
    return [values.get(variable, 0) for variable in range(1, num_variables + 1)]
