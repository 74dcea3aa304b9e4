"""HiGHS as a user runs it, in the same thread as `prove`; as a script, before and after it."""

from __future__ import annotations

from typing import Any

import highspy
import numpy as np
from tests.proofs.lattices import lattice

from glasshouse.proofs import prove


def users_run(**options: Any) -> tuple[str, str]:
    """Solve a small LP; the statuses of the run and of the model."""
    solver = highspy.Highs()
    solver.setOptionValue("output_flag", False)
    for name, value in options.items():
        solver.setOptionValue(name, value)
    columns = np.arange(30, dtype=np.int32)
    solver.addVars(30, np.zeros(30), np.ones(30))
    solver.changeColsCost(30, columns, -np.ones(30))
    solver.addRow(-np.inf, 3.0, 30, columns, columns + 1.0)
    status = solver.run()
    return status.name, solver.getModelStatus().name


def our_run() -> tuple[bool, int]:
    """Prove a lattice that needs an LP; whether that went well, and a hash of the certificate."""
    proof = prove(lattice(4, 4, 4), node_limit=3)
    return proof.optimal, hash(proof.certificate)


if __name__ == "__main__":
    import os

    from glasshouse.questions import conic_decomposition

    print(os.cpu_count())
    users = [users_run()]  # with default options: half of all cores
    ours = [our_run(), conic_decomposition([[3, 1], [1, -1]]).exists]
    users += [users_run(), users_run(threads=0)]
    ours += [our_run(), conic_decomposition([[3, 1], [1, -1]]).exists]
    print(set(users))
    print(ours[:2] == ours[2:], ours)
