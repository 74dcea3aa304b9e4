"""Training of large RBMs: CPU time per epoch compared with PyTorch and scikit-learn, on one thread.

PyTorch runs in the environment of `benchmarks.training`. CPU time is measured, because wall-clock
time would depend on other work of the computer.
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

RATE, BATCHES = 0.05, (10, 100, 1000)
TORCH = """
import sys, time, numpy as np, torch
source, kind, gradient = sys.argv[1:4]
hidden, batch, epochs = map(int, sys.argv[4:])
torch.set_num_threads(1)
torch.set_grad_enabled(False)
dtype = torch.float32 if kind == "single" else torch.float64
data = torch.from_numpy(np.load(source)).to(dtype)
W = 0.01 * torch.randn(data.shape[1], hidden, dtype=dtype)
a, b = torch.zeros(data.shape[1], dtype=dtype), torch.zeros(hidden, dtype=dtype)
chains = torch.bernoulli(torch.full((batch, hidden), 0.5, dtype=dtype))
times = []
for _ in range(epochs):
    begin = time.process_time()
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
    times.append(time.process_time() - begin)
print(min(times))
""".replace("RATE", str(RATE))


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
    with tempfile.TemporaryDirectory() as folder:
        source = Path(folder) / "data.npy"
        for data, hidden, epochs in ((small, 64, 15), (large.reshape(len(large), -1), 500, 3)):
            np.save(source, data.astype(np.int8))
            rows += [
                one(data.astype(np.int8), hidden, batch, gradient, kind, epochs, source)
                for batch in BATCHES for gradient in ("cd", "pcd") for kind in ("double", "single")
            ]  # fmt: skip
    print(json.dumps(rows, indent=1))
    notes = (
        "Epochs of 1,797 digits per second of processor time, one thread each, the fastest of "
        "some epochs; 784 pixels are the 64 upscaled. CD-1, or PCD with as many chains as a batch "
        "has rows; scikit-learn has PCD only. The engine is the one that `auto` takes."
    )
    store("training-size", "Training at real size", rows, ("scikit-learn",), notes)


def one(
    data: Any, hidden: int, batch: int, gradient: str, kind: str, epochs: int, source: Path
) -> dict[str, Any]:
    engine, seconds = ours(data, hidden, batch, gradient, kind, epochs)
    words = [str(source), kind, gradient, *map(str, (hidden, batch, epochs))]
    done = subprocess.run([rbms_python(), "-c", TORCH, *words], check=True, capture_output=True,
                          text=True)  # fmt: skip
    others = {"PyTorch": float(done.stdout)}
    if gradient == "pcd":
        others["BernoulliRBM"] = scikit_learn(data, hidden, batch, kind, epochs)
    return {
        "what": f"{data.shape[1]} × {hidden}, batches of {batch}, {gradient}, {kind}",
        "engine": engine, "glasshouse": 1 / seconds,
        **{name: 1 / value for name, value in others.items()},
        "glasshouse is faster by": min(others.values()) / seconds,
    }  # fmt: skip


if __name__ == "__main__":
    main()
