"""The files that commands run: problems of pairs do not need those of longer clauses and products.

The files count in every command that reads, checks or proves, so a reader has to follow them.
"""

import pytest
from benchmarks.journeys import files_of

import glasshouse as gh

# Files that only clauses of any length, products of spins, hard clauses and dimod models need.
OF_OTHERS = {
    "certificates/cores.py",
    "certificates/products.py",
    "files/certificate/trees.py",
    "problems/clauses.py",
    "problems/exchange.py",
    "problems/hard_clauses.py",
    "problems/monomials.py",
}


@pytest.fixture
def planted(tmp_path):
    gh.write(tmp_path / "pairs.wcnf", gh.random_loops(8, 8, frustration="1/5", loops=5, rng=1))
    gh.write(tmp_path / "long.wcnf", gh.cores(12, cores=3, rng=1))
    return tmp_path


@pytest.mark.parametrize(
    "words", [["check", "pairs.wcnf"], ["prove", "pairs.wcnf"], ["convert", "pairs.wcnf", "p.qubo"]]
)
def test_problems_of_pairs_run_no_file_of_other_problems(planted, words):
    found = files_of(words, planted)
    assert {"certificates/verdict.py", "problems/max2sat.py"} <= found
    assert not found & OF_OTHERS


def test_longer_clauses_run_their_own_files(planted):
    found = files_of(["check", "long.wcnf"], planted)
    assert {"certificates/cores.py", "problems/clauses.py"} <= found
