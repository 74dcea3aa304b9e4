"""Suites on disk: blind files, answers apart, the same bytes again, nothing overwritten."""

from __future__ import annotations

import hashlib
import json
from itertools import islice
from pathlib import Path

import pytest

from glasshouse.certificates import CertificateError
from glasshouse.files import FileError, read_document
from glasshouse.files.clause_file import read_clauses
from glasshouse.files.known import Known
from glasshouse.planting.methods import cores, random_loops, uniform_max2sat
from glasshouse.suites import check_suite, write_suite
from glasshouse.suites.commitment import iter_check_commitment
from glasshouse.suites.folder import iter_build_suite
from glasshouse.suites.loading import load_suite
from glasshouse.suites.manifest import read_manifest
from glasshouse.suites.suite_file import _READY_MADE

SUITE = """
name = "tiny"
seed = 1
count = 2
shuffle = true

[[family]]
method = "random_loops"
parameters = { frustration = "1/5", loops = 4 }
grid = { n = [6, 8] }

[[family]]
method = "plus_minus_j"
grid = { graph = ["torus:4x4", "complete:9"] }
"""


@pytest.fixture
def tiny(tmp_path):
    path = tmp_path / "tiny.toml"
    path.write_text(SUITE)
    return path


def build(source, folder, **options):
    return list(iter_build_suite(source, folder, **options))


def contents(folder: Path) -> dict[str, bytes]:
    return {
        str(path.relative_to(folder)): path.read_bytes()
        for path in sorted(folder.rglob("*"))
        if path.is_file()
    }


def test_every_line_is_proven_and_open_ones_have_bounds(tiny, tmp_path):
    entries = build(tiny, tmp_path / "s")
    answers, instances = tmp_path / "s" / "answers", tmp_path / "s" / "instances"
    assert check_suite(answers / "manifest.jsonl", files=instances) == entries
    assert len(entries) == 8
    assert all(entry.optimum is not None for entry in entries[:6])
    for entry in entries[6:]:  # the relaxation of a complete graph with signs may keep a gap
        assert entry.optimum is not None or entry.bound < entry.best


def test_the_files_tell_nothing(tiny, tmp_path):
    entries = build(tiny, tmp_path / "s")
    given = tmp_path / "s" / "instances"
    assert sorted(p.name for p in given.iterdir()) == [f"tiny-0000{k}.wcnf" for k in range(8)]
    for entry in entries:
        stated = read_document(given / entry.file).stated
        assert (stated.cost, stated.model, stated.recipe) == (None, None, None)


def test_the_same_file_gives_the_same_bytes(tiny, tmp_path):
    for folder in ("a", "b"):
        build(tiny, tmp_path / folder, formats=["qubo"])
    assert contents(tmp_path / "a") == contents(tmp_path / "b")
    # Golden: what a race of an earlier version was run on.
    whole = hashlib.sha256()
    for path in sorted((tmp_path / "a" / "instances").iterdir()):
        whole.update(path.read_bytes())
    assert whole.hexdigest() == "a9582fe2aeb8c2ca206d68fff22f9912e77679f9d2c60f9d90af49bed57cb13f"


def test_further_formats_are_proven_too(tiny, tmp_path):
    build(tiny, tmp_path / "s", formats=["QUBO", ".npz", "coo.gz", "wcnf"], dialect="mse22")
    instances = tmp_path / "s" / "instances"
    proven = check_suite(tmp_path / "s" / "answers" / "manifest.jsonl", files=instances)
    assert len(proven) == 8 * 4
    assert not (instances / "tiny-00000.wcnf").read_bytes().startswith(b"p wcnf")
    assert len(load_suite(tmp_path / "s", tmp_path).instances) == 8


@pytest.mark.parametrize("done", [0, 1, 3, 8])
def test_an_interrupted_suite_goes_on(tiny, tmp_path, done):
    build(tiny, tmp_path / "whole")
    list(islice(iter_build_suite(tiny, tmp_path / "torn"), done))
    for half in (tmp_path / "torn").rglob("tiny-00000.wcnf.cert"):
        half.unlink()
    build(tiny, tmp_path / "torn")
    build(tiny, tmp_path / "torn")  # and is left alone when it is whole
    assert contents(tmp_path / "torn") == contents(tmp_path / "whole")


