"""Planting from the command line: the bytes that Python gives, suites, blind and shuffled files."""

from __future__ import annotations

import json
import re

import pytest
from tests.notices import without_notices
from tests.planting.examples import EXAMPLES, grown

import glasshouse as gh
from glasshouse import planting
from glasshouse.cli import main
from glasshouse.cli.plant import typed
from glasshouse.files import read_document, side_car
from glasshouse.fuzzing.drawing import Corners, fuzz_question

# What is offered: required options with a star. Shared by all: where instances go.
OPTIONS = {
    "random": "visible* n* hidden m frustration* f* loop-density loops overlap weights spread "
    "resolution max-weight",
    "structured": "visible* n* hidden m frustration* f* loop-density loops block* left upper "
    "center block-rule",
    "bias": "visible* n* hidden m frustration* f* loop-density loops ghosts bias-strength",
    "classic": "graph visible n hidden m frustration f loop-density loops loops-per-node "
    "length min-length max-weight bits",
    "graph": "GRAPH* frustration* f* loop-density loops loops-per-node length "
    "max-length block left overlap max-weight bits",
    "uniform": "visible* n* hidden m clause-density*",
    "exactly": "spins* n* literals* true-literals* clauses clause-density",
    "nae3sat": "spins* n* clauses clause-density",
    "two-in-four": "spins* n* clauses clause-density",
    "polynomial": ("spins* n* frustration* f* products product-density factors length lift"),
    "cores": "variables n width cores clause-density shape length max-length frustrated "
    "max-weight harden hypergraph longest",
    "xorsat": "variables* n* degree native",
    "wishart": "spins* n* columns alpha weights resolution",
    "partition": "spins* n* bits bits-per-spin total",
    "tiles2d": "length* p1 p2 p3 boundary",
    "tiles3d": "length* p21 p22 p41 p42 boundary",
    "cluster": "rows* alpha* columns scale ruggedness shore without",
    "posiform": "graph spins n max-coefficient block scale",
}
SHARED = "seed output o count format certificate answers dialect blind shuffle force json"
CHOICES = {
    "cores": {"shape": "ring, chain, tetrahedron"},
    "random": {"overlap": "constructive, none", "weights": "equal, normal"},
    "structured": {"block-rule": "paper, authors"},
    "bias": {"ghosts": "1, 2"},
    "graph": {"overlap": "constructive, none"},
    "wishart": {"weights": "signs, normal"},
    "partition": {"total": "even, odd"},
    "tiles2d": {"boundary": "periodic, open"},
    "tiles3d": {"boundary": "periodic, open"},
}


def test_too_much_frustration_is_told_which_command_holds_it(capsys):
    assert main(["plant", "random", "-n", "8", "-f", "1/3", "--loops", "4"]) == 2
    told = capsys.readouterr().err
    assert "(glasshouse plant graph) on a graph with triangles" in told
    assert "(glasshouse plant bias --ghosts 2)" in told
    assert main(["plant", "bias", "-n", "8", "-f", "1/3", "--ghosts", "2", "--loops", "4"]) == 0
    assert main(["plant", "random", "-n", "8", "-f", "1/5"]) == 2
    assert "exactly one of --loops NUMBER and --loop-density RATIO" in capsys.readouterr().err


def offered(word, capsys, monkeypatch):
    """The options on a help page, required ones with a star, and the choices they give."""
    monkeypatch.setenv("COLUMNS", "300")
    assert main(["plant", word, "--help"]) == 0
    lines = re.findall(
        r"^│ (\*)?\s*((?:--?[a-z0-9-]+ )+|GRAPH )(.*)│$", capsys.readouterr().out, re.M
    )
    names, choices = set(), {}
    for star, options, text in lines:
        names |= {option.lstrip("-") + star for option in options.split()}
        for found in re.findall(r"choices: ([^]]+)", text):
            choices[options.split()[0].lstrip("-")] = found
        assert len(text.split("[")[0].split()) > 3, f"{options} is not explained"
    return names, choices


