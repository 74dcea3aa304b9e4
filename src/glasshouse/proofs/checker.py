"""Check what a certificate proves about a weighted MAX-2-SAT file (WCNF, both dialects).

Usage: python checker.py FILE.wcnf FILE.wcnf.cert  (standard library only, exact integers)
In spins (true +1, false -1), 4 x cost = constant - sum of w[a,b] s_a s_b, where vertex 0 is the
ghost, a spin that is always +1. A loop of L edges, an odd number of them negative, is never below
-mu (L-2). With R = problem - loops,  4 x cost >= constant - sum mu (L-2) - sum |R|  always holds.
Exit code: 0 the assignment is optimal, 2 only a lower bound is proven, 1 the files are refused.
"""

# mypy: ignore-errors
import math
import re
import sys
from collections import defaultdict
from fractions import Fraction
from pathlib import Path


def require(condition, otherwise):
    """Refuse the files unless a condition holds."""
    if not condition:
        raise ValueError(otherwise)


def rows(text, comment):
    """The words of all lines but comments; other bytes than ASCII, and the _ of 1_0, are errors."""
    lines = [re.sub(r"[^\t\v\f\r -~]|[_/]", "?", line).split() for line in text.split("\n")]
    return [words for words in lines if words and words[0][0] != comment]


def read_wcnf(text):
    """Soft clauses (weight, literals), hard clauses (literals), number of variables or None."""
    lines, soft, hard = rows(text, "c"), [], []
    head = lines.pop(0) if lines and lines[0][:2] == ["p", "wcnf"] else []
    size, count, top = [*map(int, head[2:]), math.inf][:3] if head else (None, None, math.inf)
    good = count in (None, len(lines)) and top > 0 and len(head) < 6 and "+" not in "".join(head)
    for first, *words in lines:
        *clause, end = map(int, words)
        weight = top if first == "h" and not head else int(first)
        is_clause = end == 0 and 0 not in clause and len(clause) < 3
        require(is_clause and (0 <= weight < 2**63 or weight == top), f"WCNF: {first} {words}")
        hard.append(clause) if weight >= top else soft.append((weight, clause))
    require(good and sum(w for w, _ in soft) < 2**63, f"WCNF: {head}, {len(lines)} clauses")
    return soft, hard, size


def read_certificate(text):
    """The lines before the loops by their first word; the loops as mu and marked vertices."""
    lines = rows(text, "#")
    known = ["glasshouse-certificate", "denominator", "cost", "state", "names", "loops"]
    heads = {word: " ".join(values) for word, *values in lines if word in known}
    loops = [list(map(int, words)) for words in lines[len(heads) :]]
    require(lines[0] == [known[0], "1"] and int(heads["loops"]) == len(loops), "version or loops")
    return int(heads["denominator"]), heads["state"], heads.get("cost"), loops


def signed_graph(soft, hard):
    """The constant and the weights w[a,b], a < b, of 4 x cost; a hard clause outweighs all soft."""
    weights = defaultdict(int)
    for w, clause in soft + [(1 + sum(w for w, _ in soft), clause) for clause in hard]:
        # w (1 - x s_a)(1 - y s_b); where a literal is missing, "not ghost" stands, always false.
        (a, x), (b, y) = sorted([(abs(v), 1 if v > 0 else -1) for v in [*clause, 0, 0][:2]])
        for (i, j), sign in (((0, 0), 1), ((0, a), -x), ((0, b), -y), ((a, b), x * y)):
            weights[(i, j) if i != j else "constant"] -= w * sign
    return -weights.pop("constant", 0), weights


def check(wcnf_text, certificate_text):
    """Cost of the certificate's assignment, and the least cost that it leaves possible."""
    soft, hard, size = read_wcnf(wcnf_text)
    denominator, bits, stated, loops = read_certificate(certificate_text)
    spins = [1, *(2 * int(bit) - 1 for bit in bits)]  # the ghost's first
    used = max((abs(x) for clause in hard + [c for _, c in soft] for x in clause), default=0)
    require(size in (None, len(bits)) and used <= len(bits), "certificate: for other variables")
    require(denominator > 0 and set(bits) <= {"0", "1"}, "certificate: bad state or denominator")
    cost = sum(w for w, clause in soft if all(spins[abs(x)] * x < 0 for x in clause))
    require(Fraction(cost if stated is None else stated) == cost, f"cost {cost}, not {stated}")
    broken = [clause for clause in hard if all(spins[abs(x)] * x < 0 for x in clause)]
    require(not broken, f"certificate: the assignment breaks hard clauses {broken[:3]}")
    bound, weights = signed_graph(soft, hard)
    step = math.lcm(4 * math.gcd(*(w for w, _ in soft)) or 1, 2 * math.gcd(*weights.values()) or 1)
    for mu, *marked in loops:
        cycle = list(map(abs, marked))
        negative = [vertex < 0 for vertex in marked[:-1]] + [True]  # the edges after each vertex
        is_cycle = mu > 0 and len(set(cycle)) == len(cycle) > 2 and max(cycle) <= len(bits)
        require(is_cycle and marked[-1] >= 0 and sum(negative) % 2, f"no loop: {mu} {marked}")
        bound -= (share := Fraction(2 * mu, denominator)) * (len(cycle) - 2)
        for a, b, sign in zip(cycle, cycle[1:] + cycle[:1], negative, strict=True):
            weights[min(a, b), max(a, b)] -= share * spins[a] * spins[b] * (-1) ** sign
    bound -= sum(map(abs, weights.values()))
    return cost, cost - Fraction((4 * cost - bound) // step * step, 4)


if __name__ == "__main__":
    try:
        found, least = check(*(Path(name).read_bytes().decode("latin1") for name in sys.argv[1:]))
        print("VERIFIED optimum" if least == found else f"VERIFIED bound {least}; known:", found)
    except (LookupError, OSError, TypeError, ValueError) as error:
        sys.exit(f"REFUSED {error}")
    sys.exit(0 if least == found else 2)