@pytest.mark.parametrize("killed_before", ["manifest.jsonl", "regression.csv", "optima.csv"])
def test_a_kill_between_the_tables_loses_nothing(tiny, tmp_path, killed_before):
    build(tiny, tmp_path / "s")
    whole = contents(tmp_path / "s")
    for name in ("manifest.jsonl", killed_before):
        (tmp_path / "s" / "answers" / name).unlink(missing_ok=True)
    build(tiny, tmp_path / "s")
    assert contents(tmp_path / "s") == whole


def test_another_suite_is_not_mixed_into_a_folder(tiny, tmp_path):
    list(islice(iter_build_suite(tiny, tmp_path / "s"), 2))
    before = contents(tmp_path / "s")
    for other in ({"seed": 2}, {"count": 3}, {"formats": ["coo"]}, {"dialect": "mse22"}):
        with pytest.raises(FileError, match="belongs to another suite"):
            build(tiny, tmp_path / "s", **other)
    assert contents(tmp_path / "s") == before


def test_a_whole_suite_that_was_changed_is_noticed(tiny, tmp_path):
    build(tiny, tmp_path / "s")
    path = tmp_path / "s" / "instances" / "tiny-00003.wcnf"
    path.write_bytes(path.read_bytes() + b"1 1 2 0\n")
    for again in (lambda: build(tiny, tmp_path / "s"), lambda: load_suite(tmp_path / "s", "")):
        with pytest.raises(FileError, match=r"tiny-00003\.wcnf: the SHA-256 differs from the one"):
            again()


def test_a_false_line_of_an_open_instance_is_noticed(tiny, tmp_path):
    build(tiny, tmp_path / "s")
    manifest = tmp_path / "s" / "answers" / "manifest.jsonl"
    lines = [json.loads(line) for line in manifest.read_text().splitlines()]
    index = next(k for k, line in enumerate(lines) if line["recipe"]["method"] == "plus_minus_j")
    for lie in ({"optimum": lines[index]["optimum"] - 1},
                {"optimum": None, "bound": 0, "best": lines[index]["optimum"]}):  # fmt: skip
        told = [*lines[:index], lines[index] | lie, *lines[index + 1 :]]
        manifest.write_text("".join(json.dumps(line) + "\n" for line in told))
        with pytest.raises(FileError, match=r"proves .* ≤ optimum ≤ .*, but the manifest states"):
            check_suite(manifest, files=tmp_path / "s" / "instances")
    without = {k: v for k, v in lines[index].items() if not k.startswith("certificate")}
    manifest.write_text(json.dumps(without) + "\n")
    with pytest.raises(FileError, match="must list a certificate"):
        check_suite(manifest, files=tmp_path / "s" / "instances")


@pytest.mark.slow
def test_the_open_suite_has_the_bounds_that_its_file_tells(tmp_path):
    told = set()
    for line in _READY_MADE.joinpath("open.toml").read_text().splitlines():
        words = line.lstrip("# ").split() if line.startswith("#   torus") else []
        for graph, number, bound, best in zip(*[iter(words)] * 4, strict=True):
            told.add((f"plus_minus_j(graph={graph}){number}", int(bound), int(best)))
    entries = build("open", tmp_path / "open")
    found = {(e.name, e.bound, e.best) for e in entries if e.optimum is None}
    assert found == told
    assert len(told) == 6


class TestRegressionTable:
    def test_it_has_the_columns_of_the_evaluation_and_true_models(self, tiny, tmp_path):
        entries = build(tiny, tmp_path / "s", formats=["qubo"])
        text = (tmp_path / "s" / "answers" / "regression.csv").read_text().splitlines()
        assert text[0] == "WCNFFile, BestOValue, Satisfiable, CertifiedResult, Model"
        assert len(text) == 9
        values = {entry.file: entry for entry in entries}
        for line in text[1:]:
            file, value, satisfiable, certified, model = line.split(", ")
            clauses = read_clauses(tmp_path / "s" / "instances" / file)
            assert clauses.cost([int(bit) for bit in model]) == int(value)
            assert satisfiable == "YES"
            assert (certified == "YES") == (values[file].optimum is not None)

    @pytest.mark.parametrize("column", [0, 1, 3, 4])
    def test_a_false_table_is_noticed(self, tiny, tmp_path, column):
        build(tiny, tmp_path / "s")
        path = tmp_path / "s" / "answers" / "regression.csv"
        lines = path.read_text().splitlines()
        words = lines[1].split(", ")
        flipped = words[4].translate(str.maketrans("01", "10"))
        words[column] = ["other.wcnf", "0", "", "NO", flipped[0] + words[4][1:]][column]
        path.write_text("\n".join([lines[0], ", ".join(words), *lines[2:]]) + "\n")
        with pytest.raises(FileError, match=r"regression\.csv: (the row of|the model of)"):
            check_suite(path.with_name("manifest.jsonl"), files=tmp_path / "s" / "instances")