@pytest.mark.parametrize("word", OPTIONS)
def test_every_option_is_offered(word, capsys, monkeypatch):
    names, choices = offered(word, capsys, monkeypatch)
    assert names == {*OPTIONS[word].split(), *SHARED.split()}
    choices.pop("dialect")
    assert choices == CHOICES.get(word, {})


def test_a_density_that_was_left_out_is_printed(capsys):
    assert main(["plant", "nae3sat", "-n", "60", "--seed", "1"]) == 0
    told = capsys.readouterr()
    assert told.err.startswith("glasshouse: used --clause-density 21/10, near which random clauses")
    assert "clause_density=21/10" in told.out
    assert main(["plant", "nae3sat", "-n", "60", "--clause-density", "2.1", "--seed", "1"]) == 0
    assert capsys.readouterr() == (told.out, "")


def test_every_command_is_offered(capsys):
    assert main(["plant", "--help"]) == 0
    out = capsys.readouterr().out
    assert set(re.findall(r"^│ ([a-z0-9-]+) ", out, re.M)) == set(OPTIONS)
    assert set(OPTIONS) == {method.command for method in planting.METHODS.values()}


@pytest.mark.parametrize("example", EXAMPLES)
def test_the_command_line_and_python_give_the_same_bytes(example, tmp_path, capsys):
    name, number = example.split()
    method, plant = planting.METHODS[name], grown(example, 7)
    suffix = ".hubo" if isinstance(plant.problem, gh.Polynomial) else ".wcnf"
    path, twin = tmp_path / f"a{suffix}", tmp_path / f"b{suffix}"
    words = typed(method, method.examples[int(number)])
    assert main([*words, "--seed", "7", "-o", str(path)]) == 0
    gh.write(twin, plant)
    assert path.read_bytes() == twin.read_bytes()
    assert side_car(path).read_bytes() == side_car(twin).read_bytes()
    assert main(["check", str(path)]) == 0
    assert "VERIFIED" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ("graph complete:9 -f 1/5 --loops 3 --block 0.5 --length 4", "cannot be combined; use some "
         "of --length --max-length --overlap, or some of --block --left"),
        ("classic --loops 3", "use either --graph or -n"),
        ("classic -n 9 --graph torus:4x4 --loops 3", "use either --graph or -n"),
        ("classic --graph torus:4x4 -m 4 --loops 3", "use either --graph or -n"),
        ("random -n 9.5 -f 1/5 --loops 3", "9.5 is not an integer"),
        ("random -n 9 -f 1/5 --loops 3 --overlap some", "constructive"),
        ("random -f 1/5 --loops 3", "visible"),
        ("magic -n 9", "magic"),
    ],
)  # fmt: skip
def test_wrong_words_get_one_line(words, message, capsys):
    assert main(["plant", *words.split()]) == 2
    told = capsys.readouterr().err
    assert message in told
    assert told.count("\n") == 1


def test_every_parameter_reaches_the_method(tmp_path):
    """Options that are not in the examples, too."""
    words = (
        "structured -n 9 -m 8 -f 1/5 --loops 9 --block 0.5 --left 1/3 --upper 1/3 --center 1/3 "
        "--block-rule authors --seed 3 -o"
    )
    assert main(["plant", *words.split(), str(tmp_path / "a.npz")]) == 0
    assert gh.read(tmp_path / "a.npz") == gh.structured_loops(
        9, 8, frustration="1/5", loops=9, block="0.5", left="1/3", upper="1/3", center="1/3",
        block_rule="authors", rng=3,
    )  # fmt: skip


def plant_suite(folder, *options):
    method = ["random", "-n", "10", "-f", "1/5", "--loops", "6", "--seed", "3"]
    suite = ["--count", "3", "-o", str(folder), *options]
    return main(["plant", *method, *suite])


