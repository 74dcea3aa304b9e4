"""Unverified claims remain only stated when they are copied, replaced or passed on."""

from dataclasses import replace

import numpy as np
import pytest

import glasshouse as gh
from glasshouse.certificates import CertificateError
from glasshouse.cli import main
from glasshouse.files import (
    Document,
    FileError,
    Stated,
    read,
    read_document,
    side_car,
    verify_file,
    write,
)
from glasshouse.planting.methods import random_loops


@pytest.fixture
def plant():
    return random_loops(6, 6, frustration="1/5", loops=5, rng=1)


def test_a_copy_with_another_claim_is_not_verified(tmp_path, plant):
    write(tmp_path / "x.wcnf", plant)
    document = read_document(tmp_path / "x.wcnf")
    assert document.proven.verdict.optimal
    stated = document.stated
    lie = replace(document, stated=Stated(stated.cost - 1, stated.model))
    with pytest.raises(CertificateError, match="states a cost"):
        _ = lie.proven
    with pytest.raises(CertificateError, match="states a cost"):
        write(tmp_path / "y.wcnf", lie)
    assert not (tmp_path / "y.wcnf").exists()
    for name in ("proven", "kept", "proof"):
        with pytest.raises((TypeError, ValueError), match=name):
            replace(document, **{name: getattr(document, name)})


def test_nothing_that_was_compared_with_a_proof_can_be_changed(tmp_path, plant):
    write(tmp_path / "x.wcnf", plant)
    model = np.array(plant.state > 0, dtype=np.int8)
    document = replace(read_document(tmp_path / "x.wcnf"), stated=Stated(None, model))
    assert document.proven
    model[:] = 0
    assert np.array_equal(document.stated.model, plant.state > 0)
    with pytest.raises(ValueError, match="read-only"):
        document.stated.model[:] = 0


def test_a_certificate_that_changes_on_the_disk_is_read_once(tmp_path, plant):
    write(tmp_path / "x.wcnf", plant)
    document = read_document(tmp_path / "x.wcnf")
    assert document.proven
    side_car(tmp_path / "x.wcnf").write_text("no certificate")
    written = write(tmp_path / "y.qubo", document)
    assert verify_file(tmp_path / "y.qubo", written.certificate).proven
    with pytest.raises(FileError):
        _ = read_document(tmp_path / "x.wcnf").proven


def test_a_document_with_the_plant_of_another_problem_is_not_proven(tmp_path, plant):
    other = random_loops(6, 6, frustration="1/5", loops=5, rng=2)
    flips = Stated.of(plant).model ^ np.eye(12, dtype=np.int8)
    worse = next(one for one in flips if plant.problem.energy(2 * one - 1) > plant.energy)
    for lie in (
        Document(other.problem, Stated(), plant),
        replace(Document.of(plant), problem=other.problem),
        replace(Document.of(plant), planted=other),
        replace(Document.of(plant), stated=Stated(plant.energy - 2)),
        replace(Document.of(plant), stated=Stated(model=worse)),
    ):
        with pytest.raises(CertificateError):
            _ = lie.proven
        with pytest.raises(CertificateError):
            write(tmp_path / "y.wcnf", lie)
        assert not (tmp_path / "y.wcnf").exists()


def test_a_plant_of_the_caller_is_passed_on_as_stated(tmp_path, plant):
    write(tmp_path / "x.npz", plant)
    believed = read(tmp_path / "x.npz", verify=False)
    forged = replace(believed, state=-believed.state * (1 - 2 * (believed.state.cumsum() > 0)))
    write(tmp_path / "y.wcnf", forged)
    with pytest.raises(CertificateError):
        verify_file(tmp_path / "y.wcnf")


def test_plant_says_proven_only_of_files_that_were_verified(tmp_path, plant, capsys, monkeypatch):
    words = ["plant", "random", "-n", "6", "-f", "1/5", "--loops", "5", "--seed", "1", "-o"]
    seen = []
    real = gh.files.verify_file
    monkeypatch.setattr(
        gh.files, "verify_file", lambda *a, **k: seen.append(real(*a, **k)) or seen[-1]
    )
    assert main([*words, str(tmp_path / "x.wcnf")]) == 0
    assert "proven by" in capsys.readouterr().out
    assert [one.proven.verdict.optimal for one in seen] == [True]


@pytest.mark.parametrize("options", [[], ["--json"], ["--blind", "--certificate", "{}/c.cert"]])
def test_plant_does_not_call_a_false_file_proven(tmp_path, capsys, monkeypatch, options):
    """The loops that go into the certificate are of another instance."""

    def forge(place, planted, **settings):
        other = random_loops(6, 6, frustration="1/5", loops=5, rng=2)
        written = real(place, planted, **settings)
        beside = settings["certificate"] or gh.files.side_car(place)
        wrong = tmp_path / "other.wcnf"
        real(wrong, other, overwrite=True)
        beside.write_bytes(gh.files.side_car(wrong).read_bytes())
        return written

    real = gh.files.write
    monkeypatch.setattr(gh.files, "write", forge)
    words = ["plant", "random", "-n", "6", "-f", "1/5", "--loops", "5", "--seed", "1"]
    options = [word.format(tmp_path) for word in options]
    assert main([*words, *options, "-o", str(tmp_path / "x.wcnf")]) == 1
    said = capsys.readouterr()
    assert "proven by" not in said.out
    assert "bug in glasshouse" in said.err
