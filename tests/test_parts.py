"""Parts of a package import in one direction, and other packages only through `__init__`.

`python -m tests.parts` prints both tables for the current code.
"""

from __future__ import annotations

import pytest
from tests.parts import ROOMS, entrances, parts_of, second_doors

# The parts of each package, in an order in which a part imports only from earlier parts.
_IN_ORDER = {
    "boltzmann": (
        "data kernels parameters slices model settings beginning checkpoints importance gaussian "
        "matrices model_files modes monitors training ensemble estimator curves figures"
    ),
    "certificates": (
        "checker core_kernels kernels ties exact_sums flat_cycles tree products exact_form "
        "cores squares certificate square_sums bound cover leaf verdict proven"
    ),
    "charts": "chart layouts style weight_matrix instance on_axes vega",
    "cli": (
        "renamed errors options output termination verified check clock console convert info judge "
        "library report train_machine collecting compile evaluation fuzz instances searches suite "
        "plant prove samplers race solve store study train about demo running tune"
    ),
    "files": (
        "text certificate claims document formats clause_file reading graphs replanting known "
        "solutions writing"
    ),
    "fuzzing": (
        "deciding dice long_clauses question brought specimen mutations shrinking drawing trial "
        "hunting"
    ),
    "landscape": "kernels local theory connectivity gauge metric enumeration metastable overview",
    "library": "fingerprint table recognition",
    "planting": (
        "graph_names kernels recipe arguments graphs hypergraphs loops counting shuffling demand "
        "method summary sums planted methods"
    ),
    "problems": (
        "hard_clauses naming ratio validation elementary exact monomials pairs reduction clauses "
        "exchange ising polynomial qubo expansion max2sat maxsat two_sides rbm bipartite "
        "convert measure renaming"
    ),
    "proofs": (
        "kernels progress signed_graph veripb budget covering parts relaxation states "
        "contraction semidefinite core matching preparation lp even_covers polynomials exact "
        "trees prover proof margin qoblib"
    ),
    "questions": "families gauged cone extremes",
    "races": "dials running samplers judging commands tts_figures figures public",
    "reports": (
        "page script matrix proof race rendering sampler study training instance machine writing"
    ),
    "solvers": (
        "kernels result engine replicas schedule spin_form crew descent doubling engines "
        "exhaustive record annealing ladder sampling hitting methods tempering tts minimising "
        "samplers"
    ),
    "statistics": "samples intervals lognormal peaks scaling estimators time_model",
    "store": (
        "ranges row_types storefile workers database purpose records schema store batches collect"
    ),
    "studies": (
        "glasses ensembles quantities export realised task knobs study analysis merging tuning "
        "charts"
    ),
    "suites": (
        "family grammar manifest standard commitment writing checking control suite_file folder "
        "loading"
    ),
}
PARTS = {room: words.split() for room, words in _IN_ORDER.items()}

# Modules that other packages import, apart from a package's own `__init__`. The list only shrinks.
SECOND_DOORS = [
    "boltzmann.checkpoints",
    "boltzmann.curves",
    "boltzmann.data",
    "boltzmann.ensemble",
    "boltzmann.figures",
    "boltzmann.model_files",
    "boltzmann.settings",
    "certificates.bound",
    "certificates.certificate",
    "certificates.exact_form",
    "certificates.exact_sums",
    "certificates.flat_cycles",
    "certificates.leaf",
    "certificates.products",
    "certificates.square_sums",
    "certificates.squares",
    "certificates.ties",
    "certificates.tree",
    "certificates.verdict",
    "charts.instance",
    "charts.style",
    "charts.weight_matrix",
    "files.certificate.reading",
    "files.claims",
    "files.clause_file",
    "files.document",
    "files.formats",
    "files.formats.format",
    "files.formats.matrices",
    "files.graphs",
    "files.known",
    "files.reading",
    "files.replanting",
    "files.solutions",
    "files.text.allowance",
    "files.text.archive",
    "files.text.errors",
    "files.text.number_rows",
    "files.text.plain_json",
    "files.text.plain_toml",
    "files.text.streams",
    "files.writing",
    "fuzzing.drawing",
    "fuzzing.hunting",
    "fuzzing.question",
    "fuzzing.trial",
    "landscape.connectivity",
    "landscape.enumeration",
    "landscape.gauge",
    "landscape.local",
    "landscape.overview",
    "library.table",
    "planting.demand",
    "planting.graph_names",
    "planting.graphs",
    "planting.loops",
    "planting.methods.random_loops",
    "planting.shuffling",
    "problems.convert",
    "problems.elementary",
    "problems.exact",
    "problems.exchange",
    "problems.expansion",
    "problems.hard_clauses",
    "problems.monomials",
    "problems.naming",
    "problems.pairs",
    "problems.ratio",
    "problems.rbm",
    "problems.reduction",
    "problems.renaming",
    "problems.two_sides",
    "problems.validation",
    "proofs.exact",
    "proofs.exact.apart",
    "proofs.lp.highs",
    "proofs.proof",
    "proofs.qoblib",
    "proofs.veripb.writing",
    "races.commands.builtin",
    "races.commands.entrants",
    "races.commands.overview",
    "races.commands.probing",
    "races.commands.racing",
    "races.commands.results",
    "races.commands.scores",
    "races.commands.time_series",
    "races.figures",
    "races.judging.answer",
    "races.judging.answer_files",
    "races.judging.clauses",
    "races.judging.states",
    "races.running.command",
    "races.running.guardian",
    "races.running.runner",
    "races.running.transcript",
    "races.samplers",
    "races.samplers.results",
    "races.samplers.stored",
    "races.tts_figures",
    "solvers.annealing",
    "solvers.doubling",
    "solvers.exhaustive",
    "solvers.hitting",
    "solvers.samplers",
    "solvers.schedule",
    "statistics.estimators",
    "statistics.intervals",
    "statistics.peaks",
    "statistics.samples",
    "statistics.scaling",
    "statistics.time_model",
    "store.purpose",
    "store.ranges",
    "store.records",
    "store.row_types",
    "store.store",
    "store.storefile",
    "studies.analysis",
    "studies.charts",
    "studies.export",
    "studies.knobs",
    "studies.merging",
    "studies.study",
    "studies.tuning",
    "suites.commitment",
    "suites.family",
    "suites.folder",
    "suites.grammar",
    "suites.loading",
    "suites.manifest",
    "suites.standard",
    "suites.suite_file",
    "suites.writing",
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


def test_every_package_has_an_order():
    assert set(PARTS) == set(ROOMS)


def test_no_package_uses_the_kernels_of_another():
    inside = {name for _, name in entrances() if "kernels" in name.split(".")}
    assert not inside


def test_packages_meet_at_their_doors():
    new = [f"{path.name} imports {name}" for path, name in entrances() if name not in SECOND_DOORS]
    assert not new, "import these names from the package itself"


def test_second_doors_that_are_not_used_any_more_leave_the_list():
    assert sorted(SECOND_DOORS) == SECOND_DOORS
    assert set(SECOND_DOORS) <= set(second_doors())
