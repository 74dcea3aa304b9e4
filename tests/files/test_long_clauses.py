"""Files of long clauses: read, written and converted against enumeration, and solved and judged."""

from __future__ import annotations

import io
import itertools
import json
import random
import time

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.problems.test_maxsat import maxsats

import glasshouse as gh
from glasshouse.cli import main
from glasshouse.files import read_document, write
from glasshouse.planting import shuffle
from glasshouse.planting.methods import cores
from glasshouse.problems import Clauses, Max2Sat, MaxSat


def written(problem, format, **options):
    stream = io.BytesIO()
    made = gh.write(stream, problem, format=format, **options)
    return stream.getvalue(), made.reduction


def read(text, format):
    return gh.read(io.BytesIO(text), format=format)


def is_short(problem):
    return problem.longest <= 2 and bool(problem.hard.lengths.all())


@settings(max_examples=60)
@given(maxsats(most=18, longest=8, floats=False), st.sampled_from(["classic", "mse22"]))
def test_wcnf_of_both_dialects_comes_back(problem, dialect):
    if dialect == "mse22" and not problem.num_edges:
        return
    text, _ = written(problem, "wcnf.xz", dialect=dialect)
    again = read(text, "wcnf.xz")
    expected = gh.to_max2sat(problem)[0] if is_short(problem) else problem
    assert again == expected
    assert type(again) is type(expected)


@settings(max_examples=60)
@given(maxsats(most=18, longest=8))
def test_the_native_format_keeps_all_of_it(problem):
    assert read(written(problem, "npz")[0], "npz") == problem


def least_of_all(problem):
    """The least cost over all assignments, in slices; and the costs where there are few."""
    size = problem.num_variables
    codes = np.arange(1 << size)
    bits = (codes[:, np.newaxis] >> np.arange(size) & 1).astype(np.int8)
    return bits, problem.cost(bits)


@settings(max_examples=25, deadline=None)
@given(maxsats(most=18, longest=7, floats=False), st.sampled_from(["hubo", "json", "qubo", "coo"]))
def test_other_formats_have_the_same_costs(problem, format):
    bits, costs = least_of_all(problem)
    kind = "polynomial" if format == "json" else None
    text, reduction = written(problem, format, kind=kind)
    other = read(text, format)
    some = np.random.default_rng(0).permutation(len(bits))[:512]
    image = reduction.forward(bits[some])
    if other.num_variables < image.shape[1]:
        return  # a format without a place for variables that nothing touches
    energies = [reduction.source_energy(int(e)) for e in other.energy(image)]
    assert energies == costs[some].tolist()


@settings(max_examples=25, deadline=None)
@given(maxsats(most=8, longest=5, floats=False))
def test_exact_solvers_find_the_least_cost(problem):
    from glasshouse.proofs import HardClausesUnsatisfiableError, solve_exactly

    bits, costs = least_of_all(problem)
    kept = problem.broken(bits) == 0
    for solver in ("rc2", "rc2-stratified", "rc2-stratified-edge", "highs"):
        if not kept.any():
            with pytest.raises(HardClausesUnsatisfiableError):
                solve_exactly(problem, solver=solver)
            continue
        found = solve_exactly(problem, solver=solver)
        assert (found.energy, found.optimal) == (costs[kept].min(), True)
    if problem.longest > 2:
        ground = gh.brute_force(problem)
        assert (ground.energy, ground.count) == (costs.min(), int((costs == costs.min()).sum()))


@given(maxsats(floats=False))
def test_simplified_clauses_have_the_same_costs(problem):
    small = problem.simplified()
    bits, costs = least_of_all(problem)
    assert np.array_equal(small.broken(bits) > 0, problem.broken(bits) > 0)
    kept = problem.broken(bits) == 0
    assert np.array_equal(small.cost(bits)[kept], costs[kept])
    for clauses in (small.soft.lists(), small.hard.lists()):
        assert len({tuple(clause) for clause in clauses}) == len(clauses)
        assert all(len({abs(x) for x in clause}) == len(clause) for clause in clauses)


def test_annealing_goes_over_products_and_finds_the_least_cost():
    rng = random.Random(3)
    clauses = [[v * rng.choice([-1, 1]) for v in rng.sample(range(1, 13), 4)] for _ in range(60)]
    problem = MaxSat(
        12, clauses, [rng.randint(1, 9) for _ in clauses], hard=[[1, 2, 3], [-4, 5, -6]]
    )
    found = gh.anneal(problem, runs=16, sweeps=200, rng=1)
    assert found.kernel == "product lanes"
    assert found.best_energy == gh.brute_force(problem).energy == problem.cost(found.best_state)


