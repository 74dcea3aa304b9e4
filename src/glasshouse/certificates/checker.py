"""Check what a certificate proves about a weighted MAX-2-SAT file (WCNF) or a MaxCut graph (.mc).

Usage: python checker.py FILE FILE.cert  (standard library only, exact integers; WCNF of both
dialects, whole weights; graphs of rudy's form, weights of any kind)
In spins (true +1, false -1), scale x value = constant - sum of w[a,b] s_a s_b, where vertex 0 is
the ghost, a spin that is always +1; the value is 4 x cost, or a graph's energy, sum of w s_a s_b.
A loop of L edges, an odd number of them negative, is never below -mu (L-2). A square c (a.s)^2 is
never below c g^2 where sum a/g is odd, g = gcd(a), and never below 0 else; less its constant
c sum a^2, it is a part like a loop. With R = problem - loops - squares,
value >= constant - sum mu (L-2) - sum c (sum a^2 - g^2 [odd]) - sum |R|  always holds.
A tree of pairs of spins, equal or opposite, parts all states into leaves. In a leaf, tied spins are
one; it has loops and squares of its own, or a cover: some spins without which no edge is left.
Turning spin a changes a value by 2 sum_b w[a,b] s_a s_b, so values of a leaf differ by multiples of
2 gcd(2 gcd(w), sum_b w[a,b] for all a). The bound of the whole is the least of all leaves.
What the comments of a WCNF file state (planted-cost, planted-model) must agree with what is proven.
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
HEADS += ["tree", "common"]
NOTES = [b"num-variables", b"num-clauses", b"planted-cost", b"planted-model", b"encoding"]
MOST_COVERED = 24


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


def counts(words):
    """Whole numbers without signs that name vertices or count parts."""
    require(all(w.isdigit() and len(w) < 12 for w in words), f"no counts: {words}")
    return list(map(int, words))


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
            require(isinstance(recipe, dict) and depth_of(recipe) <= 16, "recipe: no plain JSON")
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


def read_graph(text):
    """The constant, the weights -w, the size; the last vertex is the ghost if noted as ancilla."""
    (size, count), *lines = [[number(word) for word in words] for words in rows(text, "#")]
    edges = defaultdict(Fraction)
    for a, b, w in lines:  # parallel edges are one, of their sum
        edges[min(a, b), max(a, b)] -= Fraction(w)
    is_graph = all(type(x) is int and 0 < x <= size for pair in edges for x in pair)
    are_all = len(lines) == count and all(a < b for a, b in edges)
    require(type(size) is type(count) is int and is_graph and are_all, "graph: edges not as stated")
    are_held = all(abs(w) < 2**1020 and float(w) == w for w in edges.values())
    require(are_held or all(type(w) is int for *_, w in lines), "graph: a sum no float holds")
    notes = {"offset": [], "ancilla": []}
    for words in (re.sub(r"[^\t -~]", "?", line).split() for line in text.split("\n")):
        if words[:1] == ["#"] and len(words) == 3 and words[1] in notes:
            notes[words[1]].append(words[2])
    require(max(map(len, notes.values())) < 2, "graph: a note is stated twice")
    if notes["ancilla"]:
        require(notes["ancilla"] == [str(size)], "graph: the ancilla is not the last vertex")
        edges = {(a, b) if b < size else (0, a): w for (a, b), w in edges.items()}
        size -= 1
    return Fraction(number([*notes["offset"], "0"][0])), edges, size


def read_certificate(text):
    """Denominator, state, stated cost, leaves, common parts: loops (mu, vertices), squares."""
    lines, heads, tree = rows(text, "#"), {}, []
    while lines and lines[0][0][0].isalpha():
        word, *values = lines.pop(0)
        if word in ("branch", "leaf", "cover") and "tree" in heads:
            tree.append((word, counts(values)))
            continue
        is_next = word in HEADS and word not in heads and (heads or word == HEADS[0])
        require(is_next, f"certificate: {word[:40]}")
        heads[word] = " ".join(values)
    parts, version = [list(map(whole, words)) for words in lines], heads.get(HEADS[0])
    require(version in ("1", "2", "3"), f"certificate: expected '{HEADS[0]} 1', 2 or 3 first")
    require(version != "1" or "squares" not in heads, "certificate: squares are of version 2")
    require((version == "3") == ("tree" in heads), "certificate: version 3 has a tree, no other")
    require("tree" in heads or "common" not in heads, "certificate: common parts without a tree")
    missing = [word for word in ("denominator", "state", "loops") if word not in heads]
    require(not missing, f"certificate: no line {missing}")
    loops, squares = whole(heads["loops"]), whole(heads.get("squares", "0"))
    are_there = min(loops, squares) >= 0 and loops + squares == len(parts)
    require(are_there, f"certificate: {len(parts)} loops and squares, not as stated")
    require(whole(heads.get("tree", "0")) == len(tree), "certificate: rows of the tree are missing")
    if "names" in heads:
        names, order = heads["names"].split(), [*range(1, len(heads["state"]) + 1)]
        is_order = (
            all(w.isdigit() and len(w) < 12 for w in names) and sorted(map(int, names)) == order
        )
        require(is_order, "certificate: names")
    stated, common = (heads["state"], heads.get("cost")), heads.get("common", "0 0")
    common = counts(common.split()) if "tree" in heads else [loops, squares]
    tree = tree or [("leaf", [0, 0])]
    return whole(heads["denominator"]), *stated, parts[:loops], parts[loops:], tree, common


def leaves_of(tree, common, loops, squares, size):
    """For each leaf its ties {vertex: (root, sign)}, None if no state is there, and what it has."""
    waiting, (first, second) = [[]], common
    require(min(common) >= 0 and len(common) == 2, f"certificate: common {common}")
    for word, numbers in tree:
        require(waiting, "certificate: rows after the last leaf of the tree")
        path = waiting.pop()
        in_range = word == "leaf" or all(0 <= vertex <= size for vertex in numbers)
        require(in_range, f"certificate: {word} {numbers}")
        if word == "branch":
            require(len({*numbers}) == len(numbers) == 2, f"certificate: {word} {numbers}")
            waiting += [[*path, (*numbers, -1)], [*path, (*numbers, 1)]]
        elif word == "cover":
            is_cover = len({*numbers}) == len(numbers) <= MOST_COVERED
            require(is_cover, f"certificate: cover {numbers}")
            yield ties_of(path), numbers, [], []
        else:
            require(len(numbers) == 2 and min(numbers) >= 0, f"certificate: leaf {numbers}")
            own = loops[first : first + numbers[0]], squares[second : second + numbers[1]]
            first, second = first + numbers[0], second + numbers[1]
            yield ties_of(path), None, loops[: common[0]] + own[0], squares[: common[1]] + own[1]
    are_all = not waiting and (first, second) == (len(loops), len(squares))
    require(are_all, "certificate: the tree has other leaves, loops or squares than it should")


def ties_of(pairs):
    """Classes of vertices whose spins are tied by pairs (a, b, sign); None if these contradict."""
    near, found = defaultdict(list), {}
    for a, b, sign in pairs:
        near[a].append((b, sign))
        near[b].append((a, sign))
    for root in sorted(near):
        waiting = [] if root in found else [(root, 1)]
        while waiting:
            vertex, sign = waiting.pop()
            if found.setdefault(vertex, (root, sign)) != (root, sign):
                return None
            waiting += [(other, sign * relative) for other, relative in near.pop(vertex, [])]
    return found


def folded(constant, weights, ties):
    """The same constant - sum of w s s where spins are tied: weights between classes only."""
    small = defaultdict(int)
    for (a, b), w in weights.items():
        (i, x), (j, y) = ties.get(a, (a, 1)), ties.get(b, (b, 1))
        if i == j:
            constant -= w * x * y
        else:
            small[min(i, j), max(i, j)] += w * x * y
    return constant, {pair: w for pair, w in small.items() if w}


def step_of(weights):
    """All values differ by multiples of it; 0 where all are the same."""
    sums = defaultdict(int)
    for pair, w in weights.items():
        for vertex in pair:
            sums[vertex] += w
    return 2 * math.gcd(2 * math.gcd(*weights.values()), *sums.values())


def least_of_cover(constant, weights, cover, ties):
    """The least value, by looking at all states of a cover; the ghost's spin stays as it is."""
    ghost, *cover = dict.fromkeys(ties.get(v, (v, 1))[0] for v in [0, *cover])
    order = [ghost, *cover, *sorted({v for pair in weights for v in pair} - {ghost, *cover})]
    place = {vertex: k for k, vertex in enumerate(order)}
    table = [[0] * len(order) for _ in range(1 + len(cover))]
    for pair, w in weights.items():
        a, b = sorted(place[vertex] for vertex in pair)
        require(a <= len(cover), f"a cover leaves the edge {pair} open")
        table[a][b] = w

    def least(k, value, fields):
        if k > len(cover):
            return value - sum(map(abs, fields))
        mine, others, pulls = fields[0], fields[1:], table[k][k + 1 :]
        return min(
            least(k + 1, value - mine, [x + y for x, y in zip(others, pulls, strict=True)]),
            least(k + 1, value + mine, [x - y for x, y in zip(others, pulls, strict=True)]),
        )

    return least(1, constant, table[0][1:])


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


