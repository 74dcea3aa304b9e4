"""`solve` as it is typed: every solver, targets, MaxSAT output."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
from dataclasses import replace

import numpy as np
import pytest
from tests.children import start

import glasshouse as gh
from glasshouse.cli import main


@pytest.fixture
def planted(tmp_path):
    path = tmp_path / "x.wcnf"
    gh.write(path, gh.random_loops(12, 12, frustration="1/5", loops=8, rng=4))
    return path, gh.read_document(path).stated.cost


@pytest.mark.parametrize(
    "solver", ["anneal", "temper", "brute", "prove", "rc2", "rc2-stratified", "highs"]
)
def test_every_solver_finds_the_planted_cost(solver, planted, capsys):
    path, cost = planted
    assert main(["solve", str(path), "--solver", solver, "--json"]) == 0
    answer = json.loads(capsys.readouterr().out)
    assert answer["energy"] == cost
    model = np.array([int(bit) for bit in answer["model"]])
    assert gh.read(path).cost(model) == cost
    assert answer["optimal"] is True  # by the certificate next to the file
    path.with_name(path.name + ".cert").unlink()
    assert main(["solve", str(path), "--solver", solver, "--json"]) == 0
    answer = json.loads(capsys.readouterr().out)
    assert answer["optimal"] is (solver not in ("anneal", "temper"))


def test_tempering_tells_how_replicas_moved(planted, capsys):
    path, _ = planted
    command = ["solve", str(path), "--solver", "temper", "--sweeps", "50", "--seed", "1"]
    assert main([*command, "--target", "-1", "--json"]) == 0
    answer = json.loads(capsys.readouterr().out)
    assert len(answer["swap_acceptance"]) == len(answer["betas"]) - 1
    assert all(0 < share < 1 for share in answer["swap_acceptance"])
    assert answer["round_trips"] > 0
    assert len(answer["cluster_moves"]) == len(answer["betas"])
    assert any(answer["cluster_moves"]) == (answer["sweeps_between_cluster_moves"] > 0)
    assert main(command) == 0
    assert f"{len(answer['betas'])} temperatures, exchanges accepted" in capsys.readouterr().out


def test_success_and_time_to_solution(planted, capsys):
    path, cost = planted
    assert main(["solve", str(path), "--runs", "40", "--seed", "1"]) == 0
    shown = capsys.readouterr().out
    for word in (f"cost              {cost}", "TTS99", "after every sweep", "of 40 runs"):
        assert word in shown
    assert main(["solve", str(path), "--runs", "40", "--check", "flip", "--target", "planted"]) == 0
    assert "after every flip" in capsys.readouterr().out


def test_an_unreachable_target_gives_a_bound(planted, capsys):
    path, cost = planted
    assert main(["solve", str(path), "--target", str(cost - 1), "--seed", "1", "--json"]) == 0
    answer = json.loads(capsys.readouterr().out)
    assert answer["success_probability"] == 0
    assert answer["tts99_is_bound"] is True
    assert answer["tts99_interval"][1] is None


def test_the_same_seed_gives_the_same_answer_on_two_threads(planted, capsys):
    path, _ = planted
    answers = []
    for threads in ("1", "2"):
        main(["solve", str(path), "--seed", "5", "--threads", threads, "--json"])
        answers.append(json.loads(capsys.readouterr().out))
    for answer in answers:
        for volatile in ("seconds", "tts99_seconds", "tts99_interval", "tts99_elapsed_seconds",
                         "tts99_elapsed_interval"):  # fmt: skip
            answer.pop(volatile)
    assert answers[0] == answers[1]


def test_maxsat_output(planted, capsys):
    path, cost = planted
    assert main(["solve", str(path), "--maxsat-output", "--seed", "1"]) == 10
    assert capsys.readouterr().out.splitlines()[-3:-1] == [f"o {cost}", "s SATISFIABLE"]
    assert main(["solve", str(path), "--maxsat-output", "--solver", "rc2-stratified"]) == 30
    lines = capsys.readouterr().out.splitlines()
    assert lines[-3:-1] == [f"o {cost}", "s OPTIMUM FOUND"]
    model = np.array([int(bit) for bit in lines[-1].removeprefix("v ")])
    assert gh.read(path).cost(model) == cost


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--target", "low"], "--target low is neither"),
        (["--runs", "0"], "--runs 0"),
        (["--sweeps", "-3"], "--sweeps -3"),
        (["--threads", "0"], "--threads 0"),
        (["--time-limit", "0"], "--time-limit 0"),
        (["--seed", "-1"], "--seed -1"),
        (["--solver", "temper", "--check", "flip"], "--check is invalid for --solver temper"),
        (["--solver", "rc2", "--seed", "1"], "use it with anneal, temper"),
        (["--solver", "highs", "--runs", "64"], "--runs is invalid for --solver highs"),
        (["--solver", "prove", "--sweeps", "9"], "--sweeps is invalid for --solver prove"),
        (["--solver", "brute", "--target", "3"], "--target is invalid for --solver brute"),
        (["--solver", "rc2-stratified", "--threads", "2"], "--threads is invalid for"),
        (["--solver", "magic"], "magic"),
        (["--solver", "brute", "--time-limit", "3"], "--time-limit"),
    ],
)
def test_wrong_options_are_one_line(options, message, planted, capsys):
    assert main(["solve", str(planted[0]), *options]) == 2
    captured = capsys.readouterr()
    assert captured.out == ""
    assert message in captured.err
    assert captured.err.count("\n") == 1


def test_targets_and_outputs_that_a_file_does_not_have(tmp_path, capsys):
    path = tmp_path / "x.qubo"
    gh.write(path, gh.Qubo.from_matrix([[1, -2], [0, 1]]))
    assert main(["solve", str(path), "--target", "planted"]) == 2
    assert "states no planted objective" in capsys.readouterr().err
    assert main(["solve", str(path), "--maxsat-output"]) == 2
    assert "clauses" in capsys.readouterr().err


@pytest.mark.parametrize("solver", ["anneal", "brute", "prove", "rc2"])
def test_unsatisfiable_hard_clauses(solver, tmp_path, capsys):
    path = tmp_path / "unsat.wcnf"
    path.write_text("h 1 0\nh -1 0\n3 2 0\n")
    assert main(["solve", str(path), "--solver", solver, "--maxsat-output"]) == 20
    assert capsys.readouterr().out == "s UNSATISFIABLE\n"
    assert main(["solve", str(path), "--solver", solver]) == 1
    assert "unsatisfiable" in capsys.readouterr().err


def test_an_assignment_that_breaks_hard_clauses_says_so(tmp_path, capsys):
    path = tmp_path / "hard.wcnf"
    chain = "".join(f"h -{k} {k + 1} 0\nh {k} -{k + 1} 0\n" for k in range(1, 60))
    path.write_text(chain + "1 1 0\n1 -60 0\n")
    assert main(["solve", str(path), "--runs", "1", "--sweeps", "1", "--seed", "1"]) == 0
    assert "hard clauses" in capsys.readouterr().out
    assert main(["solve", str(path), "--runs", "1", "--sweeps", "1", "--seed", "1", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["broken_hard_clauses"] > 0
    words = ["solve", str(path), "--runs", "1", "--sweeps", "1", "--seed", "1", "--maxsat-output"]
    assert main(words) == 10
    *values, status, model = capsys.readouterr().out.splitlines()
    assert (values, status) == (["o 1"], "s SATISFIABLE")
    assert model in ("v " + "0" * 60, "v " + "1" * 60)


def test_a_solver_that_refuses_leaves_the_model_that_is_at_hand(tmp_path, capsys):
    path = tmp_path / "large.wcnf"
    path.write_text(f"h 1 2 0\n{2**60} -1 0\n{2**60} -2 0\n")
    assert main(["solve", str(path), "--solver", "highs", "--maxsat-output"]) == 10
    captured = capsys.readouterr()
    assert captured.out.splitlines()[:2] == [f"o {2**60}", "s SATISFIABLE"]
    assert "highs is exact only up to" in captured.err
    words = ["solve", str(path), "--solver", "highs", "--maxsat-output", "--time-limit", "0"]
    assert main(words) == 2


# Says when the work itself begins.
LOUD = """
import sys
from glasshouse.cli import main
from glasshouse.solvers import {module} as module
real = module.{function}
def loud(*arguments):
    print("busy", file=sys.stderr, flush=True)
    return real(*arguments)
