"""Words that often break readers: numbers at the limits of types, and invalid numbers."""

from __future__ import annotations

from random import Random

MAGNITUDES = (
    0, 1, 2, 3, 4, 7, 255, 2**15, 2**31 - 1, 2**31, 2**32, 2**53 - 1, 2**53, 2**53 + 1, 2**57,
    2**61, 2**62 - 1, 2**62, 2**63 - 1, 2**63, 2**63 + 1, 2**64 - 1, 2**64, 2**64 + 1, 10**30,
    10**400,
)  # fmt: skip

ODD_NUMBERS = (
    b"0.5", b"-1.5", b"1e-320", b"5e-324", b"1e308", b"1.8e308", b"1e999", b"1e99999999", b"nan",
    b"inf", b"-0", b"+1", b"1_0", b"0x1", b"1/3", b"1.", b".5", b"--1", b"9" * 5000, b"\xd9\xa3",
    b"\xb2",
)  # fmt: skip

# All targets share this list, because libFuzzer learns which words are useful.
KEYWORDS = (
    b"p wcnf 3 2 9\n", b"p cnf 3 2\n", b"c ", b"h ", b" 0\n", b"c planted-cost 1\n",
    b"c planted-model 01\n", b"c recipe {}\n", b"c num-variables 3\n", b"c num-clauses 2\n",
    b"c encoding edge\n", b"# offset 1\n", b"# vartype=SPIN\n", b"# vartype=BINARY\n",
    b"# ancilla 1\n", b"# numbers float\n", b"glasshouse-certificate 1\n", b"denominator 1\n",
    b"cost 1\n", b"state 011\n", b"names 1 2 3\n", b"loops 1\n", b"1 1 2 3\n", b"1 0 1 2\n",
    b"glasshouse-certificate 2\n", b"squares 1\n", b"1 1 1 -1 2\n", b"2 1 0 2 3\n",
    b"1 -1 -2 3\n", b"\r\n", b"\x0b", b"\x0c", b"\x00", b"\x85", b"\xa0", b"\xef\xbb\xbf",
    b"\xff\xfe", b"complete:20000", b"torus:3x3", b'{"n":', b"[[family]]\n", b"[solver]\n",
    b"grid = { n = [4] }\n", b"loop_density", b"frustration",
)  # fmt: skip


def number(random: Random) -> int:
    """Return a number at or near the limit of a type, of either sign."""
    value = random.choice(MAGNITUDES[:6] if random.random() < 0.5 else MAGNITUDES)
    if random.random() < 0.1:
        value += random.randint(-2, 2)
    return -value if random.random() < 0.25 else value


def word(random: Random) -> bytes:
    """Return a number as text, or an odd spelling of one."""
    return b"%d" % number(random) if random.random() < 0.8 else random.choice(ODD_NUMBERS)


def dictionary() -> str:
    """Return all words in libFuzzer's notation."""
    words = [*KEYWORDS, *(b"%d" % value for value in MAGNITUDES[4:-1]), *ODD_NUMBERS]
    lines = ["".join(f"\\x{byte:02x}" for byte in word) for word in words if len(word) <= 60]
    return "".join(f'"{line}"\n' for line in lines)
