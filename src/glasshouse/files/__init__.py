"""Readers and writers of problem files, chosen by the file's suffix.

text/ (bytes that cannot be trusted) ← certificate/ (`NAME.cert`) ← claims (statements of a file) ←
document (a problem, what is stated about it and proven) ← formats/ (one file each) ← reading ←
replanting (a recipe grown again) ← writing, solutions (and their way back), graphs · clause_file
(clauses of any length and weight, for judges) ← known (`verify_file`, bounds and costs of a file)
"""

from glasshouse.files.certificate.reading import SideCar, read_certificate, read_side_car, side_car
from glasshouse.files.certificate.writing import write_certificate
from glasshouse.files.claims import Stated
from glasshouse.files.document import Document, carry
from glasshouse.files.formats.format import FORMATS, Format, Sheet, register_format
from glasshouse.files.known import Known as Known
from glasshouse.files.known import Verification, verify_file
from glasshouse.files.reading import read, read_document
from glasshouse.files.replanting import read_planted
from glasshouse.files.solutions import Returned, bring_back
from glasshouse.files.text.errors import FileError
from glasshouse.files.text.plain_json import parse_object as parse_object
from glasshouse.files.writing import Written, standing_certificate, write, write_if_better

__all__ = [
    "FORMATS", "Document", "FileError", "Format", "Returned", "Sheet", "SideCar", "Stated",
    "Verification", "Written", "bring_back", "carry", "read", "read_certificate", "read_document",
    "read_planted", "read_side_car", "register_format", "side_car", "standing_certificate",
    "verify_file", "write", "write_certificate", "write_if_better",
]  # fmt: skip