def test_pseudo_boolean_files_have_a_constraint_per_clause():
    problem = MaxSat(3, [[1, -2, 3, 1], []], [5, 2], hard=[[-1, -2, -3]])
    assert written(problem, "opb")[0].decode().splitlines() == [
        "* #variable= 5 #constraint= 3",
        "min: +5 x4 +2 x5 ;",
        "+1 x1 -1 x2 +1 x3 +1 x4 >= 0 ;",
        "+1 x5 >= 1 ;",
        "-1 x1 -1 x2 -1 x3 >= -2 ;",
    ]


def test_a_million_clauses_are_read_and_written_in_seconds(tmp_path):
    rng = np.random.default_rng(1)
    literals = rng.integers(1, 200_001, 3_000_000) * rng.choice([-1, 1], 3_000_000)
    start = time.process_time()
    problem = MaxSat(
        200_000, Clauses(literals, np.arange(1_000_001) * 3), rng.integers(1, 10, 1_000_000)
    )
    assert time.process_time() - start < 2  # 0.1 s on an idle computer
    start = time.process_time()
    gh.write(tmp_path / "large.wcnf", problem)
    assert gh.read(tmp_path / "large.wcnf") == problem
    assert time.process_time() - start < 20  # 1.6 s on an idle computer


def test_short_files_are_what_they_were():
    assert isinstance(read(b"p wcnf 2 2 9\n9 1 2 0\n3 -1 0\n", "wcnf"), Max2Sat)
    assert isinstance(read(b"h 0\n3 -1 0\n", "wcnf"), MaxSat)  # nothing satisfies it


# Judging -----------------------------------------------------------------------------------------


def drawn(rng):
    """Clauses with three literals and more, and hard ones."""
    size = rng.randint(4, 9)

    def clause():
        variables = rng.sample(range(1, size + 1), rng.randint(1, min(6, size)))
        return [v * rng.choice([-1, 1]) for v in variables]

    hard = [clause() for _ in range(rng.randint(1, 2 * size))]
    hard.append([v * rng.choice([-1, 1]) for v in rng.sample(range(1, size + 1), 3)])
    soft = [clause() for _ in range(rng.randint(1, 2 * size))]
    return MaxSat(size, soft, [rng.randint(1, 9) for _ in soft], hard)


def answers(rng, problem):
    """An answer, and the right verdict without a certificate; None if there is none."""
    models = np.array(list(itertools.product((0, 1), repeat=problem.num_variables)), dtype=np.int8)
    broken, costs = problem.broken(models), problem.cost(models)
    kept = np.flatnonzero(broken == 0)
    if not len(kept):
        yield "s UNSATISFIABLE", "undecided", None
        bad = rng.choice(range(len(models)))
        yield f"o 0\ns OPTIMUM FOUND\nv {line(models[bad])}", "invalid model", None
        return
    best = kept[np.argmin(costs[kept])]
    evident = sum(w for w, c in zip(problem.weights.tolist(), problem.soft.lists(), strict=True)
                  if not c)  # fmt: skip
    is_evident = costs[best] == evident
    claim = f"o {costs[best]}\ns OPTIMUM FOUND\nv {line(models[best])}"
    yield claim, "optimal" if is_evident else "undecided", int(costs[best])
    some = rng.choice(kept.tolist())
    yield f"o {costs[some]}\ns SATISFIABLE\nv {line(models[some])}", "found", int(costs[some])
    yield f"o {costs[some] + 1}\ns SATISFIABLE\nv {line(models[some])}", "invalid model", None
    worse = np.flatnonzero(broken > 0)
    if len(worse):
        bad = rng.choice(worse.tolist())
        yield f"o {costs[best]}\ns OPTIMUM FOUND\nv {line(models[bad])}", "invalid model", None


def line(model):
    return "".join(map(str, model))


def test_200_files_of_long_and_hard_clauses_are_judged_rightly(tmp_path, capsys):
    rng, count, verdicts = random.Random(7), 0, []
    for number in range(200):
        problem = drawn(rng)
        file = tmp_path / f"{number}.wcnf"
        gh.write(file, problem, dialect=rng.choice(["classic", "mse22"]))
        assert problem.longest > 2
        for answer, verdict, cost in answers(rng, problem):
            (tmp_path / "answer.txt").write_text(answer + "\n")
            code = main(["judge", str(file), str(tmp_path / "answer.txt"), "--json"])
            told = json.loads(capsys.readouterr().out)
            assert told["verdict"] == verdict, (file.read_text(), answer, told)
            assert cost is None or told["cost"] == cost
            assert code == (0 if verdict in ("optimal", "found") else 1)
            verdicts.append(verdict)
            count += 1
    assert count > 600
    assert set(verdicts) == {"optimal", "found", "undecided", "invalid model"}


