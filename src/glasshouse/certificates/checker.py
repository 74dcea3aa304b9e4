"""Check what a certificate proves about a WCNF file, MaxCut graph, QUBO (.sparse) or .hubo file.

Usage: python checker.py FILE FILE.cert  (needs only Python 3.8 or newer; uses exact integers)
In spins (true +1, false -1), scale x value = constant - sum of w[a,b] s_a s_b, where vertex 0 is
the ghost, a spin that is always +1; the value is 4 x cost, x'Qx, or a graph's sum of w s_a s_b.
A loop of L edges, an odd number of them negative, is never below -mu (L-2). A square c (a.s)^2 is
never below c g^2 if sum a/g is odd, g = gcd(a), and never below 0 otherwise; minus its constant c
sum a^2, it is a part like a loop. With R = problem - loops - squares,
value >= constant - sum mu (L-2) - sum c (sum a^2 - g^2 [odd]) - sum |R|  always holds.
Products of spins may be vertices, too (version 4): they are +1 or -1 like spins, and an edge stands
for the product of its ends, in which common spins cancel. So all of the above holds for them.
A tree splits all states by pairs of spins, equal or opposite, into leaves; the least bound counts.
In a leaf, tied spins are one spin. It has loops and squares, or a cover: spins touching all edges.
Or it has an order (version 6): its spins are minimised over one by one. The least value over a spin
is a table over the later spins that share an edge or a table with it, of which there must be few.
Flipping a changes a value by 2 sum_b w[a,b] s_a s_b, so values in a leaf differ by multiples of
2 gcd(2 gcd(w), sum_b w[a,b] for all a). What comments state about the optimum must be true, too.
Clauses of any length have cores instead (version 5): trees over variables, whose leaves name
clauses that their paths falsify. Every state reaches a leaf, so it pays the cost of the core. A
core charges a clause the largest amount in its leaves; all charges must fit into its weight.
Exit code: 0 the assignment is optimal, 2 only a lower bound is proven, 1 the files are refused.
"""

import json
import math
import re
import sys
from collections import defaultdict
from fractions import Fraction
from functools import reduce
from itertools import chain, combinations
from operator import add, sub
from pathlib import Path
from types import SimpleNamespace

HEADS = "glasshouse-certificate denominator cost state names loops squares tree common".split()
HEADS += ["monomials", "cores"]
NOTES = [b"num-variables", b"num-clauses", b"planted-cost", b"planted-model", b"encoding"]
GRAPH_NOTES = [b"offset", b"ancilla", b"numbers", b"planted-cut", b"planted-model"]
HUBO_NOTES = [b"num-variables", b"numbers", b"planted-cost", b"planted-model"]
MOST_COVERED = MOST_OPEN = 24
MOST_HELD = 2**26


def require(condition, otherwise):
    """Raise a ValueError with a printable message unless a condition holds."""
    if not condition:
        raise ValueError(re.sub("[^ -~]", "?", otherwise[:300]))


def whole(word):
    """Parse an integer of at most 4300 digits, not counting leading zeros."""
    digits = word.lstrip("+-").lstrip("0") or "0"
    require(re.fullmatch("[+-]?[0-9]+", word) and len(digits) <= 4300, f"bad integer: {word[:40]}")
    return -int(digits) if word[0] == "-" else int(digits)


def counts(words):
    """Parse vertex numbers or counts, which are unsigned integers."""
    require(all(w.isdigit() and len(w) < 12 for w in words), f"not counts: {words[:9]}")
    return list(map(int, words))


def number(word, is_float=False):
    """Parse a number: an integer, or a finite float if the word has a point or an exponent."""
    require(len(word) <= 400 and set(word) <= set("0123456789+-.eE"), f"not a number: {word[:40]}")
    value = float(word) if is_float or set(word) & set(".eE") else int(word)
    require(abs(value) < (2**70 if isinstance(value, int) else math.inf), f"too large: {word[:40]}")
    return value


def rows(text, comment):
    """Split all lines except comments into words; replace each forbidden character by a ?."""
    require("\0" not in text, "the file has binary data; unpack compressed files first")
    lines = [re.sub(r"[^\t\v\f\r -~]|[_/]", "?", line).split() for line in text.split("\n")]
    return [words for words in lines if words and words[0][0] != comment]


