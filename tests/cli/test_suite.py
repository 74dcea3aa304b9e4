"""`glasshouse suite`, and `check` on what it commits to."""

from __future__ import annotations

import json

import pytest

from glasshouse.cli import main

SUITE = """
name = "tiny"
[[family]]
method = "random_loops"
parameters = { n = 6, frustration = "1/5", loops = 4 }
count = 2
"""


@pytest.fixture
def tiny(tmp_path):
    path = tmp_path / "tiny.toml"
    path.write_text(SUITE)
    return str(path)


def lines(capsys):
    return [json.loads(line) for line in capsys.readouterr().out.splitlines()]


def test_list_shows_all_suites(capsys):
    assert main(["suite", "list", "--json"]) == 0
    listed = {line["name"]: line["instances"] for line in lines(capsys)}
    assert {"smoke", "dialled", "open"} < set(listed)
    assert main(["suite", "list"]) == 0
    assert f"smoke             {listed['smoke']} instances" in capsys.readouterr().out


def test_the_families_of_one_suite_are_listed(tiny, capsys):
    assert main(["suite", "list", tiny]) == 0
    out = capsys.readouterr().out
    assert "2  random_loops(n=6,frustration=0.2,loops=4)\n`glasshouse suite write" in out


def test_a_suite_is_written_checked_and_left_alone(tiny, tmp_path, capsys):
    folder = tmp_path / "s"
    call = ["suite", "write", tiny, "-o", str(folder), "--format", "qubo", "--format", "coo"]
    assert main([*call, "--json"]) == 0
    assert [line["optimum"] for line in lines(capsys) if line["file"].endswith("wcnf")] == [12, 12]
    manifest = str(folder / "answers" / "manifest.jsonl")
    assert main(["check", manifest, "--instances", str(folder / "instances")]) == 0
    assert "VERIFIED, 6 instances" in capsys.readouterr().out
    before = {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()}
    assert main(call) == 0
    assert f"{folder / 'instances'}: 6 blind files; their optima are in" in capsys.readouterr().out
    assert main([*call, "--seed", "7"]) == 2
    assert "belongs to another suite (different: seed)" in capsys.readouterr().err
    assert before == {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def test_a_commitment_is_checked_once_the_answers_are_there(tiny, tmp_path, capsys):
    public, hidden = tmp_path / "public", tmp_path / "hidden"
    call = ["suite", "write", tiny, "-o", str(public), "--answers", str(hidden), "--commit"]
    assert main(call) == 0
    assert "commitment.jsonl can be published now" in capsys.readouterr().out
    commitment = str(public / "instances" / "commitment.jsonl")
    assert main(["check", commitment, "--answers", str(hidden)]) == 0
    assert "VERIFIED, 2 certificates match their commitments" in capsys.readouterr().out
    assert main(["check", commitment, "--answers", str(hidden), "--json"]) == 0
    assert [(line["bound"], line["best"]) for line in lines(capsys)] == [(12, 12), (12, 12)]
    assert main(["check", commitment]) == 2
    assert main(["check", commitment, "--answers", str(tmp_path / "none")]) == 1
    assert main(["check", str(hidden / "manifest.jsonl"), "--answers", str(hidden)]) == 2
    proof = hidden / "tiny-00001.wcnf.cert"
    proof.write_bytes(proof.read_bytes() + b"\n")
    capsys.readouterr()
    assert main(["check", commitment, "--answers", str(hidden)]) == 1
    assert "tiny-00001.wcnf.cert: is not the certificate that" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["suite", "write", "smoke"], "--output or -o is missing"),
        (
            ["suite", "list", "smok"],
            "smok is neither a file nor a suite's name; use one of",
        ),
        (["suite", "write", "smoke", "-o", "x", "--count", "0"], "--count 0 is below 1"),
        (
            ["suite", "write", "smoke", "-o", "{}/x", "--format", "opb"],
            "a suite needs a format that can be read",
        ),
        (["suite", "list", "{}/bad.toml"], "bad.toml: the suite has unknown keys sed; use "),
        (["suite", "list", "{}/worse.toml"], "worse.toml: family 1: count=0 is below 1"),
        (["suite", "write", "smoke", "-o", "{}/bad.toml"], "bad.toml/answers: is not a folder"),
        (
            ["suite", "write", "smoke", "-o", "{0}/x", "--answers", "{0}/x/instances"],
            "be published with",
        ),
        (
            ["suite", "write", "smoke", "-o", "{0}/x", "--answers", "{0}/x/instances/a"],
            "be published with",
        ),
    ],
)
def test_wrong_words_are_one_clear_line(tmp_path, capsys, words, message):
    (tmp_path / "bad.toml").write_text('name = "x"\nsed = 1\n')
    (tmp_path / "worse.toml").write_text(SUITE.replace("count = 2", "count = 0"))
    before = sorted(tmp_path.rglob("*"))
    assert main([word.format(tmp_path) for word in words]) == 2
    told = capsys.readouterr().err
    assert message in told
    assert told.count("\n") == 1
    assert sorted(tmp_path.rglob("*")) == before
