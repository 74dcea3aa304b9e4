"""Sixty proofs of all kinds, to compare the prover before and after a change.

`python -m tests.proofs.fixed_set` proves all of them and compares with `fixed_set.json`, which
`python -m tests.proofs.fixed_set record` writes. Bound, energy and verdict must be equal. A kind
may have at most 5 % more parts (loops, squares and leaves) than recorded. With further words, only
the kinds whose names contain one of them are proven and compared.

OpenBLAS chooses its code by the processor, and its last bits decide how many squares a semidefinite
proof has. So the set is proven and recorded with OPENBLAS_CORETYPE=Haswell, in a child process.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import numpy as np

import glasshouse as gh

RECORDED = Path(__file__).with_suffix(".json")
MOST_PARTS = 1.05  # parts of a kind, as a multiple of the recorded number
BLAS = {"OPENBLAS_CORETYPE": "Haswell"}  # read when NumPy and SciPy are imported


def lattice(*sides: int, seed: int, normal: bool = False, periodic: bool = True) -> gh.Ising:
    """A lattice with weights ±1, or with normal ones in units of 10^-5."""
    rng = np.random.default_rng(seed)
    places = np.arange(np.prod(sides)).reshape(sides)
    pairs = []
    for axis, side in enumerate(sides):
        ahead = np.roll(places, -1, axis)
        here, there = (places, ahead) if periodic else (
            x.take(range(side - 1), axis) for x in (places, ahead)
        )  # fmt: skip
        pairs.append(np.stack([here.ravel(), there.ravel()], axis=1))
    edges = np.sort(np.concatenate(pairs), axis=1)
    return gh.Ising.from_edges(places.size, edges, weights(rng, len(edges), normal))


def random_graph(
    size: int, degree: float, seed: int, *, normal: bool = False, fields: bool = False
) -> gh.Ising:
    """A random graph of a mean degree; the complete one from the degree size - 1 on."""
    rng = np.random.default_rng(seed)
    edges = np.stack(np.triu_indices(size, 1), axis=1)
    edges = edges[rng.random(len(edges)) < degree / (size - 1)]
    own = weights(rng, size, normal) if fields else None
    return gh.Ising.from_edges(size, edges, weights(rng, len(edges), normal), fields=own)


def weights(rng: np.random.Generator, count: int, normal: bool) -> Any:
    """Signs, or normal numbers in units of 10^-5."""
    if normal:
        return np.round(1e5 * rng.normal(size=count)).astype(np.int64)
    return rng.choice([-1, 1], count)


def torus(side: int, weight: int, seed: int) -> gh.Ising:
    """A square torus with weights ±w, a third of them negative."""
    plain = lattice(side, side, seed=seed)
    rng = np.random.default_rng([seed, side])
    signs = np.where(rng.random(len(plain.edges)) < 1 / 3, -weight, weight)
    return gh.Ising.from_edges(plain.num_variables, plain.edges, signs)


def machine(visible: int, hidden: int, seed: int, *, normal: bool) -> gh.Rbm:
    """An RBM with random weights and biases."""
    rng = np.random.default_rng(seed)
    matrix = weights(rng, visible * hidden, normal).reshape(visible, hidden)
    return gh.Rbm(matrix, weights(rng, visible, normal), weights(rng, hidden, normal))


def qubo(size: int, density: float, seed: int) -> gh.Qubo:
    """A random QUBO as in the benchmarks of Beasley: integers from -100 to 100."""
    rng = np.random.default_rng(seed)
    matrix = np.triu(rng.integers(-100, 101, (size, size)))
    return gh.Qubo.from_matrix(matrix * (rng.random((size, size)) < density))


def clauses(size: int, count: int, hard: int, seed: int) -> gh.Max2Sat:
    """Random clauses of two literals; a random assignment satisfies the hard ones."""
    rng = np.random.default_rng(seed)
    chosen = np.array([rng.permutation(size)[:2] + 1 for _ in range(count + hard)])
    chosen *= rng.choice([-1, 1], chosen.shape)
    values = np.append(0, rng.choice([-1, 1], size))
    for k in range(count, count + hard):
        if (np.sign(chosen[k]) != values[np.abs(chosen[k])]).all():
            chosen[k, 0] *= -1
    soft = rng.integers(1, 10, count)
    return gh.Max2Sat.from_clauses(
        size, chosen[:count].tolist(), soft.tolist(), hard=chosen[count:].tolist()
    )


Make = Callable[[], Any]

# Each kind with its problems, some of them with options of `prove`.
KINDS: dict[str, list[Make | tuple[Make, dict[str, Any]]]] = {
    "2D ±J": [
        lambda: lattice(10, 10, seed=1), lambda: lattice(16, 16, seed=2),
        lambda: lattice(9, 14, seed=3), lambda: lattice(15, 15, seed=4, periodic=False),
        lambda: lattice(25, 25, seed=5, periodic=False),
    ],
    "2D normal": [
        lambda: lattice(8, 8, seed=1, normal=True), lambda: lattice(12, 12, seed=2, normal=True),
        lambda: lattice(16, 16, seed=3, normal=True), lambda: lattice(24, 24, seed=4, normal=True),
        lambda: lattice(20, 20, seed=5, normal=True, periodic=False),
    ],
    "3D ±J": [
        lambda: lattice(3, 3, 3, seed=1), lambda: lattice(4, 4, 4, seed=2),
        lambda: lattice(5, 5, 5, seed=1), lambda: lattice(6, 6, 6, seed=6),
        (lambda: lattice(6, 6, 6, seed=5), {"node_limit": 1}),
    ],
    "3D normal": [
        lambda: lattice(4, 4, 4, seed=1, normal=True),
        lambda: lattice(5, 5, 5, seed=3, normal=True),
        lambda: lattice(5, 5, 5, seed=4, normal=True),
        lambda: lattice(6, 6, 6, seed=5, normal=True),
        lambda: lattice(6, 6, 6, seed=6, normal=True),
    ],
    "dense": [
        lambda: random_graph(14, 14, 1), lambda: random_graph(44, 44, 1),
        lambda: random_graph(60, 60, 1), lambda: random_graph(44, 44, 1, normal=True),
        (lambda: random_graph(24, 24, 1), {"loops_only": True}),
    ],
    "sparse random": [
        lambda: random_graph(60, 3, 1), lambda: random_graph(90, 3, 2, normal=True),
        lambda: random_graph(150, 4, 1), lambda: random_graph(80, 6, 1),
        lambda: random_graph(60, 8, 1),
    ],
    "planted": [
        lambda: gh.random_loops(20, 20, frustration="1/5", loop_density=1, rng=1).problem,
        lambda: gh.structured_loops(
            24, 24, frustration="1/5", block=0.3, loop_density=1, rng=2).problem,
        lambda: gh.bias_loops(15, 15, frustration="1/5", loop_density=1, rng=3).problem,
        lambda: gh.graph_loops(
            "torus:12x12", frustration="1/10", loop_density="1/2", max_length=8, rng=4).problem,
        lambda: gh.uniform_max2sat(20, 20, clause_density=2, rng=5).problem,
    ],
    "fields": [
        lambda: random_graph(18, 18, 1, fields=True), lambda: random_graph(60, 3, 2, fields=True),
        lambda: random_graph(60, 3, 3, normal=True, fields=True),
        lambda: random_graph(44, 44, 1, fields=True),
        lambda: random_graph(40, 5, 5, fields=True),
    ],
    "RBM": [
        lambda: machine(8, 8, 1, normal=False), lambda: machine(16, 14, 2, normal=False),
        lambda: machine(30, 28, 1, normal=True),
        (lambda: machine(14, 12, 1, normal=False), {"loops_only": True}),
        lambda: gh.random_loops(30, 12, frustration="23/100", loop_density=2, rng=5).problem,
    ],
    "Wishart": [
        lambda: gh.wishart(16, columns=12, rng=1).problem,
        lambda: gh.wishart(30, columns=24, rng=4).problem,
        lambda: gh.wishart(36, columns=18, rng=1).problem,
        lambda: gh.wishart(40, columns=30, rng=1).problem,
        lambda: gh.wishart(20, columns=15, weights="normal", rng=5).problem,
    ],
    "tori of ±w": [
        lambda: torus(12, 1, 1), lambda: torus(20, 2, 2), lambda: torus(30, 3, 3),
        lambda: torus(40, 7, 4), lambda: torus(60, 100, 5),
    ],
    "QUBO and clauses": [
        lambda: qubo(50, 1.0, 1), lambda: qubo(40, 0.1, 2), lambda: qubo(60, 0.3, 1),
        lambda: clauses(30, 90, 0, 4), lambda: clauses(50, 200, 30, 1),
    ],
}  # fmt: skip


def prove_kind(kind: str) -> list[dict[str, Any]]:
    """Prove the problems of a kind, and return what is compared."""
    rows = []
    for entry in KINDS[kind]:
        make, options = entry if isinstance(entry, tuple) else (entry, {})
        proof = gh.prove(make(), **options)
        certificate = proof.certificate
        rows.append({
            "energy": str(proof.energy), "bound": str(proof.lower_bound), "optimal": proof.optimal,
            "method": proof.statistics.method, "loops": certificate.num_loops,
            "squares": certificate.num_squares, "leaves": certificate.num_leaves,
        })  # fmt: skip
    return rows


def parts_of(rows: Iterable[dict[str, Any]]) -> int:
    """Count loops, squares and leaves."""
    return sum(row[name] for row in rows for name in ("loops", "squares", "leaves"))


def faults_of(kind: str, rows: list[dict[str, Any]], recorded: list[dict[str, Any]]) -> list[str]:
    """Compare proofs of a kind with the recorded ones; return as text what is worse."""
    faults = [
        f"{kind} {k}: {name} is {row[name]}, but {old[name]} is recorded"
        for k, (row, old) in enumerate(zip(rows, recorded, strict=True))
        for name in ("energy", "bound", "optimal")
        if row[name] != old[name]
    ]
    if parts_of(rows) > MOST_PARTS * parts_of(recorded):
        faults.append(f"{kind}: {parts_of(rows)} parts, but {parts_of(recorded)} are recorded")
    return faults


def main(words: list[str]) -> int:
    """Prove and compare, or record, in a process with the BLAS of the record."""
    if not BLAS.items() <= os.environ.items():
        command = [sys.executable, "-m", "tests.proofs.fixed_set", *words]
        return subprocess.run(command, env=os.environ | BLAS).returncode
    records = words[:1] == ["record"]
    wanted = words[records:]
    known = json.loads(RECORDED.read_text()) if RECORDED.exists() else {}
    faults, counts = [], Counter[str]()
    for kind in KINDS:
        if wanted and not any(word in kind for word in wanted):
            continue
        began = time.process_time()
        rows = prove_kind(kind)
        seconds = time.process_time() - began
        before = known.get(kind, rows)
        equal = sum(row == old for row, old in zip(rows, before, strict=True))
        print(f"{kind:17} {seconds:6.1f} s, {parts_of(rows)} parts, {parts_of(before)} before, "
              f"{equal} of {len(rows)} certificates alike", flush=True)  # fmt: skip
        faults += faults_of(kind, rows, before)
        counts.update(proofs=len(rows), proven=sum(row["optimal"] for row in rows), alike=equal)
        if records:
            known[kind] = rows
    print(*faults, dict(counts), sep="\n")
    if records:
        kinds = (
            f"{json.dumps(kind, ensure_ascii=False)}: [\n "
            + ",\n ".join(json.dumps(row) for row in known[kind]) + "\n]"
            for kind in KINDS if kind in known
        )  # fmt: skip
        RECORDED.write_text("{\n" + ",\n".join(kinds) + "\n}\n")
    return bool(faults) and not records


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