def check_parts(loops, squares, size):
    """Refuse what is no loop and no square, in whichever leaf it is."""
    for mu, *marked in loops:
        cycle = list(map(abs, marked))
        is_odd = (1 + sum(vertex < 0 for vertex in marked[:-1])) % 2
        is_cycle = mu > 0 and len(set(cycle)) == len(cycle) > 2 and max(cycle) <= size
        require(is_cycle and marked[-1] >= 0 and is_odd, f"no loop: {mu} {marked}")
    for c, *pairs in squares:
        a, nodes = pairs[::2], pairs[1::2]
        is_square = c > 0 < len(a) == len(nodes) == len(set(nodes)) and all(a)
        in_range = is_square and min(nodes) >= 0 and max(nodes) <= size and max(map(abs, a)) < 2**63
        require(in_range, f"no square: {c} {pairs}")


def taken_off(weights, loops, squares, spins, ties, unit):
    """How far below zero the parts can get; their weights are taken off, in place."""
    minima = 0
    for mu, *marked in loops:
        cycle = list(map(abs, marked))
        negative = [vertex < 0 for vertex in marked[:-1]] + [True]  # the edges after each vertex
        minima += unit * mu * (len(cycle) - 2)
        for a, b, sign in zip(cycle, cycle[1:] + cycle[:1], negative, strict=True):
            weights[min(a, b), max(a, b)] -= unit * mu * spins[a] * spins[b] * (-1) ** sign
    for c, *pairs in squares:
        tied = defaultdict(int)
        for x, node in zip(pairs[::2], pairs[1::2], strict=True):
            root, sign = ties.get(node, (node, 1))
            tied[root] += sign * x
        tied = {node: x for node, x in tied.items() if x}
        require(max(map(abs, tied.values()), default=0) < 2**63, "a square's coefficient")
        divisor = math.gcd(*tied.values()) or 1
        is_odd = sum(tied.values()) // divisor % 2
        minima += unit * c * (sum(x * x for x in tied.values()) - divisor**2 * is_odd)
        for (low, x), (high, y) in combinations(sorted(tied.items()), 2):
            weights[low, high] += 2 * unit * c * x * y
    return minima


