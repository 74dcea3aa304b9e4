"""Machines in and out: files, arrays, scikit-learn; each is an instance as well."""

from __future__ import annotations

import numpy as np
import pytest

import glasshouse as gh
from glasshouse.boltzmann import BoltzmannMachine, find_mode, load_machine, save_machine
from glasshouse.cli import main

RNG = np.random.default_rng(1)
PARTS = RNG.normal(size=(4, 3)), RNG.normal(size=4), RNG.normal(size=3)
MACHINES = [BoltzmannMachine(*PARTS, units) for units in ("spin", "binary")]


@pytest.mark.parametrize("machine", MACHINES, ids=lambda m: m.units)
@pytest.mark.parametrize("name", ["m.npz", "m.npz.gz"])
def test_round_trip(machine, name, tmp_path):
    save_machine(tmp_path / name, machine)
    assert load_machine(tmp_path / name) == machine


@pytest.mark.parametrize("machine", MACHINES, ids=lambda m: m.units)
def test_a_saved_machine_is_an_instance(machine, tmp_path, capsys):
    path = tmp_path / "m.npz"
    save_machine(path, machine)
    problem = gh.read(path)
    assert gh.brute_force(problem).energy == pytest.approx(find_mode(machine).energy)
    for command in (["info"], ["solve"], ["prove"]):
        assert main([*command, str(path)]) in (0, None), command
    assert main(["convert", str(path), str(tmp_path / "m.qubo")]) in (0, None)
    assert main(["info", str(path), "--units", "spin"]) not in (0, None)
    assert "states its own units" in capsys.readouterr().err


def test_nothing_is_overwritten_by_accident(tmp_path):
    path = tmp_path / "m.npz"
    save_machine(path, MACHINES[0])
    with pytest.raises(FileExistsError, match="already exists"):
        save_machine(path, MACHINES[1])
    assert load_machine(path) == MACHINES[0]
    save_machine(path, MACHINES[1], overwrite=True)
    assert load_machine(path) == MACHINES[1]
    with pytest.raises(gh.FileError, match=r"a name that ends in \.npz"):
        save_machine(tmp_path / "machine", MACHINES[0])


GOOD = {"weights": PARTS[0], "visible_bias": PARTS[1], "hidden_bias": PARTS[2]}
BAD = {
    "NaN": (GOOD | {"weights": np.full((4, 3), np.nan), "units": "spin"}, "NaN or infinity"),
    "width": (GOOD | {"hidden_bias": np.zeros(5), "units": "spin"}, "expected a list of 3 numbers"),
    "no units": (GOOD, "pass units="),
    "other units": (GOOD | {"units": "potts"}, "expected spin or binary"),
    "objects": (GOOD | {"weights": np.array([[None]]), "units": "spin"}, "not a plain array"),
    "complex": (GOOD | {"weights": PARTS[0] + 1j, "units": "spin"}, "expected numbers"),
    "empty": (GOOD | {"weights": np.zeros((0, 3)), "visible_bias": np.zeros(0), "units": "spin"},
              "at least one of each"),
    "more": (GOOD | {"units": "spin", "extra": np.zeros(1)}, "those of glasshouse, or one each of"),
}  # fmt: skip


@pytest.mark.parametrize("name", BAD)
def test_bad_files_are_refused_in_one_line(name, tmp_path):
    arrays, message = BAD[name]
    path = tmp_path / "bad.npz"
    np.savez(path, **{key: np.array(value) for key, value in arrays.items()})
    with pytest.raises(gh.FileError, match=message) as caught:
        load_machine(path)
    assert "\n" not in str(caught.value)


def test_torn_files_are_refused(tmp_path):
    path = tmp_path / "m.npz"
    save_machine(path, MACHINES[0])
    whole = path.read_bytes()
    for length in (0, 10, len(whole) // 2, len(whole) - 1):
        path.write_bytes(whole[:length])
        with pytest.raises(gh.FileError):
            load_machine(path)
    with pytest.raises(FileNotFoundError):
        load_machine(tmp_path / "none.npz")


@pytest.mark.parametrize("names", [("W", "vbias", "hbias"), ("weight_matrix", "vbias", "hbias"),
                                   ("weights", "visible_bias", "hidden_bias")])  # fmt: skip
def test_arrays_by_the_names_in_use(names, tmp_path):
    arrays = dict(zip(names, PARTS, strict=True))
    assert BoltzmannMachine.from_arrays(arrays, units="binary") == MACHINES[1]
    np.savez(tmp_path / "other.npz", **arrays)
    assert load_machine(tmp_path / "other.npz", units="binary") == MACHINES[1]


def test_arrays_one_by_one_and_hidden_first():
    assert BoltzmannMachine.from_arrays(*PARTS, units="spin") == MACHINES[0]
    first = BoltzmannMachine.from_arrays(PARTS[0].T, *PARTS[1:], units="spin", hidden_first=True)
    assert first == MACHINES[0]
    with pytest.raises(ValueError, match="expected a name from each of W"):
        BoltzmannMachine.from_arrays({"weight": PARTS[0]}, units="spin")
    with pytest.raises(ValueError, match="must contain all biases"):
        BoltzmannMachine.from_arrays({"W": PARTS[0]}, PARTS[1], units="spin")


def test_scikit_learn_and_back():
    network = pytest.importorskip("sklearn.neural_network")
    data = RNG.integers(0, 2, (20, 4))
    theirs = network.BernoulliRBM(3, n_iter=5, random_state=1).fit(data)
    ours = BoltzmannMachine.from_sklearn(theirs)
    np.testing.assert_allclose(ours.hidden_means(data), theirs.transform(data), rtol=1e-9)
    np.testing.assert_allclose(ours.log_weight(data), -theirs._free_energy(data), rtol=1e-9)
    assert BoltzmannMachine.from_sklearn(ours.to_sklearn()) == ours
    spins = MACHINES[0].to_sklearn()
    states = (MACHINES[0].hidden_means(2 * data - 1) + 1) / 2
    np.testing.assert_allclose(spins.transform(data), states, rtol=1e-9)
    assert spins.gibbs(data).shape == data.shape
    with pytest.raises(ValueError, match="not a fitted BernoulliRBM"):
        BoltzmannMachine.from_sklearn(network.BernoulliRBM())


def test_rounded_at_a_stated_resolution(tmp_path):
    gh.write(tmp_path / "rounded.npz", MACHINES[0].to_instance(resolution=1000))
    problem = gh.read(tmp_path / "rounded.npz")
    assert problem.is_integer
    least = gh.brute_force(problem).energy
    assert least / 1000 == pytest.approx(find_mode(MACHINES[0]).energy, abs=0.01)
