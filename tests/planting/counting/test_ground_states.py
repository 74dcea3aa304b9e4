"""The number of ground states is reported, with any number of digits."""

from __future__ import annotations

import json

import pytest

import glasshouse as gh
from glasshouse.cli import main


def test_counts_of_thousands_of_digits_are_told(tmp_path, capsys):
    plant = gh.nae3sat(20_000, clauses=1, rng=1)
    assert plant.summary().ground_states.least == 3 * 2**19_998
    assert "ground states             3·2^19998 (counted)" in str(plant.summary())
    words = ["plant", "nae3sat", "-n", "20000", "--clauses", "1", "--seed", "1"]
    assert main([*words, "-o", str(tmp_path / "n.npz"), "--json"]) == 0
    told = json.loads(capsys.readouterr().out)["ground_states"]
    assert int(told["least"], 16) == 3 * 2**19_998
    assert main(["info", str(tmp_path / "n.npz")]) == 0
    assert "3·2^19998" in capsys.readouterr().out


@pytest.mark.parametrize(
    "grow",
    [
        lambda: gh.exactly(10**5, literals=10**5, true_literals=3, clauses=1),
        lambda: gh.cluster_loops(4, alpha="1/4", shore=10**5),
    ],
)
def test_what_would_fill_the_memory_is_refused_first(grow):
    with pytest.raises(ValueError, match="the limit"):
        grow()


def test_a_summary_tells_the_dial_of_its_family():
    assert "requested: alpha=1/2" in str(gh.wishart(24, alpha="1/2", rng=1).summary())
    text = str(gh.nae3sat(30, clause_density="2", rng=1).summary())
    assert "requested: clause_density=2" in text
    assert "clause density" not in text.replace("clause_density", "")


def test_what_a_method_does_anyway_is_not_said_to_be_asked_for():
    assert "weights=normal" in str(gh.wishart(9, columns=2, weights="normal", rng=1).summary())
    usual = gh.random_loops(9, 9, frustration="1/5", loops=3, rng=1)
    assert "requested:" not in str(usual.summary())
