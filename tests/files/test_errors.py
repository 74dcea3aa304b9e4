"""Bad input: a FileError that names the file, the line and what was expected."""

from __future__ import annotations

import gzip
import lzma
import os

import pytest

from glasshouse.files import FileError, read, read_certificate, write
from glasshouse.problems import Ising, Max2Sat

# Suffix, content, line to blame (None: no line), and words of the message.
BAD = [
    (".wcnf", "", None, "contains no clauses"),
    (".wcnf", "c only a comment\n", None, "contains no clauses"),
    (".wcnf", "p wcnf 3 2 9\n3 1 -2 3 0\n3 1 2 4 0\n", 3, "literal 4 is out of range"),
    (".wcnf", "p wcnf 3 1 9\n3 1 -2 0 3 0\n", 2, "literal 0 inside a clause"),
    (".wcnf", "3 1 2 0\nh 1 2 -1\n", 2, "must end with a 0"),
    (".wcnf", "p wcnf 3 2\n9223372036854775807 1 2 3 0\n1 1 2 3 0\n", None, "add up to"),
    (".wcnf", "3 1 2 2000000000 0\n", None, "2000000000 variables but only 1 clauses"),
    (".wcnf", "p wcnf 2 2 9\n3 1 0 2 0\n3 1 0\n", 2, "literal 0 inside a clause"),
    (".wcnf", "p wcnf 2 1 9\n3 0 1 0\n", 2, "literal 0 inside a clause"),
    (".wcnf", "p wcnf 2 1 9\n\nc x\n3 1 3 0\n", 4, "literal 3 is out of range; expected ±1 to ±2"),
    (".wcnf", "p wcnf 2 1 9\n3 1 -3 0\n", 2, "literal -3 is out of range"),
    (".wcnf", "p wcnf 2 1 9\n3 1 x 0\n", 2, "literal 'x' is out of range"),
    (".wcnf", "3 1 9999999999 0\n", 1, "literal 9999999999 is out of range"),
    (".wcnf", "p wcnf 2 1 9\n-3 1 2 0\n", 2, "weight -3 is negative"),
    (".wcnf", "p wcnf 2 1 9\n1.5 1 2 0\n", 2, "weight '1.5' is not an integer"),
    (".wcnf", "p wcnf 2 1 9\n1e3 1 2 0\n", 2, "weight '1e3' is not an integer"),
    (".wcnf", "p wcnf 2 1 9\nnan 1 2 0\n", 2, "weight 'nan' is not an integer"),
    (".wcnf", "p wcnf 2 1 9\nh 1 2 0\n", 2, "weight 'h' is not an integer"),
    (".wcnf", "9223372036854775808 1 2 0\n", 1, "is above 2^63-1"),
    (".wcnf", "p wcnf 2 2\n9223372036854775807 1 0\n1 2 0\n", None, "add up to"),
    (".wcnf", "p wcnf 2 2 99\n3 1 2 0\n3 1 2\n", 3, "must end with a 0"),
    (".wcnf", "p wcnf 2 2 99\n3 1 2 0\n3", 3, "must end with a 0"),
    (".wcnf", "p wcnf 2 3 99\n3 1 2 0\n3 1 0\n", 3, "2 clauses, but the p line states 3"),
    (".wcnf", "p wcnf 2 1 99\n3 1 2 0\n3 1 0\n", 3, "2 clauses, but the p line states 1"),
    (".wcnf", "p wcnf 2 1 9\np wcnf 2 1 9\n3 1 0\n", 2, "there must be only one p line"),
    (".wcnf", "p wcnf 2 1 9\n3 1 0\np wcnf 2 1 9\n", 3, "there must be only one p line"),
    (".wcnf", "3 1 0\np wcnf 2 1 9\n", 2, "the p line must be before all clauses"),
    (".wcnf", "p cnf 2 1\n1 2 0\n", 1, "must be 'p wcnf VARIABLES CLAUSES TOP'"),
    (".wcnf", "p wcnf 2\n3 1 0\n", 1, "must be 'p wcnf"),
    (".wcnf", "p wcnf 2 -1 9\n", 1, "must be 'p wcnf"),
    (".wcnf", "p wcnf 2 1 nan\n3 1 0\n", 1, "must be 'p wcnf"),
    (".wcnf", "p wcnf 2 1 0\n3 1 0\n", 1, "top is 0"),
    (".wcnf", "p wcnf 9999999999 1 9\n3 1 0\n", 1, "above the limit 2147483647"),
    (".wcnf", "c num-clauses 3\n3 1 0\n", 2, "1 clauses, but num-clauses states 3"),
    (".wcnf", "c num-variables 1\n3 1 2 0\n", 1, "must be an integer from 2"),
    (".wcnf", "p wcnf 2000000000 1 5\n1 1 0\n", None, "2000000000 variables but only 1 clauses"),
    (".wcnf", "1 2000000000 0\n", None, "2000000000 variables but only 1 clauses"),
    (".wcnf", "c num-variables 2000000000\n1 1 0\n", None, "variables but only 1 clauses"),
    (".cnf", "p cnf 2000000000 1\n1 0\n", None, "2000000000 variables but only 1 clauses"),
    (".wcnf", "c encoding edge\np wcnf 3 1 9\n9 1 2 3 0\n", None, "written with encoding="),
    (".wcnf", "\x7fELF\x02\x01\x01\x00", None, "binary data"),
    (".wcnf", "p wcnf 1 1 9\n3 1 0\nc planted-cost 1.x\n", 3, "'1.x' must be a finite number"),
    (".wcnf", "c planted-cost nan\np wcnf 1 1 9\n3 1 0\n", 1, "'nan' must be a finite number"),
    (".wcnf", "c planted-cost 1\nc planted-cost 1\n3 1 0\n", 2, "line 1 already states"),
    (".wcnf", "p wcnf 1 1 9\n3 1 0\nc planted-model 2\n", 3, "must be a string of 0 and 1"),
    (".wcnf", "p wcnf 1 1 9\n3 1 0\nc planted-model 01\n", 3, "has 2 values, but must"),
    (".wcnf", "p wcnf 1 1 9\n3 1 0\nc recipe {1}\n", 3, "must be a JSON object"),
    (".wcnf", f"p wcnf 1 1 9\n3 1 0\nc recipe {{{'[' * 9999}\n", 3, "must be a JSON object"),
    (".cnf", "", None, "no p line before the clauses"),
    (".cnf", "1 2 0\n", None, "no p line before the clauses"),
    (".cnf", "p cnf 3 1\n1 2 x 0\n", 2, "literal 'x' is out of range"),
    (".cnf", "p wcnf 2 1 9\n3 1 0\n", 1, "must be 'p cnf VARIABLES CLAUSES'"),
    (".cnf", "p cnf 2 1\n1 2\n", 2, "must end with a 0"),
    (".opb", "* #variable= 1 #constraint= 0\nmin: ;\n", None, "cannot be read"),
    (".qubo", "", None, "has no p line"),
    (".qubo", "0 0 1\n", None, "no p line before the terms"),
    (".qubo", "p qubo 0 2 1 1\n0 0 1\n", 2, "1 terms, but the p line states 1 + 1"),
    (".qubo", "p qubo 0 2 1 0\n0 2 1\n", 2, "variable 2 is out of range; expected 0 to 1"),
    (".qubo", "p qubo 0 2 1 0\n0 -1 1\n", 2, "variable -1 is out of range"),
    (".qubo", "p qubo 0 2 1 0\n0 1.0 1\n", 2, "variable '1.0' is out of range"),
    (".qubo", "p qubo 0 2 1 0\n0 1\n", 2, "the line has 2 entries, but must have 3"),
    (".qubo", "p qubo 0 2 1 0\n0 1 nan\n", 2, "weight 'nan' is not a finite number"),
    (".qubo", "p qubo 0 2 1 0\n0 1 1e999\n", 2, "weight '1e999' is not a finite number"),
    (".qubo", "p qubo 0 2 1 0\n0 1 1_0\n", 2, "weight '1_0' is not a finite number"),
    (".qubo", "p qubo 0 2 1 0\n0 1 h\n", 2, "weight 'h' is not a finite number"),
    (".qubo", "p qubo 0 2 1 0\n0 1 9223372036854775808\n", 2, "is above 2^63-1"),
    (".qubo", "p qubo 0 2 1 1\n0 1 1e308\n0 0 1.5e308\n", None, "exceeds the float range"),
    (".qubo", "p qubo 0 2147483647 1 0\n0 1 1\n", None, "2147483647 variables but only 1 terms"),
    (".qubo", "p qubo 1 2 1 0\n0 1 1\n", 1, "must be 'p qubo 0"),
    (".qubo", "p qubo 0 2 1 0\np qubo 0 2 1 0\n", 2, "there must be only one p line"),
    (".qubo", "c numbers complex\np qubo 0 2 1 0\n0 1 1\n", 1, "must be float"),
    (".mc", "", None, "is empty"),
    (".mc", "3\n", 1, "two entries, vertices and edges, not 1"),
    (".mc", "3 x\n", 1, "'x' edges"),
    (".mc", "-3 0\n", 1, "-3 vertices"),
    (".mc", "3 1\n1 4 1\n", 2, "vertex 4 is out of range; expected 1 to 3"),
    (".mc", "3 1\n0 1 1\n", 2, "vertex 0 is out of range"),
    (".mc", "3 1\n2 2 1\n", 2, "vertex 2 is joined to itself"),
    (".mc", "3 2\n1 2 1\n", 2, "1 edges, but the first line states 2"),
    (".mc", "3 1\n1 2 1\n# ancilla 2\n", 3, "must be an integer from 3 to 3"),
    (".coo", "", None, "no vartype"),
    (".coo", "0 1 1\n", None, "no vartype"),
    (".coo", "# vartype=REAL\n0 1 1\n", 1, "must state exactly one vartype"),
    (".coo", "# vartype=SPIN\n# vartype=BINARY\n0 1 1\n", 2, "must state exactly one vartype"),
    (".coo", "# vartype=SPIN\n0 1\n", 2, "must have 3"),
    (".coo", "# vartype=SPIN\n2147483647 1 1\n", 2, "out of range"),
    (".coo", "# vartype=SPIN\n# labels [1,2]\n7 1 1\n", 2, "must be the numbers of the variables"),
    (".coo", '# vartype=SPIN\n# labels ["a","b"]\n7 1 1\n', 2, "lines with variables 0 to 1"),
    (".coo", '# vartype=SPIN\n# labels ["a"]\n0 1 1\n', 2, "1 labels but 2 variables"),
    (".qubo", 'c labels ["a","a"]\np qubo 0 2 0 1\n0 1 1\n', 1, "only 1 of 2 labels are distinct"),
    (".qubo", "c labels [null,1]\np qubo 0 2 0 1\n0 1 1\n", 1, "is not a list of labels"),
    (".wcnf", "c labels [[[[[[[1]]]]]]]\np wcnf 1 1 2\n1 1 0\n", 1, "is not a list of labels"),
    (".bqm", "", None, "is not a dimod BQM file"),
    (".bqm", "DIMODBQM\x02\x00\x00", None, "is not a dimod BQM file"),
    (".npz", "", None, "is not a glasshouse .npz"),
    (".npz", "PK\x03\x04", None, "is not a glasshouse .npz"),
    (".toml", "{}", None, "unknown suffix '.toml'; expected one of "),
    ("", "", None, "unknown suffix ''"),
    (".gz", "", None, "the compressed data end too soon"),
    ("", "hello\n", None, "unknown suffix ''"),
    ("", "3 1 0\n", None, "unknown suffix ''"),  # a clause, or an edge of no weight
    (".mc", "3.5 1\n1 2 1\n", 1, "'3.5' vertices and 1 edges; expected 0 to"),
    (".mc", "800 1 J\n1 2 1\n", 1, "weight 'J' is not a finite number"),
    (".mc", "3 1\n1.5 2 1\n", 2, "vertex '1.5' is out of range"),
    (".txt", "3 2\n1 2 1\n", 2, "1 edges, but the first line states 2"),
    (".dat", "2 1\n1 3 1\n", 2, "vertex 3 is out of range; expected 1 to 2"),
    (".0", "2 2\n1 1 1\n1 2 1\n", 2, "if the file is a QUBO, pass its format, such as"),
    (".sparse", "", None, "is empty; expected 'VARIABLES ENTRIES'"),
    (".sparse", "1 1 5\n", 1, "two entries, variables and entries, not 3"),
    (".sparse", "2 1\n1 1 5\n1 2 3\n", 3, "2 entries, but the first line states 1"),
    (".sparse", "2 1\n1 3 5\n", 2, "variable 3 is out of range; expected 1 to 2"),
    (".sparse", "2.0 1\n1 1 5\n", 1, "'2.0' variables and 1 entries; expected 0 to"),
    (".sparse", f"2 1\n1 2 {2**62}\n", None, "counts twice, so it must be below 2^62"),
    (".mqlib", "2 1\n1 2 x\n", 2, "weight 'x' is not a finite number"),
    (".mc.zip", "3 1\n1 2 1\n", None, "cannot be read (File is not a zip file)"),
    (".zip", "", None, "cannot be read (File is not a zip file)"),
]  # fmt: skip