def test_a_suite_is_listed_and_proven(tmp_path, capsys):
    assert plant_suite(tmp_path / "s") == 0
    manifest = tmp_path / "s" / "manifest.jsonl"
    lines = [json.loads(line) for line in manifest.read_text().splitlines()]
    assert [line["file"] for line in lines] == [f"random-0000{k}.wcnf" for k in range(3)]
    assert len({line["sha256"] for line in lines}) == 3
    assert main(["check", str(manifest)]) == 0
    assert "3 instances" in capsys.readouterr().out


def test_a_suite_is_not_overwritten(tmp_path, capsys):
    assert plant_suite(tmp_path) == 0
    before = {p.name: p.read_bytes() for p in tmp_path.iterdir()}
    capsys.readouterr()
    assert plant_suite(tmp_path) == 2
    assert "exists" in capsys.readouterr().err
    assert {p.name: p.read_bytes() for p in tmp_path.iterdir()} == before
    assert plant_suite(tmp_path, "--force") == 0


@pytest.mark.parametrize("lie", ["optimum", "file", "sha256", "recipe"])
def test_a_lie_in_a_manifest_is_found(lie, tmp_path, capsys):
    plant_suite(tmp_path)
    manifest = tmp_path / "manifest.jsonl"
    lines = [json.loads(line) for line in manifest.read_text().splitlines()]
    if lie == "optimum":
        lines[1]["optimum"] -= 1
    elif lie == "sha256":
        lines[1]["sha256"] = lines[0]["sha256"]
    elif lie == "recipe":
        lines[1]["recipe"]["seed"] += 1
    else:
        lines[1]["file"] = lines[0]["file"]
    manifest.write_text("".join(json.dumps(line) + "\n" for line in lines))
    capsys.readouterr()
    assert main(["check", str(manifest)]) == 1
    assert capsys.readouterr().err.count("\n") == 1


def test_blind_files_tell_nothing(tmp_path, capsys):
    assert plant_suite(tmp_path, "--blind") == 0
    for path in tmp_path.glob("*.wcnf"):
        text = path.read_text()
        assert "planted" not in text
        assert "recipe" not in text
        assert read_document(path).stated == gh.files.Stated()
    assert not list(tmp_path.glob("*.cert"))
    assert main(["check", str(tmp_path / "manifest.jsonl")]) == 0
    capsys.readouterr()
    assert main(["check", str(tmp_path / "manifest.jsonl"), "--json"]) == 0
    lines = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert all(line["proven"] for line in lines if "file" in line)
    assert sum("optimum" in line for line in lines) > 1


def test_answers_lie_in_another_folder(tmp_path, capsys):
    files, answers = tmp_path / "files", tmp_path / "answers"
    options = ["--blind", "--answers", str(answers)]
    assert plant_suite(files, *options, "--shuffle") == 0
    names = [f"random-0000{k}.wcnf" for k in range(3)]
    assert sorted(p.name for p in files.iterdir()) == names
    key = ["manifest.jsonl", "optima.csv", *(name + ".cert" for name in names), "regression.csv"]
    assert sorted(p.name for p in answers.iterdir()) == key
    lines = (answers / "optima.csv").read_text().splitlines()
    assert lines[0] == "name,optimum,method,sha256"
    assert [line.split(",")[:2] for line in lines[1:]] == [[name, "18"] for name in names]
    manifest = str(answers / "manifest.jsonl")
    assert main(["check", manifest, "--instances", str(files)]) == 0
    assert main(["check", manifest]) != 0
    proof = str(answers / (names[0] + ".cert"))
    assert main(["check", str(files / names[0]), "--certificate", proof]) == 0
    assert main(["check", str(files / names[0]), "--instances", str(files)]) == 2
    capsys.readouterr()
    assert plant_suite(files, *options, "--shuffle") == 2
    assert "manifest.jsonl: already exists" in capsys.readouterr().err