class TestCommitment:
    def committed(self, tiny, tmp_path):
        public, hidden = tmp_path / "public", tmp_path / "hidden"
        build(tiny, public, answers=hidden, is_committed=True)
        return public / "instances" / "commitment.jsonl", hidden

    def test_published_answers_are_those_committed_to(self, tiny, tmp_path):
        commitment, hidden = self.committed(tiny, tmp_path)
        opened = list(iter_check_commitment(commitment, hidden))
        entries = list(read_manifest(hidden / "manifest.jsonl"))
        assert [one.best for one in opened] == [entry.value for entry in entries]
        line = json.loads(commitment.read_text().splitlines()[0])
        assert set(line) == {"file", "sha256", "commitment"}
        # What docs/suites.md says: SHA-256 of the nonce and the certificate.
        nonce = json.loads((hidden / "nonces.jsonl").read_text().splitlines()[0])["nonce"]
        proof = (hidden / f"{line['file']}.cert").read_bytes()
        assert hashlib.sha256(bytes.fromhex(nonce) + proof).hexdigest() == line["commitment"]

    def test_the_seed_cannot_be_guessed_and_is_drawn_once(self, tiny, tmp_path):
        commitment, _ = self.committed(tiny, tmp_path)
        before = contents(tmp_path)
        self.committed(tiny, tmp_path)
        assert contents(tmp_path) == before
        build(tiny, tmp_path / "open")
        public = commitment.with_name("tiny-00000.wcnf").read_bytes()
        assert public != (tmp_path / "open/instances/tiny-00000.wcnf").read_bytes()
        seed = json.loads((tmp_path / "hidden" / "suite.json").read_text())["seed"]
        assert seed > 2**64

    def test_a_suite_of_a_known_seed_is_not_committed_to_afterwards(self, tiny, tmp_path):
        build(tiny, tmp_path / "s")
        with pytest.raises(FileError, match="different: seed, committed"):
            build(tiny, tmp_path / "s", is_committed=True)
        assert not (tmp_path / "s" / "instances" / "commitment.jsonl").exists()

    @pytest.mark.parametrize("left", ["nonces.jsonl", None])
    def test_a_kill_in_the_middle_loses_nothing(self, tiny, tmp_path, left):
        commitment, hidden = self.committed(tiny, tmp_path)
        commitment.unlink()
        if left is None:
            (hidden / "nonces.jsonl").unlink()
        self.committed(tiny, tmp_path)
        assert len(list(iter_check_commitment(commitment, hidden))) == 8

    def test_nonces_that_are_lost_are_not_drawn_anew(self, tiny, tmp_path):
        commitment, hidden = self.committed(tiny, tmp_path)
        before = commitment.read_bytes()
        (hidden / "nonces.jsonl").unlink()
        with pytest.raises(FileError, match=r"commitment\.jsonl: does not match this suite's"):
            self.committed(tiny, tmp_path)
        assert commitment.read_bytes() == before

    @pytest.mark.parametrize("what", ["certificate", "nonce", "instance", "lost", "swapped"])
    def test_whatever_was_changed_afterwards_is_noticed(self, tiny, tmp_path, what):
        commitment, hidden = self.committed(tiny, tmp_path)
        proof, nonces = hidden / "tiny-00000.wcnf.cert", hidden / "nonces.jsonl"
        instance = commitment.with_name("tiny-00000.wcnf")
        if what == "certificate":  # another one that proves the same
            proof.write_bytes(proof.read_bytes().replace(b"cost", b"cost "))
        elif what == "nonce":
            nonces.write_text(nonces.read_text().replace('"nonce": "', '"nonce": "00', 1))
        elif what == "instance":
            instance.write_bytes(b"c mine\n" + instance.read_bytes())
        elif what == "lost":
            nonces.write_text("".join(nonces.read_text().splitlines(keepends=True)[1:]))
        else:
            proof.write_bytes((hidden / "tiny-00001.wcnf.cert").read_bytes())
        with pytest.raises(FileError):
            list(iter_check_commitment(commitment, hidden))


