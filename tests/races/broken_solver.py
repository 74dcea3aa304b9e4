"""A MaxSAT solver with one defect, for the judges: `python broken_solver.py DEFECT FILE`.

It solves by trying all assignments, so without a defect ("none") all that it says is right.
"""

import ctypes
import itertools
import os
import signal
import sys
import time
from pathlib import Path


def solve(path):
    """The cost and the digits of an optimal assignment of a classic WCNF file."""
    size, top, clauses = 0, 0, []
    with Path(path).open() as file:
        for line in file:
            words = line.split()
            if words[0] == "p":
                size, top = int(words[2]), int(words[4])
            elif words[0] != "c":
                weight, *literals = map(int, words)
                clauses.append((weight, literals[:-1]))

    def cost(bits):
        return sum(w for w, c in clauses if not any((x > 0) == bits[abs(x) - 1] for x in c))

    best = min(itertools.product((False, True), repeat=size), key=cost)
    assert cost(best) < top
    return cost(best), "".join(str(int(bit)) for bit in best)


def opposite(digits):
    return digits.translate({48: 49, 49: 48})


def main(defect, path):
    cost, digits = solve(path)
    say = lambda *lines: print(*lines, sep="\n", flush=True)  # noqa: E731
    optimum = "s OPTIMUM FOUND"
    if defect == "none":
        say("c all is well", f"o {cost + 3}", f"o {cost}", optimum, f"v {digits}")
    elif defect == "off by one":
        say(f"o {cost - 1}", optimum, f"v {digits}")
    elif defect == "wrong model":
        say(f"o {cost}", optimum, f"v {opposite(digits[:1]) + digits[1:]}")
    elif defect == "too early":
        worse, all_false = all_false_cost(path)
        say(f"o {worse}", optimum, f"v {all_false}")
    elif defect == "never ends":
        say(f"o {cost + 5}")
        while True:
            pass
    elif defect == "children":
        for _ in range(3):
            if os.fork() == 0:
                os.setsid()
                if os.fork() == 0:
                    signal.signal(signal.SIGTERM, signal.SIG_IGN)
                time.sleep(1000)
                os._exit(0)
        say(f"o {cost}", optimum, f"v {digits}")
    elif defect == "a gigabyte":
        for _ in range(1000):
            sys.stdout.write("c " + "x" * 999_997 + "\n")
    elif defect == "segfault":
        say(f"o {cost}")
        ctypes.string_at(0)
    elif defect == "deaf":
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
        say(f"o {cost}")
        time.sleep(1000)
    elif defect == "exit code":
        say(f"o {cost}", optimum, f"v {digits}")
        return 1
    elif defect == "half a line":
        print(f"o {cost}\ns OPTIM", end="", flush=True)
    elif defect == "no o line":
        say(optimum, f"v {digits}")
    elif defect == "two s lines":
        say(f"o {cost}", optimum, "s SATISFIABLE", f"v {digits}")
    elif defect == "memory":
        kept = []
        while True:
            kept.append(bytearray(10_000_000))
    elif defect == "no v line":
        say(f"o {cost}", optimum)
    elif defect == "unsatisfiable":
        say("s UNSATISFIABLE")
        return 20
    elif defect == "gives up":
        say("s UNKNOWN")
        return 0
    elif defect == "polite":

        def last_words(*_):
            say("s SATISFIABLE", f"v {digits}")
            os._exit(10)

        signal.signal(signal.SIGTERM, last_words)
        say(f"o {cost}")
        time.sleep(1000)
    return 30


def all_false_cost(path):
    """The cost of the all-false assignment, which is not the best one of the tests' instances."""
    with Path(path).open() as file:
        rows = [line.split() for line in file]
    size = next(int(words[2]) for words in rows if words[0] == "p")
    cost = sum(
        int(words[0])
        for words in rows
        if words[0] not in "cp" and not any(word.startswith("-") for word in words[1:-1])
    )
    return cost, "0" * size


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
