"""Reports without a browser: what is verified and stated, what is refused, what stays small."""

from __future__ import annotations

import json
import re
import sys
from html import unescape

import numpy as np
import pytest
from tests.proofs.trees.test_search import half_complete
from tests.reports.pretended import race_store, study_store

import glasshouse as gh
from glasshouse.boltzmann import save_machine
from glasshouse.cli import main
from glasshouse.files import FileError
from glasshouse.proofs import prover
from glasshouse.races.commands.entrants import entrants_of
from glasshouse.races.commands.racing import NOTE
from glasshouse.races.running.command import Limits
from glasshouse.reports.matrix import loop_table, matrix_figure
from glasshouse.reports.page import LONGEST_CELL, MOST_POINTS, MOST_ROWS, plain
from glasshouse.reports.rendering import safe_json
from glasshouse.reports.writing import file_section
from glasshouse.store.store import Store


@pytest.fixture
def plant():
    return gh.random_loops(10, 10, frustration="1/5", loops=5, rng=1)


def trust_of(section, name):
    return {fact.name: fact.trust for fact in section.facts}[name]


def tables_of(page: str) -> list[dict]:
    texts = re.findall(r'<script type="application/json" id="[^"]*">(.*?)</script>', page, re.S)
    return [value for value in map(json.loads, texts) if "columns" in value]


def test_a_proven_instance_is_verified_and_says_how_it_is_grown(plant, tmp_path):
    gh.write(tmp_path / "x.wcnf", plant)
    section = file_section(tmp_path / "x.wcnf")
    assert trust_of(section, "best cost") == "verified"
    assert trust_of(section, "seed") == "verified"
    code = next(part.text for part in section.parts if "grows the instance again" in part.title)
    (tmp_path / "again").mkdir()
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(tmp_path / "again")
        exec(code, {})
    again = tmp_path / "again" / "x.wcnf"
    assert again.read_bytes() == (tmp_path / "x.wcnf").read_bytes()


def test_what_has_no_proof_is_only_stated(plant, tmp_path):
    gh.write(tmp_path / "x.wcnf", plant)
    (tmp_path / "x.wcnf.cert").unlink()
    text = (tmp_path / "x.wcnf").read_text()
    (tmp_path / "x.wcnf").write_text(
        "".join(line for line in text.splitlines(True) if "recipe" not in line)
    )
    section = file_section(tmp_path / "x.wcnf")
    assert trust_of(section, "stated cost") == "stated"
    assert "verified" not in {fact.trust for fact in section.facts}


@pytest.mark.parametrize("width", [2, 3])
def test_planted_cores_are_verified_without_a_matrix_of_ancillas(width, tmp_path):
    gh.write(tmp_path / "c.wcnf", gh.cores(12, cores=3, width=width, rng=1))
    section = file_section(tmp_path / "c.wcnf")
    assert trust_of(section, "seed") == "verified"
    assert "optimum" in section.lead


def test_a_lie_is_shown_as_one_and_ends_with_exit_code_1(plant, tmp_path, capsys):
    path = tmp_path / "x.wcnf"
    gh.write(path, plant)
    cost = re.search(r"planted-cost (\d+)", path.read_text())
    assert cost is not None
    path.write_text(path.read_text().replace(cost[0], f"planted-cost {int(cost[1]) - 1}"))
    assert main(["report", str(path), "-o", str(tmp_path / "x.html")]) == 1
    assert "x.wcnf: " in capsys.readouterr().err
    page = (tmp_path / "x.html").read_text()
    assert 'role="alert"' in page
    assert "✓ verified</span>" not in page


def test_a_proof_without_its_instance_is_only_stated(plant, tmp_path, capsys):
    gh.write(tmp_path / "x.npz", plant)
    assert main(["prove", str(tmp_path / "x.npz"), "--json"]) == 0
    (tmp_path / "p.json").write_text(capsys.readouterr().out)
    section = file_section(tmp_path / "p.json")
    assert {fact.trust for fact in section.facts} == {"stated"}
    bounds = section.parts[0]
    assert bounds.title == "Bounds over time"
    proof = gh.prove(plant)
    made = gh.report(proof, output=tmp_path / "p.html")
    page = made.path.read_text()
    assert "✓ verified</span>" not in page
    assert "Bounds over time" in page


