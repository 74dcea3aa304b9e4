"""RC2 as a command with a bug: the cost is one too much where a clause has four literals or more.

`python long_solver.py FILE`, for WCNF of both dialects.
"""

import sys
from pathlib import Path

from pysat.examples.rc2 import RC2
from pysat.formula import WCNF


def main(path):
    formula, top, constant, longest = WCNF(), None, 0, 0
    for line in Path(path).read_text().splitlines():
        first, *words = line.split() or ["c"]
        if first == "p":
            top = int(words[3])
        elif first != "c":
            literals = [int(word) for word in words[:-1]]
            longest = max(longest, len(literals))
            weight = None if first == "h" or (top and int(first) >= top) else int(first)
            if weight is None or (weight and literals):
                formula.append(literals, weight=weight)
            else:
                constant += weight
    with RC2(formula) as solver:
        model = solver.compute() if all(formula.hard) else None
        if model is None:
            print("s UNSATISFIABLE")
            return 20
        print("o", solver.cost + constant + (longest >= 4))
    print("s OPTIMUM FOUND")
    print("v", *model, 0)
    return 30


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
