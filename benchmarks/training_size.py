"""Training of large RBMs: CPU time per epoch compared with PyTorch, rbms and scikit-learn.

PyTorch and rbms run in the environment of `benchmarks.training`, in one process that takes turns
with this process. CPU time is measured, because wall-clock time would depend on other work of the
computer; the time of two threads is the sum of both.
"""

from __future__ import annotations

import json
import os
import subprocess
import tempfile
import time
from pathlib import Path
from typing import Any

os.environ |= dict.fromkeys(("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS"), "1")

import numpy as np
from scipy.ndimage import zoom
from sklearn.datasets import load_digits
from sklearn.neural_network import BernoulliRBM

from benchmarks.record import store
from benchmarks.training import rbms_python
from glasshouse.boltzmann import Trainer, TrainingSettings

RATE, BATCHES, ROUNDS = 0.05, (10, 100, 1000), 2
# Reads one measurement per line from standard input, and prints the CPU seconds of the best epoch.
PEERS = """
import sys, time, json, numpy as np, torch
from rbms.bernoulli_bernoulli.classes import BBRBM
torch.set_grad_enabled(False)
KINDS = {"single": torch.float32, "double": torch.float64}
def plain(data, hidden, batch, gradient):
    dtype, size = data.dtype, data.shape[1]
    W = 0.01 * torch.randn(size, hidden, dtype=dtype)
    a, b = torch.zeros(size, dtype=dtype), torch.zeros(hidden, dtype=dtype)
    chains = torch.bernoulli(torch.full((batch, hidden), 0.5, dtype=dtype))
    while True:
        order = torch.randperm(len(data))
        for first in range(0, len(data), batch):
            v = data[order[first : first + batch]]
            p = torch.sigmoid(torch.addmm(b, v, W))
            h = chains if gradient == "pcd" else torch.bernoulli(p)
            seen = torch.bernoulli(torch.sigmoid(torch.addmm(a, h, W.t())))
            q = torch.sigmoid(torch.addmm(b, seen, W))
            if gradient == "pcd":
                chains = torch.bernoulli(q)
            W.addmm_(v.t(), p, alpha=RATE / len(v))
            W.addmm_(seen.t(), q, alpha=-RATE / len(seen))
            a.add_(v.mean(0) - seen.mean(0), alpha=RATE)
            b.add_(p.mean(0) - q.mean(0), alpha=RATE)
        yield
def rbms(data, hidden, batch, gradient):
    dtype, size = data.dtype, data.shape[1]
    parts = 0.01 * torch.randn(size, hidden), torch.zeros(size), torch.zeros(hidden)
    machine = BBRBM(*(part.to(dtype) for part in parts))
    for part in machine.parameters():
        part.grad = torch.zeros_like(part)
    optimizer = torch.optim.SGD(machine.parameters(), lr=RATE, maximize=True)
    kept = machine.init_chains(batch)
    while True:
        order = torch.randperm(len(data))
        for first in range(0, len(data), batch):
            rows = data[order[first : first + batch]]
            ones = torch.ones(len(rows), dtype=dtype)
            start = machine.init_chains(len(rows), weights=ones, start_v=rows)
            chains = kept if gradient == "pcd" else {n: x.clone() for n, x in start.items()}
            chains = machine.sample_state(chains=chains, n_steps=1)
            kept = chains if gradient == "pcd" else kept
            machine.compute_gradient(data=start, chains=chains, centered=False)
            optimizer.step()
        yield
for line in sys.stdin:
    peer, threads, source, kind, gradient, hidden, batch, epochs = json.loads(line)
    torch.set_num_threads(threads)
    data = torch.from_numpy(np.load(source)).to(KINDS[kind])
    run, times = globals()[peer](data, hidden, batch, gradient), []
    for _ in range(epochs):
        begin = time.process_time()
        next(run)
        times.append(time.process_time() - begin)
    print(min(times), flush=True)
""".replace("RATE", str(RATE))
NAMES = {"PyTorch": ("plain", 1), "PyTorch, 2 threads": ("plain", 2), "rbms": ("rbms", 1)}