class TestLoading:
    def test_what_is_loaded_is_proven(self, tiny, tmp_path):
        suite = load_suite(tiny, tmp_path / "cache")
        again = load_suite(tiny, tmp_path / "cache")
        assert (suite.name, suite.digest, suite.instances) == (
            "tiny",
            again.digest,
            again.instances,
        )
        first = suite.instances[0]
        assert first.name == "random_loops(n=6,frustration=0.2,loops=4)#0"
        assert (first.parameters["method"], first.parameters["n"]) == ("random_loops", 6)
        assert json.dumps(first.parameters)
        assert first.known == Known(12, 12)
        for one in suite.instances[4:]:
            assert one.known.bound <= one.known.best
            assert one.parameters["graph"] in ("torus:4x4", "complete:9")

    def test_the_digest_depends_on_the_instances_alone(self, tiny, tmp_path):
        build(tiny, tmp_path / "a", formats=["coo"])
        build(tiny, tmp_path / "b")
        build(tiny, tmp_path / "c", seed=9)
        digests = [load_suite(tmp_path / name, tmp_path).digest for name in "abc"]
        assert digests[0] == digests[1] != digests[2]

    def test_a_certificate_that_lies_is_not_believed(self, tiny, tmp_path):
        build(tiny, tmp_path / "s")
        proof = tmp_path / "s" / "answers" / "tiny-00000.wcnf.cert"
        proof.write_text(proof.read_text().replace("cost 12", "cost 11"))
        with pytest.raises(CertificateError, match="states a cost of 11"):
            load_suite(tmp_path / "s", tmp_path)

    @pytest.mark.parametrize("blind", [False, True])
    def test_a_planted_folder_is_a_suite_too(self, tmp_path, blind):
        plants = [random_loops(6, 6, frustration="1/5", loops=4, rng=k) for k in range(2)]
        write_suite(tmp_path / "plants", plants, blind=blind)
        suite = load_suite(tmp_path / "plants", tmp_path)
        assert (suite.name, [one.known.optimum for one in suite.instances]) == ("plants", [12, 12])
        assert suite.instances[0].name == "instance-00000.wcnf"
        assert load_suite(tmp_path / "plants" / "manifest.jsonl", tmp_path).digest == suite.digest

    def test_any_folder_of_clauses_is_a_suite_of_which_little_is_known(self, tiny, tmp_path):
        folder = tmp_path / "theirs"
        folder.mkdir()
        (folder / "long.wcnf").write_text("h 1 2 3 0\n1 -1 0\n")
        (folder / "short.wcnf").write_text("p wcnf 2 1 9\n1 1 2 0\n")
        (folder / "README").write_text("ours")
        suite = load_suite(folder, tmp_path)
        assert [(one.name, one.known, one.parameters) for one in suite.instances] == [
            ("long.wcnf", Known(0), {}), ("short.wcnf", Known(0, 1), {}),
        ]  # fmt: skip
        assert len(load_suite(folder / "short.wcnf", tmp_path).instances) == 1
        build(tiny, tmp_path / "s", answers=tmp_path / "elsewhere")
        truths = [one.known for one in load_suite(tmp_path / "s", tmp_path).instances]
        assert {(truth.bound, truth.optimum) for truth in truths} == {(0, None)}

    def test_cnf_files_race_too_and_each_instance_once(self, tmp_path):
        plants = [uniform_max2sat(6, 6, clause_density=1, rng=k) for k in range(2)]
        write_suite(tmp_path / "s", plants, suffix=[".cnf", ".wcnf"])
        names = [one.name for one in load_suite(tmp_path / "s", tmp_path).instances]
        assert names == ["instance-00000.wcnf", "instance-00001.wcnf"]
        (tmp_path / "theirs").mkdir()
        (tmp_path / "theirs" / "a.cnf").write_text("p cnf 2 2\n1 2 0\n-1 0\n")
        assert [one.name for one in load_suite(tmp_path / "theirs", tmp_path).instances] == [
            "a.cnf"
        ]

    def test_what_cannot_be_evaluated_does_not_race(self, tmp_path):
        (tmp_path / "a.wcnf").write_text("p wcnf 2 1 9\n1 1 x 0\n")
        with pytest.raises(FileError, match=r"a\.wcnf"):
            load_suite(tmp_path, tmp_path)

    def test_two_instances_of_one_name_are_refused(self, tiny, tmp_path):
        build(tiny, tmp_path / "s")
        manifest = tmp_path / "s" / "answers" / "manifest.jsonl"
        entries = [json.loads(line) for line in manifest.read_text().splitlines()]
        entries[1]["name"] = entries[0]["name"]
        manifest.write_text("".join(json.dumps(entry) + "\n" for entry in entries))
        with pytest.raises(ValueError, match="two instances of tiny are named"):
            load_suite(tmp_path / "s", tmp_path)

    @pytest.mark.parametrize("name", ["x" * 5000, "half \ud800"])
    def test_names_that_no_store_holds_are_refused_before_the_race(self, tiny, tmp_path, name):
        build(tiny, tmp_path / "s")
        manifest = tmp_path / "s" / "answers" / "manifest.jsonl"
        entries = [json.loads(line) for line in manifest.read_text().splitlines()]
        entries[1]["name"] = name
        manifest.write_text("".join(json.dumps(entry) + "\n" for entry in entries))
        with pytest.raises(FileError, match=r"wcnf: .*manifest.*(4000|lone surrogates)"):
            load_suite(tmp_path / "s", tmp_path)

    def test_what_is_no_suite_is_told_so(self, tmp_path):
        (tmp_path / "empty").mkdir()
        for source in (tmp_path / "empty", tmp_path / "nowhere", "smok"):
            with pytest.raises(ValueError, match=r"is not a suite; expected .*smoke"):
                load_suite(source, tmp_path)


