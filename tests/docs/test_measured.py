"""Figures of README and of the comparison are those of the stored results, rounded."""

from __future__ import annotations

import csv
import json
import re
from collections import Counter
from decimal import Decimal
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
SPARSE, SPARSE_32 = "geometric mean, sparse, 256 runs", "geometric mean, sparse, 32 runs"
DENSE = "structured n = 40, density 40, paper's β"
ONE, FLOATS = "sparse n = 100, f = 0.2", "3D Gaussian L = 8, floats"
TTS, CUBE = "TTS99, n = 60, f = 0.21, instance {}", "3D ±J, L = 8, instance {}"
COMPLETE, WISHART, RBM = (
    "complete graph, ±1, n = 200",
    "Wishart n = 128, 64 columns",
    "RBM 64 × 64, floats",
)
STEEP, PLAIN = "structured, n = 40, density {}", "random, n = {}"
CLUSTER = "cluster loops, 16 × 16 cells, alpha {}"
CLAUSES, DIGITS = "10^6 clauses, WCNF", "digits, 64 hidden, batches of 10: {}"
PEERS = ("× dwave", "× openjij")
# Page, the words around its figures; for each figure: result, begin of the row, runs, column.
CLAIMS = [
    ("README.md", "takes 1/# of the time", [("anneal-updates", SPARSE, 256, PEERS[0])]),
    (
        "README.md",
        "`frustrated_loop`: # × as long",
        [("planting", "1000 × 1000, 310", None, "times faster")],
    ),
    (
        "README.md",
        "sparse, 256 runs | 1 | dwave-samplers: # × as long; openjij: # ×",
        [("anneal-updates", SPARSE, 256, p) for p in PEERS],
    ),
    (
        "README.md",
        "dense 40 × 40 | 1 | dwave-samplers: # ×; openjij: # ×",
        [("anneal-updates", DENSE, 256, p) for p in PEERS],
    ),
    (
        "README.md",
        "float weights | 1 | dwave-samplers: # ×; openjij: # ×",
        [("anneal-updates", FLOATS, 256, p) for p in PEERS],
    ),
    (
        "README.md",
        "sparse, one run | 1 | dwave-samplers: # ×; openjij: # ×",
        [("anneal-updates", ONE, 1, p) for p in PEERS],
    ),
    (
        "README.md",
        "better of the two: # to # × as long",
        [("anneal-tts", TTS.format(k), None, "× best peer") for k in (3, 2)],
    ),
    (
        "README.md",
        "better of the two: # to # × |",
        [("tempering-tts", CUBE.format(k), None, "× best peer") for k in (1, 2)],
    ),
    ("README.md", "density 40 | # s |", [("proofs", STEEP.format(40), None, "glasshouse")]),
    (
        "README.md",
        "clauses](benchmarks/results/files.md) | # s |",
        [("files", CLAUSES, None, "read, seconds")],
    ),
    (
        "docs/comparison.md",
        "310 loops on K(1000, 1000) | | # |",
        [("planting", "1000 × 1000, 310", None, "times faster")],
    ),
    (
        "docs/comparison.md",
        "384 variables | #, #, # |",
        [("families-csp", "xorsat", size, "times faster") for size in (24, 96, 384)],
    ),
    (
        "docs/comparison.md",
        "2000 spins | | #, # |",
        [("families-csp", "nae3sat", size, "times faster") for size in (100, 2000)],
    ),
    (
        "docs/comparison.md",
        "3D of length 8 | #, # |",
        [
            ("families-tiles-speed", f"{d}, length {n}", None, "times faster")
            for d, n in (("2D", 32), ("3D", 8))
        ],
    ),
    (
        "docs/comparison.md",
        "three settings | #, #, # |",
        [
            ("families-tiles-speed", CLUSTER.format(a), None, "times faster")
            for a in ("1/4", "7/16", "3/4")
        ],
    ),
    (
        "docs/comparison.md",
        "with signs, 32 and 1000 spins | #, # |",
        [("families-wishart-chook", f"signs n = {n},", None, "times faster") for n in (32, 1000)],
    ),
    (
        "docs/comparison.md",
        "normal weights, 32 and 1000 spins | #, # |",
        [("families-wishart-chook", f"normal n = {n},", None, "times faster") for n in (32, 1000)],
    ),
    *(
        (
            "docs/comparison.md",
            f"{words} | {runs} | # | # |",
            [("anneal-updates", row, runs, p) for p in PEERS],
        )
        for words, row, runs in (
            ("mean of six", SPARSE, 256),
            ("mean of six", SPARSE_32, 32),
            ("f = 0.2", ONE, 1),
            ("float weights", FLOATS, 256),
            ("the paper's β", DENSE, 256),
            ("200 spins", COMPLETE, 64),
            ("200 spins", COMPLETE, 1),
            ("Wishart, 128 spins", WISHART, 64),
            ("Wishart, 128 spins", WISHART, 1),
            ("RBM 64 × 64, float weights", RBM, 64),
        )
    ),
    (
        "docs/comparison.md",
        "openjij takes # to # times",
        [("anneal-tts", TTS.format(k), None, "× best peer") for k in (3, 2)],
    ),
    (
        "docs/comparison.md",
        "three cubic ±J lattices | 512 | #, #, # |",
        [("tempering-tts", CUBE.format(k), None, "× best peer") for k in (1, 2, 3)],
    ),
    (
        "docs/comparison.md",
        "square ±J lattice | 400 | # |",
        [("tempering-tts", "2D ±J, L = 20", None, "× best peer")],
    ),
    (
        "docs/comparison.md",
        "Wishart instance | 64 | # |",
        [("tempering-tts", "Wishart, n = 64", None, "× best peer")],
    ),
    (
        "docs/comparison.md",
        "random loops at the peak of hardness | 105 | # |",
        [("tempering-tts", "random loops", None, "× best peer")],
    ),
    (
        "docs/comparison.md",
        "density 5 | # | > 60; > 60 | # | # | # |",
        [("proofs", STEEP.format(5), None, s) for s in ("glasshouse", "toulbar2", "scip", "highs")],
    ),
    (
        "docs/comparison.md",
        "density 40 | # | >",
        [("proofs", STEEP.format(40), None, "glasshouse")],
    ),
    (
        "docs/comparison.md",
        "density 1 | # | > 60; # | > 60 | # | # |",
        [
            ("proofs", PLAIN.format("100, density 1"), None, s)
            for s in ("glasshouse", "rc2-stratified-edge", "scip", "highs")
        ],
    ),
    (
        "docs/comparison.md",
        "at the peak | # | > 60; # | # | # | # |",
        [
            ("proofs", PLAIN.format("1000, peak"), None, s)
            for s in ("glasshouse", "rc2-stratified-edge", "toulbar2", "scip", "highs")
        ],
    ),
    (
        "docs/comparison.md",
        "glasshouse | # s | # s |",
        [("files", CLAUSES, None, f"{what}, seconds") for what in ("read", "write")],
    ),
    *(
        (
            "docs/comparison.md",
            f"{words} | # | -# ± # |",
            [
                ("training", DIGITS.format(s), None, c)
                for c in ("epochs per second", "held-out log-likelihood", "its error")
            ],
        )
        for words, s in (
            ("glasshouse", "glasshouse"),
            ("`BernoulliRBM`", "BernoulliRBM"),
            ("rbms (one thread)", "rbms"),
        )
    ),
]


