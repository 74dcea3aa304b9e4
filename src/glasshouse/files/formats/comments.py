"""Notes: data for which a text format has no field, stored in its comment lines.

A note is a comment of two words, a key and a value, such as `c planted-cost 105`; a recipe is one
JSON object. All other comments are for human readers and are ignored.
"""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any, TypeVar

import numpy as np
import numpy.typing as npt

from glasshouse.files.claims import Stated
from glasshouse.files.text.errors import shown
from glasshouse.files.text.number_rows import bit_string, parse_bits, parse_number
from glasshouse.files.text.plain_json import parse_object
from glasshouse.files.text.streams import Source
from glasshouse.problems import Ising, Labels, Max2Sat, MaxSat, Number, Qubo, naming

AnyProblem = TypeVar("AnyProblem", Ising, Qubo, Max2Sat | MaxSat)


PLANTED = ("planted-cost", "planted-model", "recipe")


class Notes:
    """The notes of a file that is being read; each key occurs at most once.

    Attributes:
        source: the file, for errors.
        keys: the words that are keys in this format.
    """

    def __init__(self, source: Source, keys: tuple[str, ...] = PLANTED) -> None:
        self.source = source
        self._keys = {key.encode(): key for key in (*keys, "labels")}
        self._values: dict[str, tuple[int, bytes]] = {}

    def take(self, line: int, comment: bytes) -> None:
        """Store a comment, given without its comment mark, if it is a note."""
        words = comment.split(maxsplit=1)
        if len(words) != 2 or words[0] not in self._keys:
            return
        key, value = self._keys[words[0]], words[1].strip()
        opening = {"recipe": b"{", "labels": b"["}.get(key)
        is_note = value.startswith(opening) if opening else len(value.split(maxsplit=1)) == 1
        if not is_note:
            return
        if key in self._values:
            first = self._values[key][0]
            raise self.source.error(f"line {first} already states {key}; remove one line", line)
        self._values[key] = (line, value)

    def __contains__(self, key: str) -> bool:
        return key in self._values

    def error(self, key: str, message: str) -> Exception:
        """Return a `FileError` that quotes an invalid note and its line."""
        line, value = self._values[key]
        return self.source.error(f"{key} {shown(value)} {message}", line)

    def number(self, key: str) -> Number | None:
        """Return a note's value as an int or a finite float; None if the note is missing."""
        if key not in self:
            return None
        number = parse_number(self._values[key][1])
        if number is None:
            raise self.error(key, "must be a finite number")
        return number

    def count(self, key: str, least: int, most: int) -> int | None:
        """Return a note's value, an integer from `least` to `most`; None if the note is missing."""
        value = self.number(key)
        if value is None:
            return None
        if not isinstance(value, int) or not least <= value <= most:
            raise self.error(key, f"must be an integer from {least} to {most}")
        return value

    def word(self, key: str, allowed: tuple[str, ...]) -> str | None:
        """Return a note's value, one of the `allowed` words; None if the note is missing."""
        if key not in self:
            return None
        value = self._values[key][1].decode("ascii", "replace")
        if value not in allowed:
            raise self.error(key, f"must be {' or '.join(allowed)}")
        return value

    def bits(self, key: str, size: int) -> npt.NDArray[np.int8] | None:
        """Return a note's value, a string of 0 and 1, as an array; None if it is missing."""
        if key not in self:
            return None
        text = self._values[key][1]
        if len(text) != size:
            raise self.error(key, f"has {len(text)} values, but must have {size}, one per variable")
        bits = parse_bits(text)
        if bits is None:
            raise self.error(key, "must be a string of 0 and 1")
        return bits

    def recipe(self) -> dict[str, Any] | None:
        """Return the recipe in the notes, a JSON object; None if there is no recipe."""
        if "recipe" not in self:
            return None
        recipe = parse_object(self._values["recipe"][1])
        if recipe is None:
            raise self.error("recipe", "is not valid: a recipe must be a JSON object")
        return recipe

    def labels(self, size: int) -> Labels | None:
        """Return the labels in the notes; None if there are no labels."""
        if "labels" not in self:
            return None
        try:
            return naming.from_json(self._values["labels"][1], size)
        except ValueError as fault:
            raise self.error("labels", f"cannot be used: {fault}") from None

    def labelled(self, problem: AnyProblem) -> AnyProblem:
        """Return the problem with the labels in the notes, or unchanged if there are none."""
        labels = self.labels(problem.num_variables)
        return problem if labels is None else replace(problem, labels=labels)

    def stated(self, size: int) -> Stated:
        """Return the cost, model and recipe of a plant exactly as the notes state them."""
        cost, model = self.number("planted-cost"), self.bits("planted-model", size)
        return Stated(cost, model, self.recipe())


def note_lines(mark: str, stated: Stated, cost_key: str = "planted-cost") -> bytes:
    """Return statements as comment lines that begin with `mark`; empty if nothing is stated."""
    lines = []
    if stated.cost is not None:
        lines.append(f"{mark} {cost_key} {stated.cost}\n")
    if stated.model is not None:
        lines.append(f"{mark} planted-model {bit_string(stated.model)}\n")
    if stated.recipe is not None:
        text = json.dumps(stated.recipe, sort_keys=True, separators=(",", ":"))
        lines.append(f"{mark} recipe {text}\n")
    return "".join(lines).encode("ascii")


def label_line(mark: str, labels: Labels | None) -> bytes:
    """Return the labels of a problem as a comment line; empty if there are no labels."""
    if labels is None:
        return b""
    # Words that have a meaning in comments of COO files are escaped.
    text = naming.to_json(labels).replace("vartype", "\\u0076artype")
    return f"{mark} labels {text}\n".encode("ascii")
