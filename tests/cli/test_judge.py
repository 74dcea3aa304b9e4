"""`glasshouse judge`: one verdict, one line, exit code."""

import io
import json
import subprocess
import sys

import pytest

import glasshouse as gh
from glasshouse.cli import main
from glasshouse.files import Document
from glasshouse.files.clause_file import read_clauses


@pytest.fixture
def instance(tmp_path):
    plant = gh.random_loops(6, 6, loop_density=1, frustration="1/5", rng=2)
    path = tmp_path / "inst.wcnf"
    gh.write(path, plant)
    document = gh.read_document(path)
    model = "".join(map(str, document.stated.model))
    return path, int(document.stated.cost), model


def judged(path, text, *options):
    answer = path.parent / "answer.txt"
    answer.write_text(text)
    return main(["judge", str(path), str(answer), *options])


def test_right_answers(instance, capsys):
    path, cost, model = instance
    assert judged(path, f"o {cost}\ns OPTIMUM FOUND\nv {model}\n") == 0
    assert capsys.readouterr().out == f"{path}: optimal: cost {cost}\n"
    worse = read_clauses(path).cost([1] * len(model))
    assert judged(path, f"o {worse}\ns SATISFIABLE\nv {'1' * len(model)}") == 0
    assert f"cost {worse}, the optimum is {cost}" in capsys.readouterr().out


def test_wrong_answers_are_one_line_and_exit_code_1(instance, capsys):
    path, cost, model = instance
    for text in ("", f"o {cost - 1}\ns OPTIMUM FOUND\nv {model}", "s UNSATISFIABLE"):
        assert judged(path, text) == 1
        out, err = capsys.readouterr()
        assert err == ""
        assert out.count("\n") == 1
    assert "wrong optimum: claims UNSATISFIABLE, but a model costs" in out


def test_json(instance, capsys):
    path, cost, model = instance
    assert judged(path, f"o {cost}\ns OPTIMUM FOUND\nv {model}", "--json") == 0
    told = json.loads(capsys.readouterr().out)
    assert told["right"] is True
    assert (told["verdict"], told["cost"], told["bound"]) == ("optimal", cost, cost)
    assert judged(path, "", "--json") == 1
    assert json.loads(capsys.readouterr().out)["verdict"] == "no answer"


def test_standard_input(instance, monkeypatch, capsys):
    path, cost, model = instance

    class Input:
        buffer = io.BytesIO(f"o {cost}\ns OPTIMUM FOUND\nv {model}".encode())

    monkeypatch.setattr("sys.stdin", Input)
    assert main(["judge", str(path), "-"]) == 0


def test_without_a_certificate_nothing_is_decided(instance, capsys):
    path, cost, model = instance
    (path.parent / "inst.wcnf.cert").unlink()
    assert judged(path, f"o {cost}\ns OPTIMUM FOUND\nv {model}") == 1
    told = capsys.readouterr().out
    assert "undecided" in told
    assert "without a certificate next to the file" in told
    worse = read_clauses(path).cost([1] * len(model))
    assert judged(path, f"o {worse}\ns OPTIMUM FOUND\nv {'1' * len(model)}") == 1
    assert "but a model costs" in capsys.readouterr().out


def test_files_that_race_are_judged_too(tmp_path, capsys):
    path = tmp_path / "long.wcnf"
    path.write_text("h 1 2 3 0\n1 -1 0\n")
    assert judged(path, "o 0\ns OPTIMUM FOUND\nv 010") == 0
    path.write_text("h 1 0\nh -1 0\n")
    assert judged(path, "s UNSATISFIABLE") == 0
    assert "optimal: no assignment satisfies the hard clauses" in capsys.readouterr().out
    path.write_text("p wcnf 3 5 9\n9 1 2 3 0\n")
    assert judged(path, "") == 2
    assert "truncated" in capsys.readouterr().err


