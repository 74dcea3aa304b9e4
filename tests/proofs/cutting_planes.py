"""A small checker of the cutting-planes rules that our proofs use.

Written from the rules of the VeriPB format overview, not from the writer: formulas are read from
the OPB or WCNF file, `pol` lines are computed, and the conclusion is checked against the objective.
A constraint is Σ c_l · l ≥ d with c_l > 0, kept as ({literal: coefficient}, d); of x and ~x at most
one occurs.
"""

from __future__ import annotations

from collections import defaultdict

Constraint = tuple[dict[str, int], int]


class RejectedError(Exception):
    """The proof is wrong."""


def negation(literal: str) -> str:
    return literal[1:] if literal.startswith("~") else "~" + literal


def normalised(terms: dict[str, int], degree: int) -> Constraint:
    """Positive coefficients, and no variable twice: a·x + b·~x = min + (a-b)·x."""
    positive: defaultdict[str, int] = defaultdict(int)
    for literal, coefficient in terms.items():
        if coefficient < 0:
            literal, degree, coefficient = negation(literal), degree - coefficient, -coefficient
        positive[literal] += coefficient
    result = {}
    for literal, coefficient in positive.items():
        other = positive.get(negation(literal), 0)
        if literal.startswith("~") and negation(literal) in positive:
            continue  # done at its partner
        both = min(coefficient, other)
        degree -= both
        if coefficient > both:
            result[literal] = coefficient - both
        elif other > both:
            result[negation(literal)] = other - both
    return result, degree


def add(one: Constraint, two: Constraint) -> Constraint:
    terms = defaultdict(int, one[0])
    for literal, coefficient in two[0].items():
        terms[literal] += coefficient
    return normalised(terms, one[1] + two[1])


def implies(one: Constraint, two: Constraint) -> bool:
    """Whether literal axioms alone turn one constraint into the other."""
    lost = sum(max(0, c - two[0].get(literal, 0)) for literal, c in one[0].items())
    return two[1] <= 0 or one[1] - lost >= two[1]


def read_opb(text: str) -> tuple[dict[str, int], list[Constraint]]:
    """Objective and constraints."""
    objective: dict[str, int] = {}
    constraints = []
    for line in text.splitlines():
        words = line.replace(";", " ").split()
        if not words or words[0].startswith("*"):
            continue
        if words[0] == "min:":
            objective = dict(zip(words[2::2], map(int, words[1::2]), strict=True))
            continue
        place = words.index(">=")
        terms = dict(zip(words[1:place:2], map(int, words[0:place:2]), strict=True))
        constraints.append(normalised(terms, int(words[place + 1])))
    return objective, constraints


def read_wcnf(text: str) -> tuple[dict[str, int], list[Constraint]]:
    """Soft clauses relaxed by ~_b<k>; unit ones go into the objective."""
    objective: defaultdict[str, int] = defaultdict(int)
    constraints = []
    clauses = [line.split() for line in text.splitlines() if line and line[0] not in "cp"]
    for k, (weight, *words) in enumerate(clauses, 1):
        literals = [f"x{w}" if int(w) > 0 else f"~x{w[1:]}" for w in words[:-1]]
        if len(literals) == 1:
            objective[negation(literals[0])] += int(weight)
        else:
            objective[f"~_b{k}"] += int(weight)
            constraints.append(normalised(dict.fromkeys([*literals, f"~_b{k}"], 1), 1))
    return objective, constraints


def check(formula: tuple[dict[str, int], list[Constraint]], proof: str) -> tuple[int, int]:
    """The proven bounds on the objective, or RejectedError."""
    objective, constraints = formula
    constraints = list(constraints)
    head, *lines = proof.splitlines()
    if head == "pseudo-Boolean proof version 3.0":
        if not all(line.endswith((" ;", " : subproof")) for line in lines):
            raise RejectedError("a line without semicolon")
        lines = [line.removesuffix(" ;") for line in lines]
    elif head != "pseudo-Boolean proof version 2.0":
        raise RejectedError("header")
    number = len(constraints)
    if lines[0] != f"f {len(constraints)}":
        raise RejectedError("number of constraints")
    if lines[-3] != "output NONE" or lines[-1] != "end pseudo-Boolean proof":
        raise RejectedError("end")
    derived: list[Constraint | None] = list(constraints)
    goal = None  # the constraint that is being proven by contradiction
    for line in lines[1:-3]:
        rule, *words = line.split()
        if rule == "pol":
            derived.append(polish(words, derived))
        elif rule in ("pbc", "red") and words[-1] in ("subproof", "begin") and goal is None:
            if words[-2:] != [":", "subproof"] and words[-3:] != [";", ";", "begin"]:
                raise RejectedError("subproof")
            goal = len(derived), constraint_of(words)
            derived.append(opposite(goal[1]))
        elif rule == "red" and goal is None:
            derived.append(defined(words, derived, objective))
        elif line in ("qed pbc : -1", "end -1") and goal is not None:
            terms, degree = derived[-1] or ({}, 0)
            if sum(terms.values()) >= degree:
                raise RejectedError("no contradiction")
            # Numbers of a subproof are used up, its constraints gone.
            derived[goal[0] :] = [None] * (len(derived) - goal[0])
            derived.append(goal[1])
            goal = None
        else:
            raise RejectedError(f"rule {rule}")
    if goal is not None:
        raise RejectedError("an open subproof")
    return conclude(lines[-2], objective, constraints[:number], derived)