CORES = """
name = "sat"
seed = 1
[[family]]
method = "cores"
count = 2
parameters = { n = 12, cores = 3 }
grid = { width = [2, 3], frustrated = [0, 1] }
"""


def test_answers_prove_satisfiable_clauses_of_two_literals(tmp_path):
    path = tmp_path / "sat.toml"
    path.write_text(CORES.replace("[2, 3]", "[2]").replace("[0, 1]", "[0]"))
    entries = build(path, tmp_path / "s", formats=("qubo", "json", "npz"), is_committed=True)
    assert [entry.optimum for entry in entries if entry.file.endswith(".wcnf")] == [0, 0]
    assert all(entry.certificate for entry in entries)
    manifest, instances = tmp_path / "s/answers/manifest.jsonl", tmp_path / "s/instances"
    assert check_suite(manifest, files=instances) == entries
    committed = instances / "commitment.jsonl"
    assert len(list(iter_check_commitment(committed, manifest.parent))) == len(entries) == 8


@pytest.mark.parametrize(
    ("text", "format_", "reason"),
    [
        (CORES, "qubo", "no proof of the file is known"),
        (CORES.replace("cores = 3", 'cores = 3, harden = "1/2"'), "cnf", "CNF cannot store"),
        (SUITE + CORES[CORES.index("[[") :].replace("cores = 3", "cores = 3, max_weight = 9"),
         "cnf", "CNF cannot store"),
    ],
    ids=["proof", "hard", "second method"],
)  # fmt: skip
def test_a_suite_that_cannot_be_written_leaves_nothing(text, format_, reason, tmp_path):
    path = tmp_path / "sat.toml"
    path.write_text(text)
    with pytest.raises(ValueError, match=reason) as refused:
        build(path, tmp_path / "s", formats=[format_])
    assert list(tmp_path.iterdir()) == [path]
    assert "tmp" not in str(refused.value).removeprefix(str(tmp_path))


def test_instances_of_which_the_first_cannot_be_written_leave_nothing(tmp_path):
    plants = (cores(12, cores=3, harden="1/2", rng=seed) for seed in range(2))
    with pytest.raises(ValueError, match="CNF cannot store hard clauses"):
        write_suite(tmp_path / "s", plants, suffix=[".wcnf", ".cnf"])
    assert not list(tmp_path.iterdir())
