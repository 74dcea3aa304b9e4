"""The parts of a package import in one direction, and packages meet at their doors.

Both tables are data. `python -m tests.parts` prints them as the code of today would fill them.
"""

from __future__ import annotations

import pytest
from tests.parts import ROOMS, entrances, parts_of, second_doors

# The parts of packages, lower ones first: a part imports only from parts before it. A package that
# is not listed is not checked; add it as soon as its files are where they belong.
_IN_ORDER = {
    "boltzmann": (
        "kernels statistics units data settings data_files model checkpoints importance "
        "model_files modes monitors training ensemble estimator curves figures tables paper"
    ),
    "certificates": (
        "checker integers kernels ties edge_sums flat_cycles tree exact_form squares "
        "certificate square_sums bound cover leaf verdict"
    ),
    "landscape": (
        "kernels ratio spins connectivity frustration gauge local metric theory enumeration "
        "metastable overview"
    ),
    "library": "fingerprint table recognition",
    "questions": "families gauged cone extremes",
    "reports": (
        "charts monitor_titles page script stores matrix proof_section rendering "
        "study_section training_section tree_parts tts instance_section machine_section "
        "race_section sampler_section writing"
    ),
    "solvers": (
        "covering kernels ladder success engine result engines replicas schedule warm_up "
        "forms crew descent exhaustive readiness record rounds annealing cooling planning "
        "benchmarking hitting methods tempering minimising samplers"
    ),
}
PARTS = {room: words.split() for room, words in _IN_ORDER.items()}

# Modules that other packages import, apart from a package's own `__init__`. The list only shrinks.
SECOND_DOORS = [
    "boltzmann.checkpoints",
    "boltzmann.curves",
    "boltzmann.data_files",
    "boltzmann.ensemble",
    "boltzmann.figures",
    "boltzmann.model",
    "boltzmann.model_files",
    "boltzmann.modes",
    "boltzmann.monitors",
    "boltzmann.paper",
    "boltzmann.settings",
    "boltzmann.tables",
    "boltzmann.training",
    "certificates.bound",
    "certificates.certificate",
    "certificates.edge_sums",
    "certificates.exact_form",
    "certificates.flat_cycles",
    "certificates.integers",
    "certificates.leaf",
    "certificates.square_sums",
    "certificates.squares",
    "certificates.ties",
    "certificates.tree",
    "certificates.verdict",
    "files.archive",
    "files.budget",
    "files.document",
    "files.errors",
    "files.formats",
    "files.graph_reading",
    "files.keeping",
    "files.manifest",
    "files.matrices",
    "files.notes",
    "files.opb",
    "files.plain_json",
    "files.plain_toml",
    "files.reading",
    "files.registry",
    "files.regrowing",
    "files.sidecar",
    "files.solutions",
    "files.streams",
    "files.suite",
    "files.verification",
    "files.wcnf",
    "landscape.connectivity",
    "landscape.enumeration",
    "landscape.gauge",
    "landscape.local",
    "landscape.overview",
    "landscape.ratio",
    "library.table",
    "planting.demand",
    "planting.effort",
    "planting.ensemble",
    "planting.graph_names",
    "planting.graphs",
    "planting.loops",
    "planting.method",
    "planting.planted",
    "planting.random_loops",
    "planting.randomness",
    "planting.shuffling",
    "problems.bipartite",
    "problems.convert",
    "problems.elementary",
    "problems.exact",
    "problems.exchange",
    "problems.measure",
    "problems.naming",
    "problems.pairs",
    "problems.rbm",
    "problems.reduction",
    "problems.renaming",
    "problems.validation",
    "proofs.exact",
    "proofs.exact.apart",
    "proofs.interruption",
    "proofs.linear.linear_program",
    "proofs.proof",
    "proofs.qoblib",
    "proofs.two_sat",
    "proofs.veripb.writing",
    "races.answer",
    "races.answer_files",
    "races.clause_file",
    "races.commitment",
    "races.dial",
    "races.entrants",
    "races.figures",
    "races.fuzzing",
    "races.handing_over",
    "races.hunting",
    "races.incumbents",
    "races.judging",
    "races.limits",
    "races.question",
    "races.race_task",
    "races.racing",
    "races.results",
    "races.rounds",
    "races.sampler_results",
    "races.sampler_store",
    "races.scores",
    "races.standard_scores",
    "races.standard_suite",
    "races.state_judging",
    "races.suite_file",
    "races.suite_folder",
    "races.suite_loading",
    "races.time_series",
    "races.transcript",
    "races.trial",
    "races.truth",
    "races.tts_figures",
    "solvers.annealing",
    "solvers.covering",
    "solvers.engine",
    "solvers.exhaustive",
    "solvers.hitting",
    "solvers.rounds",
    "solvers.samplers",
    "solvers.schedule",
    "solvers.success",
    "studies.analysis",
    "studies.collect",
    "studies.families",
    "studies.figures.curves",
    "studies.figures.drawing",
    "studies.figures.style",
    "studies.figures.weight_matrix",
    "studies.kinds",
    "studies.kinds.kind",
    "studies.knobs",
    "studies.paper",
    "studies.paper.report",
    "studies.statistics.estimators",
    "studies.statistics.samples",
    "studies.store.export",
    "studies.store.merging",
    "studies.store.purpose",
    "studies.store.records",
    "studies.store.store",
    "studies.store.storefile",
    "studies.study",
    "studies.task",
    "studies.tuned",
    "studies.tuning",
]


@pytest.mark.parametrize("room", PARTS)
def test_a_part_imports_only_from_parts_before_it(room):
    order, needs = PARTS[room], parts_of(room)
    assert sorted(order) == sorted(needs), f"the parts of {room} are not those that are listed"
    above = {
        f"{room}.{part} imports {other}"
        for k, part in enumerate(order)
        for other in needs[part]
        if other not in order[:k]
    }
    assert not above


def test_listed_packages_exist():
    assert set(PARTS) <= set(ROOMS)


def test_no_package_uses_the_kernels_of_another():
    inside = {name for _, name in entrances() if "kernels" in name.split(".")}
    assert not inside


def test_packages_meet_at_their_doors():
    new = [f"{path.name} imports {name}" for path, name in entrances() if name not in SECOND_DOORS]
    assert not new, "import these names from the package itself"


def test_second_doors_that_are_not_used_any_more_leave_the_list():
    assert sorted(SECOND_DOORS) == SECOND_DOORS
    assert set(SECOND_DOORS) <= set(second_doors())
