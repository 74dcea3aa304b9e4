"""Check what a certificate proves about a weighted MAX-2-SAT file (WCNF, both dialects).

Usage: python checker.py FILE.wcnf FILE.wcnf.cert  (standard library only, exact integers)
In spins (true +1, false -1), 4 x cost = constant - sum of w[a,b] s_a s_b, where vertex 0 is the
ghost, a spin that is always +1. A loop of L edges, an odd number of them negative, is never below
-mu (L-2). A square c (a.s)^2 is never below c g^2 where sum a/g is odd, g = gcd(a), and never below
0 else; less its constant c sum a^2, it is a part like a loop. With R = problem - loops - squares,
4 x cost >= constant - sum mu (L-2) - sum c (sum a^2 - g^2 [odd]) - sum |R|  always holds.
What the comments of the file state (planted-cost, planted-model) must agree with what is proven.
Exit code: 0 the assignment is optimal, 2 only a lower bound is proven, 1 the files are refused.
"""

# mypy: ignore-errors
import json
import math
import re
import sys
from collections import defaultdict
from fractions import Fraction
from itertools import combinations
from pathlib import Path

HEADS = ["glasshouse-certificate", "denominator", "cost", "state", "names", "loops", "squares"]
NOTES = [b"num-variables", b"num-clauses", b"planted-cost", b"planted-model", b"encoding"]


def require(condition, otherwise):
    """Refuse the files unless a condition holds."""
    if not condition:
        raise ValueError(re.sub("[^ -~]", "?", otherwise[:300]))


def whole(word):
    """A whole number of at most 4300 digits, zeros in front not counted."""
    digits = word.lstrip("+-").lstrip("0") or "0"
    is_whole = re.fullmatch("[+-]?[0-9]+", word) and len(digits) <= 4300
    require(is_whole, f"not a whole number: {word[:40]}")
    return -int(digits) if word[0] == "-" else int(digits)


def number(word):
    """A stated number: whole, or a finite float where it has a point or an exponent."""
    require(len(word) <= 400 and set(word) <= set("0123456789+-.eE"), f"no number: {word[:40]}")
    value = float(word) if set(word) & set(".eE") else int(word)
    require(abs(value) < (2**70 if isinstance(value, int) else math.inf), f"too large: {word[:40]}")
    return value


def rows(text, comment):
    """The words of all lines but comments; other bytes than ASCII, and the _ of 1_0, are errors."""
    require("\0" not in text, "binary data; unpack compressed files first")
    lines = [re.sub(r"[^\t\v\f\r -~]|[_/]", "?", line).split() for line in text.split("\n")]
    return [words for words in lines if words and words[0][0] != comment]


def depth_of(value):
    """How deep values lie in each other."""
    inner = value.values() if isinstance(value, dict) else value if isinstance(value, list) else []
    return 1 + max(map(depth_of, inner), default=0)


def read_notes(text):
    """What comments state, each key at most once; a recipe must be JSON and is not looked at."""
    notes = {}
    for line in map(bytes.strip, text.encode("latin1").split(b"\n")):
        key, *values = (line[1:].split() if line[:1] == b"c" else []) or [b""]
        is_recipe = key == b"recipe" and values and values[0][:1] == b"{"
        if is_recipe or (key in NOTES and len(values) == 1):
            require(key not in notes, f"{key} is stated again")
            notes[key] = values[0].decode("latin1")
        if is_recipe:
            recipe = line[1:].split(maxsplit=1)[1]
            recipe = json.loads(recipe, parse_constant=int, parse_float=lambda x: number(x[:400]))
            require(
                isinstance(recipe, dict) and depth_of(recipe) <= 16, "the recipe is no plain JSON"
            )
    require(b"encoding" not in notes, "an encoding for solvers has no certificate")
    return notes


