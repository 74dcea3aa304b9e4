"""Damaged trees are refused, or still valid; and both checkers agree."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from tests.certificates.test_checker import library, stand_alone
from tests.oracles import optimum

from glasshouse import files
from glasshouse.certificates import Branch, Certificate, Cover, Leaf, Order, Tree
from glasshouse.certificates.bound import Parts
from glasshouse.certificates.tree import Row
from glasshouse.problems import Ising
from glasshouse.problems.convert import to_max2sat
from glasshouse.proofs import prove, prover
from glasshouse.proofs.parts import certificate_of, joined_parts


def glass(size: int, seed: int) -> Ising:
    """A complete graph, with and without fields."""
    rng = np.random.default_rng(seed)
    edges = np.stack(np.triu_indices(size, 1), axis=1)
    weights = rng.choice([-1, 1], len(edges)) if seed % 2 else rng.integers(-9, 10, len(edges))
    fields = rng.integers(-1, 2, size) if seed % 3 == 0 else np.zeros(size, dtype=np.int64)
    return Ising.from_edges(size, edges[weights != 0], weights[weights != 0], fields)


def trees(count: int):
    """Small problems as clauses, with certificates of branches, loops, squares and covers.

    The parts that prove a problem prove each half of it, too: any tree over them is a proof.
    """
    rng = np.random.default_rng(count)
    for seed in range(count):
        problem = to_max2sat(glass(7 + seed % 3, seed))[0]
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(prover.Prover, "exact_methods", lambda self: (None, None))
            patch.setattr(prover, "LARGE", 0)
            whole = prove(problem).certificate
        if whole.tree is None:
            yield problem, grown(problem.num_variables, whole, rng)


def grown(size: int, whole: Certificate, rng: np.random.Generator) -> Certificate:
    """A tree of three branches, each leaf with all parts, with a cover or with an order."""
    leaf, cover = Leaf(whole.num_loops, whole.num_squares), Cover(tuple(range(size - 1)))
    order = Order(tuple(rng.permutation(size).tolist()))
    chosen = rng.choice(3, 4, p=(0.4, 0.2, 0.4))
    ends: list[list[Row]] = [[(leaf, cover, order)[kind]] for kind in chosen]
    while len(ends) > 1:
        pair = rng.choice(size + 1, 2, replace=False).tolist()
        ends.append([Branch(*pair), *ends.pop(0), *ends.pop(0)])
    tree = Tree(tuple(ends[0]))
    copies = sum(row is leaf for row in tree.rows)
    parts = Parts.of(whole)
    nothing = parts.chosen([slice(0, 0)], [slice(0, 0)])
    parts = joined_parts([nothing, *([parts] * copies)])
    return certificate_of(parts, np.append(whole.state, np.int8(1)), tree)


def orders(count: int):
    """Small problems as clauses, with certificates of elimination orders alone."""
    rng = np.random.default_rng(count)
    for seed in range(count):
        problem = to_max2sat(glass(6 + seed % 3, seed))[0]
        size = problem.num_variables
        rows: list[list[Row]] = [
            [Order(tuple(rng.permutation(size).tolist()))] for _ in range(1 + seed % 4)
        ]
        while len(rows) > 1:
            pair = rng.choice(size + 1, 2, replace=False).tolist()
            rows.append([Branch(*pair), *rows.pop(0), *rows.pop(0)])
        state = 2 * np.array(min(optimum(problem)[1])) - 1
        yield problem, Certificate(state, [], [0], [], tree=Tree(tuple(rows[0])))


def mutated(text: str, rng: np.random.Generator) -> str:
    """One number, one line or one digit of the state changed."""
    lines = text.splitlines()
    at = int(rng.integers(len(lines)))
    kind = rng.integers(6)
    if kind == 0:
        del lines[at]
    elif kind == 1:
        lines.insert(at, lines[int(rng.integers(len(lines)))])
    elif kind == 2:
        state = next(k for k, line in enumerate(lines) if line.startswith("state"))
        bits = list(lines[state].split()[1])
        place = int(rng.integers(len(bits)))
        bits[place] = "10"[int(bits[place])]
        lines[state] = f"state {''.join(bits)}"
    else:
        words = lines[at].split()
        numbers = [k for k, word in enumerate(words) if word.lstrip("-").isdigit()]
        if numbers:
            place = int(rng.choice(numbers))
            change = [1, -1, 2, -3, 10**6, 2**63][int(rng.integers(6))]
            words[place] = str(-int(words[place]) if kind == 3 else int(words[place]) + change)
            lines[at] = " ".join(words)
    return "\n".join(lines) + "\n"


def attack(folder, problem, certificate, rng, count: int) -> int:
    """Some mutations of one certificate; how many of them were accepted."""
    least, _ = optimum(problem)
    path = folder / "tree.wcnf"
    files.write(path, problem, overwrite=True)
    beside = files.side_car(path)
    files.write_certificate(beside, certificate, overwrite=True)
    wcnf, text = path.read_text(), beside.read_text()
    verdict = files.read_document(path).examined(files.read_side_car(beside)).verdict
    assert verdict.optimal
    assert stand_alone(wcnf, text) == (least, least)
    accepted = 0
    for _ in range(count):
        forged = mutated(text, rng)
        beside.write_text(forged)
        found = library(path, beside)
        assert stand_alone(wcnf, forged) == found, forged
        if found is not None:
            accepted += 1
            cost, bound = found
            assert Fraction(bound) <= least <= cost, forged
    return accepted


def test_some_damaged_trees(tmp_path):
    rng = np.random.default_rng(5)
    assert sum(attack(tmp_path, *tree, rng, 40) for tree in trees(6)) > 5


def test_some_damaged_orders(tmp_path):
    rng = np.random.default_rng(7)
    assert sum(attack(tmp_path, *one, rng, 40) for one in orders(8)) > 5


@pytest.mark.slow
def test_ten_thousand_damaged_orders(tmp_path):
    rng = np.random.default_rng(8)
    accepted = sum(attack(tmp_path, *one, rng, 250) for one in orders(40))
    assert 100 < accepted < 9000


@pytest.mark.slow
def test_ten_thousand_damaged_trees(tmp_path):
    rng = np.random.default_rng(6)
    accepted = sum(attack(tmp_path, *tree, rng, 250) for tree in trees(40))
    assert 100 < accepted < 9000