def frozen(value, depth, others=()):
    """Convert plain JSON of limited depth to tuples of exact numbers and strings."""
    is_plain = depth > 0 and type(value) in (int, float, str, list, *others)
    require(is_plain and (type(value) is not float or math.isfinite(value)), "not plain JSON")
    inner = value.values() if type(value) is dict else value if type(value) is list else None
    exact = Fraction(value) if type(value) in (int, float) else value
    return exact if inner is None else tuple(frozen(x, depth - 1, others) for x in inner)


def read_notes(text, mark, keys):
    """Return the notes in comments by key: each is a word, or JSON without repeated keys."""
    notes, opening = {}, {b"recipe": b"{", b"labels": b"["}
    for line in map(bytes.strip, text.encode("latin1").split(b"\n")):
        key, *values = (line[1:].split() if line[:1] == mark else []) or [b""]
        is_json = key in opening and values and values[0][:1] == opening[key]
        if is_json or (key in keys and len(values) == 1):
            require(key not in notes, f"the note {key} is stated twice")
            notes[key] = values[0].decode("latin1")
        if is_json:
            others = [16, (dict, bool, type(None))] if key == b"recipe" else [6]
            # Repeated keys make an object that is not plain; parsing long integers takes minutes.
            hooks = {"object_pairs_hook": lambda x: dict(x) if len(dict(x)) == len(x) else ()}
            hooks["parse_int"] = whole
            notes[key] = frozen(json.loads(line[1:].split(maxsplit=1)[1], **hooks), *others)
    require(b"encoding" not in notes, "a file in an encoding for solvers has no certificate")
    return notes


def read_wcnf(text):
    """Return the soft clauses (weight, literals), hard clauses, number of variables and notes."""
    lines, notes, soft, hard = rows(text, "c"), read_notes(text, b"c", NOTES), [], []
    head = " ".join(lines.pop(0)) if lines and lines[0][0][0] == "p" else None
    match = re.fullmatch(r"p wcnf (\d{1,39}) (\d{1,39})(?: (\d{1,39}))?", head or "p wcnf 0 0")
    require(match and (head or lines or NOTES[1] in notes), f"WCNF: bad p line or none: {head}")
    size, count, top = match.groups() if head else (*(notes.get(key) for key in NOTES[:2]), None)
    require(not set(f"{size}{count}".replace("None", "")) & set(".eE"), f"WCNF: {size} {count}")
    require(count is None or number(count) == len(lines), f"{len(lines)} clauses, not {count}")
    top = math.inf if top is None else int(top)
    for first, *words in lines:
        *clause, end = map(whole, words)
        weight = top if first == "h" and head is None else whole(first)
        require(
            end == 0 and 0 not in clause and (0 <= weight < 2**63 or weight == top),
            f"WCNF: not a clause: {first} {words}",
        )
        hard.append(clause) if weight >= top else soft.append((weight, clause))
    used = max((abs(x) for clause in hard + [c for _, c in soft] for x in clause), default=0)
    size = used if size is None else number(size)
    require(top > 0 and sum(w for w, _ in soft) < 2**63 and used <= size, "WCNF: out of range")
    return soft, hard, size, notes


def weight_of(word):
    """Parse a weight: an integer below 2^63, or a float that holds all its digits exactly."""
    if re.fullmatch("[+-]?[0-9]+", word) and abs(whole(word)) < 2**63:
        return whole(word)
    value, (digits, point, rest) = number(word, True), word.lstrip("+-").partition(".")
    if abs(value) >= 2**53 and not set(word) & set("eE"):
        shortest = repr(abs(value)).partition("e")[0].replace(".", "").rstrip("0")
        is_held = point if int(digits) == abs(value) else digits.strip("0") == shortest
        require(is_held and not rest.strip("0"), f"not exact as a float: {word[:40]}")
    return value


def are_floats(weights, sums, offset, notes):
    """Return whether weights are floats, not integers; raise if neither type holds them exactly."""
    require(notes.get(b"numbers", "float") == "float", "the note 'numbers' must be 'float'")
    is_int = {*map(type, weights)} <= {int} or all(w == int(w) and abs(w) < 2**53 for w in weights)
    is_float = b"numbers" in notes or offset != int(offset) or not is_int  # 1.0 is an integer, too
    total = sum(map(abs, sums)) + abs(Fraction(offset))
    in_range = total <= 2**1020 and sum(map(abs, weights)) < math.inf if is_float else total < 2**63
    is_held = in_range and all(float(w) == w for w in [*weights, *sums] if is_float)
    require(is_held, "weights or their sums are too large, or not exact as floats")
    return is_float