def read_wcnf(text):
    """Soft clauses (weight, literals), hard clauses (literals), number of variables, notes."""
    lines, notes, soft, hard = rows(text, "c"), read_notes(text), [], []
    head = " ".join(lines.pop(0)) if lines and lines[0][0][0] == "p" else None
    if head is None:
        size, count, top = *(notes.get(key) for key in NOTES[:2]), None
        require(lines or count is not None, "WCNF: no clauses")
    else:
        match = re.fullmatch("p wcnf (X) (X)(?: (X))?".replace("X", "[0-9]{1,39}"), head)
        require(match, f"WCNF: {head[:40]}")
        size, count, top = match.groups()
    stated = [x for x in (size, count) if x is not None]
    require(not any(set(x) & set(".eE") for x in stated), f"WCNF: no whole numbers: {stated}")
    require(count is None or number(count) == len(lines), f"WCNF: {len(lines)} of {count} clauses")
    top = math.inf if top is None else int(top)
    for first, *words in lines:
        *clause, end = map(whole, words)
        weight = top if first == "h" and head is None else whole(first)
        is_clause = end == 0 and 0 not in clause and len(clause) < 3
        require(is_clause and (0 <= weight < 2**63 or weight == top), f"WCNF: {first} {words}")
        hard.append(clause) if weight >= top else soft.append((weight, clause))
    used = max((abs(x) for clause in hard + [c for _, c in soft] for x in clause), default=0)
    size = used if size is None else number(size)
    require(top > 0 and sum(w for w, _ in soft) < 2**63 and used <= size, "WCNF: out of range")
    return soft, hard, size, notes


def read_certificate(text):
    """Denominator, state, stated cost, loops (mu, vertices), squares (c, a1, v1, a2, v2, ...)."""
    lines, heads = rows(text, "#"), {}
    while lines and lines[0][0][0].isalpha():
        word, *values = lines.pop(0)
        is_next = word in HEADS and word not in heads and (heads or word == HEADS[0])
        require(is_next, f"certificate: {word[:40]}")
        heads[word] = " ".join(values)
    parts, version = [list(map(whole, words)) for words in lines], heads.get(HEADS[0])
    require(version in ("1", "2"), f"certificate: expected '{HEADS[0]} 1' or 2 first")
    require(version == "2" or "squares" not in heads, "certificate: squares are of version 2")
    missing = [word for word in ("denominator", "state", "loops") if word not in heads]
    require(not missing, f"certificate: no line {missing}")
    loops, squares = whole(heads["loops"]), whole(heads.get("squares", "0"))
    are_there = min(loops, squares) >= 0 and loops + squares == len(parts)
    require(are_there, f"certificate: {len(parts)} loops and squares, not as stated")
    if "names" in heads:
        names, order = heads["names"].split(), [*range(1, len(heads["state"]) + 1)]
        is_order = (
            all(w.isdigit() and len(w) < 12 for w in names) and sorted(map(int, names)) == order
        )
        require(is_order, "certificate: names")
    stated = heads["state"], heads.get("cost")
    return whole(heads["denominator"]), *stated, parts[:loops], parts[loops:]


def cost_of(soft, hard, spins):
    """What an assignment costs; one that breaks a hard clause is refused."""
    broken = [clause for clause in hard if all(spins[abs(x)] * x < 0 for x in clause)]
    require(not broken, f"an assignment breaks hard clauses {broken[:3]}")
    return sum(w for w, clause in soft if all(spins[abs(x)] * x < 0 for x in clause))


def spins_of(bits, size):
    """The ghost's spin and those of 0 and 1."""
    is_state = len(bits) == size and set(bits) <= {"0", "1"}
    require(is_state, f"a state of {len(bits)} digits for {size} variables")
    return [1, *(2 * int(bit) - 1 for bit in bits)]