def ours(data: Any, hidden: int, batch: int, gradient: Any, kind: Any, epochs: int) -> Any:
    """Return the engine that `auto` chooses, and the CPU seconds of its fastest epoch."""
    settings = TrainingSettings(
        hidden, epochs=epochs, units="binary", batch_size=batch, learning_rate=RATE,
        gradient=gradient, precision=kind, engine="auto",
    )  # fmt: skip
    trainer, times = Trainer(data, settings, rng=1), []
    for epoch in range(1, epochs + 1):
        begin = time.process_time()
        trainer.advance(epoch)
        times.append(time.process_time() - begin)
    return trainer.engine, min(times)


def scikit_learn(data: Any, hidden: int, batch: int, kind: str, epochs: int) -> float:
    machine = BernoulliRBM(hidden, learning_rate=RATE, batch_size=batch, n_iter=1, random_state=1)
    rows = data.astype(np.float32 if kind == "single" else np.float64)
    times = []
    for _ in range(epochs):
        begin = time.process_time()
        machine.fit(rows)  # one epoch, from new weights
        times.append(time.process_time() - begin)
    return min(times)


def main() -> None:
    pixels = load_digits().images
    small = (pixels > 7).reshape(len(pixels), -1).astype(np.int8)
    large = np.stack([zoom(image, 3.5, order=1) > 7 for image in pixels])
    rows: list[dict[str, Any]] = []
    peers = subprocess.Popen([rbms_python(), "-c", PEERS], stdin=subprocess.PIPE,
                             stdout=subprocess.PIPE, text=True)  # fmt: skip
    with peers, tempfile.TemporaryDirectory() as folder:
        source = Path(folder) / "data.npy"
        for data, hidden, epochs in ((small, 64, 8), (large.reshape(len(large), -1), 500, 2)):
            np.save(source, data.astype(np.int8))
            rows += [
                one(data.astype(np.int8), hidden, batch, gradient, kind, epochs, source, peers)
                for batch in BATCHES for gradient in ("cd", "pcd") for kind in ("double", "single")
            ]  # fmt: skip
    print(json.dumps(rows, indent=1))
    notes = (
        "Epochs of 1,797 digits per second of processor time, the fastest of some epochs, on one "
        "thread except where two are named, whose times are added; 784 pixels are the 64 upscaled. "
        "CD-1, or PCD with as many chains as a batch has rows; scikit-learn has PCD only. The "
        "engine is the one that `auto` takes. Other work ran on the computer, so two threads of "
        "PyTorch also spent time waiting for each other."
    )
    store("training-size", "Training at real size", rows, ("scikit-learn",), notes)


def one(
    data: Any, hidden: int, batch: int, gradient: str, kind: str, epochs: int, source: Path,
    peers: Any,
) -> dict[str, Any]:  # fmt: skip
    times: dict[str, float] = {}
    for _ in range(ROUNDS):
        engine, found = ours(data, hidden, batch, gradient, kind, epochs)
        measured = {"glasshouse": found}
        for name, (peer, threads) in NAMES.items():
            words = peer, threads, str(source), kind, gradient, hidden, batch, epochs
            peers.stdin.write(json.dumps(words) + "\n")
            peers.stdin.flush()
            measured[name] = float(peers.stdout.readline())
        if gradient == "pcd":
            measured["BernoulliRBM"] = scikit_learn(data, hidden, batch, kind, epochs)
        times = {name: min(value, times.get(name, value)) for name, value in measured.items()}
    best = min(value for name, value in times.items() if name != "glasshouse")
    return {
        "what": f"{data.shape[1]} × {hidden}, batches of {batch}, {gradient}, {kind}",
        "engine": engine, **{name: 1 / value for name, value in times.items()},
        "glasshouse is faster by": best / times["glasshouse"],
    }  # fmt: skip


if __name__ == "__main__":
    main()