def test_json_that_is_no_proof_of_ours_is_refused(tmp_path):
    values = {"measure": "cut", "lower_bound": 1, "optimal": True, "seconds": 1.0,
              "history": [{"seconds": "now", "cut": 1, "cut_bound": 1, "nodes": 0}]}  # fmt: skip
    (tmp_path / "p.json").write_text(json.dumps(values))
    with pytest.raises(FileError, match="is not the output of"):
        file_section(tmp_path / "p.json")


@pytest.mark.parametrize(
    ("number", "words"),
    [
        ("NaN", "the number NaN is not finite"),
        ("1e999", "the number 1e999 is not finite"),
        ("1" + "0" * 400, "100000.* is larger than any float"),
        ("true", "'True' is not a number"),
    ],
)
def test_a_number_that_is_none_is_named(tmp_path, number, words):
    (tmp_path / "p.json").write_text(
        '{"measure": "cut", "lower_bound": 1, "optimal": true, "history": [], "seconds": '
        f"{number}}}"
    )
    with pytest.raises(FileError, match=words):
        file_section(tmp_path / "p.json")


def test_machines_and_checkpoints(tmp_path):
    kept = tmp_path / "c.npz"
    run = gh.train(gh.shifting_bars(), 4, epochs=40, every=10, rng=1, checkpoint=kept)
    save_machine(tmp_path / "m.npz", run.machine, run=run)
    machine, checkpoint = file_section(tmp_path / "m.npz"), file_section(tmp_path / "c.npz")
    assert (machine.kind, checkpoint.kind) == ("Trained RBM", "Checkpoint of a training run")
    for section in (machine, checkpoint):
        assert trust_of(section, "frustration index there") == "verified"
        assert section.result.value.endswith("at the mode")
        assert "KL divergence" in [part.title for part in section.parts]
    curves = [
        next(p for p in one.parts if p.title == "KL divergence").data.rows
        for one in (machine, checkpoint)
    ]
    assert curves[0] == curves[1]


def test_a_state_that_is_not_proven_is_not_called_the_mode(tmp_path):
    weights = np.random.default_rng(1).normal(size=(17, 17))  # `find_mode` anneals such layers
    save_machine(tmp_path / "m.npz", gh.BoltzmannMachine(weights))
    section = file_section(tmp_path / "m.npz")
    assert section.result.value.endswith("at the most likely state found")
    assert section.result.trust == trust_of(section, "frustration index there") == "read"


def test_an_empty_store_is_a_page_that_says_so(tmp_path):
    with Store(tmp_path / "new.sqlite", write=True):
        pass
    section = file_section(tmp_path / "new.sqlite")
    assert "Nothing has been measured yet" in section.lead
    with Store(tmp_path / "race.sqlite", write=True) as store:
        store.note(NOTE, json.dumps({"suite": "none", "solvers": {}}))
    assert "There are no runs yet" in file_section(tmp_path / "race.sqlite").lead
    made = gh.report(tmp_path / "new.sqlite", tmp_path / "race.sqlite", output=tmp_path / "x.html")
    assert made.sections == 2


def test_what_was_interrupted_says_what_is_missing(tmp_path):
    race = file_section(race_store(tmp_path / "race.sqlite", 3, 10, left_out=7))
    facts = {fact.name: fact.value for fact in race.facts}
    assert facts["runs"] == "23; 7 are missing; the same command resumes the race"
    study = file_section(study_store(tmp_path / "study.sqlite", 20, 6, unmeasured=4))
    facts = {fact.name: fact.value for fact in study.facts}
    assert facts["not finished"] == "12 tasks; the same command resumes"
    assert "160 of 240 instances" in study.lead


def test_a_store_of_very_many_rows_becomes_a_small_page(tmp_path):
    """240,000 rows here; the slow test below has a million."""
    store = study_store(tmp_path / "study.sqlite", 10_000, 12)
    made = gh.report(store, output=tmp_path / "x.html")
    page = made.path.read_text()
    assert len(page) < 1_500_000
    assert max(len(table["rows"]) for table in tables_of(page)) <= MOST_ROWS
    assert "The figures show 240,000 rows, summarised as 24 points" in page


@pytest.mark.slow
def test_a_million_rows_and_very_many_runs(tmp_path):
    store = study_store(tmp_path / "study.sqlite", 25_000, 20)
    race = race_store(tmp_path / "race.sqlite", 20, 1000)
    made = gh.report(store, race, output=tmp_path / "x.html")
    page = made.path.read_text()
    assert len(page) < 5_000_000
    assert max(len(table["rows"]) for table in tables_of(page)) <= 2 * MOST_ROWS
    assert "1,000,000 rows, summarised as 40 points" in page
    assert "the first 4,000 of 20,000 runs" in page


