"""The estimator: what scikit-learn expects of any, and what is its own."""

from __future__ import annotations

import inspect
import pickle
import subprocess
import sys
from dataclasses import fields

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.datasets import load_digits
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.utils.estimator_checks import check_estimator

import glasshouse as gh
from glasshouse.boltzmann import TrainingSettings

BARS = gh.shifting_bars()


def trained(**changes) -> gh.RestrictedBoltzmannMachine:
    settings = {"epochs": 300, "random_state": 1} | changes
    return gh.RestrictedBoltzmannMachine(12, **settings).fit(BARS)


def test_scikit_learns_own_checks_pass_where_data_are_made_binary():
    """None is expected to fail."""
    machine = gh.RestrictedBoltzmannMachine(3, epochs=2, binarize=0.0)
    results = check_estimator(machine, on_fail=None, on_skip=None)
    assert [r["check_name"] for r in results if r["status"] == "failed"] == []


def test_without_binarize_checks_fail_for_one_reason_only():
    """Their data are real numbers: an estimator that refuses these fails all checks that fit."""
    machine = gh.RestrictedBoltzmannMachine(3, epochs=2)
    failed = [
        r for r in check_estimator(machine, on_fail=None, on_skip=None) if r["status"] == "failed"
    ]
    for result in failed:
        chain, fault = [], result["exception"]
        while fault is not None:
            chain.append(str(fault))
            fault = fault.__cause__ or fault.__context__
        assert "contains values other than 0 and 1" in " ".join(chain), result["check_name"]


def test_parameters_are_the_settings_by_name():
    names = {entry.name for entry in fields(TrainingSettings)} - {"hidden"}
    own = {"n_hidden", "binarize", "monitors", "every", "random_state"}
    assert set(inspect.signature(gh.RestrictedBoltzmannMachine).parameters) == names | own


def test_it_learns_and_says_what_it_saw():
    machine = trained(monitors=["kl"], every=100)
    assert machine.history_["epoch"].tolist() == [0, 100, 200, 300]
    assert machine.history_["kl"][-1] < machine.history_["kl"][0]
    assert machine.score(BARS) == pytest.approx(-np.log(9) - machine.history_["kl"][-1])
    assert machine.components_.shape == (12, 9)
    assert machine.machine_.weights.T.tolist() == machine.components_.tolist()


@pytest.mark.parametrize("units", ["spin", "binary"])
def test_transform_gives_probabilities(units):
    machine = trained(units=units)
    fields_ = BARS @ machine.components_.T + machine.intercept_hidden_
    if units == "spin":
        fields_ = 2 * ((2 * BARS - 1) @ machine.components_.T + machine.intercept_hidden_)
    np.testing.assert_allclose(machine.transform(BARS), 1 / (1 + np.exp(-fields_)), rtol=1e-12)


def test_the_same_random_state_gives_the_same_and_a_clone_starts_anew():
    first = trained()
    again = clone(first).fit(BARS)
    assert again.machine_ == first.machine_
    assert trained(random_state=2).machine_ != first.machine_
    assert not hasattr(clone(first), "machine_")


def test_a_pickle_goes_on_where_it_was():
    machine = trained()
    copy = pickle.loads(pickle.dumps(machine))
    assert np.array_equal(copy.sample(5), machine.sample(5))
    assert np.array_equal(copy.gibbs(BARS), machine.gibbs(BARS))


def test_samples_are_fresh_and_a_seed_repeats_them():
    machine = trained()
    assert not np.array_equal(machine.sample(50), machine.sample(50))
    first, again = (machine.sample(20, random_state=3) for _ in range(2))
    assert np.array_equal(first, again)
    assert set(np.unique(first)) <= {0, 1}


def test_large_machines_are_scored_by_annealing():
    rng = np.random.default_rng(1)
    data = rng.integers(0, 2, (40, 30))
    machine = gh.RestrictedBoltzmannMachine(26, epochs=3, random_state=1).fit(data)
    value, error = machine.log_partition_
    assert error > 0
    narrow = gh.RestrictedBoltzmannMachine(8, epochs=3, random_state=1).fit(data)
    assert narrow.log_partition_ == (narrow.machine_.log_partition, 0.0)
    expected = machine.machine_.log_weight(data) - value
    assert np.array_equal(machine.score_samples(data), expected)
    assert machine.log_partition_[0] == value


@pytest.mark.parametrize("frame", ["pandas", "polars"])
def test_set_output(frame):
    pytest.importorskip(frame)
    table = trained().set_output(transform=frame).transform(BARS)
    assert list(table.columns)[:2] == ["restrictedboltzmannmachine0", "restrictedboltzmannmachine1"]


def test_feature_names_are_kept():
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame(BARS, columns=[f"pixel{i}" for i in range(9)])
    machine = gh.RestrictedBoltzmannMachine(2, epochs=1).fit(frame)
    assert machine.feature_names_in_[0] == "pixel0"
    with pytest.raises(ValueError, match="feature names"):
        machine.transform(frame.rename(columns={"pixel0": "other"}))


def test_digits_in_a_pipeline_and_a_grid():
    digits = load_digits()
    X, y = digits.data[:300], digits.target[:300]
    pipeline = make_pipeline(
        gh.RestrictedBoltzmannMachine(32, binarize=7, epochs=30, random_state=1),
        LogisticRegression(max_iter=500),
    )
    assert pipeline.fit(X[:200], y[:200]).score(X[200:], y[200:]) > 0.7
    grid = GridSearchCV(
        gh.RestrictedBoltzmannMachine(binarize=7, epochs=5, random_state=1),
        {"n_hidden": [1, 16]}, cv=2,
    )  # fmt: skip
    assert grid.fit(X).best_params_ == {"n_hidden": 16}


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (BARS / 2, "contains values other .* set a threshold such as binarize=0.5"),
        (np.full((3, 3), np.nan), "contains NaN"),
        (np.zeros((0, 3)), "0 sample"),
    ],
)
def test_bad_data_are_refused(data, message):
    with pytest.raises(ValueError, match=message):
        gh.RestrictedBoltzmannMachine(2).fit(data)


def test_zero_hidden_units_and_another_width_are_refused():
    with pytest.raises(ValueError, match="hidden=0 is below 1"):
        gh.RestrictedBoltzmannMachine(0).fit(BARS)
    with pytest.raises(ValueError, match="9 features"):
        trained(epochs=1).transform(BARS[:, :5])


def test_sparse_data_and_spins_are_the_same_data():
    from scipy.sparse import csr_array

    first = trained(epochs=5)
    sparse = gh.RestrictedBoltzmannMachine(12, epochs=5, random_state=1).fit(csr_array(BARS))
    spins = gh.RestrictedBoltzmannMachine(12, epochs=5, random_state=1).fit(2 * BARS - 1)
    assert sparse.machine_ == first.machine_ == spins.machine_


def test_importing_glasshouse_does_not_import_scikit_learn():
    code = "import glasshouse as gh, sys; gh.train; print('sklearn' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "False"


def test_without_scikit_learn_the_remedy_is_named():
    code = (
        "import sys; sys.modules['sklearn'] = None\n"
        "import glasshouse as gh\n"
        "try:\n    gh.RestrictedBoltzmannMachine()\n"
        "except gh.MissingPackageError as error:\n    print(error)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert 'pip install "glasshouse[learning]"' in done.stdout
