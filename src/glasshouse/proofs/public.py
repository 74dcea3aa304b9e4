"""The names of proofs that Python users need, in one place: the package takes them from here."""

from glasshouse.proofs.exact import ExactResult as ExactResult
from glasshouse.proofs.exact import solve_exactly as solve_exactly
from glasshouse.proofs.lp.highs import LinearProgramError as LinearProgramError
from glasshouse.proofs.progress import Bounds as Bounds
from glasshouse.proofs.progress import Statistics as Statistics
from glasshouse.proofs.proof import Proof as Proof
from glasshouse.proofs.proof import prove as prove
from glasshouse.proofs.two_sat import HardClausesUnsatisfiableError as HardClausesUnsatisfiableError
from glasshouse.proofs.veripb.writing import veripb_proof as veripb_proof