def test_the_same_things_give_the_same_bytes(plant, tmp_path):
    gh.write(tmp_path / "x.npz", plant)
    store = study_store(tmp_path / "study.sqlite", 20, 6)
    pages = []
    for name in ("one", "two"):
        (tmp_path / name).mkdir()
        gh.report(tmp_path / "x.npz", store, output=tmp_path / name / "x.html")
        pages.append((tmp_path / name / "x.html").read_bytes())
    assert pages[0] == pages[1]


def test_figures_hold_the_numbers_of_the_library(tmp_path):
    from glasshouse.races.commands.results import read_results
    from glasshouse.races.commands.scores import cactus, score

    path = race_store(tmp_path / "race.sqlite", 3, 20)
    with Store(path) as store:
        results = read_results(store)
    section = file_section(path)
    drawn = next(part for part in section.parts if part.title == "Cactus").data.rows
    mine = [row[3] for row in drawn if row[0] == "solver-1"]
    assert mine == cactus(results, "solver-1").tolist()
    scores = next(part for part in section.parts if part.title == "Scores").rows
    assert scores[2][5] == score(results, "solver-2").par2


def test_wrong_files_are_refused_in_one_line_and_nothing_is_written(plant, tmp_path, capsys):
    gh.write(tmp_path / "x.wcnf", plant)
    (tmp_path / "notes.txt").write_text("hello")
    (tmp_path / "bad.sqlite").write_bytes(b"no store at all" * 50)
    (tmp_path / "bad.npz").write_bytes(b"PK\x03\x04 nothing")
    (tmp_path / "bad.json").write_text("{")
    page = tmp_path / "page.html"
    wrong = {
        "gone.wcnf": "no such file", "notes.txt": "unknown suffix '.txt'",
        "bad.sqlite": "is not a glasshouse store", "bad.npz": "is not a readable .npz file",
        "bad.json": "bad.json", "x.wcnf.cert": "is a certificate; pass x.wcnf",
        "": "is a directory",
    }  # fmt: skip
    for name, words in wrong.items():
        files = [str(tmp_path / "x.wcnf"), str(tmp_path / name)]
        assert main(["report", *files, "-o", str(page)]) == 2
        said = capsys.readouterr().err
        assert words in said
        assert said.count("\n") == 1
        assert not page.exists()
    assert main(["report", "-o", str(page)]) == 2
    assert "no FILE to report" in capsys.readouterr().err


def test_nothing_is_overwritten_by_accident(plant, tmp_path, capsys):
    path, page = tmp_path / "x.wcnf", tmp_path / "page.html"
    gh.write(path, plant)
    page.write_text("mine")
    assert main(["report", str(path), "-o", str(page)]) == 2
    assert "pass --force to replace it" in capsys.readouterr().err
    assert page.read_text() == "mine"
    before = path.read_bytes()
    assert main(["report", str(path), "-o", str(path), "--force"]) == 2
    assert path.read_bytes() == before
    assert main(["report", str(path), "-o", str(page), "--force"]) == 0
    assert page.read_text().startswith("<!DOCTYPE html>")


def test_json_in_the_page_cannot_end_its_script():
    value = {"x": "</script><!-- & \u2028 é"}
    text = safe_json(value)
    assert not set("<>&") & set(text)
    assert text.isascii()
    assert json.loads(text) == value


def test_the_commands_of_a_page_are_those_that_make_it(tmp_path):
    path = race_store(tmp_path / "race.sqlite", 2, 3)
    page = gh.report(path, output=tmp_path / "my page.html").path.read_text()
    assert "glasshouse report race.sqlite -o 'my page.html'" in unescape(page)
    section = file_section(path)
    command = section.parts[-1].text
    assert command.startswith("glasshouse race run --solver ")
    assert command.endswith("--memory-limit 4096 --seed 1 --dialect classic -o race.sqlite")


def test_built_in_solvers_are_called_by_their_names(tmp_path):
    """Otherwise the page would reveal the path of its maker's interpreter."""
    path = race_store(tmp_path / "race.sqlite", names=["anneal", "temper"], instances=3)
    ours = str(entrants_of(["anneal"], Limits(1.0))[0].command)
    with Store(path, write=True) as store:
        rules = json.loads(store.noted(NOTE))
        rules["solvers"]["anneal"]["command"] = ours
        store.note(NOTE, json.dumps(rules))
    command = file_section(path).parts[-1].text
    # The second has the name of a built-in, but is a user's command.
    assert command.startswith("glasshouse race run --solver anneal --solver 'temper=solve {file}' ")
    assert sys.executable not in command


