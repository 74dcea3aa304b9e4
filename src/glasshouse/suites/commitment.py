"""Commitments to certificates that are published only later, for competitions.

`commitment.jsonl` is published with the instances. It contains, for each file, its SHA-256 and the
SHA-256 of 32 random bytes followed by the certificate. The random bytes, the *nonces*, stay with
the answers in `nonces.jsonl`. Without them a hash reveals nothing, even to a reader who can guess
the certificate; with them, no other certificate can be presented.
"""

from __future__ import annotations

import hashlib
import json
import re
import secrets
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from glasshouse.certificates import CertificateError
from glasshouse.files import FileError, read_document, read_side_car, side_car
from glasshouse.files.text.streams import opened, refuse_pipe, replacing
from glasshouse.suites.manifest import is_plain_name, read_lines, read_manifest, refuse_changed

COMMITMENT, NONCES = "commitment.jsonl", "nonces.jsonl"
_HEX = re.compile(r"[0-9a-f]{64}")


class Opened(NamedTuple):
    """A file and its proven bounds; its published certificate matches the commitment."""

    file: str
    bound: int
    best: int


def commit(manifest: Path, instances: Path) -> Path:
    """Write a suite's commitment to its instances folder, and the nonces to its answers folder.

    Existing files are kept: nonces are drawn once.
    """
    target, entries = instances / COMMITMENT, list(read_manifest(manifest))
    hidden = manifest.with_name(NONCES)
    if not hidden.exists():
        drawn = [{"file": entry.file, "nonce": secrets.token_hex(32)} for entry in entries]
        _write_lines(hidden, drawn)
    nonces = _read(hidden, "nonce")
    lines = [
        {
            "file": entry.file,
            "sha256": entry.sha256,
            "commitment": _hash(_nonce(hidden, nonces, entry.file), manifest.parent, entry.file),
        }
        for entry in entries
    ]
    if not target.exists():
        _write_lines(target, lines)
    elif _read(target, "commitment") != {line["file"]: line["commitment"] for line in lines}:
        raise FileError(target, "does not match this suite's certificates; choose another folder")
    return target


def iter_check_commitment(commitment: Path, answers: Path) -> Iterator[Opened]:
    """Check published answers against a commitment; yield each file with its proven bounds.

    The check of a file proves: it has the listed bytes; nonce and certificate have the listed hash;
    and the certificate belongs to this file, whose optimum or bound it proves.

    Raises:
        FileError: a file, nonce or certificate does not match the commitment.
    """
    hashes, stated = _read(commitment, "sha256"), _read(commitment, "commitment")
    hidden = answers / NONCES
    nonces = _read(hidden, "nonce")
    for file, expected in stated.items():
        path, proof = commitment.with_name(file), side_car(answers / file)
        refuse_changed(path, hashes[file], str(commitment))
        if _hash(_nonce(hidden, nonces, file), answers, file) != expected:
            raise FileError(proof, f"is not the certificate that {commitment} commits to")
        try:
            verdict = read_document(path).examined(read_side_car(proof)).verdict
        except CertificateError as lie:
            raise FileError(proof, str(lie)) from None
        yield Opened(file, verdict.lower_bound, verdict.energy)


def _hash(nonce: str, answers: Path, file: str) -> str:
    proof = side_car(answers / file)
    refuse_pipe(proof)
    with opened(proof) as source:
        return hashlib.sha256(bytes.fromhex(nonce) + source.read_all()).hexdigest()


def _nonce(path: Path, nonces: dict[str, str], file: str) -> str:
    if file not in nonces:
        raise FileError(path, f"has no nonce for {file}; expected one nonce per file of the suite")
    return nonces[file]


def _read(path: Path, key: str) -> dict[str, str]:
    """Read a JSON-lines file that maps each file to its hash or nonce, stored under `key`."""
    read: dict[str, str] = {}
    for source, number, values in read_lines(path):
        file, text = (values or {}).get("file"), (values or {}).get(key)
        if not is_plain_name(file) or not isinstance(text, str) or not _HEX.fullmatch(text):
            raise source.error(f"the line must be a JSON object with 'file' and {key!r}", number)
        if read.setdefault(str(file), text) != text:
            raise source.error(f"lists {file} twice with different values; remove one line", number)
    return read


def _write_lines(path: Path, lines: list[dict[str, str]]) -> None:
    with replacing(path, overwrite=False) as file:
        file.writelines((json.dumps(line) + "\n").encode("ascii") for line in lines)