def read_graph(text, is_qubo=False):
    """Return scaled offset and weights (-w), scale, size, notes, and whether weights are floats."""
    lines = rows(text, "#") or [[]]
    head = lines.pop(0) if is_qubo or len(lines[0]) != 3 else None  # a graph may have no head
    notes = read_notes(text, b"#", [b"numbers"] if is_qubo else GRAPH_NOTES)
    offset, pairs = number(notes.get(b"offset", "0")), [sorted(map(whole, x[:-1])) for x in lines]
    size, count = map(whole, head) if head else (max(map(max, pairs)), len(lines))
    is_graph = all(len(p) == 2 and 0 < p[0] < p[1] + is_qubo and p[1] <= size for p in pairs)
    require(is_graph and size >= 0 and len(lines) == count, "graph: wrong edges or number of edges")
    weights, edges = [weight_of(words[-1]) for words in lines], defaultdict(Fraction)
    for (a, b), w in zip(pairs, weights):  # parallel edges are added up
        edges[a, b] -= Fraction(w) * (2 if is_qubo and a != b else 1)  # Q is symmetric
    is_float = are_floats(weights, edges.values(), offset, notes)
    for a, b, w in [(a, b, w / (2 if a == b else 4)) for (a, b), w in edges.items() if is_qubo]:
        edges[a, b], offset = w * (a != b), offset - w  # x = (1 + s)/2
        edges[0, a], edges[0, b] = edges[0, a] + w, edges[0, b] + w
    if b"ancilla" in notes:  # the last vertex is the ghost
        require(size and re.fullmatch(f"[+]?0*{size}", notes[b"ancilla"][:401]), "graph: ancilla")
        edges = {(a, b) if b < size else (0, a): w for (a, b), w in edges.items()}
    scale = max(x.denominator for x in [Fraction(offset), *edges.values()])  # all are powers of 2
    weights = {pair: int(w * scale) for pair, w in edges.items() if w}
    return int(offset * scale), weights, scale, size - (b"ancilla" in notes), notes, is_float


def read_hubo(text):
    """Return the same values as read_graph, for lines "i j k weight" whose variables start at 0."""
    notes, spots = read_notes(text, b"#", HUBO_NOTES), defaultdict(Fraction)
    heads = [line.strip(" \t\r\v\f")[:1000] for line in text.split("\n")]
    said = [x[1] for x in map(re.compile(r"#.*?vartype[:=]\s*(\S+)", re.A).match, heads) if x]
    require(said in (["SPIN"], ["BINARY"]), "polynomial: there must be one vartype, SPIN or BINARY")
    lines = [(list(map(whole, x[:-1])), weight_of(x[-1])) for x in rows(text, "#")]
    used = max((max(m, default=-1) for m, _ in lines), default=-1) + 1
    size, weights = number(notes.get(b"num-variables", str(used))), [w for _, w in lines]
    is_held = type(size) is int and used <= size < 2**31
    require(is_held and all(v >= 0 for m, _ in lines for v in m), "polynomial: bad variables")
    for m, w in lines:  # s s = 1, x x = x
        spots[product([(v + 1, 1) for v in (m if said == ["SPIN"] else {*m})])[0]] += Fraction(w)
    is_float = are_floats(weights, spots.values(), 0, notes)
    terms, degree = defaultdict(Fraction), max((len(k) - k.count(0) for k in spots), default=0)
    for key, w in spots.items():
        key = key[key.count(0) :]
        lengths = range(len(key) + 1) if said == ["BINARY"] else [len(key)]  # x = (1 + s)/2
        parts = [part for length in lengths for part in combinations(key, length)]
        for part in parts:
            terms[tuple([0] * (2 - len(part)) + [*part])] -= w / len(parts)
    offset = -terms.pop((0, 0), 0)
    scale = max(x.denominator for x in [Fraction(1), *spots.values()])
    scale *= 2**degree if said == ["BINARY"] else 1
    weights = {key: int(w * scale) for key, w in terms.items() if w}
    return int(offset * scale), weights, scale, size, notes, is_float