def test_problems_of_other_kinds(tmp_path, capsys):
    path = tmp_path / "x.mc"
    gh.write(path, gh.Ising.from_edges(3, [(0, 1), (1, 2), (0, 2)], [-1, -1, -1]))
    assert judged(path, "o 2\ns OPTIMUM FOUND\nv 100") == 1
    assert "without a certificate next to the file" in capsys.readouterr().out
    assert judged(path, "+1 +1 -1") == 0
    assert capsys.readouterr().out == (
        f"{path}: found: a cut of 2; without a certificate next to the file (or --certificate), "
        "glasshouse cannot show the optimum\n"
    )
    assert main(["prove", str(path)]) == 0
    capsys.readouterr()
    assert judged(path, "+1 +1 -1") == 0
    assert capsys.readouterr().out == f"{path}: found: a cut of 2, the optimum is 2\n"
    assert judged(path, "o 2\ns OPTIMUM FOUND\nv 100") == 0
    assert capsys.readouterr().out == f"{path}: optimal: a cut of 2\n"
    assert judged(path, "+1 +1 +1", "--json") == 0
    told = json.loads(capsys.readouterr().out)
    assert (told["verdict"], told["cost"], told["bound"]) == ("found", 0, 2)
    (tmp_path / "other.cert").write_bytes((tmp_path / "x.mc.cert").read_bytes())
    (tmp_path / "x.mc.cert").unlink()
    assert judged(path, "v 100", "--certificate", str(tmp_path / "other.cert")) == 0
    text = (tmp_path / "other.cert").read_text()
    forged = "\n".join("cost 7" if line[:5] == "cost " else line for line in text.split("\n"))
    (tmp_path / "other.cert").write_text(forged)
    assert judged(path, "v 100", "--certificate", str(tmp_path / "other.cert")) == 3
    assert "the certificate states a cost of 7" in capsys.readouterr().err


def test_words_of_a_certificate_are_no_options(instance, capsys):
    path, _, _ = instance
    proof = path.parent / "inst.wcnf.cert"
    proof.write_text(proof.read_text().replace("denominator 1", "denominator 0"))
    assert judged(path, "") == 2
    err = capsys.readouterr().err
    assert "inst.wcnf.cert, line 2: denominator '0' must be at least 1" in err
    assert "--" not in err


def test_bad_input(instance, tmp_path, capsys):
    path, _, _ = instance
    assert main(["judge", str(path), str(tmp_path / "none")]) == 2
    assert "cannot be read" in capsys.readouterr().err
    assert judged(path, "", "--units", "spin") == 2
    assert "--units applies to matrices" in capsys.readouterr().err
    text = path.read_text().replace("planted-cost ", "planted-cost 1")
    path.write_text(text)
    assert judged(path, "") == 3
    assert "the file states a cost of" in capsys.readouterr().err


def answers_of(path):
    """A right answer to a planted file, and one that is not optimal."""
    document = gh.read_document(path)
    model = "".join(map(str, document.stated.model))
    right = f"o {int(document.stated.cost)}\ns OPTIMUM FOUND\nv {model}\n"
    return right, right.replace("o ", "o 1")


def test_many_answers_to_one_file(instance, tmp_path, capsys):
    path, cost, _ = instance
    right, wrong = answers_of(path)
    runs = tmp_path / "runs"
    (runs / "more").mkdir(parents=True)
    for name, text in (("b.txt", right), ("a.txt", wrong), ("more/c.log", right), (".x", wrong)):
        (runs / name).write_text(text)
    files = [str(runs / name) for name in ("b.txt", "more/c.log")]
    assert main(["judge", str(path), *files]) == 0
    assert capsys.readouterr().out == (
        f"{files[0]}: optimal: cost {cost}\n{files[1]}: optimal: cost {cost}\n"
        "2 answers: 2 right, 0 not\n"
    )
    assert main(["judge", str(path), str(runs)]) == 1
    out = capsys.readouterr().out.splitlines()
    assert [line.partition(": ")[0] for line in out[:-1]] == [
        str(runs / name) for name in ("a.txt", "b.txt", "more/c.log")
    ]
    assert out[-1] == "3 answers: 2 right, 1 not"
    assert main(["judge", str(path), str(runs), "--json"]) == 1
    told = json.loads(capsys.readouterr().out)
    assert [one["right"] for one in told["answers"]] == [False, True, True]
    assert (told["right"], told["wrong"], told["unanswered"]) == (2, 1, [])