@pytest.mark.parametrize(("suffix", "content", "line", "words"), BAD)
def test_bad_files_are_refused_with_place_and_reason(tmp_path, suffix, content, line, words):
    path = tmp_path / f"bad{suffix}"
    path.write_bytes(content.encode("latin1"))
    with pytest.raises(FileError) as caught:
        read(path)
    message = str(caught.value)
    assert words in message
    assert caught.value.line == line
    assert message.startswith(f"{path}, line {line}: " if line else f"{path}: ")
    assert "\n" not in message


def test_a_directory_without_a_suffix_is_called_one(tmp_path):
    for place in (tmp_path, str(tmp_path)):
        with pytest.raises(FileError, match=r": is a directory; expected a file$"):
            read(place)


def test_of_several_faults_the_first_line_is_named(tmp_path):
    path = tmp_path / "x.wcnf"
    path.write_text("p wcnf 2 3 9\n1 1 0\n1 1 2\n-1 1 0\n")
    with pytest.raises(FileError, match="line 3: a clause must end with a 0"):
        read(path)


def test_a_long_file_is_blamed_at_the_right_line(tmp_path):
    lines = ["p wcnf 9 400000 9", *["1 1 -2 0"] * 400_000]
    lines[300_000] = "1 1 99 0"
    path = tmp_path / "long.wcnf"
    path.write_text("\n".join(lines))
    with pytest.raises(FileError, match="line 300001: literal 99 is out of range"):
        read(path)


