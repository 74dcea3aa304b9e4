"""`glasshouse solve --maxsat-output`: the lines and exit codes of the MaxSAT Evaluation."""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from glasshouse.cli.errors import AnswerCode
from glasshouse.cli.output import model_of
from glasshouse.cli.termination import ignore, is_interruption

if TYPE_CHECKING:
    from glasshouse.files import Document
    from glasshouse.problems import Max2Sat

_PATIENCE = 0.3  # seconds after SIGTERM, for a solver that has a last word


class Contest:
    """The best model so far of one file of clauses, and what was said of it."""

    def __init__(self, document: Document, problem: Max2Sat) -> None:
        self.document, self.problem = document, problem
        self.model: Any = None
        self.cost: Any = None
        self._speaking = threading.Lock()  # solvers offer models from other threads, too
        self._is_over = False

    def offer(self, model: Any) -> bool:
        """Say at once what a model costs, if it is the best so far; whether it is, or equals it."""
        if self.problem.broken(model):
            return False
        cost = self.document.value_of(model)
        with self._speaking:
            if not self._is_over and (self.model is None or cost < self.cost):
                self.model, self.cost = model, cost
                print(f"o {cost}", flush=True)
            return bool(cost == self.cost)

    def run(self, solve: Callable[[], tuple[Any, bool]]) -> AnswerCode:
        """Solve, and give the best model however that ends.

        Hard clauses of two literals are satisfied at once, so that there is a model from the start.

        Args:
            solve: gives a model, None for none, and whether it is optimal.
        """
        from glasshouse.proofs import HardClausesUnsatisfiableError
        from glasshouse.proofs.interruption import hurried
        from glasshouse.proofs.two_sat import satisfy
        from glasshouse.races.judging import EXIT_CODES  # not at the end, when time is short

        is_optimal, status = False, "UNKNOWN"
        try:
            self.offer(satisfy(self.problem.num_variables, self.problem.hard))
            with hurried(_PATIENCE):
                model, is_claimed = solve()
            is_optimal = model is not None and self.offer(model) and is_claimed
            ignore()  # from the moment on when the search is over
        except HardClausesUnsatisfiableError:
            ignore()
            status = "UNSATISFIABLE"
        except (KeyboardInterrupt, SystemError) as stop:  # Ctrl-C or SIGTERM
            ignore()
            if not is_interruption(stop):
                raise
        if self.model is not None:
            status = "OPTIMUM FOUND" if is_optimal else "SATISFIABLE"
        self._say(status)
        return AnswerCode(EXIT_CODES[status])

    def _say(self, status: str) -> None:
        """The last lines, whole."""
        with self._speaking:
            self._is_over = True
            print(f"s {status}")
            if self.model is not None:
                print(f"v {model_of(self.model)}")
            sys.stdout.flush()