def constraint_of(words: list[str]) -> Constraint:
    """A constraint that the words begin with."""
    place = words.index(">=")
    terms = dict(zip(words[1:place:2], map(int, words[0:place:2]), strict=True))
    return normalised(terms, int(words[place + 1]))


def opposite(constraint: Constraint) -> Constraint:
    terms, degree = constraint
    return normalised({negation(x): c for x, c in terms.items()}, sum(terms.values()) - degree + 1)


def defined(
    words: list[str], derived: list[Constraint | None], objective: dict[str, int]
) -> Constraint:
    """A constraint that may be added because giving a variable a value repairs all that it breaks.

    Where the constraint is broken, its opposite holds; with the variable changed, the constraint
    itself and all others that hold the variable must then hold, by this opposite alone.
    """
    constraint = constraint_of(words)
    variable, arrow, value = words[-3:]
    if arrow != "->" or value not in ("0", "1") or variable.startswith("~") or len(words) < 4:
        raise RejectedError("witness")
    if {variable, negation(variable)} & objective.keys():
        raise RejectedError("a variable of the objective")
    broken = opposite(constraint)
    touched = [
        other for other in derived if other and {variable, negation(variable)} & set(other[0])
    ]
    for other in [*touched, constraint]:
        terms = dict(other[0])
        gained = terms.pop(variable, 0), terms.pop(negation(variable), 0)
        repaired = terms, other[1] - gained[value == "0"]
        if not implies(broken, repaired):
            raise RejectedError("redundance")
    return constraint


def polish(words: list[str], constraints: list[Constraint | None]) -> Constraint:
    stack: list[Constraint | int] = []
    try:
        for word in words:
            if word == "+":
                stack.append(add(_held(stack.pop(), constraints), _held(stack.pop(), constraints)))
            elif word in "*d":
                factor, (terms, degree) = stack.pop(), _held(stack.pop(), constraints)
                if not isinstance(factor, int) or factor < 1:
                    raise RejectedError("factor")
                if word == "*":
                    stack.append(({x: c * factor for x, c in terms.items()}, degree * factor))
                else:
                    stack.append(
                        ({x: -(-c // factor) for x, c in terms.items()}, -(-degree // factor))
                    )
            elif word == "s":
                terms, degree = _held(stack.pop(), constraints)
                stack.append(({x: min(c, max(degree, 0)) for x, c in terms.items()}, degree))
            elif word.lstrip("-").isdigit():
                stack.append(int(word))
            else:
                stack.append(({word: 1}, 0))
    except IndexError:
        raise RejectedError("stack") from None
    if len(stack) != 1:
        raise RejectedError("stack")
    return _held(stack[0], constraints)


def _held(item: Constraint | int, constraints: list[Constraint | None]) -> Constraint:
    if not isinstance(item, int):
        return item
    found = constraints[item - 1] if 1 <= item <= len(constraints) else None
    if found is None:
        raise RejectedError(f"no constraint {item}")
    return found


def conclude(
    line: str,
    objective: dict[str, int],
    constraints: list[Constraint],
    derived: list[Constraint | None],
) -> tuple[int, int]:
    front, hint, literals = line.split(" : ")
    lower = int(front.split()[2])
    identifier, upper = map(int, hint.split())
    if not implies(_held(identifier, derived), normalised(dict(objective), lower)):
        raise RejectedError("lower bound")
    true = set(literals.split())
    if any(negation(literal) in true for literal in true):
        raise RejectedError("assignment")
    for terms, degree in constraints:
        if sum(c for literal, c in terms.items() if literal in true) < degree:
            raise RejectedError("assignment breaks a constraint")
    variables = {literal.removeprefix("~") for literal in objective}
    if not variables <= {literal.removeprefix("~") for literal in true}:
        raise RejectedError("assignment is not complete")
    if sum(c for literal, c in objective.items() if literal in true) > upper:
        raise RejectedError("upper bound")
    return lower, upper