def read_certificate(text):
    """Return the state, the stated cost, the parts (loops, squares, leaves), and the cores."""
    lines, heads, tree = rows(text, "#")[::-1], {}, []
    while lines and lines[-1][0][0].isalpha():
        word, *values = lines.pop()
        if word in ("branch", "leaf", "cover", "order") and "tree" in heads:
            tree.append((word, counts(values)))
            continue
        is_next = word in HEADS and word not in heads and (heads or word == HEADS[0])
        require(is_next, f"certificate: unexpected line {word[:40]}")
        heads[word] = " ".join(values)
    parts, version = [list(map(whole, words)) for words in lines[::-1]], heads.get(HEADS[0])
    needed, is_five = {"denominator", "state", "loops"}, version == "5"
    needed = needed - {"loops"} | {"cores"} if is_five else needed
    is_known = version in tuple("123456") and needed <= set(heads)
    require(is_known, f"certificate: expected '{HEADS[0]} 1' to 6, {', '.join(sorted(needed))}")
    is_version = version == "4" or ("tree" in heads) == (version in "36")
    is_version = is_version and (version == "6" or "order" not in [word for word, _ in tree])
    is_version = is_version and ("monomials" in heads) == (version == "4")
    is_version = is_version and not set(heads) & ({"loops", "squares"} if is_five else {"cores"})
    is_version = is_version and ("tree" in heads) >= ("common" in heads)
    require(is_version and (version > "1" or "squares" not in heads), "certificate: its version")
    require(whole(heads.get("tree", "0")) == len(tree), "certificate: wrong number of tree rows")
    kinds = "monomials", "loops", "squares", "cores"
    table, loops, squares, cores = (whole(heads.get(x, "0")) for x in kinds)
    over, has_tree = whole(heads["denominator"]), "tree" in heads
    tree = tree if has_tree else [("leaf", [0, 0])]
    is_sum = min(table, loops, squares, cores) >= 0
    is_sum = is_sum and table + loops + squares + cores == len(parts)
    require(over > 0 and is_sum, "certificate: wrong number of parts, or denominator")
    names, order = counts(heads.get("names", "").split()), range(1, len(heads["state"]) + 1)
    require("names" not in heads or sorted(names) == [*order], "certificate: names must be 1 to n")
    common = counts(heads.get("common", "0 0").split()) if has_tree else [loops, squares]
    table, parts = parts[:table], parts[table:]
    for m in table:  # a vertex that is a product of spins
        is_monomial = len(m) > 1 and m == sorted({*m}) and m[0] > 0 and m[-1] <= len(order)
        require(is_monomial, f"not a monomial: {m}")
    require(len({*map(tuple, table)}) == len(table), "certificate: a monomial is listed twice")
    require(bool(cores) == is_five, "certificate: version 5 must have cores")
    proof = over, parts[:loops], parts[loops:], tree, common, table
    has_cores = is_five or not (table or parts or has_tree)
    return heads["state"], heads.get("cost"), proof, parts if has_cores else None


def leaves_of(tree, common, loops, squares, size):
    """Yield each leaf's ties {vertex: (root, sign)} (None if contradictory), row, and parts."""
    waiting, (first, second) = [()], common  # a path consists of its last pair and the path before
    for word, numbers in tree:
        require(waiting, "certificate: rows after the last leaf of the tree")
        path, said = waiting.pop(), f"certificate: wrong tree row {word} {numbers[:9]}"
        require(word == "leaf" or max(numbers, default=0) <= size, said)
        if word == "branch":
            require(len({*numbers}) == len(numbers) == 2, said)
            waiting += [((*numbers, -1), path), ((*numbers, 1), path)]
        elif word in ("cover", "order"):
            is_row = word == "order" or len(numbers) <= MOST_COVERED
            require(is_row and len({*numbers}) == len(numbers), said)
            yield ties_of(path), (word, numbers), [], []
        else:
            require(len(numbers) == 2, said)
            own = loops[first : first + numbers[0]], squares[second : second + numbers[1]]
            first, second = first + numbers[0], second + numbers[1]
            yield ties_of(path), None, loops[: common[0]] + own[0], squares[: common[1]] + own[1]
    require(not waiting and (first, second) == (len(loops), len(squares)), "certificate: the tree")


