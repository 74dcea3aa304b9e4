"""Files of spins as targets of races between samplers: proven by certificates, or not."""

from __future__ import annotations

import pytest

import glasshouse as gh

ENTERED = {"ours": gh.GlasshouseAnnealer()}


@pytest.fixture(scope="module")
def plants():
    chips = ("chimera:2", "chimera:2 without 3,0-4")
    return [gh.graph_loops(chip, frustration="1/5", length=4, loops=6, rng=1) for chip in chips]


@pytest.mark.parametrize("suffix", [".coo", ".bqm", ".json", ".qubo"])
def test_a_folder_is_a_suite_for_samplers(plants, suffix, tmp_path):
    for k, plant in enumerate(plants):
        gh.write(tmp_path / f"chip{k}{suffix}", plant)
    found = gh.race_samplers(ENTERED, tmp_path, reads=4, calls=1, rng=1)
    assert all(found.is_proven(f"chip{k}{suffix}") for k in range(2))
    for path in tmp_path.glob("*.cert"):
        path.unlink()
    found = gh.race_samplers(ENTERED, tmp_path, reads=4, calls=1, rng=1)
    assert not any(found.is_proven(f"chip{k}{suffix}") for k in range(2))
    with pytest.raises(ValueError, match=r"a folder with .wcnf or .cnf files"):
        gh.load_suite(tmp_path, tmp_path)


def test_blind_files_with_their_answers_elsewhere(plants, tmp_path):
    gh.write_suite(tmp_path / "chip", plants, suffix=".coo", blind=True, answers=tmp_path / "key")
    suite = gh.load_suite(tmp_path / "chip", tmp_path, answers=tmp_path / "key", any_format=True)
    assert [one.known.optimum for one in suite.instances] == [plant.energy for plant in plants]
    with pytest.raises(ValueError, match=r"must list .wcnf or .cnf files"):
        gh.load_suite(tmp_path / "chip", tmp_path, answers=tmp_path / "key")
    (tmp_path / "key" / "instance-00000.coo.cert").write_text("nonsense")
    with pytest.raises(ValueError, match="instance-00000"):
        gh.load_suite(tmp_path / "chip", tmp_path, answers=tmp_path / "key", any_format=True)


def test_proofs_and_documents_are_targets(plants, tmp_path):
    gh.write(tmp_path / "chip.coo", plants[0])
    proof = gh.prove(plants[1].problem)
    given = {"proof": proof, "proven": proof.proven, "plant": plants[1],
             "document": gh.read_document(tmp_path / "chip.coo"),
             "unproven": plants[1].problem}  # fmt: skip
    found = gh.race_samplers(ENTERED, given, reads=4, calls=1, rng=1)
    assert {name for name in given if found.is_proven(name)} == set(given) - {"unproven"}
    assert gh.race_samplers(ENTERED, proof, reads=4, calls=1, rng=1).is_proven("Proof#0")
