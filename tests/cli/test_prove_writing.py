"""`prove` if files cannot be written: its answer is printed, and its search continues."""

from __future__ import annotations

import json

import pytest
from tests.proofs.trees.test_search import half_complete

import glasshouse as gh
from glasshouse.certificates import verdict
from glasshouse.cli import main
from glasshouse.files import writing
from glasshouse.files.text.errors import FileAccessError
from glasshouse.proofs import budget


@pytest.fixture
def instance(tmp_path):
    path = tmp_path / "x.coo"
    gh.write(path, half_complete())
    return path


@pytest.fixture
def full_disk(monkeypatch):
    """No certificate can be written any more."""

    def refuse(path, *arguments, **options):
        raise FileAccessError(path, "cannot be written (No space left on device)")

    monkeypatch.setattr(writing, "write_certificate", refuse)


def test_the_answer_is_printed_before_the_certificate_is_written(instance, full_disk, capsys):
    assert main(["prove", str(instance)]) == 2
    out, err = capsys.readouterr()
    assert "optimal      proven" in out
    assert "model" in out
    assert "is the certificate" not in out
    assert "No space left on device" in err


def test_the_answer_in_json_says_that_nothing_was_written(instance, full_disk, capsys):
    assert main(["prove", str(instance), "--json"]) == 2
    out, err = capsys.readouterr()
    answer = json.loads(out)
    assert (answer["optimal"], answer["certificate_written"]) == (True, False)
    assert "No space left on device" in err


def test_a_checkpoint_that_cannot_be_written_is_a_warning(instance, full_disk, capsys, monkeypatch):
    monkeypatch.setattr(budget.Pause, "is_over", True)
    assert main(["prove", str(instance)]) == 2  # the certificate itself
    out, err = capsys.readouterr()
    assert "optimal      proven" in out
    assert "warning: no checkpoint written" in err
    assert "the search continues" in err


def test_time_before_the_search_counts(instance, monkeypatch, capsys):
    """Python's start and the reading of the file are part of the command's time limit."""
    given, prove = [], gh.proofs.prove

    def noted(problem, **options):
        given.append(options["time_limit"])
        return prove(problem, **options)

    monkeypatch.setattr(gh.proofs, "prove", noted)
    assert main(["prove", str(instance), "--time-limit", "500"]) == 0
    assert 0 < given[0] < 500


def test_a_certificate_that_was_just_verified_is_written_without_verifying_again(
    instance, capsys, monkeypatch
):
    """The certificate of a large problem takes seconds, after the end of the time limit."""

    def again(*arguments):
        raise AssertionError("verified again")

    def proven(*arguments, **options):
        found = real(*arguments, **options)
        monkeypatch.setattr(verdict, "examined", again)
        return found

    real = gh.proofs.prove
    monkeypatch.setattr(gh.proofs, "prove", proven)
    assert main(["prove", str(instance)]) == 0
    assert instance.with_name("x.coo.cert").exists()