def ties_of(path):
    """Return the classes of vertices tied by pairs (a, b, sign); None if they are contradictory."""
    near, found = defaultdict(list), {}
    while path:
        (a, b, sign), path = path
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
    """Merge tied spins without changing any value; return the new constant and weights."""
    small = defaultdict(int)
    for key, w in weights.items():
        if len(key) > 2:
            key, sign = product([ties.get(v, (v, 1)) for v in key])
            small[key] += w * sign
            continue
        (i, x), (j, y) = ties.get(key[0], (key[0], 1)), ties.get(key[1], (key[1], 1))
        small[min(i, j), max(i, j)] += w * x * y
    constant -= sum(w for key, w in small.items() if key[0] == key[1])
    return constant, {key: w for key, w in small.items() if w and key[0] != key[1]}


def product(signed):
    """Multiply spins (vertex, sign); return vertices (with ghosts if fewer than 2) and the sign."""
    left, sign = set(), 1
    for vertex, x in signed:
        left, sign = left ^ {vertex}, sign * x
    left = sorted(left - {0})
    return tuple([0] * (2 - len(left)) + left), sign


def edge(ends, table, ties, size):
    """Return the product of an edge's ends; an end above `size` is itself a product of spins."""
    parts = [table[v - size - 1] if v > size else [v] for v in ends]
    return product([ties.get(v, (v, 1)) for part in parts for v in part])


def step_of(weights):
    """Return a divisor of all differences between values of states; 0 if all values are equal."""
    sums = defaultdict(int)
    for vertex, w in ((vertex, w) for key, w in weights.items() for vertex in key if vertex):
        sums[vertex] += w
    return 2 * reduce(math.gcd, sums.values(), 2 * reduce(math.gcd, weights.values(), 0))


def least_of_cover(constant, weights, cover, ties):
    """Return the least value of all states, by enumerating the states of a cover."""
    ghost, *cover = dict.fromkeys(ties.get(v, (v, 1))[0] for v in [0, *cover])
    if cover and max(map(len, weights), default=0) > 2:  # fix the spins one by one
        halves = (folded(constant, weights, {cover[0]: (0, sign)}) for sign in (1, -1))
        return min(least_of_cover(*half, cover[1:], {}) for half in halves)
    order = [ghost, *cover, *sorted({v for pair in weights for v in pair} - {ghost, *cover})]
    place = {vertex: k for k, vertex in enumerate(order)}
    table = [[0] * len(order) for _ in range(1 + len(cover))]
    for pair, w in weights.items():
        a, b = sorted(place[vertex] for vertex in pair)[:2]
        require(a <= len(cover) and len(pair) == 2, f"a cover leaves the edge {pair} open")
        table[a][b] = w

    def least(k, value, fields):
        if k > len(cover):
            return value - sum(map(abs, fields))
        pairs = list(zip(fields[1:], table[k][k + 1 :]))
        up, down = [x + y for x, y in pairs], [x - y for x, y in pairs]
        return min(least(k + 1, value - fields[0], up), least(k + 1, value + fields[0], down))

    return least(1, constant, table[0][1:])


def least_of_order(constant, weights, order, ties):
    """Return the least value of all states, by minimising over the spins in a given order."""
    _, *order = dict.fromkeys(ties.get(v, (v, 1))[0] for v in [0, *order])
    place, near, fields = {v: k for k, v in enumerate(order)}, [{} for _ in order], [0] * len(order)
    for pair, w in weights.items():
        require(len(pair) == 2, "an order supports only products of two spins")
        require(all(v in place for v in pair if v), f"an order lacks a vertex of the edge {pair}")
        first, *others = sorted(place[v] for v in pair if v)
        if others:
            near[first][others[0]] = w
        else:
            fields[first] = w
    # The spins of each table, and of the sum of all tables whose first spin is k.
    scopes, sums, held, begun = [], [{k} for k in range(len(order))], 0, set()
    for k in range(len(order)):
        scopes.append(sorted((sums[k] | {*near[k]}) - {k}))
        require(len(scopes[k]) <= MOST_OPEN, f"an order leaves over {MOST_OPEN} spins open")
        if scopes[k]:
            sums[scopes[k][0]] |= {*scopes[k]}
    for k, scope in enumerate(scopes):
        held += sum(2 ** len(sums[i]) for i in scope[:1] if i not in begun)
        require(held <= MOST_HELD, f"an order needs over {MOST_HELD} numbers in memory")
        held -= 2 ** len(sums[k]) * (k in begun)
        begun |= {*scope[:1]}

    def spread(table, own, scope):  # bit i of an index: the spin scope[i] is down
        for size in (2**i for i, other in enumerate(scope) if other not in own):
            parts = (2 * table[k : k + size] for k in range(0, len(table), size))
            table = list(chain.from_iterable(parts))
        return table

    tables = {}
    for k, scope in enumerate(scopes):
        field = [fields[k]]
        for spin in scope:
            w = near[k].get(spin, 0)
            field = [x + w for x in field] + [x - w for x in field]
        table = tables.pop(k, [0, 0])
        up, down = (spread(table[side::2], sums[k], scope) for side in (0, 1))
        table = list(map(min, map(sub, up, field), map(add, down, field)))
        if not scope:
            constant += table[0]
            continue
        table, first = spread(table, scope, sorted(sums[scope[0]])), scope[0]
        tables[first] = list(map(add, tables[first], table)) if first in tables else table
    return constant