def test_a_suite_with_answers_goes_on_where_it_stopped(tmp_path):
    files, answers = tmp_path / "files", tmp_path / "answers"
    options = ["--blind", "--answers", str(answers)]
    assert plant_suite(files, *options) == 0
    whole = {p: p.read_bytes() for p in tmp_path.rglob("*") if p.is_file()}
    for gone in ("manifest.jsonl", "optima.csv", "random-00002.wcnf.cert"):
        (answers / gone).unlink()
    (files / "random-00001.wcnf").unlink()
    assert plant_suite(files, *options) == 0
    assert {p: p.read_bytes() for p in tmp_path.rglob("*") if p.is_file()} == whole
    (answers / "manifest.jsonl").unlink()
    (answers / "optima.csv").unlink()
    (answers / "random-00000.wcnf.cert").write_text("mine")
    assert plant_suite(files, *options) == 2
    assert (answers / "random-00000.wcnf.cert").read_text() == "mine"


def test_answers_are_for_blind_suites(tmp_path, capsys):
    assert plant_suite(tmp_path / "s", "--answers", str(tmp_path / "a")) == 2
    assert plant_suite(tmp_path / "s", "--blind", "--answers", str(tmp_path / "s")) == 2
    assert "is the folder of the instances" in capsys.readouterr().err
    assert not list(tmp_path.rglob("*.wcnf"))


def test_a_lie_in_the_table_of_optima_is_found(tmp_path, capsys):
    plant_suite(tmp_path)
    table = tmp_path / "optima.csv"
    table.write_text(table.read_text().replace(",18,", ",17,", 1))
    assert main(["check", str(tmp_path / "manifest.jsonl")]) == 1
    assert "optima.csv: differs from" in capsys.readouterr().err


def test_what_equal_weights_still_tell_of_a_blind_file(tmp_path):
    """The optimum is f times the sum of weights: exactly for equal weights, not for normal ones."""
    method = ["random", "-n", "30", "-f", "1/5", "--loops", "40"]
    for law, off in (("equal", False), ("normal", True)):
        folder = tmp_path / law
        words = [*method, "--weights", law, "--count", "4", "-o", str(folder), "--blind"]
        assert main(["plant", *words, "--seed", "1"]) == 0
        lines = (folder / "manifest.jsonl").read_text().splitlines()
        entries = [json.loads(line) for line in lines]
        guesses = [gh.read(folder / e["file"]).weights.sum() / 2 / 5 for e in entries]
        for guess, entry in zip(guesses, entries, strict=True):
            assert (guess != entry["optimum"]) == off


def test_shuffled_files_are_proven_and_can_be_undone(tmp_path):
    assert plant_suite(tmp_path, "--shuffle") == 0
    path = tmp_path / "random-00000.wcnf"
    plain = planting.random_loops(10, 10, frustration="1/5", loops=6, rng=planting.Seed(3).child(0))
    assert main(["check", str(path), str(tmp_path / "manifest.jsonl")]) == 0
    shuffled, straight = gh.read(path), gh.to_max2sat(plain.problem)[0]
    assert shuffled.simplified() != straight.simplified()
    assert sorted(shuffled.weights) == sorted(straight.weights)
    was = gh.files.read_side_car(path.with_name(path.name + ".cert")).names
    signs = shuffled.clauses // abs(shuffled.clauses)
    undone = gh.Max2Sat(20, (was[abs(shuffled.clauses) - 1] + 1) * signs, shuffled.weights)
    assert undone.simplified() == straight.simplified()
    # Clauses of one edge do not stand side by side any more.
    pairs = [frozenset(map(abs, c)) for c in shuffled.clauses.tolist()]
    assert any(a != b for a, b in zip(pairs[::2], pairs[1::2], strict=True))


def test_a_corrupted_file_fails_the_check(tmp_path, capsys):
    path = tmp_path / "x.wcnf"
    gh.write(path, gh.random_loops(10, 10, frustration="1/5", loops=6, rng=1))
    text = path.read_text()
    assert "planted-cost 18\n" in text
    path.write_text(text.replace("planted-cost 18\n", "planted-cost 17\n"))
    assert main(["check", str(path)]) == 1
    assert "states a cost of 17" in capsys.readouterr().err


