"""Three checkers read certificates of version 5, and their clauses, in the same way."""

from __future__ import annotations

from tests.verified.corpus import Case
from tests.verified.judges import library, stand_alone, verified_ones

PROBLEM = """p wcnf 4 7 30
2 1 0
3 -1 2 3 0
4 -2 0
2 -3 0
30 1 2 3 0
30 -1 -2 3 0
1 1 2 3 4 0
"""
HEAD = "glasshouse-certificate 5\ndenominator 1\nstate 1010\ncores 1\n"
ROW = "2 1 -1 2 3 -2 -4 -3"
PROOF = f"{HEAD}{ROW}\n"

# The cost and the tree of one core, true ones first. HUGE is 2^63, PAST is 2^64.
CORES = """
2 1 -1 2 3 -2 -4 -3
2 1 -1 2 3 -2 -4 3 -3 0 2 3 1 4 1
1 1 -1 2 3 -2 -4 -3
3 1 -1 2 3 -2 -4 -3
0 1 -1 2 3 -2 -4 -3
-2 1 -1 2 3 -2 -4 -3
+2 1 -1 2 3 -2 -4 -3
02 01 -01 02 03 -02 -04 -03
2 1 -1 2 3 -2 -4 -3 -1
2 1 -1 2 3 -2 -4
2
2 -1
2 1 -1 1 -2 -3
2 1 -1 5 -2 -3
2 1 -6 2 3 -2 -4 -3
2 1 -7 2 3 -2 -4 -3
2 1 0 1 1 2 2 3 -2 -4 -3
2 1 0 1 6 2 2 3 -2 -4 -3
2 1 -1 2 3 0 0 -4 -3
2 1 -1 2 3 0 -1 -4 -3
2 1 -1 2 3 0 1 2 2 -4 -3
2 1 -1 2 3 0 1 2 1 -4 -3
2 1 -1 2 3 0 1 2 3 -4 -3
2 1 -1 2 3 0 1 2 4 -4 -3
2 1 -1 2 3 -2 -4 3 -3 0 2 4 1 2 1
2 1 -1 2 3 -2 -4 3 -3 0 2 3 1 2 1
2 1 -1 2 3 -2 -4 3 -3 0 2 3 -1 4 3
2 1 -1 2 3 -2 -4 3 -3 0 2 3 0 4 2
2 1 -1 2 3 -2 -4 3 -3 0 3 3 1 4 1
2 1 -1 2 3 -2 -4 3 -3 0 HUGE 3 1 4 1
2 1 -1 2 3 -2 -4 3 -3 0 2 3 1 4 HUGE
HUGE 1 -1 2 3 -2 -4 -3
PAST 1 -1 2 3 -2 -4 -3
2 PAST -1 2 3 -2 -4 -3
2 1 -1 2 3 -PAST -4 -3
2 1 -1 2 3 -2 -4 -3 # note
2 1.0 -1 2 3 -2 -4 -3
2 1 -1 2 3 -2 -4 -3,1 -5
1 1 -1 2 3 -2 -4 -3,1 1 -1 2 3 -2 -4 -3
1 1 -1 2 3 -2 -4 -3,2 1 -1 2 3 -2 -4 -3
# a note,2 1 -1 2 3 -2 -4 -3
"""

# What is changed in the certificate, and to what; a comma stands for a line end.
HEADS = """
denominator 1 > denominator 0
denominator 1 > denominator 2
denominator 1 > denominator HUGE
denominator 1 > denominator PAST
cores 1 > cores 0
cores 1 > cores +1
cores 1 > cores 01
cores 1 > cores 2
cores 1 > cores 1 1
cores 1 > loops 1
cores 1 > loops 0,cores 1
cores 1 > squares 0,cores 1
cores 1 > monomials 0,cores 1
cores 1 > tree 0,cores 1
cores 1 > tree 1,leaf 0 0,cores 1
cores 1 > common 0 0,cores 1
cores 1 > cores 1,cores 1
cores 1 > names 4 3 2 1,cores 1
cores 1 > names 1 2 3,cores 1
cores 1 > cost 2,cores 1
cores 1 > cost 3,cores 1
certificate 5 > certificate 1
certificate 5 > certificate 2
certificate 5 > certificate 3
certificate 5 > certificate 4
certificate 5 > certificate 6
certificate 5 > certificate 05
state 1010 > state 0010
state 1010 > state 0000
state 1010 > state 101
state 1010 > state 10100
state 1010 > state
"""

# The same for the clauses.
CLAUSES = """
7 30 > 7 31
7 30 > 7
4 7 > 3 7
30 1 2 3 0 > 30 0
30 1 2 3 0 > h 1 2 3 0
2 1 0 > 2 0
2 1 0 > 0 1 0
2 1 0 > -2 1 0
2 1 0 > 2 1.0 0
2 1 0 > 2.0 1 0
2 1 0 > HUGE 1 0
2 1 0 > 2 PAST 0
2 3 0 > 2 0 3 0
2 3 0 > 2 2 3 3 2 0
-1 2 3 > -1 1 2 3
1 2 3 4 0 > 1 2 3 4
p wcnf 4 7 30, >
p wcnf 4 7 30, > c num-variables 4,c num-clauses 7,
p wcnf 4 7 30, > c num-variables 4,c num-clauses 8,
"""

# Certificates without cores. Only the first two fit clauses of three literals.
OTHERS = [
    "glasshouse-certificate 1\ndenominator 1\nstate 1010\nloops 0\n",
    "glasshouse-certificate 4\ndenominator 1\nstate 1010\nmonomials 0\nloops 0\n",
    "glasshouse-certificate 3\ndenominator 1\nstate 1010\ntree 1\nleaf 0 0\nloops 0\n",
    "glasshouse-certificate 4\ndenominator 1\nstate 1010\nmonomials 1\nloops 0\n1 2\n",
    "glasshouse-certificate 1\ndenominator 1\nstate 1010\nloops 1\n1 1 2 3\n",
]


def rows(table: str) -> list[str]:
    """The lines of a table, with large numbers and line ends filled in."""
    table = table.strip().replace("HUGE", str(2**63)).replace("PAST", str(2**64 + 1))
    return [row.replace(",", "\n") for row in table.split("\n")]


def changes(table: str) -> list[tuple[str, str]]:
    """Pairs of what is changed and to what; the first one changes nothing."""
    pairs = (row.partition(" >") for row in rows(table))
    return [("", ""), *((old, new.lstrip(" ")) for old, _, new in pairs)]


def test_cores_are_read_by_one_grammar(verified, tmp_path):
    texts = [(PROBLEM, f"{HEAD}{row}\n") for row in rows(CORES)]
    texts += [(PROBLEM, HEAD.replace("cores 1", "cores 2") + f"{row}\n") for row in rows(CORES)]
    texts += [(PROBLEM, PROOF.replace(old, new, 1)) for old, new in changes(HEADS)]
    texts += [
        (PROBLEM.replace(old, new, 1), proof)
        for old, new in changes(CLAUSES)
        for proof in (PROOF, *OTHERS)
    ]
    texts += [(PROBLEM.replace("\n", "\r\n"), PROOF.replace("\n", "\t\r\n")), (PROBLEM, HEAD)]
    some = [Case(".wcnf", *(text.encode() for text in pair)) for pair in texts]
    some.append(Case(".mc", b"4 1\n1 2 1\n", PROOF.encode()))
    answers = verified_ones(verified, some, tmp_path)
    assert len(answers) - answers.count(None) > 40
    assert answers.count(None) > 80
    for one, mine in zip(some, answers, strict=True):
        assert mine == stand_alone(one) == library(one, tmp_path), one