def cost_of(soft, hard, spins):
    """Return the cost of an assignment; infinite if it violates a hard clause."""
    broken = any(all(spins[abs(x)] * x < 0 for x in clause) for clause in hard)
    return math.inf if broken else sum(w for w, c in soft if all(spins[abs(x)] * x < 0 for x in c))


def spins_of(bits, size):
    """Convert a string of 0s and 1s to spins, preceded by the ghost's spin."""
    require(len(bits) == size and set(bits) <= {"0", "1"}, f"not {size} bits: {bits[:40]}")
    return [1, *(2 * int(bit) - 1 for bit in bits)]


def signed_graph(soft, hard):
    """Return the constant and weights w[a,b], a < b, of 4 x cost; a hard clause costs a penalty."""
    weights, penalty = defaultdict(int), 1 + sum(w for w, _ in soft)
    for w, clause in soft + [(penalty, clause) for clause in hard]:
        # w (1 - x s_a)(1 - y s_b); a missing literal is "not ghost", which is always false.
        (a, x), (b, y) = sorted([(abs(v), 1 if v > 0 else -1) for v in [*clause, 0, 0][:2]])
        for (i, j), sign in (((0, 0), 1), ((0, a), -x), ((0, b), -y), ((a, b), x * y)):
            weights[(i, j) if i != j else "constant"] -= w * sign
    return -weights.pop("constant", 0), weights


def check_parts(loops, squares, size):  # size: the highest vertex
    """Raise if a loop or square of any leaf is invalid."""
    for mu, *marked in loops:
        cycle = list(map(abs, marked))
        is_odd = (1 + sum(vertex < 0 for vertex in marked[:-1])) % 2
        is_cycle = mu > 0 and len(set(cycle)) == len(cycle) > 2 and max(cycle) <= size
        require(is_cycle and marked[-1] >= 0 and is_odd, f"not a loop: {mu} {marked}")
    for c, *pairs in squares:
        a, nodes = pairs[::2], pairs[1::2]
        is_square = c > 0 < len(a) == len(nodes) == len(set(nodes)) and all(a)
        in_range = is_square and min(nodes) >= 0 and max(nodes) <= size and max(map(abs, a)) < 2**63
        require(in_range, f"not a square: {c} {pairs}")


def taken_off(weights, loops, squares, spins, ties, unit, table, size):
    """Subtract loops and squares from the weights; return how far below 0 their sum can get."""
    minima = 0
    for mu, *marked in loops:
        cycle = list(map(abs, marked))
        negative = [vertex < 0 for vertex in marked[:-1]] + [True]  # the edges after each vertex
        minima += unit * mu * (len(cycle) - 2)
        for a, b, sign in zip(cycle, cycle[1:] + cycle[:1], negative):
            key = (min(a, b), max(a, b)) if a <= size >= b else edge([a, b], table, {}, size)[0]
            weights[key] -= unit * mu * spins[a] * spins[b] * (-1) ** sign
    for c, *pairs in squares:
        tied = defaultdict(int)
        for x, node in zip(pairs[::2], pairs[1::2]):
            root, sign = edge([node], table, ties, size) if table else ties.get(node, (node, 1))
            tied[root] += sign * x
        require(max(map(abs, tied.values()), default=0) < 2**63, "a coefficient is too large")
        divisor = reduce(math.gcd, tied.values(), 0) or 1
        is_odd = sum(tied.values()) // divisor % 2
        minima += unit * c * (sum(x * x for x in tied.values()) - divisor**2 * is_odd)
        for (low, x), (high, y) in combinations(sorted(tied.items()), 2):
            key = product([(v, 1) for v in low + high])[0] if table else (low, high)
            weights[key] += 2 * unit * c * x * y
    return minima


