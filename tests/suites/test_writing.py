"""Suites: the statements of a folder and its manifest are proven, and writing resumes."""

from __future__ import annotations

import json
from itertools import islice

import pytest

from glasshouse.certificates import CertificateError
from glasshouse.files import FileError, read_document, side_car
from glasshouse.planting import shuffle
from glasshouse.planting.methods import cores, random_loops
from glasshouse.suites import check_suite, iter_write_suite, write_suite
from glasshouse.suites.manifest import MANIFEST, read_manifest, sha256_of


def grown(count=3, first=0):
    return (
        random_loops(6, 6, frustration="1/5", loops=5, rng=first + seed) for seed in range(count)
    )


def written(folder, instances, **options):
    return write_suite(folder, instances, **options)


def contents(folder):
    return {path.name: path.read_bytes() for path in folder.iterdir()}


def relisted(folder, **changes):
    """The manifest with the hash of its first file brought up to date, and other changes."""
    manifest = folder / MANIFEST
    lines = [json.loads(line) for line in manifest.read_text().splitlines()]
    lines[0] |= {"sha256": sha256_of(folder / lines[0]["file"])} | changes
    manifest.write_text("".join(json.dumps(line) + "\n" for line in lines))
    return manifest


@pytest.mark.parametrize("suffix", [".wcnf", ".npz", ".qubo", ".mc.gz", ".coo", ".bqm", ".wcnf.xz"])
@pytest.mark.parametrize("blind", [False, True])
def test_a_suite_is_proven_in_every_format(tmp_path, suffix, blind):
    entries = written(tmp_path / "s", map(shuffle, grown(2)), suffix=suffix, blind=blind)
    assert check_suite(tmp_path / "s" / MANIFEST) == entries
    assert len(entries) == 2


@pytest.mark.parametrize("suffix", [".wcnf", ".npz", ".cnf"])
@pytest.mark.parametrize("blind", [False, True])
def test_a_suite_of_cores_is_proven(tmp_path, suffix, blind):
    plants = [cores(12, cores=3, frustrated=share, rng=1) for share in (1, "1/2", 0)]
    entries = written(tmp_path / "s", map(shuffle, plants), suffix=suffix, blind=blind)
    assert [entry.optimum for entry in entries] == [3, 2, 0]
    assert check_suite(tmp_path / "s" / MANIFEST) == entries


def test_a_corrupted_side_car_is_noticed(tmp_path):
    first = written(tmp_path, grown())[0]
    beside = side_car(tmp_path / first.file)
    original = beside.read_text()
    state = original.split("state ")[1].split("\n")[0]
    flipped = state.translate(str.maketrans("01", "10"))
    for lie in (
        original.replace(f"cost {first.optimum}", f"cost {first.optimum - 1}"),
        original.replace("\n3 ", "\n2 ", 1),
        original.replace(state, flipped[0] + state[1:]),
        original[:-20],
    ):
        assert lie != original
        beside.write_text(lie)
        with pytest.raises((CertificateError, FileError)):
            check_suite(tmp_path / MANIFEST)
    beside.write_text(original)
    assert len(check_suite(tmp_path / MANIFEST)) == 3


@pytest.mark.parametrize("what", ["planted-cost", "planted-model", "recipe"])
def test_a_false_statement_in_a_file_is_noticed(tmp_path, what):
    path = tmp_path / written(tmp_path, grown())[0].file
    side_car(path).unlink()
    assert check_suite(tmp_path / MANIFEST)
    stated = read_document(path).stated
    lies = {
        "planted-cost": ("planted-cost ", "planted-cost 9"),
        "planted-model": ("".join(map(str, stated.model)), "0" * 12),
        "recipe": ('"seed":0', '"seed":1'),
    }
    path.write_text(path.read_text().replace(*lies[what]))
    with pytest.raises(FileError, match=r"states|model"):
        check_suite(relisted(tmp_path))


def test_an_empty_manifest_proves_nothing(tmp_path):
    (tmp_path / MANIFEST).write_text("")
    with pytest.raises(FileError, match="lists no instances"):
        check_suite(tmp_path / MANIFEST)


@pytest.mark.parametrize("name", ["..", ".", "", "../x.wcnf", "/etc/passwd", 5, None, "s/x.wcnf"])
def test_only_plain_names_are_listed(tmp_path, name):
    written(tmp_path, grown())
    with pytest.raises(FileError, match=r"manifest\.jsonl, line 1: needs file names"):
        list(read_manifest(relisted(tmp_path, file=name)))


@pytest.mark.parametrize("name", ["sub", "a\0b", "x" * 300])
def test_what_is_no_file_is_an_error_of_the_file(tmp_path, name):
    written(tmp_path, grown())
    (tmp_path / "sub").mkdir()
    with pytest.raises(FileError, match=r"cannot be read|is a directory"):
        check_suite(relisted(tmp_path, file=name))


def test_a_recipe_that_grows_nothing_names_its_file(tmp_path):
    written(tmp_path, grown())
    with pytest.raises(FileError, match=r"instance-00000\.wcnf: cannot grow an instance from"):
        check_suite(relisted(tmp_path, recipe={"method": "os"}))


