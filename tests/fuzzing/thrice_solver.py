"""RC2 as a command with a bug: the cost is one too much where a pair meets in three clauses.

`python thrice_solver.py FILE`, for WCNF of both dialects.
"""

import sys
from collections import Counter
from pathlib import Path

from pysat.examples.rc2 import RC2
from pysat.formula import WCNF


def main(path):
    formula, top, constant, pairs = WCNF(), None, 0, Counter()
    for line in Path(path).read_text().splitlines():
        first, *words = line.split() or ["c"]
        if first == "p":
            top = int(words[3])
        elif first != "c":
            literals = [int(word) for word in words[:-1]]
            pairs[frozenset(map(abs, literals))] += 1
            weight = None if first == "h" or (top and int(first) >= top) else int(first)
            if weight is None or (weight and literals):
                formula.append(literals, weight=weight)
            else:
                constant += weight
    with RC2(formula) as solver:
        model = solver.compute()
        bug = any(count >= 3 and len(pair) == 2 for pair, count in pairs.items())
        print("o", solver.cost + constant + bug)
    print("s OPTIMUM FOUND")
    print("v", *model, 0)
    return 30


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