def bounds(constant, weights, value, grain, unit, spins, denominator, loops, squares, tree, *more):
    """Return the least value that the bounds of all leaves allow a state to have."""
    size, (common, table) = len(spins) - 1, more
    check_parts(loops, squares, size + len(table))
    spins = spins + [math.prod(spins[i] for i in m) for m in table]
    whole_step, least = grain * step_of(weights) // (math.gcd(grain, step_of(weights)) or 1), []
    leaves = leaves_of(tree, common, loops, squares, size)
    for ties, row, *parts in (leaf for leaf in leaves if leaf[0] is not None):
        base, small = folded(constant, weights, ties)
        if row is not None:
            find = least_of_cover if row[0] == "cover" else least_of_order
            least.append(find(base, small, row[1], ties))
            continue
        # From here on, everything is multiplied by the denominator, to stay an integer.
        rest = defaultdict(int, {pair: denominator * w for pair, w in weights.items()})
        minima = taken_off(rest, *parts, spins, ties, unit, table, size)
        top, rest = folded(denominator * constant, rest, ties)
        trivial = denominator * (base - sum(map(abs, small.values())))
        low = Fraction(max(trivial, top - minima - sum(map(abs, rest.values()))), denominator)
        known = ((base - sum(small.values()), step_of(small)), (value, whole_step))
        least.append(max(x - (x - low) // step * step if step else x for x, step in known))
    require(min(least) <= value, "the bound is above the value of the state, so it is false")
    return min(least)


def bound_of_cores(clauses, value, grain, size, denominator, cores):
    """Return the least value (4 x cost) that the cores allow an assignment to have."""
    (soft, hard), spins, low = clauses, [0] * (size + 1), 0
    left, clauses = [denominator * w for w, _ in soft], [c for _, c in soft] + hard
    for cost, *tree in cores:
        said, path, charged = f"not a core: {cost} {tree[:40]}", [], {}
        require(cost > 0 and max(map(abs, [cost, *tree])) < 2**63, said)
        tree.reverse()
        while True:
            token = tree.pop() if tree else math.inf  # no such variable
            if token > 0:
                require(token <= size and not spins[token], said)
                spins[token] = -1  # first the subtree in which it is false
                path.append(token)
                continue
            leaf = [(-token, cost)]
            if token == 0:
                require(tree and 2 * tree[-1] < len(tree), said)
                leaf = [(tree.pop(), tree.pop()) for _ in range(tree.pop())]
                is_row = [k for k, _ in leaf] == sorted({k for k, _ in leaf})
                require(is_row and all(k <= len(soft) for k, _ in leaf), said)
            for k, amount in leaf:
                require(0 < k <= len(clauses) and amount > 0, said)
                require(all(spins[abs(x)] * x < 0 for x in clauses[k - 1]), said)
                charged[k] = max(charged.get(k, 0), amount)
            require(sum(amount for _, amount in leaf) >= cost, said)
            while path and spins[path[-1]] > 0:
                spins[path.pop()] = 0
            if not path:
                break
            spins[path[-1]] = 1
        for k, amount in charged.items():
            if k <= len(soft):
                left[k - 1] -= amount
                require(left[k - 1] >= 0, f"cores charge clause {k} more than its weight")
        require(not tree, said)
        low += 4 * cost
    least = value - (value - Fraction(low, denominator)) // grain * grain if grain else value
    require(least <= value, "the bound is above the value of the state, so it is false")
    return least


def read_problem(text, is_graph, is_qubo, is_hubo):
    """Read a problem file; value = total + cut x answer; the answer is a cost, cut or energy."""
    p = SimpleNamespace(is_float=False, grain=1, unit=2, total=0, cut=4, scale=4, is_long=False)
    p.clauses = None
    if is_graph or is_hubo:  # energy = total - 2 cut
        found = read_hubo(text) if is_hubo else read_graph(text, is_qubo)
        p.constant, p.weights, p.scale, p.size, p.notes, p.is_float = found
        p.total = p.constant - sum(p.weights.values()) if not is_qubo and not is_hubo else 0
        p.unit, p.cut = p.scale, p.scale if is_qubo or is_hubo else -2 * p.scale
        terms = p.weights.items()
        p.value_of = lambda s: p.constant - sum(w * math.prod(s[v] for v in k) for k, w in terms)
    else:
        soft, hard, p.size, p.notes = read_wcnf(text)
        p.clauses, p.constant, p.weights = (soft, hard), 0, {}
        p.is_long = max((len(c) for c in hard + [c for _, c in soft]), default=0) > 2
        if not p.is_long:
            p.constant, p.weights = signed_graph(soft, hard)
        p.grain = 4 * reduce(math.gcd, (w for w, _ in soft), 0)
        p.value_of = lambda s: 4 * cost_of(soft, hard, s)
    # Programs add up floats, so a stated value may differ by the rounding error of each term.
    most = abs(p.constant) + sum(map(abs, p.weights.values()))
    p.error = Fraction(most * (len(p.weights) + 1) * p.is_float, 2**52)
    return p


def check(text, certificate_text, is_graph=False, is_qubo=False, is_hubo=False):
    """Return the cost, cut, energy or x'Qx of the certificate's state, and the proven bound."""
    bits, stated, proof, cores = read_certificate(certificate_text)
    p = read_problem(text, is_graph, is_qubo, is_hubo)
    spins, has_ghost = spins_of(bits, p.size), b"ancilla" in p.notes
    value = p.value_of(spins)
    require(value < math.inf, "the assignment violates a hard clause")
    claim = value if stated is None else p.scale * Fraction(number(stated))
    require(abs(claim - value) <= p.error, f"the cost is {Fraction(value, p.scale)}, not {stated}")
    if cores or p.is_long:
        require(p.clauses and cores is not None, "only clauses have cores; long clauses need cores")
        least = bound_of_cores(p.clauses, value, p.grain, p.size, proof[0], cores)
    else:
        least = bounds(p.constant, p.weights, value, p.grain, p.unit, spins, *proof)
    claims = [number(p.notes[key]) for key in (b"planted-cost", b"planted-cut") if key in p.notes]
    claim = p.total + p.cut * Fraction(claims[0]) if claims else value
    is_same = abs(claim - value) <= p.error
    is_possible = is_same if least == value else claim >= least and (is_same or claim < value)
    require(is_possible, f"the comments state {claims}, which the certificate refutes")
    model = spins_of(p.notes.get(b"planted-model", bits + "1" * has_ghost), p.size + has_ghost)
    if has_ghost:  # the ghost is the last digit, and may be 0
        model = [x * model[-1] for x in [model[-1], *model[1:-1]]]
    require(least < value or p.value_of(model) == value, "the planted-model is not optimal")
    names = list(map(repr, p.notes.get(b"labels", range(p.size))))  # numbers may share one hash
    require(len(names) == len({*names}) == p.size, "labels: each variable must have its own")
    return Fraction(value - p.total, p.cut), Fraction(least - p.total, p.cut)


if __name__ == "__main__":
    try:
        require(len(sys.argv) == 3, "(usage: python checker.py FILE FILE.cert)")
        texts = [Path(name).read_bytes().decode("latin1") for name in sys.argv[1:]]
        suffix, first = Path(sys.argv[1]).suffix, " ".join((rows(texts[0], "#") or [[]])[0])
        is_rudy = re.fullmatch("[0-9]+ [0-9]+( (?!0$)[-+0-9.eE]+)?", first)
        is_rudy = is_rudy and suffix not in (".wcnf", ".hubo")
        kinds = (is_rudy or suffix in (".mc", ".sparse"), suffix == ".sparse", suffix == ".hubo")
        found, most = check(*texts, *kinds)
        sides = ("an upper", "cuts") if most > found else ("a lower", "costs")
        bound = f"VERIFIED only {sides[0]} bound: {most}; the assignment {sides[1]}"
        print("VERIFIED optimum" if most == found else bound, found)
    except (MemoryError, OSError, RecursionError, ValueError) as error:
        sys.exit(f"REFUSED {str(error) or 'not enough memory'}")
    sys.exit(0 if most == found else 2)