@cache
def rows(result: str) -> list[dict]:
    return json.loads((ROOT / "benchmarks" / "results" / f"{result}.json").read_text())["rows"]


def stored(result: str, begins: str, runs: int | None, column: str) -> float:
    """The first row that begins so; a number of runs, or of variables, chooses between rows."""
    for row in rows(result):
        cells = list(row.values())
        name = " ".join(cell for cell in cells if isinstance(cell, str))
        size = row.get("runs", int(re.match(r"\d*", str(cells[1]))[0] or 0))
        if name.startswith(begins) and runs in (None, size):
            return abs(float(row[column]))
    raise LookupError(f"{result} has no row {begins!r} of {runs}")


def agrees(text: str, value: float) -> bool:
    """Whether a value is within half a unit of the last digit that the text has."""
    written = Decimal(text.replace(",", ""))
    unit = Decimal(1).scaleb(written.as_tuple().exponent)
    return abs(Decimal(str(value)) - written) <= unit / 2


@pytest.mark.parametrize(("page", "words", "sources"), CLAIMS)
def test_a_figure_is_that_of_its_stored_result(page, words, sources):
    pattern = r"\s+".join(map(re.escape, words.split())).replace(r"\#", r"(\d[\d,]*\.?\d*)")
    figures = re.findall(pattern, (ROOT / page).read_text())
    assert len(figures) == 1, "the words are found once"
    texts = [figures[0]] if isinstance(figures[0], str) else figures[0]
    for text, source in zip(texts, sources, strict=True):
        assert agrees(text.rstrip(","), stored(*source)), (text, stored(*source))


def test_the_figures_of_the_certified_library_are_those_of_its_table():
    with (ROOT / "docs" / "library" / "instances.csv").open() as file:
        table = list(csv.DictReader(file))
    proven = Counter(row["family"].split(":")[0] for row in table if row["proven"] == "yes")
    known = Counter(row["family"].split(":")[0] for row in table)
    readme = " ".join((ROOT / "README.md").read_text().split())
    assert f"All {proven['gset']} toroidal graphs" in readme
    assert proven["gset"] == known["gset"]
    missing = 350 - known["biqmac"]
    assert f"{proven['biqmac']} of the 350 Biq Mac instances" in readme
    counts = f"{proven['biqmac']} optima proven, {known['biqmac'] - proven['biqmac']} open, "
    assert f"{counts}{missing} not tried yet" in readme
    seconds = [float(row["seconds"]) for row in table if row["family"] == "gset"]
    assert f"{min(seconds):.1f} to {max(seconds):.1f} s" in readme
    cuts = {row["name"]: row["value"] for row in table}
    assert f"G62 = {cuts['G62']} and G72 = {cuts['G72']}" in readme
