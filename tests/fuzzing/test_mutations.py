"""Changes of an instance: each keeps the optimum where it says so, and the proof always holds."""

from __future__ import annotations

from dataclasses import replace

import pytest

from glasshouse.certificates import CertificateError
from glasshouse.fuzzing import mutations
from glasshouse.fuzzing.deciding import enumerated_optimum
from glasshouse.fuzzing.dice import Dice
from glasshouse.fuzzing.specimen import Clause, Specimen
from glasshouse.planting import Seed
from glasshouse.planting.methods import bias_loops, classic_loops, graph_loops

KEEP_COST = {
    "gauge", "rename", "reorder", "split", "expand", "merge", "harden", "add_hard",
    "add_satisfied", "duplicate", "add_tautologies", "add_weightless", "repeat_literals",
}  # fmt: skip
ALL = {m.__name__: m for m in (*mutations.PLAIN, *mutations.CORNERS)}


def starts():
    """Small plants with fields, with weights that cancel, and without any."""
    yield Specimen.of(bias_loops(3, 3, frustration="1/5", loops=4, ghosts=1, rng=1))
    yield Specimen.of(bias_loops(2, 3, frustration="1/3", loops=5, ghosts=2, rng=2))
    yield Specimen.of(classic_loops("complete:5", loops=5, rng=3))
    yield Specimen.of(graph_loops("complete:5", frustration="0", loops=2, rng=4))
    yield Specimen((1, 0))


def assert_proven(specimen: Specimen) -> int:
    question = specimen.question()  # raises where the loops do not prove it
    assert enumerated_optimum(question.clauses) == question.optimum
    assert question.clauses.cost(specimen.model) == question.optimum
    return question.optimum


@pytest.mark.parametrize("name", ALL)
def test_every_change_keeps_the_proof(name):
    for number, specimen in enumerate(starts()):
        # After changes of the other kinds, too.
        for earlier in ("", "harden", "add_satisfied", "expand"):
            dice = Dice(Seed(number))
            if earlier:
                specimen = ALL[earlier](specimen, dice)
            before = assert_proven(specimen)
            for _ in range(3):
                changed = ALL[name](specimen, dice)
                after = assert_proven(changed)
                assert after == before if name in KEEP_COST else after >= before


def test_every_change_changes_something():
    for name, mutation in ALL.items():
        specimen = next(starts())
        # Something to merge, and a unit clause to expand and repeat.
        specimen = replace(specimen, clauses=specimen.clauses[:1] + specimen.clauses)
        specimen = replace(specimen, clauses=(*specimen.clauses, Clause((1,), 1, 99)))
        dice = Dice(Seed(5))
        assert any(mutation(specimen, dice) != specimen for _ in range(5)), name


def test_scaling_scales_the_optimum():
    for specimen in starts():
        hard = mutations.harden(specimen, Dice(Seed(1)))
        assert assert_proven(mutations.scale(hard, 7)) == 7 * assert_proven(specimen)


def test_hardening_makes_hard_clauses_and_never_a_false_one():
    specimen = mutations.harden(next(starts()), Dice(Seed(2)))
    hard = [clause for clause in specimen.clauses if clause.is_hard]
    assert hard
    assert all(specimen.satisfies(clause.literals) for clause in hard)


def test_weights_far_beyond_64_bits_are_proven_too():
    for specimen in starts():
        mutated = mutations.scale(mutations.harden(specimen, Dice(Seed(3))), 3**60)
        assert mutated.question().optimum == 3**60 * assert_proven(specimen)


def test_parts_alone_are_proven_and_a_false_proof_is_refused():
    specimen = next(starts())
    for part in specimen.parts:
        assert_proven(specimen.only([part]))
        assert_proven(specimen.only(set(specimen.parts) - {part}))
    with pytest.raises(CertificateError, match="the model costs"):
        replace(specimen, loops=()).question()
    flipped = tuple(1 - bit for bit in specimen.model)
    with pytest.raises(CertificateError):
        replace(specimen, model=flipped).question()
