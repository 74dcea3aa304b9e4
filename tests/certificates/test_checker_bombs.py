"""Small files that would keep a checker busy or fill the memory, if it were written carelessly."""

import subprocess
import sys
import tracemalloc
from time import process_time

import pytest

from glasshouse import files
from glasshouse.certificates import checker

WCNF = "p wcnf 2 1 3\n1 1 0\n"
CERTIFICATE = "glasshouse-certificate 1\ndenominator 1\nstate 11\nloops 0\n"
SECONDS = 20.0  # CPU time; the same work took minutes or hours before


def with_labels(labels):
    size = len(labels)
    text = f"c labels [{','.join(labels)}]\np wcnf {size} 1 3\n1 1 0\n"
    return text, CERTIFICATE.replace("state 11", f"state {'1' * size}")


@pytest.mark.parametrize("shape", ["{}", "[0,{}]", "[[{}]]"])
def test_labels_of_one_hash_are_compared_quickly(shape, tmp_path):
    """Every multiple of 2^61 - 1 has the hash 0."""
    text, proof = with_labels([shape.format(k * (2**61 - 1)) for k in range(1, 50_001)])
    began = process_time()
    assert checker.check(text, proof) == (0, 0)
    assert process_time() - began < SECONDS
    (tmp_path / "x.wcnf").write_text(text)
    (tmp_path / "x.wcnf.cert").write_text(proof)
    began = process_time()
    assert files.verify_file(tmp_path / "x.wcnf").proven
    assert process_time() - began < SECONDS


@pytest.mark.parametrize(("labels", "is_fine"), [
    (["1", "2"], True), (["1", "1.0"], False), (["0", "-0.0"], False), (["1", '"1"'], True),
    (["[1,2]", "[1,2.0]"], False), (["[1]", "1"], True), (['"a"', '"\\u0061"'], False),
    (["-1", "-2"], True), (["1e300", str(int(1e300))], False), (["[]", "[[]]"], True),
    (["0.1", "0.1000000000000000055511151231257827"], False), (["9" * 4300, "1"], True),
    (["9" * 4301, "1"], False), (["1e999", "1"], False), (["NaN", "1"], False),
])  # fmt: skip
def test_both_checkers_compare_labels_alike(labels, is_fine, tmp_path):
    text, proof = with_labels(labels)
    (tmp_path / "x.wcnf").write_text(text)
    (tmp_path / "x.wcnf.cert").write_text(proof)
    if is_fine:
        assert checker.check(text, proof) == (0, 0)
        assert files.verify_file(tmp_path / "x.wcnf").proven
        return
    with pytest.raises(ValueError, match=r"labels|bad integer|not plain"):
        checker.check(text, proof)
    with pytest.raises(ValueError, match="labels"):
        files.verify_file(tmp_path / "x.wcnf")


@pytest.mark.parametrize("key", ["labels [", 'recipe {"a":'])
def test_a_number_of_a_million_digits_is_refused_by_every_python(key, monkeypatch):
    """Before Python 3.11, json would take minutes for it."""
    before = sys.get_int_max_str_digits()
    sys.set_int_max_str_digits(0)
    try:
        text = f"c {key}{'7' * 10**6}{']' if '[' in key else '}'}\n{WCNF}"
        began = process_time()
        with pytest.raises(ValueError, match="bad integer: 777"):
            checker.check(text, CERTIFICATE)
        assert process_time() - began < SECONDS
    finally:
        sys.set_int_max_str_digits(before)


def test_a_deep_tree_takes_memory_in_proportion_to_its_rows():
    def peak(depth):
        rows = "branch 1 2\n" * depth + "leaf 0 0\n" * (depth + 1)
        proof = CERTIFICATE.replace("certificate 1", "certificate 3")
        proof = proof.replace("loops", f"tree {2 * depth + 1}\n{rows}loops")
        tracemalloc.start()
        try:
            assert checker.check(WCNF, proof) == (0, 0)
            return tracemalloc.get_traced_memory()[1]
        finally:
            tracemalloc.stop()

    assert peak(1200) < 7 * peak(300)  # about 15 times as much when every path was a list


def test_many_rows_of_a_tree_are_read_in_linear_time():
    rows = 400_000
    text = f"glasshouse-certificate 3\ndenominator 1\nstate 1\ntree {rows}\n"
    began = process_time()
    checker.read_certificate(text + "leaf 0 0\n" * rows + "loops 0\n")
    assert process_time() - began < SECONDS


@pytest.mark.skipif(sys.platform == "win32", reason="there is no limit of address space")
def test_a_lack_of_memory_is_a_refusal(tmp_path):
    """One square over many spins has the pairs of all of them."""
    size = 20_000
    proof = f"glasshouse-certificate 2\ndenominator 1\nstate {'1' * size}\nloops 0\nsquares 1\n1"
    proof += "".join(f" 1 {k}" for k in range(1, size + 1))
    (tmp_path / "x.wcnf").write_text(f"p wcnf {size} 1 3\n1 1 0\n")
    (tmp_path / "x.cert").write_text(proof + "\n")
    limited = ["sh", "-c", 'ulimit -v 524288 && exec "$@"', "sh", sys.executable]
    done = subprocess.run(
        [*limited, checker.__file__, "x.wcnf", "x.cert"], cwd=tmp_path, capture_output=True,
        text=True, timeout=600, check=False,
    )  # fmt: skip
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr == "REFUSED not enough memory\n"