def test_a_cactus_counts_whole_instances_up_to_all_of_them(tmp_path):
    section = file_section(race_store(tmp_path / "race.sqlite", 2, 3))
    spec = next(part for part in section.parts if part.title == "Cactus").spec
    along = spec["layer"][0]["encoding"]["x"]
    assert along["axis"]["values"] == [0, 1, 2, 3]
    assert along["scale"]["domain"] == [0, 3]


def test_fits_are_listed_only_where_something_was_fitted(tmp_path):
    few = file_section(study_store(tmp_path / "few.sqlite", 20, 3))
    many = file_section(study_store(tmp_path / "many.sqlite", 20, 16))
    assert "Fits" not in [part.title for part in few.parts]
    assert "Fits" in [part.title for part in many.parts]


def test_results_in_memory_name_no_command_but_what_was_asked(plant, tmp_path):
    found = gh.race_samplers(
        {"ours": gh.GlasshouseAnnealer()}, {"x": plant}, reads=7, calls=2, rng=3, batches=()
    )
    page = unescape(gh.report(found, output=tmp_path / "x.html").path.read_text())
    assert "Made in Python from results in memory; keep them with `store=`." in page
    assert "glasshouse report" not in page
    assert "glasshouse.race_samplers(samplers, suite, reads=7, calls=2, rng=3, batches=())" in page


def test_the_head_of_the_page_has_the_main_result(plant, tmp_path):
    gh.write(tmp_path / "x.wcnf", plant)
    made = gh.report(tmp_path / "x.wcnf", output=tmp_path / "x.html")
    head = made.path.read_text().split("<main")[0]
    cost = file_section(tmp_path / "x.wcnf").facts[0].value.removesuffix(", the optimum")
    assert f'Instance: optimum {cost} <span class="badge verified">' in head
    assert 'href="#trust"' in head


def test_loops_over_pairs_that_are_not_coupled_are_explained():
    square = gh.Ising.from_edges(4, [(0, 1), (1, 2), (2, 3), (0, 3)], [1, 1, 1, -1])
    around = gh.Certificate([1, 1, 1, 1], [0, 1, 2, 3], [0, 4], [1])
    across = gh.Certificate([1, 1, 1, 1], [0, 1, 2, 0, 2, 3], [0, 3, 6], [1, 1])
    assert "uncoupled" not in loop_table(square, around)[0].note
    assert "the weights of such pairs cancel" in loop_table(square, across)[0].note


def test_leaves_of_a_tree_prove_what_the_certificate_does(tmp_path, monkeypatch):
    monkeypatch.setattr(prover.Prover, "exact_methods", lambda self: (None, None))
    monkeypatch.setattr(prover, "is_dense", lambda graph: False)
    path = tmp_path / "half.mc"
    gh.write(path, half_complete())
    assert main(["prove", str(path), "--node-limit", "2"]) == 1  # some leaves stay open
    section = file_section(path)
    bounds = {fact.name: (fact.value, fact.trust) for fact in section.facts}
    leaves = next(part for part in section.parts if part.title == "Leaves").rows
    assert len(leaves) > 1
    assert bounds["upper bound"] == (str(max(row[1] for row in leaves)), "verified")
    assert bounds["gap"][0] != "0"
    drawn = next(part for part in section.parts if part.title == "The search tree").data.rows
    assert sum(row[2] for row in drawn) == len(leaves)
    assert "a gap remains" in section.lead


def test_a_matrix_turns_signs_by_the_state_and_is_summed_where_it_is_large(plant):
    small = matrix_figure(plant.problem, plant.state, "the plant", plant.certificate)
    weights = plant.problem.matrix
    for row, column, weight, turned in small.data.rows:
        assert weights[row, column] == weight
        assert weight * plant.state[row] * plant.state[10 + column] == turned
    assert len(small.data.rows) == (weights != 0).sum()
    large = gh.random_loops(900, 900, frustration="1/5", loop_density=9, rng=1)
    figure = matrix_figure(large.problem, large.state, "the plant", large.certificate)
    assert len(figure.data.rows) <= MOST_POINTS
    assert "summed over squares of" in figure.text
    assert sum(row[2] for row in figure.data.rows) == large.problem.matrix.sum()