module.{function} = loud
sys.exit(main(sys.argv[1:]))
"""


@pytest.mark.parametrize(
    ("options", "place", "code"),
    [
        (["anneal", "--sweeps", "300000", "--runs", "100000"], ("crew", "Crew.work"), 0),
        (["brute"], ("exhaustive", "visit_states"), 130),
    ],
)
def test_ctrl_c_is_heard(options, place, code, tmp_path):
    path = tmp_path / "k33.coo"
    edges = [(i, j) for i in range(33) for j in range(i)]
    rng = np.random.default_rng(1)
    gh.write(path, gh.Ising.from_edges(33, edges, rng.integers(1, 10, len(edges))))
    main(["solve", str(path), "--runs", "64", "--sweeps", "1"])  # compiled from here on
    gh.brute_force(gh.Ising(1, [], [], [1]))
    script = LOUD.format(module=place[0], function=place[1])
    child = start([sys.executable, "-c", script, "solve", str(path), "--solver", *options])
    while (said := child.stderr.readline()) != "busy\n":
        assert said, child.heard()
    child.work(0.5)
    child.send_signal(signal.SIGINT)
    out, err = child.heard()
    assert child.returncode == code, err
    assert ("stopped by Ctrl-C" in out) if code == 0 else ("interrupted" in err)


@pytest.mark.parametrize("suffix", [".npz", ".wcnf", ".coo"])
@pytest.mark.parametrize("solver", ["anneal", "prove"])
def test_a_false_claim_has_an_exit_code_of_its_own(tmp_path, capsys, suffix, solver):
    path = tmp_path / f"x{suffix}"
    plant = gh.random_loops(8, 8, frustration="1/5", loops=6, rng=1)
    gh.write(path, plant)
    assert main(["solve", str(path), "--solver", solver]) == 0
    if suffix == ".npz":
        gh.write(path, replace(plant, energy=plant.energy + 10), overwrite=True)
    else:
        cost = gh.read_document(path).stated.cost
        text = path.read_text()
        path.write_text(text.replace(f"planted-cost {cost}", f"planted-cost {cost + 10}"))
    capsys.readouterr()
    assert main(["solve", str(path), "--solver", solver, "--json"]) == 3
    captured = capsys.readouterr()
    assert "this file's claim is false" in captured.err
    answer = json.loads(captured.out)
    assert answer["false_claim"]
    assert answer["energy"] < answer["stated_optimum"]


def test_a_claim_below_what_is_proven_is_false(tmp_path, capsys):
    path = tmp_path / "x.wcnf"
    path.write_text("c planted-cost 2\np wcnf 1 2 9\n3 1 0\n4 -1 0\n")
    assert main(["solve", str(path), "--solver", "brute"]) == 3
    assert "but the optimum is 3" in capsys.readouterr().err
    assert main(["solve", str(path)]) == 0  # annealing proves nothing


def test_a_certificate_beside_a_blind_file_is_the_target(tmp_path, capsys):
    path = tmp_path / "blind.wcnf"
    plant = gh.random_loops(12, 12, frustration="1/5", loops=8, rng=4)
    gh.write(path, plant, blind=True)
    assert main(["solve", str(path), "--seed", "1", "--json"]) == 0
    blind = json.loads(capsys.readouterr().out)
    assert "target" not in blind
    assert blind["certified_optimum"] is None
    assert main(["prove", str(path)]) == 0
    for options in ([], ["--target", "planted"], ["--solver", "temper"]):
        capsys.readouterr()
        assert main(["solve", str(path), "--seed", "1", "--json", *options]) == 0
        answer = json.loads(capsys.readouterr().out)
        assert answer["target"] == answer["certified_optimum"] == blind["cost"]
        assert answer["success_probability"] > 0
        assert answer["tts99_sweeps"] > 0
        assert answer["stated_optimum"] is None
    assert main(["solve", str(path), "--seed", "1"]) == 0
    assert "this is the optimum, by the file's certificate" in capsys.readouterr().out


def test_a_target_that_the_certificate_rules_out_is_named(planted, capsys):
    path, cost = planted
    for target in (cost, cost - 1):
        assert main(["solve", str(path), "--target", str(target)]) == 0
        words = f"target {target} is out of reach: the file's certificate proves {cost}\n"
        assert (words in capsys.readouterr().out) is (target < cost)


@pytest.mark.parametrize("solver", ["anneal", "temper"])
def test_the_seed_that_is_shown_repeats_the_runs(solver, planted, capsys):
    command = ["solve", str(planted[0]), "--solver", solver, "--runs", "5", "--sweeps", "3"]
    assert main([*command, "--json"]) == 0
    first = json.loads(capsys.readouterr().out)
    assert main([*command, "--seed", str(first["seed"])]) == 0
    again = capsys.readouterr().out
    assert first["model"] in again
    assert f"\nseed {first['seed']}\n" in again


@pytest.mark.parametrize("forgery", ["cost 0", "nonsense", "bound"])
def test_a_certificate_that_proves_nothing_is_named_and_not_used(forgery, tmp_path, capsys):
    path = tmp_path / "x.wcnf"
    gh.write(path, gh.random_loops(12, 12, frustration="1/5", loops=8, rng=4), blind=True)
    main(["prove", str(path)])
    beside = path.with_name(path.name + ".cert")
    text = beside.read_text()
    cost = next(line for line in text.splitlines() if line.startswith("cost "))
    size = gh.read(path).num_variables
    bound = f"glasshouse-certificate 1\ndenominator 1\nstate {'1' * size}\nloops 0\n"
    forged = {"cost 0": text.replace(cost, "cost 0"), "nonsense": "mine", "bound": bound}
    beside.write_text(forged[forgery])
    capsys.readouterr()
    assert main(["solve", str(path), "--seed", "1", "--json"]) == 0
    captured = capsys.readouterr()
    answer = json.loads(captured.out)
    assert answer["certified_optimum"] is None
    assert "target" not in answer
    assert captured.err.count("\n") == (forgery != "bound")
    assert ("no certified optimum" in captured.err) == (forgery != "bound")


def test_annealing_loads_no_prover(planted):
    """A short search takes less time than loading all linear programs would."""
    path, _ = planted
    code = (
        "import sys; from glasshouse.cli import main\n"
        "assert main(['solve', *sys.argv[1:]]) == 0\n"
        "print(*sys.modules, file=sys.stderr)"
    )
    words = [sys.executable, "-c", code, str(path), "--runs", "4", "--sweeps", "50"]
    told = subprocess.run(words, capture_output=True, text=True, check=True).stderr.split()
    loaded = [name for name in told if name.startswith("glasshouse.proofs.")]
    assert all(name.startswith("glasshouse.proofs.exact") for name in loaded)
    assert not {"highspy", "scipy.linalg"} & set(told)
