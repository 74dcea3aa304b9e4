"""Training of RBMs: one large machine compared with scikit-learn and rbms, and many small machines.

The package rbms needs PyTorch, so it runs in its own environment: the one of the variable
GLASSHOUSE_RBMS_PYTHON, or a new one in `.venv-rbms`. If there is none, its row states this.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.datasets import load_digits
from sklearn.neural_network import BernoulliRBM

import glasshouse as gh
from benchmarks.record import store
from glasshouse.boltzmann import BoltzmannMachine, Trainer, TrainingSettings, annealed_importance

HIDDEN, BATCH, RATE, EPOCHS, ROUNDS = 64, 10, 0.05, 100, 10
ENVIRONMENT = Path(__file__).parent.parent / ".venv-rbms"
DIGITS = (load_digits().data > 7).astype(np.int8)
HELD_OUT = np.arange(len(DIGITS)) % 10 == 0

# CD-1 by the package's own steps, with the plain gradient instead of the centred and normalised
# one, so that the learning rate has the same meaning. Data and parameters are passed in files.
RBMS = """
import sys, time, numpy as np, torch
from rbms.bernoulli_bernoulli.classes import BBRBM
source, target, rate = sys.argv[1], sys.argv[2], float(sys.argv[3])
hidden, batch, epochs, seed = map(int, sys.argv[4:])
torch.set_num_threads(1)
torch.manual_seed(seed)
data = torch.from_numpy(np.load(source).astype(np.float32))
size = data.shape[1]
machine = BBRBM(0.01 * torch.randn(size, hidden), torch.zeros(size), torch.zeros(hidden))
for part in machine.parameters():
    part.grad = torch.zeros_like(part)
optimizer = torch.optim.SGD(machine.parameters(), lr=rate, maximize=True)
def epoch():
    order = torch.randperm(len(data))
    for first in range(0, len(data), batch):
        rows = data[order[first : first + batch]]
        start = machine.init_chains(len(rows), weights=torch.ones(len(rows)), start_v=rows)
        chains = {name: value.clone() for name, value in start.items()}
        chains = machine.sample_state(chains=chains, n_steps=1)
        machine.compute_gradient(data=start, chains=chains, centered=False)
        optimizer.step()
begin = time.perf_counter()
for _ in range(epochs):
    epoch()
seconds = time.perf_counter() - begin
np.savez(target, **{n: p.detach().numpy() for n, p in machine.named_parameters().items()})
print(seconds)
"""


def held_out_likelihood(machine: BoltzmannMachine) -> float:
    """Return the mean log-likelihood of held-out digits, with an error of about 0.03 by AIS."""
    found = annealed_importance(machine, data=DIGITS[~HELD_OUT], rng=1)
    return float(machine.log_weight(DIGITS[HELD_OUT]).mean()) - found.value


def ours(seed: int) -> tuple[float, BoltzmannMachine]:
    settings = TrainingSettings(
        HIDDEN, epochs=EPOCHS, units="binary", batch_size=BATCH, learning_rate=RATE
    )
    trainer = Trainer(DIGITS[~HELD_OUT], settings, rng=seed)
    begin = time.perf_counter()
    trainer.advance(EPOCHS)
    return time.perf_counter() - begin, trainer.machine


def scikit_learn(seed: int) -> tuple[float, BoltzmannMachine]:
    machine = BernoulliRBM(
        HIDDEN, learning_rate=RATE, batch_size=BATCH, n_iter=EPOCHS, random_state=seed
    )
    begin = time.perf_counter()
    machine.fit(DIGITS[~HELD_OUT].astype(np.float64))
    return time.perf_counter() - begin, BoltzmannMachine.from_sklearn(machine)


def rbms_python() -> str:
    """Return the interpreter of an environment with rbms, which is created on first use."""
    given = os.environ.get("GLASSHOUSE_RBMS_PYTHON")
    if given:
        return given
    python = ENVIRONMENT / "bin" / "python"
    if not (ENVIRONMENT / ".ready").exists():
        subprocess.run([sys.executable, "-m", "venv", str(ENVIRONMENT)], check=True)
        subprocess.run([str(python), "-m", "pip", "install", "--quiet", "rbms"], check=True)
        (ENVIRONMENT / ".ready").touch()
    return str(python)


def rbms(python: str, seed: int) -> tuple[float, BoltzmannMachine]:
    with tempfile.TemporaryDirectory() as folder:
        source, target = Path(folder) / "data.npy", Path(folder) / "machine.npz"
        np.save(source, DIGITS[~HELD_OUT])
        numbers = map(str, (RATE, HIDDEN, BATCH, EPOCHS, seed))
        done = subprocess.run(
            [python, "-c", RBMS, str(source), str(target), *numbers],
            check=True, capture_output=True, text=True,
        )  # fmt: skip
        with np.load(target) as arrays:
            return float(done.stdout), BoltzmannMachine.from_arrays(dict(arrays), units="binary")


def one_large() -> list[dict[str, Any]]:
    """Train one large machine with each package in turn, and return the best times.

    Every round has its own seed. Likelihoods differ more between seeds than between packages with
    the same method, so their mean counts.
    """
    peers: dict[str, Any] = {"glasshouse": ours, "BernoulliRBM": scikit_learn}
    try:
        python = rbms_python()
        peers["rbms"] = lambda seed: rbms(python, seed)
    except (OSError, subprocess.CalledProcessError) as fault:
        print(f"no rbms: {fault}")
    ours(0)  # compiles and loads everything
    times: dict[str, list[float]] = {name: [] for name in peers}
    likelihoods: dict[str, list[float]] = {name: [] for name in peers}
    for seed in range(1, ROUNDS + 1):
        for name, run in peers.items():
            seconds, machine = run(seed)
            times[name].append(seconds)
            likelihoods[name].append(held_out_likelihood(machine))
    return [{
        "what": f"digits, {HIDDEN} hidden, batches of {BATCH}: {name}",
        "epochs per second": EPOCHS / min(times[name]),
        "glasshouse is faster by": min(times[name]) / min(times["glasshouse"]),
        "held-out log-likelihood": float(np.mean(likelihoods[name])),
        "its error": float(np.std(likelihoods[name], ddof=1) / np.sqrt(ROUNDS)),
    } for name in peers]  # fmt: skip


def many_small(count: int = 1000, threads: int = 2) -> dict[str, Any]:
    """Measure many RBMs of 9 × 12 units: 1000 epochs, exact KL and frustration every 10 epochs."""
    bars = gh.shifting_bars()

    def one(seed: int) -> float:
        return float(gh.train(bars, 12, rng=seed).history["kl"][-1])

    one(0)
    begin = time.perf_counter()
    with ThreadPoolExecutor(threads) as pool:
        final = [*pool.map(one, range(count))]
    return {
        "what": f"{count} RBMs 9×12, 1000 epochs, exact monitors, {threads} threads",
        "seconds": time.perf_counter() - begin, "median KL": float(np.median(final)),
    }  # fmt: skip


def main() -> None:
    rows = one_large()
    rows.append(many_small())
    print(json.dumps(rows, indent=1))
    notes = (
        "BernoulliRBM trains by persistent chains, its only method; rbms by the plain gradient of "
        f"its own steps, with one thread. Likelihoods are estimated by AIS: means over {ROUNDS} "
        "seeds, and their standard error."
    )
    store("training", "Training RBMs: one large, many small", rows, ("scikit-learn",), notes)


if __name__ == "__main__":
    main()