def signed_graph(soft, hard):
    """The constant and the weights w[a,b], a < b, of 4 x cost; a hard clause outweighs all soft."""
    weights, penalty = defaultdict(int), 1 + sum(w for w, _ in soft)
    for w, clause in soft + [(penalty, clause) for clause in hard]:
        # w (1 - x s_a)(1 - y s_b); where a literal is missing, "not ghost" stands, always false.
        (a, x), (b, y) = sorted([(abs(v), 1 if v > 0 else -1) for v in [*clause, 0, 0][:2]])
        for (i, j), sign in (((0, 0), 1), ((0, a), -x), ((0, b), -y), ((a, b), x * y)):
            weights[(i, j) if i != j else "constant"] -= w * sign
    return -weights.pop("constant", 0), weights


def check(wcnf_text, certificate_text):
    """Cost of the certificate's assignment, and the least cost that it leaves possible."""
    soft, hard, size, notes = read_wcnf(wcnf_text)
    denominator, bits, stated, loops, squares = read_certificate(certificate_text)
    require(denominator > 0, "certificate: denominator")
    spins = spins_of(bits, size)
    cost = cost_of(soft, hard, spins)
    require(stated is None or number(stated) == cost, f"cost {cost}, not {stated}")
    constant, weights = signed_graph(soft, hard)
    # All costs differ by multiples of it; 0 where all are the same.
    step = math.lcm(4 * math.gcd(*(w for w, _ in soft)), 2 * math.gcd(*weights.values()))
    # From here on all is multiplied with the denominator, so that it stays whole.
    weights = defaultdict(int, {pair: denominator * w for pair, w in weights.items()})
    without_parts, minima = sum(map(abs, weights.values())), 0
    for mu, *marked in loops:
        cycle = list(map(abs, marked))
        negative = [vertex < 0 for vertex in marked[:-1]] + [True]  # the edges after each vertex
        is_cycle = mu > 0 and len(set(cycle)) == len(cycle) > 2 and max(cycle) <= size
        require(is_cycle and marked[-1] >= 0 and sum(negative) % 2, f"no loop: {mu} {marked}")
        minima += 2 * mu * (len(cycle) - 2)
        for a, b, sign in zip(cycle, cycle[1:] + cycle[:1], negative, strict=True):
            weights[min(a, b), max(a, b)] -= 2 * mu * spins[a] * spins[b] * (-1) ** sign
    for c, *pairs in squares:
        a, nodes = pairs[::2], pairs[1::2]
        is_square = c > 0 < len(a) == len(nodes) == len(set(nodes)) and all(a)
        in_range = is_square and min(nodes) >= 0 and max(nodes) <= size and max(map(abs, a)) < 2**63
        require(in_range, f"no square: {c} {pairs}")
        divisor = math.gcd(*a)
        is_odd = sum(a) // divisor % 2
        minima += 2 * c * (sum(x * x for x in a) - divisor**2 * is_odd)
        for (low, x), (high, y) in combinations(sorted(zip(nodes, a, strict=True)), 2):
            weights[low, high] += 4 * c * x * y
    rest = min(without_parts, minima + sum(map(abs, weights.values())))
    bound = constant - Fraction(rest, denominator)
    least = cost - Fraction((4 * cost - bound) // step * step, 4) if step else cost
    require(4 * cost >= bound, "a bound above a cost, which cannot be")
    claim = number(notes.get(b"planted-cost", str(cost)))
    require(claim == cost or claim >= least < cost, f"planted-cost {claim}, but it is {cost}")
    model = spins_of(notes.get(b"planted-model", bits), size)
    require(least < cost or cost_of(soft, hard, model) == cost, "another cost of planted-model")
    return cost, least


if __name__ == "__main__":
    if len(sys.argv) != 3:
        sys.exit("usage: python checker.py FILE.wcnf FILE.wcnf.cert")
    try:
        found, least = check(*(Path(name).read_bytes().decode("latin1") for name in sys.argv[1:]))
        bound = f"VERIFIED only a lower bound: {least}; the assignment costs"
        print("VERIFIED optimum" if least == found else bound, found)
    except (LookupError, OSError, RecursionError, TypeError, ValueError) as error:
        sys.exit(f"REFUSED {error}")
    sys.exit(0 if least == found else 2)
