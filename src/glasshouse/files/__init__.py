"""Files: every problem and plant in the formats of the field, read and written by suffix."""

from glasshouse.files.carrying import carry
from glasshouse.files.certificate_reading import SideCar, read_certificate, read_side_car, side_car
from glasshouse.files.document import Document, Metadata
from glasshouse.files.errors import FileError
from glasshouse.files.formats import FORMATS, Format, Sheet, register_format
from glasshouse.files.keeping import standing_certificate, write_if_better
from glasshouse.files.reading import read, read_document
from glasshouse.files.regrowing import read_planted
from glasshouse.files.returning import Returned, bring_back
from glasshouse.files.sidecar import write_certificate
from glasshouse.files.suite import iter_write_suite, write_suite
from glasshouse.files.suite_checking import check_suite, iter_check_suite
from glasshouse.files.verification import Verification, verified, verify_file
from glasshouse.files.writing import write

__all__ = [
    "FORMATS",
    "Document",
    "FileError",
    "Format",
    "Metadata",
    "Returned",
    "Sheet",
    "SideCar",
    "Verification",
    "bring_back",
    "carry",
    "check_suite",
    "iter_check_suite",
    "iter_write_suite",
    "read",
    "read_certificate",
    "read_document",
    "read_planted",
    "read_side_car",
    "register_format",
    "side_car",
    "standing_certificate",
    "verified",
    "verify_file",
    "write",
    "write_certificate",
    "write_if_better",
    "write_suite",
]
