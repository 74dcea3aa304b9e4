"""The purposes of a store: a study, a race, a race of samplers, or trained machines.

A store has one purpose, and everything that adds to a store asks for it here. The settings of a
purpose are a note in the store: the text of a study, or a JSON object.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from glasshouse.store.storefile import StoreError


@dataclass(frozen=True)
class Purpose:
    """A purpose that a store can have, such as a study or a race.

    Attributes:
        words: the name of the purpose in messages.
        note: the key of its settings among a store's notes; training runs have none.
        kind: the name of its rows; None for studies, to which every other kind of rows belongs.
        members: the setting that later runs add to: settings of each solver, by its name.
        own: settings that may differ between computers; those of the first store are kept.
        fixed: the part of a task's parameters in which all tasks of a store agree; None if there
            is no such part.
        is_suite: whether every solver runs on all instances, so that stores with other instances
            belong to another race.
    """

    words: str
    note: str
    kind: str | None
    members: str | None = None
    own: frozenset[str] = field(default_factory=frozenset)
    fixed: Callable[[Mapping[str, Any]], Mapping[str, Any]] | None = None
    is_suite: bool = False


def digests_of(parameters: Mapping[str, Any]) -> dict[str, Any]:
    """Return the digests of the training data and of the held-out data."""
    return {name: value for name, value in parameters.items() if name.endswith("sha256")}


RACE = Purpose(
    "a race", "race", "race", "solvers",
    frozenset({"suite", "source", "answers", "instances", "start_seconds"}), is_suite=True,
)  # fmt: skip
SAMPLER_RACE = Purpose("a race of samplers", "sampler race", "sampler_race", is_suite=True)
TRAINING = Purpose("trained machines", "training", "training", fixed=digests_of)
STUDY = Purpose("a study", "study", None)
PURPOSES = (RACE, SAMPLER_RACE, TRAINING, STUDY)


def purposes_of(kinds: Iterable[str], has_note: Callable[[str], bool]) -> list[Purpose]:
    """Return the purposes of a store, derived from its kinds of rows and its notes.

    A new store has none. Only older versions could create a store with two.
    """
    special = {purpose.kind: purpose for purpose in PURPOSES}
    held = {special.get(kind, STUDY) for kind in kinds}
    return [purpose for purpose in PURPOSES if purpose in held or has_note(purpose.note)]


def refuse_other(path: Path, held: list[Purpose], asked: Purpose) -> None:
    """Refuse to add to a store that has another purpose."""
    if held not in ([], [asked]):
        words = " and ".join(purpose.words for purpose in held)
        raise StoreError(f"{path} holds {words}, not {asked.words}; use another store")
