"""`glasshouse judge`: one verdict, one line, exit code."""

import io
import json

import pytest

import glasshouse as gh
from glasshouse.cli import main
from glasshouse.races.clause_file import read_clauses


@pytest.fixture
def instance(tmp_path):
    plant = gh.random_loops(6, 6, loop_density=1, frustration="1/5", rng=2)
    path = tmp_path / "inst.wcnf"
    gh.write(path, plant)
    document = gh.read_document(path)
    model = "".join(map(str, document.metadata.planted_model))
    return path, int(document.metadata.planted_cost), model


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
    assert "wrong optimum: s UNSATISFIABLE, but a model costs" in out


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
    assert "there is no certificate beside the file" in told
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
    assert "there is no certificate beside the file" in capsys.readouterr().out
    assert judged(path, "+1 +1 -1") == 0
    assert capsys.readouterr().out == (
        f"{path}: found: a cut of 2; there is no certificate beside the file that could tell the "
        "optimum\n"
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
    assert "inst.wcnf.cert, line 2: denominator '0'; expected 1 or more" in err
    assert "--" not in err


def test_bad_input(instance, tmp_path, capsys):
    path, _, _ = instance
    assert main(["judge", str(path), str(tmp_path / "none")]) == 2
    assert "cannot be read" in capsys.readouterr().err
    assert judged(path, "", "--units", "spin") == 2
    assert "--units is for a matrix" in capsys.readouterr().err
    text = path.read_text().replace("planted-cost ", "planted-cost 1")
    path.write_text(text)
    assert judged(path, "") == 3
    assert "the file states a cost of" in capsys.readouterr().err