def test_a_graph_from_a_file(tmp_path, capsys):
    edges = tmp_path / "ring.txt"
    edges.write_text("# a ring with a chord\n0 1\n1 2\n2 3 weight\n3 0\n\n0 2\n")
    assert main(["plant", "graph", str(edges), "-f", "1/3", "--length", "3", "--loops", "2"]) == 0
    edges.write_text("0 1\n1 two\n")
    capsys.readouterr()
    assert main(["plant", "graph", str(edges), "-f", "1/3", "--loops", "2"]) == 2
    assert "line 2" in capsys.readouterr().err


class TestFuzz:
    def test_it_writes_the_instance_of_the_seed(self, tmp_path, capfdbinary):
        text = fuzz_question(138).text
        assert main(["fuzz", "one", "--seed", "138", "-o", "-"]) == 0
        captured = capfdbinary.readouterr()
        assert captured.out == text
        assert without_notices(captured.err.decode()) == "glasshouse: optimum 3; seed 138\n"
        path = tmp_path / "fuzz.wcnf"
        assert main(["fuzz", "one", "--seed", "138", "-o", str(path), "--json"]) == 0
        assert json.loads(capfdbinary.readouterr().out) == {
            "file": str(path), "certificate": f"{path}.cert", "optimum": 3, "seed": 138,
        }  # fmt: skip
        assert path.read_bytes() == text
        assert main(["check", str(path)]) == 0
        assert main(["fuzz", "one", "--seed", "139", "-o", str(path)]) == 2
        assert path.read_bytes() == text

    def test_options_are_those_of_fuzz(self, tmp_path):
        path = tmp_path / "fuzz.wcnf"
        for seed in range(20):
            words = ["fuzz", "one", "--seed", str(seed), "-o", str(path), "--force"]
            assert main([*words, "--plain", "--dialect", "mse22", "--most-weight", "2000000"]) == 0
            corners = Corners("mse22", True, 2_000_000)
            assert path.read_bytes() == fuzz_question(seed, corners).text

    @pytest.mark.parametrize(
        ("words", "message"),
        [
            (["-o", "x.qubo"], ".wcnf"),
            (["--seed", "-1", "-o", "x.wcnf"], "--seed -1"),
            (["--most-weight", "0", "-o", "x.wcnf"], "--most-weight 0"),
            (["--seed", "1"], "--output"),
        ],
    )
    def test_wrong_words_are_one_line(self, words, message, capsys):
        assert main(["fuzz", "one", *words]) == 2
        captured = capsys.readouterr()
        assert message in captured.err
        assert (captured.out, captured.err.count("\n")) == ("", 1)


def test_a_graph_that_is_not_there_is_told_from_a_wrong_name(tmp_path, capsys):
    edges = tmp_path / "chip.txt"
    edges.write_text("10 11\n11 12\n12 10\n")
    wanted = {
        f"{edges} without 10": f"to leave out nodes of {edges}, remove their lines",
        "no-such-chip.txt": "'no-such-chip.txt' is neither a file nor the name of a graph",
        "chimara:4": "'chimara:4' is not the name of a graph; use edges as in",
        "torus:4x4 without 3, 7": 'separated by commas without spaces: "without 3,17"',
    }
    for name, words in wanted.items():
        assert main(["plant", "graph", name, "-f", "1/4", "--loops", "1"]) == 2
        told = capsys.readouterr().err
        assert words in told
        assert told.count("\n") == 1


def test_a_process_that_has_loaded_pydantic_plants_as_well(capsys):
    pytest.importorskip("pydantic")  # cyclopts then compares the types of options with defaults
    words = (
        "graph torus:4x4 -f 1/5 --loops 3",
        "classic -n 8 --loops 3",
        "random -n 8 -f 1/5 --loops 3",
    )
    for one in words:
        assert main(["plant", *one.split()]) == 0, capsys.readouterr().err
