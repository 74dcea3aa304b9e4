"""`glasshouse solve --maxsat-output`: the lines and exit codes of the MaxSAT Evaluation."""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from glasshouse.cli import console
from glasshouse.cli.errors import AnswerCode
from glasshouse.cli.output import model_of
from glasshouse.cli.termination import Termination, current, is_interruption
from glasshouse.stopping import TimeIsOverError, deferred

if TYPE_CHECKING:
    from glasshouse.files import Document
    from glasshouse.problems import Max2Sat, MaxSat


class Contest:
    """The best model found so far for a file of clauses; each improved cost is printed."""

    def __init__(self, document: Document, problem: Max2Sat | MaxSat) -> None:
        self.document, self.problem = document, problem
        self.model: Any = None
        self.cost: Any = None
        self._speaking = threading.Lock()  # solvers offer models from other threads, too
        self._is_over = False

    def offer(self, model: Any) -> bool:
        """Print a model's cost if it is the best so far; return whether no better model is known.

        A model counts once its line is printed. No signal is handled between these two steps; while
        nothing reads the output, signals are handled before both.
        """
        if self.problem.broken(model):
            return False
        cost = self.document.value_of(model)
        while self._is_better(cost):
            if not console.is_read(seconds=0.1):
                continue
            with deferred(), self._speaking:
                if self._is_better(cost):
                    console.write(f"o {cost}\n")
                    self.model, self.cost = model, cost
        return bool(cost == self.cost)

    def _is_better(self, cost: Any) -> bool:
        return not self._is_over and (self.model is None or bool(cost < self.cost))

    def run(self, solve: Callable[[], tuple[Any, bool]]) -> AnswerCode:
        """Solve, and print the best model however the search ends.

        Hard clauses of two literals are satisfied at once, so that there is a model from the start.
        If hard clauses are longer, the model with all variables false is tried.

        Args:
            solve: returns a model or None, and whether it is optimal.
        """
        import numpy as np

        from glasshouse.problems import Clauses
        from glasshouse.problems.hard_clauses import HardClausesUnsatisfiableError, satisfy

        is_optimal, status = False, "UNKNOWN"
        try:
            size, hard = self.problem.num_variables, self.problem.hard
            self.offer(
                np.zeros(size, np.int8) if isinstance(hard, Clauses) else satisfy(size, hard)
            )
            model, is_claimed = solve()
            is_optimal = model is not None and self.offer(model) and is_claimed
            current().finish()  # the search is over
        except HardClausesUnsatisfiableError:
            current().finish()
            status = "UNSATISFIABLE"
        except (KeyboardInterrupt, SystemError) as stop:  # Ctrl-C or SIGTERM
            current().finish()
            if not is_interruption(stop):
                raise
            if isinstance(stop, TimeIsOverError) and str(stop):
                print(f"glasshouse: {stop}", file=sys.stderr)
        with self._speaking:
            self._is_over = True
        if self.model is not None:
            status = "OPTIMUM FOUND" if is_optimal else "SATISFIABLE"
        return conclude(status, self.model)


def by_the_rules(solve: Callable[[], Any], termination: Termination) -> Any:
    """Run a command that must print an answer, even if it is stopped before its search."""
    try:
        termination.begin()
        return solve()
    except (KeyboardInterrupt, SystemError) as stop:
        termination.finish()
        if not is_interruption(stop):
            raise
        return conclude("UNKNOWN")


def conclude(status: str, model: Any = None) -> AnswerCode:
    """Print the last lines completely, and return the matching exit code."""
    from glasshouse.races.judging.clauses import EXIT_CODES

    console.write_whole(f"s {status}\n" + ("" if model is None else f"v {model_of(model)}\n"))
    return AnswerCode(EXIT_CODES[status])