def bounds(constant, weights, value, grain, unit, certificate, spins):
    """The least value that the leaves leave possible."""
    denominator, loops, squares, tree, common = certificate
    check_parts(loops, squares, len(spins) - 1)
    whole_step = math.lcm(grain, step_of(weights)) if grain is not None else step_of(weights)
    least = []
    for ties, cover, *parts in leaves_of(tree, common, loops, squares, len(spins) - 1):
        if ties is None:
            continue
        base, small = folded(constant, weights, ties)
        if cover is not None:
            least.append(least_of_cover(base, small, cover, ties))
            continue
        # From here on all is multiplied with the denominator, so that it stays whole.
        rest = defaultdict(int, {pair: denominator * w for pair, w in weights.items()})
        minima = taken_off(rest, *parts, spins, ties, unit)
        top, rest = folded(denominator * constant, rest, ties)
        trivial = denominator * (base - sum(map(abs, small.values())))
        low = Fraction(max(trivial, top - minima - sum(map(abs, rest.values()))), denominator)
        known = ((base - sum(small.values()), step_of(small)), (value, whole_step))
        least.append(max(x - (x - low) // step * step if step else x for x, step in known))
    require(min(least) <= value, "a bound above a value, which cannot be")
    return min(least)


def check(text, certificate_text, is_graph=False):
    """Cost (or cut) of the certificate's assignment, and the best that is left possible."""
    denominator, bits, stated, *parts = read_certificate(certificate_text)
    require(denominator > 0, "certificate: denominator")
    parts = denominator, *parts
    if is_graph:
        return check_graph(text, bits, stated, parts)
    soft, hard, size, notes = read_wcnf(text)
    spins = spins_of(bits, size)
    cost = cost_of(soft, hard, spins)
    require(stated is None or number(stated) == cost, f"cost {cost}, not {stated}")
    constant, weights = signed_graph(soft, hard)
    grain = 4 * math.gcd(*(w for w, _ in soft))
    least = Fraction(bounds(constant, weights, 4 * cost, grain, 2, parts, spins), 4)
    claim = number(notes.get(b"planted-cost", str(cost)))
    require(claim == cost or claim >= least < cost, f"planted-cost {claim}, but it is {cost}")
    model = spins_of(notes.get(b"planted-model", bits), size)
    require(least < cost or cost_of(soft, hard, model) == cost, "another cost of planted-model")
    return cost, least


def check_graph(text, bits, stated, parts):
    """The cut of the certificate's assignment, and the largest possible; energy = total - 2 cut."""
    offset, edges, size = read_graph(text)
    scale = math.lcm(offset.denominator, *(w.denominator for w in edges.values()))
    constant = int(offset * scale)
    weights = {pair: int(w * scale) for pair, w in edges.items() if w}
    spins = spins_of(bits, size)
    value = constant - sum(w * spins[a] * spins[b] for (a, b), w in weights.items())
    if stated is not None:  # people add floats up: what rounding each term can do is no lie
        error = abs(Fraction(number(stated)) * scale - value)
        most = Fraction(abs(constant) + sum(map(abs, weights.values())), 2**52) * (len(edges) + 1)
        require(error <= (most if scale > 1 else 0), f"energy {value}/{scale}, not {stated}")
    least = bounds(constant, weights, value, None, scale, parts, spins)
    total = constant - sum(weights.values())
    return Fraction(total - value, 2 * scale), Fraction(total - least, 2 * scale)


if __name__ == "__main__":
    if len(sys.argv) != 3:
        sys.exit("usage: python checker.py FILE FILE.cert")
    try:
        texts = [Path(name).read_bytes().decode("latin1") for name in sys.argv[1:]]
        is_graph = sys.argv[1].endswith(".mc")
        found, most = check(*texts, is_graph)
        sides = ("an upper", "cuts") if is_graph else ("a lower", "costs")
        bound = f"VERIFIED only {sides[0]} bound: {most}; the assignment {sides[1]}"
        print("VERIFIED optimum" if most == found else bound, found)
    except (LookupError, OSError, RecursionError, TypeError, ValueError) as error:
        sys.exit(f"REFUSED {error}")
    sys.exit(0 if most == found else 2)