def test_commands_on_the_page_are_safe_to_copy(tmp_path):
    """Names come from files; a shell must take them for words."""
    values = {"file": "cube.mc; touch here #", "measure": "cut", "lower_bound": 1, "optimal": True,
              "history": [], "seconds": 1}  # fmt: skip
    (tmp_path / "proof.json").write_text(json.dumps(values))
    gh.write(tmp_path / "a;b.wcnf", gh.random_loops(9, 9, frustration="1/5", loops=4, rng=1))
    page = tmp_path / "page.html"
    gh.report(tmp_path / "proof.json", tmp_path / "a;b.wcnf", output=page)
    text = unescape(page.read_text())
    assert "glasshouse prove 'cube.mc; touch here #' --force --json > proof.json" in text
    assert "glasshouse check 'a;b.wcnf'" in text


def test_the_certificate_of_a_reported_file_is_not_overwritten(tmp_path):
    gh.write(tmp_path / "a.wcnf", gh.random_loops(9, 9, frustration="1/5", loops=4, rng=1))
    before = (tmp_path / "a.wcnf.cert").read_bytes()
    with pytest.raises(ValueError, match="is one of the reported files"):
        gh.report(tmp_path / "a.wcnf", output=tmp_path / "a.wcnf.cert", overwrite=True)
    assert (tmp_path / "a.wcnf.cert").read_bytes() == before


def test_a_page_has_the_suffix_of_a_page(tmp_path):
    gh.write(tmp_path / "a.wcnf", gh.random_loops(9, 9, frustration="1/5", loops=4, rng=1))
    with pytest.raises(ValueError, match="not a page; use a name that ends in"):
        gh.report(tmp_path / "a.wcnf", output=tmp_path / "x.txt")
    assert not (tmp_path / "x.txt").exists()


def test_characters_that_turn_others_around_are_shown_as_codes(tmp_path):
    gh.write(tmp_path / "a.wcnf", gh.random_loops(9, 9, frustration="1/5", loops=4, rng=1))
    gh.report(tmp_path / "a.wcnf", output=tmp_path / "a.html", title="a\u202eb\0")
    text = (tmp_path / "a.html").read_text()
    assert "\u202e" not in text
    assert "a\\u202eb\\x00" in text


def test_long_loops_and_long_texts_keep_a_page_small():
    size, count = 2000, 50
    edges = [(k, (k + 1) % size) for k in range(size)]
    ring = gh.Ising.from_edges(size, edges, [100] * (size - 1) + [-100])
    starts = np.arange(count + 1) * size
    negative = np.zeros((count, size), bool)
    negative[:, -1] = True
    many = gh.Certificate(np.ones(size, np.int8), np.tile(np.arange(size), count), starts,
                          np.ones(count, np.int64), violated=negative.ravel())  # fmt: skip
    cells = matrix_figure(ring, many.state, "it", many).others["loops"].rows
    assert 0 < len(cells) <= MOST_ROWS
    assert len(plain("x" * 10_000)) == LONGEST_CELL


def test_a_model_that_contradicts_its_cost_is_called_false(tmp_path, capsys):
    """Without a certificate, the file's own model is enough."""
    path = tmp_path / "lie.wcnf"
    gh.write(path, gh.random_loops(20, 20, frustration="1/5", loops=40, rng=1))
    text = re.sub(r"c planted-cost \d+", "c planted-cost 7", path.read_text())
    path.write_text(re.sub(r"c recipe.*\n", "", text))
    (tmp_path / "lie.wcnf.cert").unlink()
    assert main(["report", str(path), "-o", str(tmp_path / "lie.html")]) == 1
    assert "the file states a cost of 7, but its model has a cost of" in capsys.readouterr().err


def test_a_certificate_whose_state_beats_the_stated_optimum_refutes_it(tmp_path, capsys):
    path = tmp_path / "a.wcnf"
    gh.write(path, gh.random_loops(20, 20, frustration="1/5", loops=40, rng=1))
    cost = int(re.search(r"c planted-cost (\d+)", path.read_text())[1])
    beside = tmp_path / "a.wcnf.cert"
    lines = beside.read_text().splitlines()
    count = lines.index("loops 40")
    lines[count:] = ["loops 1", lines[count + 1]]  # a bound only
    beside.write_text("\n".join(lines) + "\n")
    text = path.read_text().replace(f"planted-cost {cost}", f"planted-cost {cost + 30}")
    path.write_text(re.sub(r"c (recipe|planted-model).*\n", "", text))
    assert main(["report", str(path), "-o", str(tmp_path / "a.html")]) == 1
    assert "but the certificate's state has a cost of" in capsys.readouterr().err