def test_missing_files_directories_and_forbidden_ones(tmp_path):
    with pytest.raises(FileError, match=r"none\.wcnf: there is no such file"):
        read(tmp_path / "none.wcnf")
    (tmp_path / "folder.wcnf").mkdir()
    with pytest.raises(FileError, match="is a directory"):
        read(tmp_path / "folder.wcnf")
    with pytest.raises(FileError, match="is a directory"):
        write(tmp_path / "folder.wcnf", Max2Sat.from_clauses(1, [[1]], [1]), overwrite=True)
    with pytest.raises(FileError, match="cannot be read"):
        read(tmp_path / "a\0b.wcnf")
    with pytest.raises(FileError, match="cannot be written"):
        write(tmp_path / "no" / "where.wcnf", Max2Sat.from_clauses(1, [[1]], [1]))
    if os.geteuid():
        locked = tmp_path / "locked.wcnf"
        locked.touch(mode=0)
        with pytest.raises(FileError, match="Permission denied"):
            read(locked)


@pytest.mark.parametrize(("suffix", "pack"), [(".gz", gzip.compress), (".xz", lzma.compress)])
def test_torn_and_false_archives(tmp_path, suffix, pack):
    path = tmp_path / f"x.wcnf{suffix}"
    packed = pack(b"3 1 2 0\n" * 5000)
    path.write_bytes(packed[: len(packed) // 2])
    with pytest.raises(FileError, match=r"truncated|cannot be read"):
        read(path)
    path.write_bytes(b"3 1 2 0\n")
    with pytest.raises(FileError, match="cannot be read"):
        read(path)
    path.write_bytes(packed[:-9] + bytes(9))
    with pytest.raises(FileError, match=r"cannot be read|truncated"):
        read(path)


def test_a_line_without_end_is_refused_before_it_fills_the_memory(tmp_path, monkeypatch):
    monkeypatch.setenv("GLASSHOUSE_READ_LIMIT", "2M")
    path = tmp_path / "x.wcnf"
    path.write_bytes(b"1 " * (1 << 21))
    with pytest.raises(FileError, match=r"a line is longer than .*GLASSHOUSE_READ_LIMIT=2M"):
        read(path)


def test_options_that_do_not_fit_are_refused(tmp_path):
    problem = Ising.from_edges(2, [(0, 1)], [1])
    for options, words in [
        ({"dialect": "new"}, "dialect='new' is not known"),
        ({"encoding": "cnf"}, "encoding='cnf' is not known"),
        ({"kind": "cnf"}, "kind='cnf' is not one of ising, rbm, qubo, max2sat, maxcut"),
    ]:
        with pytest.raises(ValueError, match=words):
            write(tmp_path / "x.wcnf", problem, **options)
    for options in ({"dialect": "mse22"}, {"encoding": "edge"}):
        with pytest.raises(ValueError, match=r"require a \.wcnf file, not \.qubo"):
            write(tmp_path / "x.qubo", problem, **options)


BAD_CERTIFICATES = [
    ("", None, "no line 'glasshouse-certificate ...'"),
    ("state 01\n", 1, "expected 'glasshouse-certificate 1'"),
    ("glasshouse-certificate 7\ndenominator 1\nstate 0\nloops 0\n", 1, "expected glasshouse-cert"),
    ("glasshouse-certificate 3\ndenominator 1\nstate 0\nloops 0\n", None, "no line 'tree ...'"),
    ("glasshouse-certificate 1\nstate 0\nloops 0\n", None, "no line 'denominator ...'"),
    ("glasshouse-certificate 1\ndenominator 0\nstate 0\nloops 0\n", 2, "must be at least 1"),
    ("glasshouse-certificate 1\ndenominator x\nstate 0\nloops 0\n", 2, "a non-negative integer"),
    ("glasshouse-certificate 1\ndenominator 1\nstate 02\nloops 0\n", 3, "a string of 0 and 1"),
    ("glasshouse-certificate 1\ndenominator 1\nstate 000\nloops 2\n1 1 2 3\n", 4, "of rows, 1"),
    ("glasshouse-certificate 1\ndenominator 1\nstate 0\nstate 0\nloops 0\n", 4, "once, before"),
    ("glasshouse-certificate 1\ndenominator 1\nstate 0\nwhat 0\nloops 0\n", 4, "once, before"),
    ("glasshouse-certificate 1\ndenominator 1\ncost x\nstate 0\nloops 0\n", 3, "a finite number"),
    ("glasshouse-certificate 1\ndenominator 1\nstate 00\nnames 1 1\nloops 0\n", 4, "each integer"),
    ("glasshouse-certificate 1\ndenominator 1\nstate 00\nnames 1\nloops 0\n", 4, "2 numbers"),
    ("glasshouse-certificate 1\ndenominator 1\nstate 000\nloops 1\n0 1 2 3\n", 5, "multiplier 0"),
    ("glasshouse-certificate 1\ndenominator 1\nstate 000\nloops 1\n-1 1 2 3\n", 5, "multiplier -1"),
    ("glasshouse-certificate 1\ndenominator 1\nstate 000\nloops 1\n1 1 2\n", 5, "at least 3 nodes"),
    ("glasshouse-certificate 1\ndenominator 1\nstate 000\nloops 1\n1 1 2 -3\n", 5, "have a sign"),
    ("glasshouse-certificate 1\ndenominator 1\nstate 000\nloops 1\n1 1 2 3.5\n", 5, "integer"),
    ("glasshouse-certificate 1\ndenominator 1\nstate 000\nloops 1\n1 1 h 2 3\n", 5, "expected"),
    ("glasshouse-certificate 1\ndenominator 1\nstate 000\nloops 1\n1 1 2 2\n", None, "not a cycle"),
    ("glasshouse-certificate 1\ndenominator 1\nstate 000\nloops 1\n1 -1 2 3\n", None, "odd"),
]  # fmt: skip


@pytest.mark.parametrize(("content", "line", "words"), BAD_CERTIFICATES)
def test_bad_certificates_are_refused(tmp_path, content, line, words):
    path = tmp_path / "x.cert"
    path.write_text(content)
    with pytest.raises(FileError) as caught:
        read_certificate(path)
    assert words in str(caught.value)
    assert caught.value.line == line


def test_arguments_in_the_wrong_order_are_refused_with_advice():
    problem = Ising.from_edges(2, [(0, 1)], [1])
    with pytest.raises(ValueError, match=r"pass the file first: write\(path, problem\)"):
        write(problem, "x.wcnf")