def test_a_stated_model_refutes_a_worse_optimum(tmp_path, capsys):
    (tmp_path / "one.wcnf").write_text(
        "c planted-cost 1\nc planted-model 100\np wcnf 3 4 99\n99 1 2 3 0\n1 -1 0\n5 -2 0\n7 -3 0\n"
    )
    (tmp_path / "answer.txt").write_text("o 5\ns OPTIMUM FOUND\nv 010\n")
    assert main(["judge", str(tmp_path / "one.wcnf"), str(tmp_path / "answer.txt")]) == 1
    assert "wrong optimum: claims that 5 is optimal, but a model costs 1" in capsys.readouterr().out


@pytest.mark.parametrize("solver", ["rc2", "rc2-stratified", "highs"])
def test_solve_says_that_nothing_satisfies_hard_clauses(solver, tmp_path, capsys):
    path = tmp_path / "never.wcnf"
    path.write_text("h 1 2 3 0\nh -1 0\nh -2 0\nh -3 0\n1 1 2 3 0\n")
    assert main(["solve", str(path), "--solver", solver, "--maxsat-output"]) == 20
    assert capsys.readouterr().out == "s UNSATISFIABLE\n"
    assert main(["solve", str(path), "--solver", solver]) == 1
    assert capsys.readouterr().err == f"glasshouse: {path}: the hard clauses are unsatisfiable\n"


def test_solve_gives_the_optimum_in_lines_of_the_evaluation(tmp_path, capsys):
    path = tmp_path / "three.wcnf"
    path.write_text("h 1 2 3 0\n3 -1 0\n2 -2 0\n4 -3 0\n1 0\n")
    for solver, code in (("rc2", 30), ("anneal", 10)):
        assert main(["solve", str(path), "--solver", solver, "--maxsat-output"]) == code
        out = capsys.readouterr().out.splitlines()
        assert (out[-3], out[-1]) == ("o 3", "v 010")


def test_info_and_prove_speak_of_long_clauses(tmp_path, capsys):
    path = tmp_path / "three.wcnf"
    path.write_text("h 1 2 3 0\n3 -1 0\n2 -2 0\n4 -3 0\n")
    assert main(["info", str(path)]) == 0
    out = capsys.readouterr().out
    assert "kind              MaxSAT\n" in out
    assert "clauses           3 + 1 hard, 1.333 per variable\n" in out
    assert "literals          at most 3 in a clause\n" in out
    assert main(["prove", str(path)]) == 2
    assert "prove does not support MaxSat (this" in capsys.readouterr().err


def test_solutions_of_a_converted_file_come_back(tmp_path, capsys):
    path, target = tmp_path / "three.wcnf", tmp_path / "three.qubo"
    path.write_text("h 1 2 3 0\n3 -1 0\n2 -2 0\n4 -3 0\n")
    assert main(["convert", str(path), str(target)]) == 0
    assert main(["solve", str(target), "--solver", "brute", "--json"]) == 0
    model = json.loads(capsys.readouterr().out.splitlines()[-1])["model"]
    (tmp_path / "solution.txt").write_text(model)
    assert main(["back", str(path), str(target), str(tmp_path / "solution.txt"), "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["cost"] == 2


@pytest.mark.parametrize("suffix", [".wcnf", ".qubo", ".coo", ".bqm", ".mc", ".json", ".npz"])
def test_satisfiable_clauses_of_two_literals_are_proven_in_every_format(suffix, tmp_path):
    """Each clause is a frustrated triangle with the ghost."""
    for seed in range(8):
        planted = cores(9, width=2, cores=4, frustrated=0, max_weight=5, length=2, max_length=4,
                        harden="1/3" if seed % 2 else 0, rng=seed)  # fmt: skip
        planted = shuffle(planted) if seed % 3 else planted
        path = tmp_path / f"{seed}{suffix}"
        write(path, planted)
        proven = read_document(path).proven
        assert proven is not None
        assert proven.verdict.optimal


def test_the_proof_of_other_clauses_proves_only_a_bound(tmp_path):
    path = tmp_path / "x.wcnf"
    write(path, cores(9, width=2, cores=4, frustrated=0, max_weight=5, rng=1))
    lines = path.read_text().splitlines()
    at = next(k for k, line in enumerate(lines) if line.startswith("p wcnf")) + 1
    weight, first, second, _ = lines[at].split()
    lines[at] = f"{int(weight) + 1} {-int(first)} {-int(second)} 0"
    path.write_text("\n".join(lines) + "\n")
    assert not read_document(path).proven.verdict.optimal