def test_a_folder_of_answers_beside_a_suite(tmp_path, capsys, monkeypatch):
    suite, runs = tmp_path / "suite", tmp_path / "runs"
    for folder in (suite / "instances", suite / "answers", runs):
        folder.mkdir(parents=True)
    for seed, name in enumerate(("one.wcnf", "one.b.wcnf", "two.wcnf")):
        plant = gh.random_loops(4, 4, loops=4, frustration="1/5", rng=seed)
        gh.write(suite / "instances" / name, plant)
        proof = suite / "instances" / f"{name}.cert"
        proof.rename(suite / "answers" / proof.name)
    (suite / "instances" / "optima.csv").write_text("not a problem")
    proven = []
    examined = Document.examined
    monkeypatch.setattr(
        Document, "examined", lambda *given: proven.append(given) or examined(*given)
    )
    names = ["one.wcnf.txt", "one.wcnf.second.txt", "one.b.out"]
    for name in names:
        problem = suite / "instances" / ("one.b.wcnf" if ".b" in name else "one.wcnf")
        (runs / name).write_text(solved(problem))
    (runs / "README").write_text("hello")
    assert main(["judge", str(suite), str(runs)]) == 1
    out = capsys.readouterr().out.splitlines()
    assert [line.split(": ")[:2] for line in out[:-1]] == [
        [str(runs / name), "optimal"] for name in ("one.b.out", *sorted(names[:2]))
    ]
    assert out[-1] == (
        "3 answers: 3 right, 0 not; without an answer: two.wcnf; not named like a problem file: "
        "README"
    )
    assert len(proven) == 2  # once for each file that is answered
    (runs / "two.log").write_text(solved(suite / "instances" / "two.wcnf"))
    (runs / "README").unlink()
    assert main(["judge", str(suite), str(runs)]) == 0
    assert main(["judge", str(suite / "instances"), str(runs), "--certificate",
                 str(suite / "answers")]) == 0  # fmt: skip
    assert capsys.readouterr().out.count("4 answers: 4 right, 0 not\n") == 2


def test_names_without_a_folder(instance, monkeypatch, capsys):
    path, cost, _ = instance
    (path.parent / "answer.txt").write_text(answers_of(path)[0])
    monkeypatch.chdir(path.parent)
    assert main(["judge", "inst.wcnf", "answer.txt"]) == 0
    assert main(["judge", ".", "inst.wcnf.txt"]) == 2
    (path.parent / "answer.txt").rename("inst.txt")
    assert main(["judge", ".", "."]) == 0
    assert f"inst.txt: optimal: cost {cost}\n1 answer: 1 right, 0 not\n" in capsys.readouterr().out


def solved(path):
    found = gh.prove(gh.read(path))
    bits = "".join("1" if x > 0 else "0" for x in found.state.tolist())
    return f"o {int(found.energy)}\ns OPTIMUM FOUND\nv {bits}\n"


def test_answers_that_cannot_be_placed(instance, tmp_path, capsys):
    path, _, _ = instance
    for words, message in (
        ([], "no answer to"),
        ([tmp_path / "empty"], "is an empty folder"),
        ([tmp_path / "none"], "cannot be read"),
    ):
        (tmp_path / "empty").mkdir(exist_ok=True)
        assert main(["judge", str(path), *map(str, words)]) == 2
        assert message in capsys.readouterr().err
    assert main(["judge", str(tmp_path / "empty"), str(path)]) == 2
    assert "contains no problem files" in capsys.readouterr().err
    (tmp_path / "other.txt").write_text("")
    assert main(["judge", str(tmp_path), str(tmp_path / "other.txt")]) == 2
    assert "to inst.wcnf must have a name such as inst.wcnf.txt" in capsys.readouterr().err
    gh.write(tmp_path / "inst.qubo", gh.read(path))
    (tmp_path / "inst.txt").write_text("")
    assert main(["judge", str(tmp_path), str(tmp_path / "inst.txt")]) == 2
    assert "answer inst.qubo or inst.wcnf; rename it to inst.qubo.txt" in capsys.readouterr().err


def test_a_judge_imports_no_prover(instance):
    """Each start of Python counts where answers are judged one by one."""
    path, _, _ = instance
    (path.parent / "answer.txt").write_text(answers_of(path)[0])
    code = (
        "import sys; from glasshouse.cli import main\n"
        "assert main(['judge', *sys.argv[1:]]) == 0\n"
        "print(*sys.modules, file=sys.stderr)"
    )
    words = [sys.executable, "-c", code, str(path), str(path.parent / "answer.txt")]
    told = subprocess.run(words, capture_output=True, text=True, check=True).stderr.split()
    ours = {name for name in told if name.startswith("glasshouse.")}
    assert not {name for name in ours if name.split(".")[1] in ("solvers", "studies", "reports")}
    assert not {name for name in ours if name.startswith("glasshouse.proofs.")}
    races = {name.rpartition(".")[2] for name in ours if name.startswith("glasshouse.races.")}
    assert races <= {"answer", "answer_files", "clauses", "command", "judging", "running",
                     "transcript"}  # fmt: skip
    assert not {"highspy", "networkx", "scipy.optimize", "matplotlib"} & set(told)
