"""Verdicts over states of any problem, in the numbers of its file."""

from fractions import Fraction

import numpy as np
import pytest

import glasshouse as gh
from glasshouse.cli import main
from glasshouse.files.document import Document
from glasshouse.files.known import Known, known_of
from glasshouse.races.judging.clauses import RunVerdict
from glasshouse.races.judging.states import judge_state
from glasshouse.races.running.transcript import Transcript

# A ring with one weight of the wrong sign: its largest cut is 4, at 0100.
RING = gh.Ising.from_edges(4, [(0, 1), (1, 2), (2, 3), (0, 3)], [-2, -2, -2, 3])


@pytest.fixture(scope="module", params=[".mc", ".coo", ".qubo"])
def proven(request, tmp_path_factory):
    """A file with its certificate, in several formats."""
    path = tmp_path_factory.mktemp("judged") / f"ring{request.param}"
    gh.write(path, RING)
    assert main(["prove", str(path)]) == 0
    return path


def judged(path, text):
    document = gh.read_document(path)
    return judge_state(document, known_of(document), Transcript.of(text.encode()))


def test_states_are_judged_in_the_numbers_of_the_file(proven):
    document = gh.read_document(proven)
    best, worse = (
        document.value_of(document.problem.space.from_bits(np.array(bits)))
        for bits in ([0, 1, 0, 0], [0, 1, 0, 1])
    )
    right = judged(proven, f"o {best}\ns OPTIMUM FOUND\nv 0100")
    assert (right.verdict, right.cost, right.stated) == (RunVerdict.OPTIMAL, best, best)
    found = judged(proven, "-1 +1 -1 +1")
    assert (found.verdict, found.cost, found.stated) == (RunVerdict.FOUND, worse, None)
    assert f"the optimum is {best}" in found.reason
    wrong = judged(proven, f"o {worse}\ns OPTIMUM FOUND\nv 0101")
    assert wrong.verdict is RunVerdict.WRONG_OPTIMUM
    sign = 1 if document.measure.best == "largest" else -1
    too_good = judged(proven, f"o {best + sign}\ns SATISFIABLE\nv 0100")
    assert too_good.verdict is RunVerdict.WRONG_OPTIMUM
    assert "; no state has" in too_good.reason


@pytest.mark.parametrize(
    ("text", "verdict"),
    [
        ("", RunVerdict.NO_ANSWER),
        ("s UNKNOWN", RunVerdict.NO_ANSWER),
        ("s UNSATISFIABLE", RunVerdict.WRONG_OPTIMUM),
        ("010", RunVerdict.INVALID_MODEL),
        ("hello", RunVerdict.INVALID_MODEL),
        ("o 1\nv 0100", RunVerdict.INVALID_MODEL),
        ("o x\ns SATISFIABLE\nv 0100", RunVerdict.MALFORMED),
        ("s WONDERFUL\nv 0100", RunVerdict.MALFORMED),
        ("s SATISFIABLE\ns SATISFIABLE\nv 0100", RunVerdict.MALFORMED),
        ('{"model": "0100"}', RunVerdict.FOUND),
    ],
)
def test_whatever_is_printed_gets_a_verdict(tmp_path, text, verdict):
    gh.write(tmp_path / "ring.mc", RING)
    assert main(["prove", str(tmp_path / "ring.mc")]) == 0
    assert judged(tmp_path / "ring.mc", text).verdict is verdict


def test_without_a_proof_no_claim_is_decided():
    ring, known = Document.of(RING), Known()
    unsatisfiable = judge_state(ring, known, Transcript.of(b"s UNSATISFIABLE"))
    assert unsatisfiable.verdict is RunVerdict.UNDECIDED
    claim = judge_state(ring, known, Transcript.of(b"o -5\ns OPTIMUM FOUND\nv 0100"))
    assert claim.verdict is RunVerdict.UNDECIDED
    claim = judge_state(ring, Known(-6, -5), Transcript.of(b"o -5\ns OPTIMUM FOUND\nv 0100"))
    assert claim.verdict is RunVerdict.UNDECIDED


def test_values_that_are_not_whole_are_read():
    problem = gh.Ising.from_edges(2, [(0, 1)], [0.5])
    known = Known(Fraction(-1, 2), Fraction(-1, 2))
    said = Transcript.of(b"o -0.5\ns OPTIMUM FOUND\nv 11")
    assert judge_state(Document.of(problem), known, said).verdict is RunVerdict.OPTIMAL


def test_hard_clauses_count_in_any_format():
    problem = gh.Max2Sat.from_clauses(2, [[1]], [3], hard=[[1, 2]])
    broken = judge_state(Document.of(problem), Known(), Transcript.of(b"v 00"))
    assert broken.verdict is RunVerdict.INVALID_MODEL
    assert "violates 1 hard clause" in broken.reason
