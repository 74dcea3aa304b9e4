"""One budget of a proof: parts of its time, one reason to stop, Ctrl-C in one place."""

from __future__ import annotations

import ast
import math
import re
from pathlib import Path

import numpy as np
import pytest
from tests.interrupts import compiled_ctrl_c

from glasshouse import proofs
from glasshouse.problems import Ising
from glasshouse.proofs import prove, prover
from glasshouse.proofs.budget import Budget
from glasshouse.proofs.lp import blocks, root
from glasshouse.proofs.progress import Bounds
from glasshouse.stopping import TimeIsOverError, working_time


def test_a_part_has_a_share_of_the_time_and_ends_with_what_it_is_taken_from():
    whole = Budget(100.0)
    part = whole.part(0.5)
    small = part.part(0.5)
    assert 45.0 < part.left() < 50.0 < whole.left() < 100.0
    part.end_by(working_time() + 10.0)
    part.end_by(working_time() + 90.0)
    assert small.left() < part.left() + 1e-3 < 10.1
    whole.reserve(95.0)
    assert small.left() < whole.left() + 1e-3 < 5.1
    assert Budget().part(0.1).left() == math.inf


def test_what_stops_a_part_stops_the_whole():
    whole = Budget()
    one, other = whole.part(), whole.part(0.5)
    assert (whole.stopped, one.asks_to_stop()) == (None, False)
    one.stop("target")
    assert whole.stopped == other.stopped == "target"
    assert other.asks_to_stop()


def test_time_that_is_up_stops_a_part_alone():
    whole = Budget(3600.0)
    part = whole.part()
    part.end_by(working_time() - 1.0)
    assert (part.stopped, whole.stopped) == ("time limit", None)


@pytest.mark.parametrize("fault", [KeyboardInterrupt(), compiled_ctrl_c()])
def test_ctrl_c_ends_a_block_and_no_other_reason_counts_afterwards(fault):
    budget = Budget(node_limit=1)
    with budget.part().hearing_ctrl_c():
        raise fault
    assert budget.tell(Bounds(0.0, 1.0, 0.0, 0, nodes=1))
    assert budget.stopped == "Ctrl-C"


@pytest.mark.parametrize("fault", [TimeIsOverError(), ValueError(), SystemError()])
def test_whatever_is_not_ctrl_c_is_passed_on(fault):
    budget = Budget()
    with pytest.raises(type(fault)), budget.hearing_ctrl_c():
        raise fault
    assert budget.stopped is None


def test_short_work_is_done_anew_once():
    budget, calls = Budget(), []

    def work():
        calls.append(1)
        if len(calls) == 1:
            raise KeyboardInterrupt
        return "done"

    assert (budget.to_the_end(work), budget.stopped) == ("done", "Ctrl-C")


@pytest.mark.parametrize(
    ("limits", "nodes", "held", "reason"),
    [
        ({"target": 1.0}, 0, 0, "target"),
        ({"target": 2.0}, 0, 0, None),
        ({"node_limit": 5}, 5, 0, "node limit"),
        ({"memory_limit": 100}, 1, 100, "memory limit"),
        ({}, 10**9, 0, None),
    ],
)
def test_limits_are_compared_with_what_is_told(limits, nodes, held, reason):
    seen = []
    budget = Budget(progress=seen.append, **limits)
    bounds = Bounds(1.0, 3.0, 0.0, 0, nodes=nodes)
    assert budget.part().tell(bounds, held) == (reason is not None)
    assert budget.stopped == reason
    assert seen == [bounds]


def test_the_history_only_gets_better():
    budget = Budget()
    for lower, upper in [(0.0, 9.0), (0.0, 9.0), (-1.0, 8.0), (2.0, 8.5)]:
        budget.tell(Bounds(lower, upper, 0.0, 0))
    assert [(bounds.lower, bounds.upper) for bounds in budget.history] == [
        (0.0, 9.0), (0.0, 8.0), (2.0, 8.5)]  # fmt: skip


def test_no_other_module_of_proofs_handles_ctrl_c():
    """A worker process of an exact solver is ended after any exception, which is passed on."""
    root = Path(proofs.__file__).parent
    handlers = {
        path.relative_to(root).as_posix()
        for path in root.rglob("*.py")
        for node in ast.walk(ast.parse(path.read_text()))
        if isinstance(node, ast.ExceptHandler)
        and (node.type is None or re.search(r"KeyboardI|SystemE|BaseE", ast.unparse(node.type)))
    }
    assert handlers == {"budget.py", "exact/apart.py"}


@pytest.mark.parametrize(
    ("module", "name"), [(root, "CutLp"), (blocks, "CycleLp"), (prover, "Growth")]
)
def test_ctrl_c_between_two_steps_ends_the_proof_with_a_bound(monkeypatch, module, name):
    calls = []

    def interrupted(*args, **options):
        calls.append(args)
        raise KeyboardInterrupt

    monkeypatch.setattr(module, name, interrupted)
    weights = np.random.default_rng(1).choice([-1, 1], 435)
    pairs = [(a, b) for b in range(30) for a in range(b)]
    proof = prove(Ising.from_edges(30, pairs, weights))
    assert len(calls) == 1
    assert proof.statistics.stopped == "Ctrl-C"
    assert proof.lower_bound <= proof.energy
