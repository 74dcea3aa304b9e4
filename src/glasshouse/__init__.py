"""Spin glasses with planted ground states: generation, proofs of optimality, and solvers.

This module lists the public names by stage. Each name is imported at its first use, so that
`import glasshouse` and the command line start quickly.

>>> import glasshouse as gh
>>> triangle = gh.Ising.from_edges(3, [(0, 1), (1, 2), (0, 2)], [1, 1, -1])
>>> clauses, reduction = gh.to_max2sat(triangle)
>>> clauses.cost([1, 1, 1]), reduction.source_energy(1)
(1, -1)
"""

from importlib import import_module

from glasshouse.version import __version__ as __version__

_NAMES_OF = {
    "extras": "MissingPackageError",  # raised if an optional package is missing
    # Classes of problems, and conversions between them.
    "problems": "Ising Max2Sat MaxSat Polynomial Qubo Rbm",
    "problems.convert": "to_ising to_max2sat to_maxcut to_maxsat to_polynomial to_qubo to_rbm",
    "problems.bipartite": "rbm_to_ghost",
    "problems.reduction": "Reduction",
    # The energy of a problem around a state.
    "landscape": (
        "components distance energy_gap_variance expected_frustration expected_intersections "
        "expected_local_minima free_spins frustration_index gauge ground_state_count "
        "is_local_minimum local_field_dispersion local_fields local_minima low_energy_states "
        "metastable_state overview switching_subset"
    ),
    # Certificates of optima, and their verification.
    "certificates": "Certificate CertificateError Proven Verdict verify",
    # Problems with a known ground state; the catalogue `METHODS` lists the planting methods.
    "planting": "Graph Loops Planted Recipe Seed decompose_loop planting_method shuffle",
    "planting.methods.ensemble": "random_loops_ensemble",
    # Files in the formats of the field.
    "files": "FileError read read_document read_planted verify_file write",
    # States of low energy, and states at given temperatures.
    "solvers": "AnnealResult anneal brute_force descend optimal_tts sweeps_to_solution temper",
    "solvers.minimising": "minimise",
    "solvers.sampling": "ThermalSamples sample",
    "solvers.schedule": "paper_schedule peak_density",
    "solvers.samplers": "GlasshouseAnnealer GlasshouseTempering",
    # Proofs of optima, and folders of instances with proven optima.
    "proofs": "NoiseMargin Proof noise_margin prove",
    "suites": "check_suite iter_check_suite iter_write_suite write_suite",
    # Hardness of ensembles of instances.
    "store": "Stop Store collect iter_collect",
    "studies": "Task read_rows tune",
    # Training of RBMs.
    "boltzmann": "BoltzmannMachine bars_and_stripes shifting_bars train",
    "boltzmann.estimator": "RestrictedBoltzmannMachine",
    # Races of third-party solvers on proven instances, and reports on one page.
    "races": "load_suite optimal_setting race_samplers",
    "reports": "report",
}
_HOME_OF = {name: home for home, names in _NAMES_OF.items() for name in names.split()}


def __getattr__(name: str) -> object:
    if name == "__all__":
        return __dir__()
    if name in _HOME_OF:
        value = getattr(import_module(f"glasshouse.{_HOME_OF[name]}"), name)
    elif not name.startswith("_") and name in _methods():
        value = _methods()[name].function
    else:
        raise AttributeError(f"module 'glasshouse' has no attribute {name!r}")
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(["__version__", *_HOME_OF, *_methods()])


def _methods():
    """Return the catalogue of planting methods; glasshouse exports each method under its name."""
    return import_module("glasshouse.planting").METHODS