@pytest.mark.parametrize(
    "suffix", ["/../../x.wcnf", "../x.wcnf", ".opb", ".zip", "", ".wcnf.gz.xz"]
)
def test_suffixes_are_those_of_formats_that_can_be_read(tmp_path, suffix):
    with pytest.raises(FileError, match="a suite needs a format that can be read"):
        written(tmp_path / "s", grown(), suffix=suffix)
    with pytest.raises(FileError, match="the beginning of a file name"):
        written(tmp_path / "s", grown(), stem="../x")
    assert list(tmp_path.iterdir()) == []


def test_a_folder_that_is_a_file_is_refused(tmp_path):
    taken = tmp_path / "taken"
    taken.write_text("")
    for folder in (taken, taken / "below"):
        with pytest.raises(FileError, match="is not a folder"):
            written(folder, grown())


@pytest.mark.parametrize("suffix", [".wcnf", ".npz"])
def test_an_interrupted_suite_goes_on(tmp_path, suffix):
    written(tmp_path / "whole", grown(), suffix=suffix)
    there = tmp_path / "torn"
    list(islice(iter_write_suite(there, grown(), suffix=suffix), 2))
    assert not (there / MANIFEST).exists()
    for beside in there.glob("*1*.cert"):
        beside.unlink()  # as if the process ended between the two files
    written(there, grown(), suffix=suffix)
    assert contents(there) == contents(tmp_path / "whole")
    with pytest.raises(FileError, match="already exists"):
        written(there, grown(), suffix=suffix)


def test_other_instances_are_not_mixed_into_an_interrupted_suite(tmp_path):
    list(islice(iter_write_suite(tmp_path, grown()), 2))
    before = contents(tmp_path)
    with pytest.raises(FileError, match=r"instance-00000\.wcnf: already exists; pass overwrite"):
        written(tmp_path, grown(first=7))
    with pytest.raises(FileError, match="already exists"):
        written(tmp_path, grown(), blind=True)
    assert contents(tmp_path) == before


def test_overwriting_takes_the_old_manifest_away_first(tmp_path):
    written(tmp_path, grown())
    list(islice(iter_write_suite(tmp_path, grown(first=7), overwrite=True), 1))
    assert not (tmp_path / MANIFEST).exists()


@pytest.mark.parametrize(
    ("lie", "reason"),
    [
        ({"certificate": "../x.cert"}, "needs file names without folders"),
        ({"certificate": 5}, "needs file names without folders"),
        ({"name": 5}, "name must be a string"),
        ({"certificate_sha256": []}, "certificate_sha256 must be a string"),
        ({"optimum": None}, "must have an 'optimum', or both a 'bound' and a 'best'"),
        ({"optimum": None, "bound": 1, "best": True}, "best must be a number"),
        ({"bund": 1}, "must be a JSON object with file, sha256, recipe and optimum"),
    ],
)
def test_what_a_line_may_hold(tmp_path, lie, reason):
    written(tmp_path, grown())
    with pytest.raises(FileError, match=rf"manifest\.jsonl, line 1: {reason}"):
        list(read_manifest(relisted(tmp_path, **lie)))


def test_a_plant_is_never_taken_for_open(tmp_path):
    written(tmp_path, grown())
    with pytest.raises(FileError, match="the optimum is 15, but the manifest states None"):
        check_suite(relisted(tmp_path, optimum=None, bound=1, best=15))


def test_a_certificate_that_is_listed_is_the_very_one(tmp_path):
    files, answers = tmp_path / "files", tmp_path / "answers"
    first = written(files, grown(), blind=True, answers=answers)[0]
    proof = answers / first.certificate
    proof.write_bytes(proof.read_bytes() + b"\n")
    with pytest.raises(FileError, match=r"instance-00000\.wcnf\.cert: the SHA-256"):
        check_suite(answers / MANIFEST, files=files)
    proof.unlink()
    with pytest.raises(FileError, match="there is no such file"):
        check_suite(answers / MANIFEST, files=files)


def test_a_manifest_says_what_solvers_of_the_file_report(tmp_path):
    plants = list(grown(2))
    for suffix, name in ((".qubo", "objective"), (".mc", "cut"), (".wcnf", None), (".npz", None)):
        folder = tmp_path / suffix
        for entry in written(folder, plants, suffix=suffix):
            assert entry.measure == name
            if name is not None:
                document = read_document(folder / entry.file)
                assert entry.measured == document.measure.of(entry.optimum) != entry.optimum
        assert ("measured" in (folder / "optima.csv").read_text()) == (name is not None)


def test_a_number_that_does_not_follow_from_the_optimum_is_refused(tmp_path):
    first = written(tmp_path, grown(1), suffix=".mc")[0]
    truth = {"measure": "cut", "measured": first.measured}
    for lie in ({"measured": first.measured + 1}, {"measure": "objective"}):
        with pytest.raises(FileError, match=f"is a cut of {first.measured}, but the manifest"):
            check_suite(relisted(tmp_path, **(truth | lie)))
    with pytest.raises(FileError, match="both 'measure' and 'measured'"):
        check_suite(relisted(tmp_path, measured=None))


def test_manifests_from_before_that_number_are_read(tmp_path):
    first = written(tmp_path, grown(1), suffix=".qubo")[0]
    (tmp_path / "optima.csv").write_text(
        f"name,optimum,method,sha256\n{first.file},{first.optimum},random_loops,{first.sha256}\n"
    )
    (entry,) = check_suite(relisted(tmp_path, measure=None, measured=None))
    assert (entry.optimum, entry.measured) == (first.optimum, None)
