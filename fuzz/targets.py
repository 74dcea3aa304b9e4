"""The table of all fuzzing targets, by name."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from fuzz import pairs, readers, studies
from fuzz.mutators import Mutate, archives, bqms, stores, texts, trees
from fuzz.promises import Run

CORPUS = Path(__file__).parent / "corpus"


@dataclass(frozen=True)
class Target:
    """A target of fuzzing.

    Attributes:
        run: the function that runs an input, and raises if a promise is broken.
        mutate: the function that changes an input into another plausible input.
        longest: the maximum length of an input, in bytes.
    """

    run: Run
    mutate: Mutate
    longest: int = 2_000


TARGETS = {
    **{
        name: Target(readers.problem_file(f".{name}"), texts.mutate)
        for name in ("wcnf", "cnf", "qubo", "mc", "coo", "qplib", "json", "sparse")
    },
    "bqm": Target(readers.problem_file(".bqm"), bqms.mutate),
    "npz": Target(readers.problem_file(".npz"), archives.mutate_npz, 20_000),
    "gz": Target(readers.packed_file(".gz"), archives.mutate_gz, 20_000),
    "xz": Target(readers.packed_file(".xz"), archives.mutate_xz, 20_000),
    "cert": Target(readers.side_car_file, texts.mutate),
    "pair": Target(pairs.certified_file(".wcnf"), texts.mutate),
    "pair-coo": Target(pairs.certified_file(".coo"), texts.mutate),
    "manifest": Target(readers.manifest, trees.mutate_lines),
    "recipe": Target(readers.recipe, trees.mutate_lines),
    "graph": Target(readers.graph_file, texts.mutate),
    "study": Target(studies.study_file, texts.mutate),
    "store": Target(studies.store_file, stores.mutate, 40_000),
}


def corpus_of(name: str) -> list[Path]:
    """Return the paths of a target's inputs in the corpus."""
    return sorted(path for path in (CORPUS / name).iterdir() if path.is_file())
